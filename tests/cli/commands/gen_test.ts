import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const API = `openapi: 3.0.0
info: { title: Pets, version: "1" }
servers: [{ url: http://127.0.0.1:1 }]
paths:
  /pets:
    get: { tags: [pets], responses: { "200": { description: Pets } } }
`;

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Runs `runner gen` in a directory with files; the names of those that are there afterwards. */
async function gen(files: Files, args: readonly string[], env: Record<string, string> = {}) {
  return await withFiles(files, async (cwd) => {
    const result = await runMain(["gen", ...args], { cwd, env });
    const names = [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
    const text = (name: string) =>
      names.includes(name) ? Deno.readTextFileSync(`${cwd}/${name}`) : "";
    return { ...result, names, written: text("w.yml") };
  });
}

const WROTE = "wrote w.yml: 1 job, 1 request; run it with BASE_URL=… runner w.yml";

// Run as one file, it takes a package from the registry, once, and Deno says so.
await gen({ "a.yml": API }, ["a.yml"]);

Deno.test("gen prints a workflow that loads", async () => {
  const { code, stdout, stderr, names } = await gen({ "a.yml": API }, ["a.yml"]);
  assertEquals([code, stderr, names], [0, "", ["a.yml"]]);
  assertStringIncludes(stdout, "\nname: Pets\n");
  assertStringIncludes(stdout, "get: /pets\n");
});

for (
  const args of [["-o", "w.yml"], ["--out", "w.yml"], ["--out=w.yml"], ["-o", "w.yml", "--force"]]
) {
  Deno.test(`gen a.yml ${args.join(" ")} writes the workflow to a file`, async () => {
    const printed = await gen({ "a.yml": API }, ["a.yml"]);
    const { code, stdout, stderr, names, written } = await gen({ "a.yml": API }, [
      "a.yml",
      ...args,
    ]);
    assertEquals([code, stdout, names], [0, "", ["a.yml", "w.yml"]]);
    assertEquals(stderr, `${WROTE}\n`);
    assertEquals(written, printed.stdout);
  });
}

Deno.test("gen overwrites no file, but for --force", async () => {
  const files = { "a.yml": API, "w.yml": "mine" };
  const other =
    "name: o\njobs: [{ name: j, steps: [{ uses: http, with: { get: 'http://b' } }] }]\n";
  for (const text of ["mine", other]) {
    const refused = await gen({ ...files, "w.yml": text }, ["a.yml", "-o", "w.yml"]);
    assertEquals([refused.code, refused.stdout, refused.written], [1, "", text]);
    assertEquals(
      refused.stderr,
      "runner: error: 'w.yml' already exists\n  overwrite it with --force, or print what it " +
        "lacks: runner gen a.yml w.yml\n",
    );
  }
  const forced = await gen(files, ["a.yml", "-o", "w.yml", "--force"]);
  assertEquals([forced.code, forced.names], [0, ["a.yml", "w.yml"]]);
  assertStringIncludes(forced.written, "name: Pets");
});

Deno.test("gen does not overwrite the description, under any path", async () => {
  for (const name of ["a.yml", "./a.yml", "../{}/a.yml"]) {
    await withFiles({ "a.yml": API }, async (cwd) => {
      const out = name.replace("{}", cwd.split("/").at(-1)!);
      const { code, stderr } = await runMain(["gen", "a.yml", "-o", out, "--force"], { cwd });
      assertEquals(code, 1);
      assertStringIncludes(stderr, `cannot write '${out}': this command reads it`);
      assertEquals(await Deno.readTextFile(`${cwd}/a.yml`), API);
    });
  }
});

Deno.test("gen leaves a file as it is where the description is wrong, also with --force", async () => {
  const files = { "a.yml": "openapi: 3.0.0\npaths: [", "w.yml": "mine" };
  const { code, written, names } = await gen(files, ["a.yml", "-o", "w.yml", "--force"]);
  assertEquals([code, written, names], [1, "mine", ["a.yml", "w.yml"]]);
});

Deno.test("gen writes to devices and pipes without --force", async () => {
  const { code, stdout, stderr } = await gen({ "a.yml": API }, ["a.yml", "-o", "/dev/null"]);
  assertEquals([code, stdout], [0, ""], stderr);
});

Deno.test("gen names the file that it cannot write", async () => {
  const directory = await gen({ "a.yml": API, "w/x": "" }, ["a.yml", "-o", "w"]);
  assertEquals([directory.code, directory.stdout, directory.names], [1, "", ["a.yml", "w"]]);
  assertStringIncludes(directory.stderr, "runner: error: cannot write 'w': ");
  const below = await gen({ "a.yml": API }, ["a.yml", "-o", "a.yml/w.yml"]);
  assertEquals([below.code, below.names], [1, ["a.yml"]]);
  assertStringIncludes(below.stderr, "runner: error: cannot write 'a.yml/w.yml': ");
  assertNoTrace(below);
});

Deno.test("gen explains --force, and accepts one description and one workflow", async () => {
  const alone = await gen({ "a.yml": API }, ["a.yml", "--force"]);
  assertEquals(alone.code, 1);
  assertStringIncludes(alone.stderr, "runner: error: option --force requires --out");
  const three = await gen({ "a.yml": API }, ["a.yml", "b.yml", "c.yml"]);
  assertEquals([three.code, three.stdout], [1, ""]);
  assertStringIncludes(three.stderr, 'unexpected argument "c.yml"');
  const none = await gen({}, []);
  assertEquals(none.code, 1);
  assertStringIncludes(none.stderr, "<openapi_file> is missing");
});

const IS = '  an OpenAPI description starts with its version, such as "openapi: 3.1.0"\n';

/** The text of a file, and the messages about it. */
const BAD: readonly (readonly [what: string, text: string | Uint8Array, said: string])[] = [
  ["an empty file", "", `OpenAPI file 'x' is empty\n${IS}`],
  ["nothing but comments", "# a\n\n  # b\n", `OpenAPI file 'x' is empty\n${IS}`],
  ["a plain text", "Hello, world", `'x' is not an OpenAPI description\n${IS}`],
  ["a list", "[1, 2]", `'x' is not an OpenAPI description\n${IS}`],
  ["null", "null", `OpenAPI file 'x' is empty\n${IS}`],
  [
    "a workflow",
    "name: w\njobs: []\n",
    "'x' is not an OpenAPI description\n  it is a workflow: run it with runner x\n",
  ],
  [
    "an AsyncAPI description",
    "asyncapi: 3.0.0\n",
    "'x' is not an OpenAPI description\n  it is an AsyncAPI description\n",
  ],
  [
    "Swagger 1",
    '{"swaggerVersion": "1.2"}',
    "'x' is not an OpenAPI description\n  Swagger 1 is not supported; the versions 2.0 to 3.1 are\n",
  ],
  [
    "a version of the future",
    "openapi: 4.0.0\npaths: {}\n",
    "OpenAPI version \"4.0.0\" of 'x' is not supported\n  supported versions are 2.0, 3.0 and 3.1\n",
  ],
  [
    "a version of the past",
    'swagger: "1.2"\n',
    "OpenAPI version \"1.2\" of 'x' is not supported\n  supported versions are 2.0, 3.0 and 3.1\n",
  ],
  [
    "no paths",
    "openapi: 3.0.0\n",
    "'x' describes no operations\n  operations are listed in \"paths\"\n",
  ],
  [
    "paths without operations",
    "openapi: 3.0.0\npaths: { /a: { summary: x }, b: { get: {} } }\n",
    '\'x\' describes no operations\n  a path starts with "/" and has operations such as "get"\n',
  ],
  [
    "webhooks alone",
    "openapi: 3.1.0\nwebhooks: { w: { post: {} } }\n",
    "'x' describes no operations\n" +
    "  it describes only webhooks, which the API itself calls\n",
  ],
  [
    "broken YAML",
    "openapi: 3.0.0\npaths: [\n",
    "YAML syntax error at line 2\n" +
    'x:2:8: error: this "[" is not closed\n' +
    "  2 | paths: [\n" +
    "    |        ^ close it, and indent the lines that belong to it\n",
  ],
  [
    "bytes",
    new Uint8Array([0x7b, 0xff, 0x00, 0xfe]),
    "cannot read OpenAPI file 'x': it is not UTF-8 text: the byte at offset 1 is 0xff\n  save it as UTF-8\n",
  ],
];

for (const [what, text, said] of BAD) {
  Deno.test(`gen refuses ${what}`, async () => {
    const result = await gen({ x: text }, ["x", "-o", "w.yml"]);
    assertEquals([result.code, result.stdout, result.names], [1, "", ["x"]]);
    assertEquals(result.stderr, `runner: error: ${said}`);
  });
}

Deno.test("gen refuses a path that is not a file", async () => {
  const missing = await gen({}, ["x.yml"]);
  assertEquals(
    [missing.code, missing.stderr],
    [1, "runner: error: OpenAPI file 'x.yml' not found\n"],
  );
  const directory = await gen({ "x/a.yml": API }, ["x"]);
  assertEquals(
    [directory.code, directory.stderr],
    [
      1,
      "runner: error: cannot read OpenAPI file 'x': it is a directory\n" +
      "  name one of the files in it: a.yml\n",
    ],
  );
});

Deno.test("gen reports invalid JSON as JSON", async () => {
  const { code, stderr } = await gen({ "x.json": '{"openapi": "3.0.0",\n "paths": {]}' }, [
    "x.json",
  ]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "runner: error: JSON syntax error at line 2\nx.json:2:12: error: ");
});

Deno.test("gen reports a description that is nested too deeply", async () => {
  for (const [open, close] of [['{"a":', "}"], ["[", "]"]]) {
    const deep = `${open!.repeat(3000)}1${close!.repeat(3000)}`;
    const text = `{"openapi": "3.0.0", "paths": ${deep}}`;
    const result = await gen({ "x.json": text }, ["x.json"]);
    assertEquals([result.code, result.stdout], [1, ""]);
    // By the parser, or by what follows references, as the stack of the build allows.
    assertStringIncludes(result.stderr, "nested too deeply");
    assertNoTrace(result);
  }
});

Deno.test("gen reports all unresolved references with their places", async () => {
  const text = `openapi: 3.0.0
paths:
  /a:
    get:
      parameters:
        - $ref: "#/components/parameters/Limt"
        - $ref: common.yml#/Limit
        - $ref: https://127.0.0.1:1/params.yml#/Limit
        - $ref: broken.yml
        - $ref: part.json
components:
  parameters:
    Limit: { name: limit, in: query }
`;
  const files = { "d/x.yml": text, "d/part.json": '{"$ref": "#/gone"}', "d/broken.yml": "a: [\n" };
  const { code, stdout, stderr, names } = await gen(files, ["d/x.yml", "-o", "w.yml"]);
  assertEquals([code, stdout, names], [1, "", ["d"]]);
  assertEquals(
    stderr,
    `runner: error: cannot resolve the references of 'd/x.yml'
d/x.yml:6:17: error: cannot resolve the reference "#/components/parameters/Limt"
  6 |         - $ref: "#/components/parameters/Limt"
    |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ did you mean "Limit"?
d/x.yml:7:17: error: OpenAPI file 'd/common.yml' not found
  7 |         - $ref: common.yml#/Limit
    |                 ^^^^^^^^^^^^^^^^^
d/x.yml:8:17: error: remote references are not fetched: "https://127.0.0.1:1/params.yml#/Limit"
  8 |         - $ref: https://127.0.0.1:1/params.yml#/Limit
    |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ download it, and refer to the path of the file
d/x.yml:9:17: error: YAML syntax error at line 1
  9 |         - $ref: broken.yml
    |                 ^^^^^^^^^^
d/broken.yml:1:4: error: this "[" is not closed
  1 | a: [
    |    ^ close it, and indent the lines that belong to it
d/part.json:1:10: error: cannot resolve the reference "#/gone"
  1 | {"$ref": "#/gone"}
    |          ^^^^^^^^
`,
  );
});

Deno.test("gen follows references in directories of any name, and reports those whose part is missing", async (test) => {
  const main = "openapi: 3.0.0\npaths:\n  /a: { $ref: 'paths/a b.yml#/NAME' }\n";
  const part = "things: { get: { operationId: listThings, responses: {} } }\n";
  for (const directory of ["plain", "a b", "ünï 目录", "50% off", "what?", "a#b", "[x]"]) {
    await test.step(directory, async () => {
      const file = `${directory}/x.yml`;
      const files = {
        [file]: main.replace("NAME", "things"),
        [`${directory}/paths/a b.yml`]: part,
      };
      const good = await gen(files, [file]);
      assertEquals([good.code, good.stderr], [0, ""]);
      assertStringIncludes(good.stdout, "listThings");

      const bad = await gen({ ...files, [file]: main.replace("NAME", "thinks") }, [file]);
      assertEquals([bad.code, bad.stdout], [1, ""]);
      assertStringIncludes(bad.stderr, 'paths/a b.yml#/thinks"\n');
      assertStringIncludes(bad.stderr, `${file}:3:15: error: `);
      assertStringIncludes(bad.stderr, 'did you mean "things"?');
    });
  }
});

Deno.test("gen fetches nothing, and says which reference it did not follow", async () => {
  let asked = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    asked++;
    return Response.json({});
  });
  try {
    const url = `http://127.0.0.1:${server.addr.port}/x.json`;
    const text = `openapi: 3.0.0\npaths: { /a: { $ref: "${url}" } }\n`;
    const { code, stderr } = await gen({ "x.yml": text }, ["x.yml"]);
    assertEquals([code, asked], [1, 0]);
    assertStringIncludes(stderr, `remote references are not fetched: "${url}"`);
  } finally {
    await server.shutdown();
  }
});

