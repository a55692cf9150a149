/**
 * The program: `deno run -A cli.ts workflow.yml`.
 *
 * @module
 */
import { denoHost } from "./src/host/deno_host.ts";

if (import.meta.main) {
  // Not in sight of Deno, which reads all modules that it sees coming before it runs the first.
  const bring = (path: string) => import(new URL(path, import.meta.url).href);
  if (Deno.args.length === 1 && Deno.args[0] === "--version") {
    const { versionLine } = await bring("./src/cli/version.ts");
    denoHost().stdout.write(await versionLine(denoHost().files) + "\n");
    Deno.exit(0);
  }
  const { main } = await bring("./src/cli/main.ts");
  // Sockets and timers that are still open must not keep the program alive.
  Deno.exit(await main(Deno.args, denoHost(), Deno.exit));
}
