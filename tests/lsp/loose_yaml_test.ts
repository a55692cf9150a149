import { join } from "@std/path/join";
import { completionsAt } from "../../src/lsp/complete.ts";
import { makeOutline, readLoosely } from "../../src/lsp/outline.ts";
import { CHECKOUT } from "../support/documents.ts";

Deno.test("every beginning of a file can be read, and completed", async () => {
  const known = { actions: new Map(), plugins: [] };
  const text = await Deno.readTextFile(join(CHECKOUT, "examples/vars.yml"));
  for (let end = 0; end <= text.length; end++) {
    makeOutline(text.slice(0, end));
    completionsAt(text.slice(0, end), end, known);
  }
});

const MISTAKES = [
  "- - -",
  "a: {b: [",
  "a:\n b:\n  - c\n - d\n e",
  "? x\n: y",
  "a: |\nb",
  '"',
  "'\n'",
  "[}",
  "{]}",
  "- {\n- [",
];

for (const text of MISTAKES) {
  Deno.test(`${JSON.stringify(text)} is read somehow`, () => {
    readLoosely(text);
    for (let at = 0; at <= text.length; at++) {
      completionsAt(text, at, { actions: new Map(), plugins: [] });
    }
  });
}
