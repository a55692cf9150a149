import { assertEquals } from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { CHECKOUT, listDocuments } from "../support/documents.ts";

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
}

const { SIDEBAR }: { SIDEBAR: readonly Item[] } = await import(
  toFileUrl(`${CHECKOUT}site/.vitepress/sidebar.js`).href
);

Deno.test("the sidebar lists every page of docs/ once, and nothing else", async () => {
  const pages = (await listDocuments())
    .filter((path) => path.startsWith("docs/") && path !== "docs/index.md");
  const listed = SIDEBAR.flatMap(linksOf).map((link) => `docs${link}.md`);
  assertEquals(listed.toSorted(), pages.toSorted());
});

Deno.test("the sections are in the order in which a reader needs them", () => {
  assertEquals(
    SIDEBAR.map(({ text }) => text).filter((text) => text !== "Actions"),
    ["Start", "Concepts", "Cookbook", "CI", "Migrate", "Reference", "About"],
  );
});

function linksOf({ link, items = [] }: Item): string[] {
  return [...link === undefined ? [] : [link], ...items.flatMap(linksOf)];
}
