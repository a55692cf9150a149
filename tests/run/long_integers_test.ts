import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { runInPieces } from "../support/run/run_pieces.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

const LONG = "4634343214213523454";

const PLUGIN = `export default ({ action, value }) => action({
  name: "double", summary: "Doubles", params: { id: value("any", "A number") },
  run: (_, { id }) => ({ res: { id, sum: id + id } }),
});
`;

/** Answers with the body of the request, and keeps it. */
function echoServer(bodies: string[]) {
  return withServer(async (request) => {
    const text = await request.text();
    bodies.push(text);
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
}

function flow(url: string): string {
  return `name: long
vars: { id: ${LONG}, given: 0 }
jobs:
  - name: a
    id: a
    defaults: { http: { post: "${url}" } }
    steps:
      - uses: http
        id: sent
        with: { json: { id: ${LONG}, read: "{{vars.id}}", text: "n{{vars.id}}", given: "{{vars.given}}" } }
        test: |
          res.body == {id: ${LONG}, read: vars.id, text: "n${LONG}", given: -9007199254740993}
          && match_json(res.body, {id: is_type("integer"), read: anything(), text: anything(), given: anything()})
          && schema(res.body, {properties: {id: {type: "integer", minimum: ${LONG}, maximum: ${LONG}}}})
        outputs: { id: res.body.id, next: res.body.id + 1 }
        snapshot: true
        echo: "{{res.body.id}}"
      - { uses: http, with: { form: { id: "{{vars.id}}" } }, test: 'res.body == "id=${LONG}"' }
      - { uses: http, iteration: { file: rows.json }, with: { json: "{{vars.id}}" } }
      - { uses: http, iteration: { file: rows.jsonl }, with: { json: "{{vars.id}}" } }
      - { uses: http, iteration: { file: rows.csv, types: { id: integer } }, with: { json: "{{vars.id}}" } }
      - { uses: http, iteration: { file: rows.yaml }, with: { json: "{{vars.id}}" } }
      - { uses: double, with: { id: "{{vars.id}}" }, test: res.sum == 2 * vars.id && req.id == vars.id }
  - name: b
    id: b
    needs: [a]
    steps:
      - { uses: echo, with: { message: "{{outputs.sent.next}}" }, test: outputs.sent.id == vars.id && res.message == "4634343214213523455" }
`;
}

const FILES = {
  "rows.json": '[{"id": 9007199254740993}]',
  "rows.jsonl": '{"id": 9007199254740994}\n{"id": 9007199254740992}\n',
  "rows.csv": "id\n-9007199254740995\n",
  "rows.yaml": "- id: 9007199254740996\n",
  "plugins/runner-double.js": PLUGIN,
};

Deno.test("an integer beyond 2^53 keeps its digits on its way through a run", async () => {
  const bodies: string[] = [];
  await using server = echoServer(bodies);
  await withFiles({ ...FILES, "w.yml": flow(server.url) }, async (cwd) => {
    const env = { RUNNER_PLUGIN_DIR: `${cwd}/plugins` };
    const reports = ["json=r.json", "html=r.html", "ndjson=r.ndjson"];
    const args = reports.flatMap((report) => ["--report", report]);
    // The second time, it is compared with the snapshot.
    for (const _ of [1, 2]) {
      bodies.length = 0;
      const run = await runMain(["w.yml", "--var", "given=-9007199254740993", ...args], {
        cwd,
        env,
      });
      assertEquals([run.code, run.stderr], [0, ""], run.stdout);
      assertEquals(bodies, [
        `{"id":${LONG},"read":${LONG},"text":"n${LONG}","given":-9007199254740993}`,
        `id=${LONG}`,
        ...["9007199254740993", "9007199254740994", "9007199254740992"],
        ...["-9007199254740995", "9007199254740996"],
      ]);
    }
    const snapshot = await Deno.readTextFile(`${cwd}/__snapshots__/w/a.sent.json`);
    assertStringIncludes(snapshot, `"id": ${LONG}`);
    for (const name of ["r.json", "r.html", "r.ndjson"]) {
      const text = await Deno.readTextFile(`${cwd}/${name}`);
      assertStringIncludes(text, `"body":{"id":${LONG},"read":${LONG},`, name);
    }
  });
});

Deno.test("an integer beyond 2^53 keeps its digits from one process of a run to another", async () => {
  await using server = echoServer([]);
  const yaml = flow(server.url).replace("given: 0", "given: -9007199254740993");
  await withFiles({ ...FILES, "w.yml": yaml }, async (cwd) => {
    const env = { RUNNER_PLUGIN_DIR: `${cwd}/plugins` };
    const { code, stdout } = await runInPieces("w.yml", { cwd, env });
    assertEquals(code, 0, stdout);
    const outputs = await Deno.readTextFile(`${cwd}/R/a-1/outputs.json`);
    assertStringIncludes(outputs, `"next": 4634343214213523455`);
  });
});

const DEEP = "[".repeat(5000) + "]".repeat(5000);

Deno.test("JSON that is nested too deeply is the mistake of the data, wherever it is read", async (test) => {
  const levels = "JSON is nested more than 500 levels deep";
  const cases: [step: string, message: string][] = [
    [`{ uses: hello, iteration: { file: d.json } }`, `not valid JSON: ${levels}`],
    [`{ uses: hello, iteration: { file: d.jsonl } }`, `d.jsonl:1" is not valid JSON: ${levels}`],
    [
      `{ uses: grpc, with: { addr: "localhost:1", service: s, method: m, body: "{{vars.deep}}" } }`,
      `"body" is not JSON: ${levels}`,
    ],
    [
      `{ uses: hello, test: 'jwt("e30." + encode_base64url(vars.deep) + ".").claims == {}' }`,
      "jwt() cannot read the claims of this token as JSON",
    ],
    [
      `{ uses: hello, test: 'jwt_sign({}, "{\\"keys\\":" + vars.deep + "}") == ""' }`,
      "the key begins like a JWK and is not valid JSON",
    ],
  ];
  const files = { "d.json": `[${DEEP}]`, "d.jsonl": DEEP };
  for (const [step, message] of cases) {
    await test.step(message, async () => {
      const yaml = `name: n\nvars: { deep: "${DEEP}" }\njobs: [{name: j, steps: [${step}]}]\n`;
      await withFiles({ ...files, "w.yml": yaml }, async (cwd) => {
        const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
        assertEquals([code, stderr], [1, ""]);
        assertStringIncludes(stdout, message);
      });
    });
  }
});

const API =
  `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/things/{id}": {"post": {
  "parameters": [{"name": "id", "in": "path", "required": true,
    "schema": {"type": "integer", "minimum": 9007199254740993}}],
  "requestBody": {"required": true, "content": {"application/json": {"schema": {
    "type": "object", "required": ["id", "all", "kind", "tens", "low"], "properties": {
      "id": {"type": "integer", "format": "int64", "example": ${LONG}},
      "all": {"type": "integer", "minimum": -9223372036854775808, "maximum": 9223372036854775807},
      "kind": {"enum": [9007199254740995]},
      "tens": {"type": "integer", "exclusiveMinimum": 9007199254740993, "multipleOf": 10},
      "low": {"type": "integer", "maximum": -9007199254740993}}}}}},
  "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {
    "properties": {"id": {"const": ${LONG}}}}}}}}}}}}`;

Deno.test("a workflow that gen makes of integers beyond 2^53 honours its contract", async () => {
  const bodies: string[] = [];
  await using server = echoServer(bodies);
  await withFiles({ "api.json": API }, async (cwd) => {
    const made = await runMain(["gen", "api.json", "-o", "w.yml"], { cwd });
    assertEquals(made.code, 0, made.stderr);
    const { code, stdout } = await runMain(["w.yml"], { cwd, env: { BASE_URL: server.url } });
    assertEquals(code, 0, stdout);
    assertEquals(bodies, [
      `{"id":${LONG},"all":1,"kind":9007199254740995,"tens":9007199254741000,"low":-9007199254740993}`,
    ]);
    const yaml = await Deno.readTextFile(`${cwd}/w.yml`);
    await Deno.writeTextFile(`${cwd}/w.yml`, yaml.replaceAll(LONG, "4634343214213523455"));
    const broken = await runMain(["w.yml"], { cwd, env: { BASE_URL: server.url } });
    assertStringIncludes(
      broken.stdout,
      `body.id is 4634343214213523455, expected ${LONG}`,
    );
  });
});
