import { assertEquals, assertRejects } from "@std/assert";
import { LoadError } from "../../../src/base/errors.ts";
import { readYaml } from "../../../src/base/yaml/read_yaml.ts";

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
