/**
 * The program: `deno run -A cli.ts workflow.yml`.
 *
 * @module
 */
import { main } from "./src/cli/main.ts";
import { denoHost } from "./src/host/deno_host.ts";

if (import.meta.main) {
  // Sockets and timers that are still open must not keep the program alive.
  Deno.exit(await main(Deno.args, denoHost(), Deno.exit));
}
