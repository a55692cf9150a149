import { fromFileUrl } from "@std/path/from-file-url";
import type { Workbench } from "./bench.ts";
import { type HttpServer, startHttpServer } from "./http_server.ts";

const STALLING_SERVER = fromFileUrl(new URL("./stalling_server.ts", import.meta.url));

const BODY = '{"ok":true,"items":[{"id":1,"name":"x"},{"id":2,"name":"y"}]}';

/** The fastest server there is: nginx, or Deno's where it is missing. */
export async function startFastServer(workbench: Workbench): Promise<HttpServer> {
  const port = freePort();
  const config = await workbench.write(
    "nginx.conf",
    `daemon off; worker_processes 1; pid ${workbench.path("nginx.pid")}; error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 100000000; default_type application/json;
  server { listen 127.0.0.1:${port}; location / { return 200 '${BODY}'; } }
}
`,
  );
  const nginx = spawn(["nginx", "/usr/sbin/nginx"], "-c", config, "-p", workbench.path(""));
  if (!nginx) return startHttpServer();
  const url = `http://127.0.0.1:${port}/`;
  while (!await isServing(url)) await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    url,
    async [Symbol.asyncDispose]() {
      nginx.kill();
      await nginx.status;
    },
  };
}

/** A server that stands still for a time, again and again, and remembers when it answered. */
export interface StallingServer extends HttpServer {
  /** By the number of each round, the milliseconds of its answer. */
  answers(): Promise<number[]>;
}

export async function startStallingServer(stall: number, every: number): Promise<StallingServer> {
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", STALLING_SERVER, `${stall}`, `${every}`],
    stdout: "piped",
  }).spawn();
  const { value } = await server.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  return {
    url,
    answers: async () => await (await fetch(`${url}answers`)).json(),
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.status;
    },
  };
}

function spawn(programs: readonly string[], ...args: string[]): Deno.ChildProcess | undefined {
  for (const program of programs) {
    try {
      return new Deno.Command(program, { args, stdout: "null", stderr: "null" }).spawn();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return undefined;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

async function isServing(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).body?.cancel();
    return true;
  } catch {
    return false;
  }
}
