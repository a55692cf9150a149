/**
 * Writes the reference pages of docs/ from the tables of the program and the index of the examples
 * from their first comments, and removes pages that no table makes any more; pages written by hand
 * stay. With --check it writes nothing, names the pages
 * that are stale and exits with 1.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { EXAMPLES_PAGE, makeExamplesPage } from "./docs/examples_page.ts";
import { formatMarkdown } from "./docs/format_markdown.ts";
import { isGenerated } from "./docs/page.ts";
import { makePages } from "./docs/pages.ts";

const ROOT = fromFileUrl(new URL("..", import.meta.url));
const DIRECTORY = join(ROOT, "docs", "reference");

const isCheck = Deno.args.includes("--check");
const stale: string[] = [];
const pages = await makePages();

const all = [
  ...pages.map(({ file, text }) => ({ name: `docs/reference/${file}`, text })),
  { name: EXAMPLES_PAGE, text: await makeExamplesPage() },
];
for (const { name, text } of all) {
  const path = join(ROOT, name);
  const wanted = await formatMarkdown(text, ROOT);
  if (wanted === await readIfThere(path)) continue;
  stale.push(name);
  if (isCheck) continue;
  await Deno.mkdir(join(path, ".."), { recursive: true });
  await Deno.writeTextFile(path, wanted);
}
for (const file of await listFiles("")) {
  if (pages.some((page) => page.file === file)) continue;
  if (!isGenerated(await Deno.readTextFile(join(DIRECTORY, file)))) continue;
  stale.push(`docs/reference/${file}`);
  if (!isCheck) await Deno.remove(join(DIRECTORY, file));
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
async function listFiles(directory: string): Promise<string[]> {
  const files: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(join(DIRECTORY, directory))) {
      const path = directory === "" ? name : `${directory}/${name}`;
      files.push(...isDirectory ? await listFiles(path) : [path]);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}
