/**
 * Bundles the script of the HTML report: `deno task page` writes
 * `src/report/files/html/page_script.ts` from the modules in `html/page/`.
 *
 * @module
 */
import { CHECKOUT } from "./bundle/bundler.ts";

/** The module that contains the script. */
export const PAGE_SCRIPT = `${CHECKOUT}/src/report/files/html/page_script.ts`;

/** The text of that module, from its sources. */
export async function makePageScript(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--minify", "--platform=browser", "--format=iife"],
      "src/report/files/html/page/main.ts",
    ],
    cwd: CHECKOUT,
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`cannot bundle the page\n${decoder.decode(stderr)}`);
  const script = decoder.decode(stdout).trim().replace(/[\\`]|\$(?=\{)/g, "\\$&");
  return `// Made by \`deno task page\` from the modules in page/. Do not edit.\n
/** The script of the page. */
export const PAGE_SCRIPT =\n  \`${script}\`;\n`;
}

if (import.meta.main) await Deno.writeTextFile(PAGE_SCRIPT, await makePageScript());
