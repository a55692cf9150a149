import { assertEquals, assertRejects } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { LoadError } from "../../src/base/errors.ts";
import { excerptOf, type Path } from "../../src/base/source.ts";
import { findOpening } from "../../src/base/yaml/find_opening.ts";
import { constructValues, parseYaml } from "../../src/base/yaml/parse_yaml.ts";
import { printYaml } from "../../src/base/yaml/print_yaml.ts";
import { positionsOf } from "../../src/base/yaml/positions.ts";
import { readYaml } from "../../src/base/yaml/read_yaml.ts";
import { parseDocument } from "../../src/workflow/read_files.ts";
import { generator } from "../support/generator.ts";

function read(...texts: readonly string[]) {
  return readYaml(texts.map((text, index) => ({ name: `${"abc"[index]}.yml`, text })));
}

/** Documents, and what they say. */
const VALUES: readonly (readonly [texts: string | readonly string[], value: unknown])[] = [
  ["a: 1\nb: text\nc: [1, {d: e}]", { a: 1, b: "text", c: [1, { d: "e" }] }],
  ["a: 2024-01-02\nb: 1:30\nc: yes", { a: "2024-01-02", b: "1:30", c: "yes" }],
  ["a: 010\nb: 1_000\nc: 0x1F\nd: 0b11\ne: 09\nf: 007", {
    a: 8,
    b: 1000,
    c: 31,
    d: 3,
    e: "09",
    f: 7,
  }],
  ["a: ~\nb:\nc: null\nd: ''", { a: null, b: null, c: null, d: "" }],
  ["a: 1.5\nb: 1e3\nc: -3\nd: +4", { a: 1.5, b: 1000, c: -3, d: 4 }],
  ["a: 0o17\nb: -0o17", { a: 15, b: -15 }],
  ["a: !!str 5\nb: !!int '7'", { a: "5", b: 7 }],
  ["a: 9007199254740991", { a: 9007199254740991 }],
  ["a: 9007199254740993", { a: 9007199254740993n }],
  ["a: -12345678901234567890\nb: 0xFFFFFFFFFFFFFFFFF", {
    a: -12345678901234567890n,
    b: 0xFFFFFFFFFFFFFFFFFn,
  }],
  ["a: '12345678901234567890'", { a: "12345678901234567890" }],
  ["a: 1\r\nb: |\r\n  x\r\n  y\r\n", { a: 1, b: "x\ny\n" }],
  ["a: |\n  x", { a: "x\n" }],
  ["a: |\n  x\n  \ty\n", { a: "x\n\ty\n" }],
  ["a: cat <<EOF\n", { a: "cat <<EOF" }],
  ["---\na: 1\n", { a: 1 }],
  ["a: -.5\nb: +.5e1\nc: .5\nd: 1_000.5\ne: 09.5", { a: -0.5, b: 5, c: 0.5, d: 1000.5, e: "09.5" }],
  ["a: -.5\nb: +.5e1\nc: .5\nd: 1_000.5\ne: 09.5\nf: {<<: {}}", {
    a: -0.5,
    b: 5,
    c: 0.5,
    d: 1000.5,
    e: "09.5",
    f: {},
  }],
  ["a: 1e400\nb: 12e4567\nc: 1e21", { a: "1e400", b: "12e4567", c: 1e21 }],
  // The value of an anchor may be empty or short.
  ["a: &x false\nb: *x", { a: false, b: false }],
  ["a: &x 0\nb: [*x]", { a: 0, b: [0] }],
  ["a: &x ''\nb: *x", { a: "", b: "" }],
  ['- &x ""\n- *x', ["", ""]],
  ["a: [1, 2]\nb: &x\nc: *x", { a: [1, 2], b: null, c: null }],
  ["a: {b: &x , c: *x}", { a: { b: null, c: null } }],
  ["a: &x !!str\nb: *x", { a: "", b: "" }],
  // Closing brackets need not be indented.
  ["a: {\n  b: 1\n}\nc: [\n  1, # one\n  2 # two\n]", { a: { b: 1 }, c: [1, 2] }],
  ["a:\r\n  b: {\r\n    c: [\r\n      'x\r\n       y'\r\n    ]\r\n  }\r\n", {
    a: { b: { c: ["x y"] } },
  }],
  ["-\n  a: {\n  }\n-\n x: &x {b: [\n ]}\n y:\n   <<: *x", [{ a: {} }, {
    x: { b: [] },
    y: { b: [] },
  }]],
  // Markers of documents belong to no value.
  ["a: |\n  b\n\n...\n", { a: "b\n" }],
  ["a: |+\n  b\n\n...\n# bye\n", { a: "b\n\n" }],
  ["a: >\n  b\n...\n", { a: "b\n" }],
  ["--- |\n  %YAML 1.2\n", "%YAML 1.2\n"],
  ["--- a\n...\n", "a"],
  ["a: 1\n---\n", { a: 1 }],
  ["%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n", { a: "1" }],
  // Found misread by other readers.
  ['a: "b \n  c\t\n\n  d"', { a: "b c\nd" }],
  ["'a ': 1\n? b\n: - 2\n  -   - 3", { "a ": 1, b: [2, [3]] }],
  ["a:\n- b\n-\n  - c", { a: ["b", ["c"]] }],
  ["a: b#c\nd: 'e'  # f", { a: "b#c", d: "e" }],
  ["{a: [b, {c: d}], 'e': f?, g: ::h}", { a: ["b", { c: "d" }], e: "f?", g: "::h" }],
  ["# hello\n%YAML 1.2\n--- # here\na: 1\n...\n# bye\n", { a: 1 }],
  ["5: x\ntrue: y\n", { "5": "x", true: "y" }],
  ["x: &x {k: 1}\na: *x\nb: *x", { x: { k: 1 }, a: { k: 1 }, b: { k: 1 } }],
  // Merge keys.
  ["a: &a {k: 1, l: 1}\nb:\n  <<: *a\n  l: 2", { a: { k: 1, l: 1 }, b: { k: 1, l: 2 } }],
  ["a: &a {k: 1, l: 1}\nb:\n  l: 2\n  <<: *a", { a: { k: 1, l: 1 }, b: { l: 2, k: 1 } }],
  ["a: &a {k: 1}\nb: &b {k: 2, l: 2}\nc: {<<: [*a, *b]}", {
    a: { k: 1 },
    b: { k: 2, l: 2 },
    c: { k: 1, l: 2 },
  }],
  ["a: &a {k: 1}\nb: &b {k: 2, l: 2}\nc:\n  <<: *b\n  <<: *a", {
    a: { k: 1 },
    b: { k: 2, l: 2 },
    c: { k: 2, l: 2 },
  }],
  ["a: &a {n: 010, o: 1_000, p: 09}\nb: {<<: *a}", {
    a: { n: 8, o: 1000, p: "09" },
    b: { n: 8, o: 1000, p: "09" },
  }],
  ['"<<": 1', { "<<": 1 }],
  // Several files.
  [["a: 1\nb: {c: 1}", "b: {d: 2}\ne: 3"], { a: 1, b: { d: 2 }, e: 3 }],
  [["a: 1", "a: 2", "a: 3\nb: 4"], { a: 3, b: 4 }],
  [["x: &x {k: 1}", "a: *x\nb:\n  <<: *x\n  l: 2"], {
    x: { k: 1 },
    a: { k: 1 },
    b: { k: 1, l: 2 },
  }],
  [["x: &x [1]\n", "x: 2\ny: *x"], { x: 2, y: [1] }],
  [["---\na: 1\n...\n", "---\nb: 2"], { a: 1, b: 2 }],
  [["a: 1", "", "# nothing\n"], { a: 1 }],
  [['{"a": 1,\n "b": 2}', "b: 3"], { a: 1, b: 3 }],
  [["a: |\n  x", "b: 1"], { a: "x\n", b: 1 }],
];

