// Gathers the pages of the site in .pages/: docs/, the first page, the examples and the changelog.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeExample, makeExampleIndex, readExamples } from "./examples.js";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));
const SITE = fileURLToPath(new URL("../", import.meta.url));

/** Where the pages are while the site is built. */
export const PAGES = join(SITE, ".pages");

/** Writes all pages, and says which pages of the site are made from which files. */
export async function makePages() {
  await rm(PAGES, { recursive: true, force: true });
  await cp(join(CHECKOUT, "docs"), PAGES, { recursive: true });
  const examples = await readExamples(join(CHECKOUT, "examples"));
  const actions = await readdir(join(PAGES, "reference/actions"));
  const pages = new Map([
    // The site has a first page of its own.
    ["docs.md", await read("docs/index.md")],
    ["index.md", await makeFirstPage()],
    ["changelog.md", await read("CHANGELOG.md")],
    ["examples/index.md", makeExampleIndex(examples)],
    ...examples.map((example) => [`examples/${example.name}.md`, makeExample(example, actions)]),
  ]);
  for (const [path, text] of pages) {
    await mkdir(dirname(join(PAGES, path)), { recursive: true });
    await writeFile(join(PAGES, path), text);
  }
  return { examples };
}

function read(path) {
  return readFile(join(CHECKOUT, path), "utf8");
}

/** home.md with the runs it names: a file beside what running it prints. */
async function makeFirstPage() {
  const home = await readFile(join(SITE, "home.md"), "utf8");
  const names = [...home.matchAll(/^<!-- run: (\S+) -->$/gm)].map(([, name]) => name);
  let page = home;
  for (const name of names) {
    const [file, output] = await Promise.all(
      ["yml", "ansi"].map((end) => readFile(join(SITE, "runs", `${name}.${end}`), "utf8")),
    );
    const fences = `\`\`\`yaml\n${file.trimEnd()}\n\`\`\`\n\n\`\`\`ansi\n${output.trimEnd()}\n\`\`\``;
    page = page.replace(`<!-- run: ${name} -->`, () => fences);
  }
  return page;
}
