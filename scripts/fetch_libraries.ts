/**
 * Downloads what dist/runner.js fetches from npm when it needs it: `deno task libraries`. Tests of
 * that file compare what it prints, and Deno would print what it downloads.
 *
 * @module
 */
import { CHECKOUT, IMPORTS } from "./bundle/bundler.ts";
import { LIBRARIES } from "./bundle/libraries.ts";

const { code, stderr } = await new Deno.Command(Deno.execPath(), {
  // The versions of deno.lock are ignored, as when the file is run.
  args: [
    "cache",
    "--quiet",
    "--no-config",
    ...Object.keys(LIBRARIES).map((name) => IMPORTS[name]!),
  ],
  cwd: `${CHECKOUT}/dist`,
  stdin: "null",
}).output();
if (code !== 0) await Deno.stderr.write(stderr);
Deno.exitCode = code;
