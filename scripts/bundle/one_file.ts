/**
 * The program as one file: `cli.ts` with the function by which it fetches libraries.
 *
 * @module
 */
import type { serveLoad as ServeLoad, servePlugin as ServePlugin } from "../../cli.ts";
import { main } from "../../src/cli/main.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { fetchLibrary } from "./fetch_library.ts";

export const servePlugin: typeof ServePlugin = async (...args) =>
  (await import("../../src/actions/plugin/plugin_worker.ts")).servePlugin(...args);

export const serveLoad: typeof ServeLoad = async (...args) =>
  (await import("../../src/spread/load_worker.ts")).serveLoad(...args);

Object.assign(globalThis, { fetchLibrary });
if (import.meta.main) Deno.exitCode = await main(Deno.args, denoHost(), Deno.exit);
