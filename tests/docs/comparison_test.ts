import { assertEquals } from "@std/assert";
import { readDocument } from "../support/documents.ts";

Deno.test("every cell of the comparison links to its source, of a dated snapshot", async () => {
  const page = await readDocument("docs/about/comparison.md");
  const links = new Map(
    [...page.matchAll(/^\[(\w+)\]: (\S+)$/gm)].map(([, name, url]) => [name!, url!]),
  );
  const [tools = "", ...sections] = page.split(/^## /m);
  const dated = [...tools.matchAll(/github\.com\/([^/]+\/[^/]+)\/tree\/(\w+)/g)]
    .map(([, repository, commit]) => `https://github.com/${repository}/blob/${commit}/`);
  assertEquals(dated.length, 10);
  const wrong: string[] = [];
  for (const row of sections.flatMap((section) => section.match(/^\| \w.*/gm) ?? [])) {
    const [, title = "", ...cells] = row.split("|").slice(0, -1).map((cell) => cell.trim());
    if (title === "Feature") continue;
    for (const cell of cells) {
      const [, name = ""] = /^\[.+\]\[(\w+)\]$/.exec(cell) ?? [];
      const isSourced = cell === "–" || /^\[.+\]\([\w./-]+\.md(#[\w-]+)?\)$/.test(cell) ||
        dated.some((start) => links.get(name)?.startsWith(start));
      if (!isSourced) wrong.push(`${title}: ${cell}`);
    }
  }
  assertEquals(wrong, []);
});
