import { assertEquals, assertRejects } from "@std/assert";
import { LoadError } from "../../src/source/errors.ts";
import { renderDiagnostic } from "../../src/source/render_diagnostic.ts";
import { readYaml } from "../../src/workflow/read_yaml.ts";

function read(...texts: readonly string[]) {
  return readYaml(texts.map((text, index) => ({ name: `${"abc"[index]}.yml`, text })));
}

/** Text that both parsers read, and some that only one of them reads rightly. */
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
  ["a: 9007199254740993", { a: "9007199254740993" }],
  ["a: -12345678901234567890\nb: 0xFFFFFFFFFFFFFFFFF", {
    a: "-12345678901234567890",
    b: "0xFFFFFFFFFFFFFFFFF",
  }],
  ["a: '12345678901234567890'", { a: "12345678901234567890" }],
  ["a: 1\r\nb: |\r\n  x\r\n  y\r\n", { a: 1, b: "x\ny\n" }],
  ["a: |\n  x", { a: "x\n" }],
  ["a: |\n  x\n  \ty\n", { a: "x\n\ty\n" }],
  ["a: cat <<EOF\n", { a: "cat <<EOF" }],
  ["---\na: 1\n", { a: 1 }],
  // Numbers mean the same to both parsers: each of these once as it is, and once with a merge key.
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
  // What an anchor stands for may be nothing, or little.
  ["a: &x false\nb: *x", { a: false, b: false }],
  ["a: &x 0\nb: [*x]", { a: 0, b: [0] }],
  ["a: &x ''\nb: *x", { a: "", b: "" }],
  ['- &x ""\n- *x', ["", ""]],
  ["a: [1, 2]\nb: &x\nc: *x", { a: [1, 2], b: null, c: null }],
  ["a: {b: &x , c: *x}", { a: { b: null, c: null } }],
  ["a: &x !!str\nb: *x", { a: "", b: "" }],
  // Lines in brackets and quotes need not be indented.
  ["a: {\n  b: 1\n}\nc: [\n1, # one\n2\n]", { a: { b: 1 }, c: [1, 2] }],
  ["a:\n  b: {\n    c: 12345678901234567\n  }\n  d: [\n  x\n y,\t'z\n\n  q']", {
    a: { b: { c: "12345678901234567" }, d: ["x y", "z\nq"] },
  }],
  ['a: 12345678901234567\r\nb:\r\n  c: {\r\n    d: "e\r\nf"\r\n  }\r\n', {
    a: "12345678901234567",
    b: { c: { d: "e f" } },
  }],
  ['a:\n  b: &b "c\n\n d\\\n  e"\n  f: {<<: {}}', { a: { b: "c\nde", f: {} } }],
  ["-\n  a: {\n  }\n-\n x: &x {b: [\n ]}\n y:\n   <<: *x", [{ a: {} }, {
    x: { b: [] },
    y: { b: [] },
  }]],
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
  [["a: |\n  x", "b: 1"], { a: "x\n", b: 1 }],
];

Deno.test("readYaml() reads one or several files as one document", async () => {
  for (const [texts, value] of VALUES) {
    const document = await read(...(typeof texts === "string" ? [texts] : texts));
    assertEquals(JSON.stringify(document.value), JSON.stringify(value), JSON.stringify(texts));
  }
});

Deno.test("readYaml() reads __proto__ as a key, whichever parser reads it", async () => {
  for (const text of ["__proto__: {a: 1}", "x: &x {__proto__: {a: 1}}\ny: {<<: *x}"]) {
    const { value } = await read(text);
    assertEquals(JSON.stringify(value).includes('"__proto__":{"a":1}'), true);
    assertEquals(({} as Record<string, unknown>).a, undefined);
  }
});

