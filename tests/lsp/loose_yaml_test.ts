import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { completionsAt } from "../../src/lsp/complete.ts";
import { type LooseNode, readLoosely } from "../../src/lsp/loose_yaml.ts";
import { makeOutline } from "../../src/lsp/outline.ts";
import { constructValues, parseYaml } from "../../src/base/yaml/parse_yaml.ts";
import { CHECKOUT } from "../support/documents.ts";

/** The keys and the lengths of lists of a value. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).map(([key, each]) => [key, shapeOf(each)]);
}

function looseShapeOf(node: LooseNode): unknown {
  switch (node.kind) {
    case "scalar":
      return 0;
    case "list":
      return node.items.map(looseShapeOf);
    case "map":
      return node.pairs.map(({ key, value }) => [key.text, looseShapeOf(value)]);
  }
}

async function* workflows(): AsyncIterable<readonly [name: string, text: string]> {
  for (const directory of ["examples", "examples/http", "examples/data", "examples/mail"]) {
    for await (const { name } of Deno.readDir(join(CHECKOUT, directory))) {
      if (!name.endsWith(".yml")) continue;
      yield [name, await Deno.readTextFile(join(CHECKOUT, directory, name))];
    }
  }
}

Deno.test("the loose reader and the parser agree on valid YAML", async () => {
  for await (const [name, text] of workflows()) {
    if (/: [&*]\w/.test(text)) continue; // An alias is a text to the one, and a value to the other.
    const [value] = constructValues(parseYaml([{ name, text }]));
    assertEquals(looseShapeOf(readLoosely(text).root), shapeOf(value), name);
  }
});

Deno.test("names are found where they are written", async () => {
  for await (const [file, text] of workflows()) {
    for (const { name, start, end } of makeOutline(text).mentions) {
      assertEquals(text.slice(start, end), name, file);
    }
  }
});

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