Deno.test("gen reads a reference in a file whose name has signs of a URL in it", async () => {
  const api = 'openapi: 3.0.0\npaths: { /a: { $ref: "./b%20%23%251.yml#/item" } }\n';
  const files = { "an #api 100%.yml": api, "b #%1.yml": "item: { get: { summary: found } }\n" };
  const { code, stdout, stderr } = await gen(files, ["an #api 100%.yml"]);
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "name: found\n");
  assertStringIncludes(stdout, '# Made by "runner gen" from an #api 100%.yml.\n');
});

Deno.test("gen survives descriptions that are wrong in every part", async () => {
  const wrong = ["null", "5", '"x"', "[]", "{}", "[null]", '{"a": null}', '{"$ref": 5}', "true"];
  const parts = [
    (value: string) => `"parameters": ${value}`,
    (value: string) =>
      `"parameters": [{"name": "q", "in": "query", "required": true, "schema": ${value}}]`,
    (value: string) => `"parameters": [{"name": "q", "in": "query", "example": ${value}}]`,
    (value: string) => `"requestBody": ${value}`,
    (value: string) => `"requestBody": {"content": ${value}}`,
    (value: string) => `"requestBody": {"content": {"application/json": ${value}}}`,
    (value: string) => `"responses": ${value}`,
    (value: string) =>
      `"responses": {"200": {"content": {"application/json": {"schema": ${value}}}}}`,
    (value: string) =>
      `"responses": {"200": {"content": {"application/json": {"schema": {"allOf": ${value}, "required": ${value}, "properties": ${value}, "oneOf": ${value}}}}}}`,
    (value: string) => `"security": ${value}, "tags": ${value}, "servers": ${value}`,
    (value: string) => `"summary": ${value}, "operationId": ${value}, "deprecated": ${value}`,
  ];
  const paths = parts.flatMap((part, row) =>
    wrong.map((value, column) => `"/p${row}/{id}/${column}": {"post": {${part(value)}}}`)
  );
  for (const version of ['"openapi": "3.1.0"', '"swagger": "2.0"']) {
    const text =
      `{${version}, "info": 5, "tags": 5, "servers": 5, "components": 5, "paths": {${paths}}}`;
    await withFiles({ "x.json": text }, async (cwd) => {
      const made = await runMain(["gen", "x.json", "-o", "w.yml"], { cwd });
      assertEquals([made.code, made.stdout], [0, ""], made.stderr);
      const checked = await runMain(["check", "--strict", "w.yml"], { cwd });
      assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);
      const steps = Deno.readTextFileSync(`${cwd}/w.yml`).match(/^ {8}uses: http$/gm) ?? [];
      assert(steps.length === paths.length, `${steps.length} steps`);
    });
  }
});

