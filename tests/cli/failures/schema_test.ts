import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { failureAt80 } from "../../support/failures_at_80.ts";
import { runHere } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FILES = {
  "order.json": JSON.stringify({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    required: ["id", "customer"],
    properties: {
      id: { type: "integer" },
      items: { type: "array", minItems: 3, items: { $ref: "item.json" } },
      state: { enum: ["paid", "sent"] },
      email: { format: "email" },
      note: { maxLength: 20 },
      code: { pattern: "^[A-Z]{2}$" },
    },
    additionalProperties: false,
  }),
  "item.json": JSON.stringify({
    type: "object",
    properties: { price: { type: "number", minimum: 3 }, name: { type: "string" } },
    required: ["price"],
  }),
};

/** Tests about an order, and what is printed about each. */
const FAILURES: readonly (readonly [test: string, printed: string])[] = [
  [
    'schema(vars.order, "order.json")',
    `
w.yml:15:11: test is false
  15 |           schema(vars.order, "order.json")
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: "order.json"
+ received: vars.order
@ .customer
- required
+ (missing)
@ .tags
- no such property
+ ["gift","new","gift"]
@ .items
- at least 3 items
+ [{"name":"tea","price":3.5},{"name":"milk","price":2}]
@ .items[1].price
- >= 3
+ 2
@ .state
- one of ["paid","sent"]
+ "open"
@ .email
- format email
+ "ann"
`,
  ],
  [
    'schema(vars.order, {required: ["id", "total"]})',
    `
w.yml:15:11: test is false
  15 |           schema(vars.order, {required: ["id", "total"]})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {required: ["id", "total"]}
+ received: vars.order
@ .total
- required
+ (missing)
`,
  ],
  [
    'schema(vars.order, {properties: {id: {type: "string"}}})',
    `
w.yml:15:11: test is false
  15 |           schema(vars.order, {properties: {id: {type: "string"}}…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {properties: {id: {type: "string"}}}
+ received: vars.order
@ .id
- type string
+ 7
`,
  ],
  [
    "schema(vars.order.items, {items: {properties: {price: {minimum: 3}}}})",
    `
w.yml:15:11: test is false
  15 |           schema(vars.order.items, {items: {properties: {price: …
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: {properties: {price: {minimum: 3}}}}
+ received: vars.order.items
@ [1].price
- >= 3
+ 2
`,
  ],
  [
    'schema(vars.order, {properties: {state: {enum: ["paid", "sent"]}}})',
    `
w.yml:15:11: test is false
  15 |           schema(vars.order, {properties: {state: {enum: ["paid"…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {properties: {state: {enum: ["paid", "sent"]}}}
+ received: vars.order
@ .state
- one of ["paid","sent"]
+ "open"
`,
  ],
  [
    "schema(vars.order, {additionalProperties: false, properties: {id: {}, state: {}}})",
    `
w.yml:15:11: test is false
  15 |           schema(vars.order, {additionalProperties: false, prope…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {additionalProperties: false, properties: {id: {}, state: {…
+ received: vars.order
@ .email
- no such property
+ "ann"
@ .tags
- no such property
+ ["gift","new","gift"]
@ .items
- no such property
+ [{"name":"tea","price":3.5},{"name":"milk","price":2}]
`,
  ],
  [
    'schema(vars.order.email, {format: "email"})',
    `
w.yml:15:11: test is false
  15 |           schema(vars.order.email, {format: "email"})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {format: "email"}
+ received: vars.order.email
@ the value itself
- format email
+ "ann"
`,
  ],
  [
    "schema(vars.order.tags, {uniqueItems: true, maxItems: 2})",
    `
w.yml:15:11: test is false
  15 |           schema(vars.order.tags, {uniqueItems: true, maxItems: …
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {uniqueItems: true, maxItems: 2}
+ received: vars.order.tags
@ the value itself
- at most 2 items
+ ["gift","new","gift"]
@ the value itself
- items that differ
+ ["gift","new","gift"]
`,
  ],
  [
    'schema(vars.order, {oneOf: [{required: ["iban"]}, {required: ["card"]}]})',
    `
w.yml:15:11: test is false
  15 |           schema(vars.order, {oneOf: [{required: ["iban"]}, {req…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {oneOf: [{required: ["iban"]}, {required: ["card"]}]}
+ received: vars.order
@ .iban: by oneOf[0]
- required
+ (missing)
@ .card: by oneOf[1]
- required
+ (missing)
@ the value itself
- one schema of oneOf
+ {"email":"ann","id":7,"items":[{"name":"tea","price":3.5},{"name":"mi…
`,
  ],
  [
    "schema(vars.order, vars.bad)",
    `
w.yml:15:11: invalid schema: /type must be equal to one of the allowed
values: array, boolean, integer, null, number, object, string
  15 |           schema(vars.order, vars.bad)
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'schema(vars.ordr, "order.json")',
    `
w.yml:15:11: test is false
  15 |           schema(vars.ordr, "order.json")
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | vars has no "ordr"; did you mean "order"?
vars.ordr is nil
`,
  ],
];

for (const [test, printed] of FAILURES) {
  Deno.test(`the failure of ${test} at 80 columns`, async () => {
    const text = await failureAt80(
      `name: n
vars:
  order:
    id: 7
    state: open
    email: ann
    tags: [gift, new, gift]
    items: [{name: tea, price: 3.5}, {name: milk, price: 2}]
  bad: {type: strng}
jobs:
  - name: j
    steps:
      - uses: hello
        test: |
          ${test}
`,
      FILES,
    );
    assertEquals(`\n${text}\n`, printed);
  });
}

/** Files of a schema that `schema(vars.v, "s/a.json")` names, and what check says about it. */
const MISTAKES: readonly (readonly [
  title: string,
  files: Readonly<Record<string, string>>,
  message: string,
])[] = [
  ["there is no file", {}, "schema 's/a.json' not found"],
  ["it is not JSON", { "s/a.json": "{" }, "cannot read schema 's/a.json' as JSON"],
  [
    "it is not a schema",
    { "s/a.json": '{"type": "strng"}' },
    "invalid schema: /type must be equal to one of the allowed values",
  ],
  ["its draft is unknown", { "s/a.json": '{"$schema": "http://x/y"}' }, "unknown draft"],
  [
    "re2js cannot compile a pattern",
    { "s/a.json": '{"pattern": "(?=a)"}' },
    "invalid regular expression: lookaround is not supported",
  ],
  [
    "it refers to the network",
    { "s/a.json": '{"$ref": "https://example.com/b.json"}' },
    'refers to "https://example.com/b.json", which is not in a file',
  ],
  [
    "it refers to no file",
    { "s/a.json": '{"$ref": "b.json"}' },
    "schema 's/b.json' not found",
  ],
  [
    "it refers to no part",
    { "s/a.json": '{"$ref": "b.json#/$defs/x"}', "s/b.json": "{}" },
    "unknown schema ",
  ],
];

const NAMING = `name: n
vars: { v: 1 }
jobs: [{ name: j, steps: [{ uses: hello, test: 'schema(vars.v, "s/a.json")' }] }]
`;

for (const [title, files, message] of MISTAKES) {
  Deno.test(`check reports a schema where ${title}`, async () => {
    const { code, stdout } = await withFiles(
      { ...files, "w.yml": NAMING },
      (cwd) => runHere(["check", "w.yml"], { cwd }),
    );
    assertEquals(code, 1);
    assertStringIncludes(stdout, `w.yml:3:64: error: `);
    assertStringIncludes(stdout, message);
  });
}

Deno.test("a schema may name its own URI, and is read relative to its workflow", async () => {
  const files = {
    "in/w.yml": NAMING,
    "in/s/a.json": '{"$id": "https://example.com/a.json", "$ref": "parts/b.json#/definitions/n"}',
    "in/s/parts/b.json": '{"definitions": {"n": {"$ref": "c.json"}}}',
    "in/s/parts/c.json": '{"minimum": 2}',
  };
  const { code, stdout } = await withFiles(files, (cwd) => runHere(["in/w.yml"], { cwd }));
  assertEquals(code, 1);
  assertStringIncludes(stdout, "- >= 2\n        + 1\n");
});

Deno.test("each of two joined files names schemas beside itself", async () => {
  const steps = `- { uses: hello, test: 'schema(1, "s.json")' }`;
  const files = {
    "a/w.yml": `name: n\njobs:\n - name: j\n   steps:\n    ${steps}\n`,
    "b/w.yml": `finally:\n ${steps}\n`,
    "a/s.json": '{"type": "integer"}',
    "b/s.json": '{"type": "string"}',
  };
  const { stdout } = await withFiles(files, (cwd) => runHere(["a/w.yml,b/w.yml"], { cwd }));
  assertStringIncludes(stdout, "- type string\n        + 1\n");
  assertEquals(stdout.includes("- type integer"), false);
});

Deno.test("--allow-read applies to schemas and to what they refer to", async () => {
  const files = { "w.yml": NAMING, "s/a.json": '{"$ref": "../t/b.json"}', "t/b.json": "{}" };
  await withFiles(files, async (cwd) => {
    const run = (...paths: string[]) =>
      runHere(["--allow-read", paths.map((path) => `${cwd}/${path}`).join(","), "w.yml"], { cwd });
    assertStringIncludes((await run("t")).stderr, "cannot read schema 's/a.json': --allow-read");
    assertStringIncludes((await run("s")).stderr, "cannot read schema 't/b.json': --allow-read");
    assertEquals((await run("s", "t")).code, 0);
  });
});

Deno.test("the name of a schema is a constant", async () => {
  const text = await failureAt80(
    `name: n\njobs: [{name: j, steps: [{uses: hello, vars: {f: a.json}, test: 'schema(1, vars.f)'}]}]\n`,
  );
  assertStringIncludes(text, "the file name of schema() must be a constant");
});

Deno.test("read_text, read_json, read_yaml and sha256_file read files beside their workflow", async () => {
  const steps = (...tests: string[]) =>
    `name: n\njobs:\n- name: j\n  steps:\n${
      tests.map((test) => `  - { uses: hello, test: '${test}' }\n`).join("")
    }`;
  const files = {
    "in/w.yml": steps(
      'read_text("s/" + "a" + ".txt") == "tea\\n" && sha256_file("s/a.txt") == sha256("tea\\n")',
      'read_json("../a.json") == {a: [1]} && read_yaml("a.yml") == {a: [1]}',
      'read_json("../a.json") == {a: [2]}',
    ),
    "in/s/a.txt": "tea\n",
    "in/a.yml": "a: [1]",
    "a.json": '{"a": [1]}',
    "bad.yml": steps(
      'read_json("a" + ".jsn") == nil',
      'read_json("in/w.yml") == nil && read_yaml("bad.yaml") == nil',
      'read_text(vars.x) == ""',
    ),
    "bad.yaml": "a: [",
  };
  await withFiles(files, async (cwd) => {
    const run = await runHere(["in/w.yml"], { cwd });
    assertMatch(run.stdout, /1\. ✓ hello.*\n {3}2\. ✓ hello.*\n {3}3\. ✗ hello/);
    assertStringIncludes(
      run.stdout,
      '@ .a[0]\n          {\n            "a": [\n        -     2\n        +     1\n',
    );
    const { stdout } = await runHere(["check", "bad.yml"], { cwd });
    for (
      const message of [
        "bad.yml:5:37: error: file 'a.jsn' not found",
        'did you mean "a.json"?; files are read before the run, and the hash of a download is',
        "read_json() cannot read 'in/w.yml': line 1, column 2: unexpected",
        "read_yaml() cannot read 'bad.yaml': line 1, column 5: unexpected end",
        "the path of read_text() must be a constant",
      ]
    ) assertStringIncludes(stdout, message);
    const refused = await runHere(["--allow-read", `${cwd}/in`, "in/w.yml"], { cwd });
    assertStringIncludes(refused.stderr, "cannot read file 'a.json': --allow-read does not name");
  });
});
