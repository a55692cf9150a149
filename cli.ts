/**
 * The program: `deno run -A cli.ts workflow.yml`.
 *
 * @module
 */
import type { servePlugin as ServePlugin } from "./src/actions/plugin/plugin_worker.ts";
import type { serveLoad as ServeLoad } from "./src/spread/load_worker.ts";
import { main } from "./src/cli/main.ts";
import { canReadModules } from "./src/host/deno_permissions.ts";
import { denoHost } from "./src/host/deno_host.ts";

/** What the worker of a plugin calls, which imports the program where that is one file. */
export const servePlugin = async (...args: Parameters<typeof ServePlugin>): Promise<void> =>
  (await import("./src/actions/plugin/plugin_worker.ts")).servePlugin(...args);

/** What the worker of a load job calls. */
export const serveLoad = async (...args: Parameters<typeof ServeLoad>): Promise<void> =>
  (await import("./src/spread/load_worker.ts")).serveLoad(...args);

if (import.meta.main) {
  const host = denoHost();
  if (!canReadModules(import.meta.url)) {
    const folder = decodeURI(new URL("./src", import.meta.url).pathname).replace(/^\/(?=\w:)/, "");
    host.stderr.write(
      "runner: error: Deno does not let it read its own modules\n" +
        `  run it with deno run --allow-read=${folder},.\n`,
    );
    await host.stderr.flush();
    Deno.exit(1);
  }
  // An error that a library throws when nothing waits for it ends the program like any other bug.
  const fail = async (event: Event, error: unknown) => {
    event.preventDefault();
    try {
      const { explainError } = await import("./src/cli/messages.ts");
      host.stderr.write(explainError(error, host));
    } catch {
      // A build without all of its files; an error here would begin anew.
      host.stderr.write(`runner: error: ${error instanceof Error ? error.message : error}\n`);
    }
    await host.stderr.flush().catch(() => {});
    Deno.exit(1);
  };
  addEventListener("error", (event) => void fail(event, event.error));
  addEventListener("unhandledrejection", (event) => void fail(event, event.reason));
  Deno.exitCode = await main(Deno.args, host, Deno.exit);
}
