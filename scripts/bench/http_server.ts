import { fromFileUrl } from "@std/path/from-file-url";

/** Both ends of a connection, as a program. */
export const HTTP_ENDS = fromFileUrl(new URL("./http_ends.ts", import.meta.url));

/** A server in a process of its own, which ends with the scope that it is used in. */
export interface HttpServer extends AsyncDisposable {
  readonly url: string;
}

/** Starts a server whose answers take so many milliseconds. */
export async function startHttpServer(
  delay = 0,
  scheme: "http" | "https" = "http",
): Promise<HttpServer> {
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", HTTP_ENDS, "server", String(delay), scheme],
    stdout: "piped",
  }).spawn();
  const { value } = await server.stdout.getReader().read();
  return {
    url: new TextDecoder().decode(value).trim(),
    async [Symbol.asyncDispose]() {
      server.kill();
      await server.status;
    },
  };
}
