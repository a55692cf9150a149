// Writes the site for readers that are programs: each page as Markdown beside its HTML, llms.txt
// with a list of them, and llms-full.txt with all of them in one file.
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describePage } from "./describe_page.js";
import { PAGES } from "./make_pages.js";
import { SIDEBAR } from "./sidebar.js";

/** Copies and writes the files that are not HTML. */
export async function writeTexts(outDir) {
  const paths = (await readdir(PAGES, { recursive: true })).sort();
  for (const path of paths) {
    // Pages link to the JSON Schemas; the first page exists as HTML only.
    if (!/\.(md|json)$/.test(path) || path === "index.md") continue;
    await mkdir(dirname(join(outDir, path)), { recursive: true });
    await copyFile(join(PAGES, path), join(outDir, path));
  }
  const sections = await readSections(paths);
  await writeFile(join(outDir, "llms.txt"), listPages(sections));
  await writeFile(join(outDir, "llms-full.txt"), joinPages(sections));
}

/** The pages in the order of the list at the side, then those that it does not name. */
async function readSections(paths) {
  const listed = SIDEBAR.map(({ text, items }) => ({
    title: text,
    files: items.map(({ link }) => `${link.slice(1)}.md`),
  }));
  const known = new Set([...listed.flatMap(({ files }) => files), "index.md", "docs.md", "changelog.md"]);
  const examples = paths.filter((path) => /^examples\/.*\.md$/.test(path) && path !== "examples/index.md");
  const others = paths.filter((path) => path.endsWith(".md") && !path.startsWith("examples/") && !known.has(path));
  const sections = [...listed, { title: "More", files: others }, { title: "Examples", files: examples }];
  return await Promise.all(
    sections.filter(({ files }) => files.length > 0).map(async ({ title, files }) => ({
      title,
      pages: await Promise.all(files.map(async (path) => {
        const text = await readFile(join(PAGES, path), "utf8");
        return { path, text, title: /^# (.+)$/m.exec(text)?.[1] ?? path };
      })),
    })),
  );
}

function listPages(sections) {
  return [
    "# runner",
    "",
    "> runner executes workflows in YAML: it tests APIs and smoke-tests releases. A workflow is a graph" +
    " of jobs, a job is a list of steps, and a step does one thing and checks the result.",
    "",
    "All pages in one file: [llms-full.txt](llms-full.txt)",
    "",
    ...sections.flatMap(({ title, pages }) => [
      `## ${title}`,
      "",
      ...pages.map(({ path, text, title }) => {
        const about = describePage(text);
        return `- [${title}](${path})${about === undefined ? "" : `: ${about}`}`;
      }),
      "",
    ]),
  ].join("\n");
}

function joinPages(sections) {
  return sections.flatMap(({ pages }) => pages)
    .map(({ path, text }) => `<!-- ${path} -->\n\n${text.trim()}\n`)
    .join("\n---\n\n");
}