Deno.test("gen reports references that lead back to themselves", async () => {
  const text = 'openapi: 3.0.0\npaths:\n  /a: { $ref: "#/paths/~1b" }\n' +
    '  /b: { $ref: "#/paths/~1a" }\n  /c: { $ref: "#/paths/~1c" }\n  /d: { $ref: "#/paths/~1a" }\n';
  const { code, stderr } = await gen({ "x.yml": text }, ["x.yml"]);
  assertEquals(code, 1);
  assertEquals(
    stderr.match(/x\.yml.*/g),
    [
      "x.yml'",
      'x.yml:3:15: error: reference cycle: "#/paths/~1b" refers to itself',
      'x.yml:4:15: error: reference cycle: "#/paths/~1a" refers to itself',
      'x.yml:5:15: error: reference cycle: "#/paths/~1c" refers to itself',
    ],
  );
});

Deno.test("gen makes a workflow that loads of odd references, header names and repeated secrets", async () => {
  const token = "ghp_1234567890abcdef1234567890abcdef12345678";
  const text = `openapi: 3.1.0
paths:
  /a:
    post:
      parameters:
        - { name: " lead", in: header, required: true, schema: { type: string } }
        - { name: q, in: query, example: "first ${token} then ${token}" }
      requestBody:
        content: { application/json: { schema: { $ref: "#/components/schemas/X" } } }
      responses: { "200": { description: x } }
components:
  schemas:
    X: { $ref: [node] }
`;
  await withFiles({ "x.yml": text }, async (cwd) => {
    const made = await runMain(["gen", "x.yml", "-o", "w.yml"], { cwd });
    assertEquals(made.code, 0, made.stderr);
    const checked = await runMain(["check", "--strict", "w.yml"], { cwd });
    assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);
    assert(!Deno.readTextFileSync(`${cwd}/w.yml`).includes("ghp_"));
  });
});

Deno.test("gen lets keys beside a reference override those of its target", async () => {
  const text = `openapi: 3.1.0
paths:
  /a: { $ref: "#/components/pathItems/A", summary: Own summary }
components:
  pathItems:
    A: { summary: Other, get: { responses: { "200": { description: x } } } }
`;
  const { code, stdout, stderr } = await gen({ "x.yml": text }, ["x.yml"]);
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "name: Own summary\n");
});

Deno.test("gen refuses maps as keys, also in examples", async () => {
  const text = `openapi: 3.1.0
paths:
  /a:
    post:
      requestBody: { content: { application/json: { example: { in: { ? { a: b } : c } } } } }
      responses: { "200": { description: x } }
`;
  const { code, stdout, stderr } = await gen({ "x.yml": text }, ["x.yml"]);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "x.yml:5:");
  assertStringIncludes(stderr, "error: a map cannot be a key\n");
});