Deno.test("readYaml() reads one or several files as one document", async () => {
  for (const [texts, value] of VALUES) {
    const document = await read(...(typeof texts === "string" ? [texts] : texts));
    assertEquals(JSON.stringify(document.value), JSON.stringify(value), JSON.stringify(texts));
  }
});

Deno.test("readYaml() reads __proto__ as a key", async () => {
  for (const text of ["__proto__: {a: 1}", "x: &x {__proto__: {a: 1}}\ny: {<<: *x}"]) {
    const { value } = await read(text);
    assertEquals(JSON.stringify(value).includes('"__proto__":{"a":1}'), true);
    assertEquals(({} as Record<string, unknown>).a, undefined);
  }
});

Deno.test("readYaml() refuses endless nesting", async () => {
  for (const text of ["[".repeat(20_000), "- ".repeat(20_000), "a: " + "{b: ".repeat(20_000)]) {
    const error = await assertRejects(() => read(text), LoadError, "YAML syntax error at line 1");
    assertEquals(error.diagnostics[0]?.message, "the values are nested too deeply");
  }
});

Deno.test("readYaml() refuses a file without content", async () => {
  for (const text of ["", "\n\n", "# nothing\n", "---\n"]) {
    await assertRejects(() => read(text), LoadError, "workflow file 'a.yml' is empty");
  }
});

