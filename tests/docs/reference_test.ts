import { assertEquals } from "@std/assert";
import { plain } from "../../scripts/docs/page.ts";
import { CHECKOUT, listDocuments, readBlocks, readDocument } from "../support/documents.ts";
import { join } from "@std/path/join";

Deno.test("the reference pages are up to date", async () => {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "scripts/docs.ts", "--check"],
    cwd: CHECKOUT,
  }).output();
  const said = new TextDecoder().decode(stderr).trim();
  assertEquals([code, said], [0, "the reference pages are up to date"]);
});

Deno.test("texts of the reference show underscores, also in code", () => {
  assertEquals(plain("NO_PROXY, or `NO_PROXY` with `*`"), "NO\\_PROXY, or `NO_PROXY` with `*`");
});

Deno.test("every key of a file is shown in an example or a document", async () => {
  const [keys = ""] = (await readDocument("docs/reference/keys.md")).split(
    "## Keys of other tools",
  );
  const shown = await yamlTexts();
  const names = [...keys.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
  assertEquals(names.length > 70, true, `${names.length} keys`);
  const missing = names.filter((name) => !new RegExp(`(^|[\\s{,-])${name}:`, "m").test(shown));
  assertEquals(missing, []);
});

/** The workflows of the documents, and all examples. */
async function yamlTexts(): Promise<string> {
  const documents = await Promise.all((await listDocuments()).map(readDocument));
  const blocks = documents.flatMap(readBlocks).filter(({ language }) => language === "yaml");
  const examples = [
    "examples",
    ..."http release suite data".split(" ").map((it) => `examples/${it}`),
  ]
    .flatMap((directory) =>
      [...Deno.readDirSync(join(CHECKOUT, directory))]
        .flatMap(({ name }) => name.endsWith(".yml") ? [`${directory}/${name}`] : [])
    );
  const texts = await Promise.all(examples.map(readDocument));
  return [...blocks.map(({ text }) => text), ...texts].join("\n");
}
