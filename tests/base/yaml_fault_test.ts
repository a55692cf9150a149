import { assertEquals, assertRejects } from "@std/assert";
import { renderDiagnostic } from "../../src/base/diagnostic.ts";
import { LoadError } from "../../src/base/errors.ts";
import { readYaml } from "../../src/base/yaml/read_yaml.ts";
import { explainText } from "../support/load_files.ts";

const FAULTS: readonly (readonly [texts: string | readonly string[], reported: string])[] = [
  [
    "a: 1\nb: 2\na: 3",
    `YAML syntax error at line 3
a.yml:3:1: error: duplicate key "a"; the first one is in line 1
  3 | a: 3
    | ^ keep one of the two`,
  ],
  [
    "a:\n  - b: 1\n    c: 2\n    b: 3",
    `YAML syntax error at line 4
a.yml:4:5: error: duplicate key "b"; the first one is in line 2
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
a.yml:1:9: error: unknown YAML tag "!vars.x"
  1 | skipif: !vars.x
    |         ^^^^^^^ text that begins with "!" must be in quotes`,
  ],
  [
    "a: {{ x }} y",
    `YAML syntax error at line 1
a.yml:1:4: error: YAML reads {{ }} without quotes as a map
  1 | a: {{ x }} y
    |    ^^^^^^^ for a template, put the whole value in quotes`,
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
a.yml:2:4: error: this line does not fit the indentation above it
  2 |   b: 2
    |    ^ begin it at column 1`,
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
a.yml:1:4: error: unexpected "-"
  1 | a: - b
    |    ^ put the whole value in quotes, or begin a new line`,
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
    |    ^ begin it at column 5 or 3 or 1`,
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
a.yml:1:13: error: missed comma between flow collection entries
  1 | a: {b: [1, 2}
    |             ^`,
  ],
  [
    "test:\n- match_json(res.body, {a: [1]})",
    `YAML syntax error at line 2
a.yml:2:31: error: unexpected "}"
  2 | - match_json(res.body, {a: [1]})
    |                               ^ put the whole value in quotes, or begin a new line`,
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
a.yml:1:5: error: the stream contains non-printable characters
  1 | a: b␇
    |     ^`,
  ],
  [
    "<<: 1",
    `YAML syntax error at line 1
a.yml:1:1: error: cannot merge mappings; the provided source object is unacceptable
  1 | <<: 1
    | ^`,
  ],
  [
    "a: 1\n---\nb: 2",
    `YAML syntax error at line 2
a.yml:2:1: error: a second document begins here
  2 | ---
    | ^^^ a workflow is one document: remove this line`,
  ],
  // Several files: the one at fault, with its own lines.
  [
    ["a: 1\n", "b: 1\nc: {d: 1, d: 2}\n"],
    `YAML syntax error at line 2
b.yml:2:11: error: duplicate key "d"; the first one is in line 2
  2 | c: {d: 1, d: 2}
    |           ^ keep one of the two`,
  ],
  [
    ["a: 1\na: 2\n", "a: 3\n"],
    `YAML syntax error at line 2
a.yml:2:1: error: duplicate key "a"; the first one is in line 1
  2 | a: 2
    | ^ keep one of the two`,
  ],
  [
    ["a: 1\n", "a: 2\na: 3\n"],
    `YAML syntax error at line 2
b.yml:2:1: error: duplicate key "a"; the first one is in line 1
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
a.yml:2:1: error: only mappings can be joined with other files
  2 | - a
    | ^^^ write "key: value" lines`,
  ],
  [
    ["a: 1\n", "b: 1", "just text"],
    `YAML syntax error at line 1
c.yml:1:1: error: only mappings can be joined with other files
  1 | just text
    | ^^^^^^^^^ write "key: value" lines`,
  ],
  [
    ["x: &x 1\n", "- *x\n"],
    `YAML syntax error at line 1
b.yml:1:1: error: only mappings can be joined with other files
  1 | - *x
    | ^^^^ write "key: value" lines`,
  ],
];

Deno.test("readYaml() reports file, line and reason of invalid YAML", async () => {
  for (const [texts, reported] of FAULTS) {
    const files = (typeof texts === "string" ? [texts] : texts)
      .map((text, index) => ({ name: `${"abc"[index]}.yml`, text }));
    const error = await assertRejects(() => readYaml(files), LoadError);
    assertEquals([error.message, ...error.diagnostics.map(renderDiagnostic)].join("\n"), reported);
  }
});

Deno.test("readYaml() rejects text that only looks like YAML", async () => {
  const texts = [
    'a: "b" c: d',
    'a: "b"# c',
    "a: [b,#c\n]",
    "a: [b]c",
    'a: "b\nc"',
    "a: {\nb: c\n}",
    "a: 'b\n--- c'",
    "%YAML 1.2\na: b",
    "a: b\n... c",
    "- - a\n - b",
    "a: |x\n b",
    "a: &b &c d",
  ];
  for (const text of texts) {
    await assertRejects(() => readYaml([{ name: "a.yml", text }]), LoadError, "YAML syntax error");
  }
});

Deno.test("a text that is not YAML has no other errors", async () => {
  assertEquals(
    await explainText("name: 'x'#y\njobs: 5\n"),
    `YAML syntax error at line 1
flow.yml:1:10: error: text after the closing quote
  1 | name: 'x'#y
    |          ^ put the whole value in quotes`,
  );
});
