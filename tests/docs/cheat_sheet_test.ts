import { assertEquals } from "@std/assert";
import { FUNCTION_GROUPS } from "../../src/expr/functions/registry.ts";
import { readDocument } from "../support/documents.ts";

const SHEET = await readDocument("docs/start/cheat-sheet.md");

/** The code in the tables of the sheet, in backticks. */
const CODE = [...SHEET.replace(/^```.*?^```/gms, "").matchAll(/`([^`]+)`/g)].map(([, code]) =>
  code!
);

Deno.test("the cheat sheet names functions that exist", () => {
  const known = FUNCTION_GROUPS.flatMap(({ functions }) => functions.map(({ name }) => name));
  const named = CODE.flatMap((code) => [...code.matchAll(/\b([a-zA-Z_]\w*)\(/g)])
    .map(([, name]) => name!);
  assertEquals(named.length > 40, true, `it names ${named.length} functions`);
  assertEquals(named.filter((name) => !known.includes(name)), []);
});

Deno.test("the cheat sheet names options and keys that exist", async () => {
  const [options, keys] = await Promise.all([
    readDocument("docs/reference/cli.md"),
    readDocument("docs/reference/keys.md"),
  ]);
  const named = CODE.flatMap((code) => code.match(/(?<=^|\s)--?[a-z][a-z-]*/g) ?? []);
  assertEquals(named.length > 20, true, `it names ${named.length} options`);
  assertEquals(named.filter((name) => !options.includes(`\`${name}`)), []);
  const table = SHEET.slice(SHEET.indexOf("## Keys"), SHEET.indexOf("## Values"));
  const cells = [...table.matchAll(/\| `(\w+)` /g)].map(([, key]) => key!);
  assertEquals(cells.length, 18);
  assertEquals(cells.filter((key) => !new RegExp(`^\\| \\**\`${key}\``, "m").test(keys)), []);
});