function readJobs(...texts: readonly string[]) {
  return parseDocument(texts.map((text, index) => ({ name: `${"abc"[index]}.yml`, text })));
}

/** `file:line:column marked text`. */
async function locate(texts: readonly string[], path: Path, part?: "key" | "value") {
  const positions = positionsOf(await readJobs(...texts));
  const { file, line, column, text, from, to } = excerptOf(positions.locate(path, part));
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
    const location = await locate([`a: 1\n${sign}b: 2\n`], [`${sign}b`], "key");
    assertEquals(location, `a.yml:2:1 ${sign}b`);
  }
});

Deno.test("Positions.locate() reads a comment of any length once", async () => {
  const positions = positionsOf(
    await readYaml([{
      name: "a.yml",
      text: `${"#".repeat(200)}\njobs: {\n${"#".repeat(200)}\n}\n`,
    }]),
  );
  assertEquals(positions.locate(["jobs"])?.start, 207);
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
  const params: Path = ["jobs", 0, "steps", 0, "with"];
  assertEquals(await locate([text], [...params, "url"]), "a.yml:3:17 u");
  assertEquals(await locate([text], [...params, "headers", "a"]), "a.yml:3:33 b");
  assertEquals(await locate([text], [...params, "headers", "c"]), "a.yml:6:25 d");
  assertEquals(await locate([text], [...params, "nothing"]), "a.yml:6:11 {headers: {c: d}}");
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
  const positions = positionsOf(await readJobs(text));
  const mark = (key: string) => {
    const source = positions.text([key])!;
    const start = source.text.indexOf("two");
    const { line, column } = excerptOf({ source, start, end: start + 3 });
    return `${line}:${column}`;
  };
  assertEquals(["plain", "quoted", "literal", "folded"].map(mark), ["1:12", "2:18", "5:4", "8:3"]);
  assertEquals(positions.text(["folded"])?.text, "one two");
  assertEquals(positions.text(["number"])?.text, "5");
  assertEquals(positions.text(["list"]), undefined);
  assertEquals(positions.text(["none"]), undefined);
  assertEquals(positions.text(["nothing"]), undefined);
});

/** The value that the program reads in a text. */
function valueOf(text: string): unknown {
  return constructValues(parseYaml([{ name: "", text }]))[0];
}

/** Texts that YAML reads as something else, or that are hard to write. */
const HOSTILE = [
  ...["", " ", "  ", "\n", "\n\n", " \n", "\t", "a\tb", "\ta", "a ", " a", "a\n", "a\n\n", "\na"],
  ...["\n a", " a\nb", "a\n b\n", "a \nb", "a\r\nb", "\r", "a\n\n\nb", "  a\n b\nc\n", "\n\n  a"],
  ...["~", "null", "Null", "true", "True", "yes", "Yes", "no", "on", "off", "y", "N", "<<", "="],
  ...[
    "0o17",
    "0o8",
    "017",
    "08",
    "0x1F",
    "0b11",
    "1e3",
    "1.5e3",
    "+1",
    "-.5",
    "+.5",
    ".5",
    "1.",
    "_",
  ],
  ...["1_000", "1:30", "190:20:30", ".inf", "-.Inf", ".nan", "0.1.2", "2020-01-01", "12e03", "-0"],
  ...[
    "2020-01-01T10:00:00Z",
    "9007199254740993",
    "1e999",
    "...",
    "---",
    "--- a",
    "a: b",
    "a:",
    ":a",
  ],
  ...[
    "- a",
    "-",
    "?",
    "? a",
    "a #b",
    "#a",
    "a#b",
    "&a",
    "*a",
    "!a",
    "!!int 1",
    "|",
    ">",
    "%a",
    "@a",
  ],
  ...["`a`", "'", '"', "''", '"a"', "a'b", 'a"b', "[a", "{a", "a, b", "]", "{{x}}", "{{ a: b }}"],
  ...[
    "\\",
    '"\\uFFFF0o17"',
    "\0",
    "\x07\x1b[0m",
    "\x85",
    "\u00a0",
    "\u2028",
    "\ufeffa",
    "é",
    "日本語",
  ],
  ...[
    "\u{1F600}",
    "\ud800",
    "\u200b",
    "\u202e",
    "x".repeat(2000),
    "word ".repeat(400),
    "__proto__",
  ],
];

Deno.test("printYaml() writes what reads back the same, as values and as keys", () => {
  for (const text of HOSTILE) {
    const keyed = Object.fromEntries([[text, { [text]: [text] }]]);
    const value = { a: text, list: [text, [text], { b: text }], keyed };
    const printed = printYaml(value);
    assertEquals(valueOf(printed), value, printed);
    assertEquals(parse(printed), value, printed);
  }
});

