/**
 * The program: `deno run -A cli.ts workflow.yml`.
 *
 * @module
 */
import { main } from "./src/cli/main.ts";
import { canReadModules } from "./src/host/deno_permissions.ts";
import { denoHost } from "./src/host/deno_host.ts";

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
  Deno.exitCode = await main(Deno.args, host, Deno.exit);
}
