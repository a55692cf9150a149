/**
 * A gRPC server of the service in tests/fixtures/grpc/shop.proto. It is a process of its own: a
 * client and a server in one process are not what users have.
 */
import { fromFileUrl } from "@std/path/from-file-url";

/** The options for starting the server. */
export interface ShopOptions {
  /** Version of reflection: `v1`, `v1alpha`, or none. */
  readonly reflection?: "v1" | "v1alpha" | "none";
  /** The code by which other versions are refused; UNIMPLEMENTED by default. */
  readonly refusal?: number;
  /** Paths of a certificate and its key; with `clients`, those who connect need one too. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clients?: string };
}

export interface Shop extends AsyncDisposable {
  readonly port: number;
  /** `127.0.0.1:port` */
  readonly addr: string;
  /** Waits until the server reports this: `Wait begins`, `Wait reset 8`. */
  untilSeen(line: string): Promise<void>;
  /** The log of the server so far: a line for each connection and call. */
  readonly seen: readonly string[];
}

/** Starts the server on a free port. */
export async function grpcShop(options: ShopOptions = {}): Promise<Shop> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      fromFileUrl(new URL("./grpc_shop_server.ts", import.meta.url)),
    ],
    env: { SHOP: JSON.stringify(options) },
    stdout: "piped",
  }).spawn();
  const seen: string[] = [];
  let wake = () => {};
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      seen.push(...lines);
      wake();
    }
    seen.push("ended");
    wake();
  })();
  const untilSeen = async (line: string) => {
    while (!seen.some((one) => one.startsWith(line))) {
      if (seen.at(-1) === "ended") throw new Error(`the server ended: ${seen.join("\n")}`);
      await new Promise<void>((resolve) => wake = resolve);
    }
  };
  await untilSeen("port ");
  const port = Number(seen[0]!.slice("port ".length));
  return {
    port,
    addr: `127.0.0.1:${port}`,
    untilSeen,
    seen,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}