Deno.test("printYaml() writes texts of the signs of numbers so that they stay texts", () => {
  const signs = ["0", "1", "9", "o", "x", "b", "f", "e", ".", "_", "+", "-"];
  const longer = (texts: readonly string[]) => texts.flatMap((a) => signs.map((b) => a + b));
  const two = longer(signs);
  const texts = [...signs, ...two, ...longer(two), ...longer(longer(two))];
  const printed = printYaml({ texts });
  assertEquals(valueOf(printed), { texts });
  assertEquals(parse(printed), { texts });
});

Deno.test("printYaml() writes random lines of text so that they read back the same", () => {
  const random = generator(20_261_126);
  const parts = [
    " ",
    "  ",
    "\n",
    "\t",
    "a",
    "word",
    "-",
    "#",
    ":",
    "'",
    '"',
    "|",
    "é",
    "{{",
    "0",
    ",",
  ];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: random(12) }, () => parts[random(parts.length)]).join("");
    const value = { a: { b: [text] } };
    assertEquals(valueOf(printYaml(value)), value);
    assertEquals(parse(printYaml(value)), value);
  }
});

Deno.test("printYaml() writes numbers with all their digits, and leaves out what is undefined", () => {
  const numbers = [0, -1, 1.5, 1e21, 1e-7, 9007199254740993n, -9007199254740993n, Infinity];
  assertEquals(valueOf(printYaml({ numbers, none: undefined, nil: null })), { numbers, nil: null });
});

Deno.test("printYaml() writes double quotes, and lists deeper than their keys", () => {
  const value = { on: "no", at: "1:30", empty: "", list: [{ a: 1 }, "x: y"], none: [], map: {} };
  assertEquals(
    printYaml(value),
    '"on": "no"\nat: "1:30"\nempty: ""\nlist:\n  - a: 1\n  - "x: y"\nnone: []\nmap: {}\n',
  );
});

/** Texts with `«` before the quote or bracket that is still open at their end. */
const TEXTS: readonly string[] = [
  'a: «"b',
  "a: «'b",
  "a: «[1, 2",
  "a: «{b: 1",
  "a: {b: «[1, 2",
  'a: {b: [1, «"2}',
  "«{a: 1,\n b: 2",
  // Closed brackets above it are skipped.
  'a: {b: 1}\nc: [1, "2"]\nd: «"e',
  "- {a: [1]}\n- «{a: [1]\n",
  "a: {b: 1,\n  c: 2}\nd: «{e: 1\n",
  "a: {b: 1, # }\n  c: 2}\nd: «{e: 1\n",
  'a: "x\n  y"\nb: «"z',
  "a: 'it''s'\nb: «'it''s",
  'a: "\\""\nb: «"\\"',
  '"a": 1\n«"b',
  // A quote inside of text does not open a string.
  "a: it's\nb: «[1",
  'a: 5" x [1, {\nb: «"c',
  "a: {b: it's, c: d\"e}\nb: «{",
  "- it's\n- «'x",
  "a: b\n  'c\nd: «'e",
  "a: |\n  it's {\n\n  [\nb: «[1",
  "- a: |\n    it's {\n  b: «[1",
  "- |\n  it's {\n- «[1",
  "- >-\n  \"x\n- b: «'",
  'a: &x "b"\nc: !!str «"d',
  "# it's [\na: b # {\nc: «{d: 1",
  "- - - «[",
  "-\n  a: «[1",
  "a:\n text\nb: «[1",
  "a:\n  text\n goes on\nb: «[1",
  "a:\n  - b:\n      c: «'d",
  // Nothing is open.
  "",
  "a: 1\nb: [1, {c: 2}]\nd: 'e'\n",
  "a: it's\n",
  "a: |\n  {\n  [",
];

Deno.test("findOpening() finds the innermost quote or bracket that is still open", () => {
  for (const marked of TEXTS) {
    const at = marked.indexOf("«");
    const text = marked.replace("«", "");
    assertEquals(findOpening(text, text.length), at < 0 ? undefined : at, marked);
  }
});

Deno.test("findOpening() does not look beyond the end that it is given", () => {
  const text = 'a: "b\nc: "d"\n';
  assertEquals(findOpening(text, text.indexOf("c")), 3);
});

Deno.test("findOpening() takes time that grows with the text", () => {
  const text = "a: {b: 1}\n".repeat(100_000) + 'c: "' + 'x\\"\n'.repeat(500_000);
  assertEquals(findOpening(text, text.length), 1_000_003);
  const wide = `- a${" ".repeat(1_000_000)}b\n- "d`;
  assertEquals(findOpening(wide, wide.length), wide.length - 2);
});
