/**
 * The program as one module graph, for bundling: cli.ts hides its own from Deno.
 *
 * @module
 */
import { main } from "../src/cli/main.ts";
import { denoHost } from "../src/host/deno_host.ts";

Deno.exit(await main(Deno.args, denoHost(), Deno.exit));
