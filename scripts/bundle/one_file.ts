/**
 * The program as one file: `cli.ts` with the function by which it fetches libraries.
 *
 * @module
 */
import { main } from "../../src/cli/main.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { fetchLibrary } from "./fetch_library.ts";

Object.assign(globalThis, { fetchLibrary });
Deno.exitCode = await main(Deno.args, denoHost(), Deno.exit);
