import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { ACTION, HOME } from "../../src/base/home.ts";
import { CHECKOUT, listDocuments, readDocument } from "../support/documents.ts";

Deno.test("every link in the documents has an existing target", async () => {
  const broken: string[] = [];
  for (const path of await listDocuments()) {
    for (const link of linksOf(await readDocument(path))) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = "", heading] = link.split("#");
      const target = file === "" ? path : join(path, "..", file);
      if (!await isThere(target)) broken.push(`${path}: ${link}`);
      else if (heading !== undefined && !headingsOf(await readDocument(target)).includes(heading)) {
        broken.push(`${path}: ${link}`);
      }
    }
  }
  assertEquals(broken, []);
});

Deno.test("pages of docs/ link only to pages and images of docs/", async () => {
  const leading: string[] = [];
  for (const path of await listDocuments()) {
    if (!path.startsWith("docs/")) continue;
    for (const link of linksOf(await readDocument(path))) {
      if (/^([a-z]+:|#)/.test(link)) continue;
      if (!join(path, "..", link).startsWith("docs/")) leading.push(`${path}: ${link}`);
    }
  }
  assertEquals(leading, []);
});

Deno.test("the documents name the home of the project as src/base/home.ts does", async () => {
  const named = new Set<string>();
  for (const path of await listDocuments()) {
    const document = await readDocument(path);
    for (const [, home] of document.matchAll(/(https:[^\s"']+)\/releases\b/g)) named.add(home!);
    for (const [, action] of document.matchAll(/uses: (\S+\/runner)@/g)) named.add(action!);
  }
  assertEquals([...named].sort(), [ACTION, HOME].sort());
});

/** Where a document leads, pictures included. */
function linksOf(document: string): string[] {
  const prose = document.replace(/^```.*?^```/gms, "").replace(/`[^`\n]*`/g, "``");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
}

/** The anchors of a document, as GitHub makes them. */
function headingsOf(document: string): string[] {
  const prose = document.replace(/^```.*?^```/gms, "");
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
  );
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.stat(join(CHECKOUT, path));
    return true;
  } catch {
    return false;
  }
}