const FAULTS: readonly (readonly [texts: string | readonly string[], told: string])[] = [
  [
    "a: 1\nb: 2\na: 3",
    `YAML syntax error at line 3
a.yml:3:1: error: the key "a" is there twice
  3 | a: 3
    | ^ keep one of the two`,
  ],
  [
    "a:\n  - b: 1\n    c: 2\n    b: 3",
    `YAML syntax error at line 4
a.yml:4:5: error: the key "b" is there twice
  4 |     b: 3
    |     ^ keep one of the two`,
  ],
  [
    "a:\n\tb: 1",
    `YAML syntax error at line 2
a.yml:2:1: error: a tab in the indentation
  2 |  b: 1
    | ^ indent with spaces`,
  ],
  [
    "skipif: !vars.x",
    `YAML syntax error at line 1
a.yml:1:9: error: "!vars.x" is read as a YAML tag, and there is no such tag
  1 | skipif: !vars.x
    |         ^^^^^^^ text that begins with "!" must be in quotes`,
  ],
  [
    "a: {{ x }} y",
    `YAML syntax error at line 1
a.yml:1:12: error: YAML reads {{ }} without quotes as a mapping
  1 | a: {{ x }} y
    |            ^ for a template, put the whole value in quotes`,
  ],
  [
    "test: a == b: c",
    `YAML syntax error at line 1
a.yml:1:13: error: a second ": " in one line
  1 | test: a == b: c
    |             ^ put the whole value in quotes, or begin a new line`,
  ],
  [
    "a: @b",
    `YAML syntax error at line 1
a.yml:1:4: error: a value cannot begin with "@"
  1 | a: @b
    |    ^ put the whole value in quotes`,
  ],
  [
    "a: *.js",
    `YAML syntax error at line 1
a.yml:1:4: error: the alias "*.js" has no anchor "&.js" before it
  1 | a: *.js
    |    ^^^^ text that begins with * must be in quotes`,
  ],
  [
    'a: 1\nb: "c\nd: 2\ne: 3\n',
    `YAML syntax error at line 2
a.yml:2:4: error: the text that begins here is not closed
  2 | b: "c
    |    ^ close it, and indent the lines that belong to it`,
  ],
  [
    "a: [1, 2\nb: 3\n",
    `YAML syntax error at line 1
a.yml:1:4: error: this "[" is not closed
  1 | a: [1, 2
    |    ^ close it, and indent the lines that belong to it`,
  ],
  [
    'a: "x" == b',
    `YAML syntax error at line 1
a.yml:1:8: error: text after the closing quote
  1 | a: "x" == b
    |        ^ put the whole value in quotes`,
  ],
  [
    "a: 1\n  b: 2",
    `YAML syntax error at line 2
a.yml:2:4: error: this line is indented as if it belonged to the value above it
  2 |   b: 2
    |    ^`,
  ],
  [
    "a: [1,,2]",
    `YAML syntax error at line 1
a.yml:1:7: error: a value is missing before this ","
  1 | a: [1,,2]
    |       ^`,
  ],
  [
    "a: {\n}\nb: <<\nc: 'd' e",
    `YAML syntax error at line 4
a.yml:4:8: error: text after the closing quote
  4 | c: 'd' e
    |        ^ put the whole value in quotes`,
  ],
  [
    "a: {\n  b: 1\nc: 2\n",
    `YAML syntax error at line 1
a.yml:1:4: error: this "{" is not closed
  1 | a: {
    |    ^ close it, and indent the lines that belong to it`,
  ],
  [
    "a: - b",
    `YAML syntax error at line 1
a.yml:1:4: error: a list cannot begin here
  1 | a: - b
    |    ^ begin it on a line of its own`,
  ],
  [
    "a: -",
    `YAML syntax error at line 1
a.yml:1:4: error: a list cannot begin here
  1 | a: -
    |    ^ begin it on a line of its own`,
  ],
  [
    "a: 1\nb\n\n",
    `YAML syntax error at line 2
a.yml:2:1: error: a key without a value
  2 | b
    | ^ write "key: value"`,
  ],
  [
    "a: 1\nb\nc: 1\n",
    `YAML syntax error at line 2
a.yml:2:1: error: a key without a value
  2 | b
    | ^ write "key: value"`,
  ],
  [
    "a:\n  - b: 1\n    c:1\n    d: 1\n",
    `YAML syntax error at line 3
a.yml:3:5: error: a key without a value
  3 |     c:1
    |     ^^^ a space must follow the ":"`,
  ],
  [
    "a:\n  - b: 1\n   c: 1\n",
    `YAML syntax error at line 3
a.yml:3:4: error: this line does not fit the indentation above it
  3 |    c: 1
    |    ^`,
  ],
  [
    'a: {b: [1, 2], c: {}}\nd: {e: 1}\nf: "g\nh: 1\ni: {j: 1}\n',
    `YAML syntax error at line 3
a.yml:3:4: error: the text that begins here is not closed
  3 | f: "g
    |    ^ close it, and indent the lines that belong to it`,
  ],
  [
    "a: {{ b\nc: 1",
    `YAML syntax error at line 1
a.yml:1:4: error: this "{" is not closed
  1 | a: {{ b
    |    ^ for a template, put the whole value in quotes`,
  ],
  [
    "a: {b: [1, 2}",
    `YAML syntax error at line 1
a.yml:1:13: error: a closing bracket is missing before this, or it is another one
  1 | a: {b: [1, 2}
    |             ^`,
  ],
  [
    "a: {b: 1 c: 2}",
    `YAML syntax error at line 1
a.yml:1:11: error: a "," or a closing bracket is missing before this
  1 | a: {b: 1 c: 2}
    |           ^ a value with brackets, quotes or commas in it must be in quotes`,
  ],
  [
    "a: [1]]",
    `YAML syntax error at line 1
a.yml:1:7: error: this "]" closes nothing
  1 | a: [1]]
    |       ^`,
  ],
  [
    'a: "\\d"',
    `YAML syntax error at line 1
a.yml:1:5: error: unknown escape \\d
  1 | a: "\\d"
    |     ^^ write "\\\\" for a backslash, or put the text in single quotes`,
  ],
  [
    "a: b\x07",
    `YAML syntax error at line 1
a.yml:1:5: error: a character that YAML does not allow: U+0007
  1 | a: b␇
    |     ^ write it as an escape in double quotes`,
  ],
  [
    "a: !!int b",
    `YAML syntax error at line 1
a.yml:1:4: error: what follows does not fit the tag "!!int"
  1 | a: !!int b
    |    ^^^^^`,
  ],
  [
    "<<: 1",
    `YAML syntax error at line 1
a.yml:1:1: error: "<<" can merge mappings only
  1 | <<: 1
    | ^^ write <<: *anchor or <<: [*one, *other]`,
  ],
  [
    "a: 1\n---\nb: 2",
    `YAML syntax error at line 2
a.yml:2:1: error: a second document begins here
  2 | ---
    | ^^^ a workflow is one document: remove this line`,
  ],
  [
    "a: 1\n...\nb: 2",
    `YAML syntax error at line 2
a.yml:2:1: error: the document ends here, but the file goes on
  2 | ...
    | ^^^ a workflow is one document: remove this line`,
  ],
  // Several files: the one at fault, with its own lines.
  [
    ["a: 1\n", "b: 1\nc: {d: 1, d: 2}\n"],
    `YAML syntax error at line 2
b.yml:2:11: error: the key "d" is there twice
  2 | c: {d: 1, d: 2}
    |           ^ keep one of the two`,
  ],
  [
    ["a: 1\na: 2\n", "a: 3\n"],
    `YAML syntax error at line 2
a.yml:2:1: error: the key "a" is there twice
  2 | a: 2
    | ^ keep one of the two`,
  ],
  [
    ["a: 1\n", "a: 2\na: 3\n"],
    `YAML syntax error at line 2
b.yml:2:1: error: the key "a" is there twice
  2 | a: 3
    | ^ keep one of the two`,
  ],
  [
    ['x: 1\na: "1\n', 'b: "2"\n'],
    `YAML syntax error at line 2
a.yml:2:4: error: the text that begins here is not closed
  2 | a: "1
    |    ^ close it, and indent the lines that belong to it`,
  ],
  [
    ["a: 1\n", "b: 1\n", "c: *x\n"],
    `YAML syntax error at line 1
c.yml:1:4: error: the alias "*x" has no anchor "&x" before it
  1 | c: *x
    |    ^^ text that begins with * must be in quotes`,
  ],
  [
    ["a: 1", "---\nb: 1\n---\nc: 1"],
    `YAML syntax error at line 3
b.yml:3:1: error: a second document begins here
  3 | ---
    | ^^^ a workflow is one document: remove this line`,
  ],
  [
    ["# one\n- a\n", "b: 1\n"],
    `YAML syntax error at line 2
a.yml:2:1: error: a list cannot be joined with other files
  2 | - a
    | ^^^ each of them must be a mapping: write "key: value" lines`,
  ],
  [
    ["a: 1\n", "b: 1", "just text"],
    `YAML syntax error at line 1
c.yml:1:1: error: "just text" cannot be joined with other files
  1 | just text
    | ^^^^^^^^^ each of them must be a mapping: write "key: value" lines`,
  ],
  [
    ['---\n{"a": 1,\n "b": 2}\n', "c: 1\n"],
    `YAML syntax error at line 2
a.yml:2:1: error: a mapping in braces cannot be joined with other files
  2 | {"a": 1,
    | ^ write "key: value" lines without the braces`,
  ],
  [
    ["x: &x 1\n", "- *x\n"],
    `YAML syntax error at line 1
b.yml:1:1: error: a list cannot be joined with other files
  1 | - *x
    | ^^^^ each of them must be a mapping: write "key: value" lines`,
  ],
];

Deno.test("readYaml() says which line of which file is no YAML, and why", async () => {
  for (const [texts, told] of FAULTS) {
    const error = await assertRejects(
      () => read(...(typeof texts === "string" ? [texts] : texts)),
      LoadError,
    );
    assertEquals([error.message, ...error.diagnostics.map(renderDiagnostic)].join("\n"), told);
  }
});

Deno.test("readYaml() refuses what is nested without end", async () => {
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
