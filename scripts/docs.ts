/**
 * Writes the reference pages of docs/ from the tables of the program. With --check it writes
 * nothing, names the pages that are stale and exits with 1.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { formatMarkdown } from "./docs/format_markdown.ts";
import { makePages } from "./docs/pages.ts";

const ROOT = fromFileUrl(new URL("..", import.meta.url));
const FOLDER = join(ROOT, "docs", "reference");

const isCheck = Deno.args.includes("--check");
const stale: string[] = [];
const pages = await makePages();

for (const { file, text } of pages) {
  const path = join(FOLDER, file);
  const wanted = await formatMarkdown(text, ROOT);
  if (wanted === await readIfThere(path)) continue;
  stale.push(`docs/reference/${file}`);
  if (isCheck) continue;
  await Deno.mkdir(join(path, ".."), { recursive: true });
  await Deno.writeTextFile(path, wanted);
}
for (const file of await listFiles("")) {
  if (pages.some((page) => page.file === file)) continue;
  stale.push(`docs/reference/${file}`);
  if (!isCheck) await Deno.remove(join(FOLDER, file));
}

if (stale.length === 0) say("the reference pages are up to date");
else if (!isCheck) say(`wrote ${stale.join(", ")}`);
else {
  say(`stale: ${stale.join(", ")}; run: deno task docs`);
  Deno.exitCode = 1;
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.error(line);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The files below a directory of the reference, by their paths from the reference. */
async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(join(FOLDER, folder))) {
      const path = folder === "" ? name : `${folder}/${name}`;
      files.push(...isDirectory ? await listFiles(path) : [path]);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}
