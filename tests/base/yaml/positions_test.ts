import { assertEquals } from "@std/assert";
import { excerptOf, type Path } from "../../../src/base/source.ts";
import { parseDocument } from "../../../src/workflow/parse_document.ts";

function read(...texts: readonly string[]) {
  return parseDocument(texts.map((text, index) => ({ name: `${"abc"[index]}.yml`, text })));
}

/** `file:line:column marked text`. */
async function locate(texts: readonly string[], path: Path, part?: "key" | "value") {
  const places = await (await read(...texts)).positions();
  const { file, line, column, text, from, to } = excerptOf(places.locate(path, part));
  return `${file}:${line}:${column} ${text.slice(from, to)}`;
}

const YAML = `name: "quoted"
x_step: &step
  uses: hello
  with: {a: 1, b: [2, 3]}
block: |
  first
  second
list:
- one
- two: 2
  deep: {k: v}
merged:
  <<: *step
  own: 1
alias: *step
empty:
5: number
items:
- # none
-
- last
`;

const CASES: readonly (readonly [path: Path, value: string, key?: string])[] = [
  [["name"], 'a.yml:1:7 "quoted"', "a.yml:1:1 name"],
  [["x_step", "uses"], "a.yml:3:9 hello", "a.yml:3:3 uses"],
  [["x_step", "with", "b", 1], "a.yml:4:23 3"],
  [["x_step", "with"], "a.yml:4:9 {a: 1, b: [2, 3]}", "a.yml:4:3 with"],
  [["block"], "a.yml:5:8 |", "a.yml:5:1 block"],
  [["list", 0], "a.yml:9:3 one"],
  [["list", 1, "deep", "k"], "a.yml:11:13 v", "a.yml:11:10 k"],
  [["list", 1], "a.yml:10:3 two: 2"],
  [["merged", "uses"], "a.yml:3:9 hello", "a.yml:3:3 uses"],
  [["merged", "own"], "a.yml:14:8 1"],
  [["alias", "with", "a"], "a.yml:4:13 1"],
  [["empty"], "a.yml:16:1 empty", "a.yml:16:1 empty"],
  [["5"], "a.yml:17:4 number"],
  [["items", 0], "a.yml:19:1 -"],
  [["items", 1], "a.yml:20:1 -"],
  [["items", 2], "a.yml:21:3 last"],
  // Where there is nothing: what is around it.
  [["x_step", "nothing", "at", "all"], "a.yml:3:3 uses: hello"],
  [["list", 7], "a.yml:9:1 - one"],
  [["list", 7], "a.yml:9:1 - one", "a.yml:8:1 list"],
  [[], 'a.yml:1:1 name: "quoted"'],
];

Deno.test("Positions.locate() finds values and keys by their paths", async () => {
  for (const [path, value, key] of CASES) {
    assertEquals(await locate([YAML], path), value, JSON.stringify(path));
    if (key !== undefined && path.at(-1) !== 7) {
      assertEquals(await locate([YAML], path, "key"), key, JSON.stringify(path));
    }
  }
});

Deno.test("Positions.locate() finds a key after a line separator that YAML does not know", async () => {
  for (const sign of ["\u0085", "\u2028"]) {
    const place = await locate([`a: 1\n${sign}b: 2\n`], [`${sign}b`], "key");
    assertEquals(place, `a.yml:2:1 ${sign}b`);
  }
});

Deno.test("Positions.locate() finds the file that a value is in", async () => {
  const texts = ["---\na: 1\nb: &b {c: 2}", "a: 3\nd: *b\n", "e: {f: 4}"];
  assertEquals(await locate(texts, ["a"]), "b.yml:1:4 3");
  assertEquals(await locate(texts, ["b", "c"]), "a.yml:3:11 2");
  assertEquals(await locate(texts, ["d", "c"]), "a.yml:3:11 2");
  assertEquals(await locate(texts, ["e", "f"], "key"), "c.yml:1:5 f");
});

Deno.test("Positions.locate() prefers explicit keys, then earlier merges, as YAML does", async () => {
  const text = `a: &a {k: 1}
b: &b {k: 2, l: 2}
c:
  <<: [*a, *b]
d:
  <<: *b
  k: 3
`;
  assertEquals(await locate([text], ["c", "k"]), "a.yml:1:11 1");
  assertEquals(await locate([text], ["c", "l"]), "a.yml:2:17 2");
  assertEquals(await locate([text], ["d", "k"]), "a.yml:7:6 3");
});

Deno.test("Positions.locate() does not follow a mapping into itself for ever", async () => {
  assertEquals(
    await locate(["a: &a {<<: *a, k: 1}"], ["a", "nothing"]),
    "a.yml:1:7 {<<: *a, k: 1}",
  );
});

Deno.test("Positions.locate() finds values in and below brackets that close without indentation", async () => {
  const text = `a:
  b: {
    c: 1, # one
    d: 2
  }
  f: 3
`;
  assertEquals(await locate([text], ["a", "b", "d"]), "a.yml:4:8 2");
  assertEquals(await locate([text], ["a", "f"]), "a.yml:6:6 3");
  assertEquals(await locate([text.replaceAll("\n", "\r\n")], ["a", "f"]), "a.yml:6:6 3");
});

Deno.test("Positions.locate() follows a parameter to the defaults of the job", async () => {
  const text = `jobs:
- defaults:
    http: {url: u, headers: {a: b}}
  steps:
  - uses: http
    with: {headers: {c: d}}
`;
  const own: Path = ["jobs", 0, "steps", 0, "with"];
  assertEquals(await locate([text], [...own, "url"]), "a.yml:3:17 u");
  assertEquals(await locate([text], [...own, "headers", "a"]), "a.yml:3:33 b");
  assertEquals(await locate([text], [...own, "headers", "c"]), "a.yml:6:25 d");
  assertEquals(await locate([text], [...own, "nothing"]), "a.yml:6:11 {headers: {c: d}}");
});

Deno.test("Positions.text() gives a scalar whose parts can be marked in the file", async () => {
  const text = `plain: one two
quoted: "a \\"b\\" two"
literal: |
  one
   two
folded: >-
  one
  two
number: 5
list: [1]
none:
`;
  const places = await (await read(text)).positions();
  const mark = (key: string) => {
    const source = places.text([key])!;
    const start = source.text.indexOf("two");
    const { line, column } = excerptOf({ source, start, end: start + 3 });
    return `${line}:${column}`;
  };
  assertEquals(["plain", "quoted", "literal", "folded"].map(mark), ["1:12", "2:18", "5:4", "8:3"]);
  assertEquals(places.text(["folded"])?.text, "one two");
  assertEquals(places.text(["number"])?.text, "5");
  assertEquals(places.text(["list"]), undefined);
  assertEquals(places.text(["none"]), undefined);
  assertEquals(places.text(["nothing"]), undefined);
});
