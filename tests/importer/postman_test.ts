import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertPlaces, importCase, runTranslated } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { COLLECTION } from "./inputs.ts";

Deno.test("new --from postman translates a collection with its scripts", async () => {
  await importCase({
    args: ["postman", "c.json"],
    files: { "c.json": JSON.stringify(COLLECTION) },
    env: { API_TOKEN: "token-of-the-file-1" },
    vars: { tea: "Assam", key: "the-key-of-the-shop" },
    notes: [
      'the sign-in "ntlm"',
      "the script before the request: console.log('before')",
      "the script: eval('anything')",
    ],
    lines: [
      'api_token: "{{API_TOKEN}}"',
      'base_url: "URL"',
      'bearer: "{{vars.api_token}}"',
      'post: "{{vars.base_url}}/orders/main?x=1"',
      "&& res.headers['Content-Type'] != nil",
      "&& res.body.id == 7",
      '&& type(res.body.items) == "array"',
      "&& len(res.body.items) > 1",
      "&& not (res.body.missing != nil)",
      "order_id: res.body.id",
      'get: "{{vars.base_url}}/orders/{{outputs.order_id}}"',
      "- name: Inner / Form",
      "needs:",
    ],
    seen: (requests) => {
      const [graphql, create, read, form] = requests;
      assertEquals(JSON.parse(graphql!.body).variables, { a: 1 });
      assertEquals(create!.headers.get("authorization"), "Bearer token-of-the-file-1");
      assertEquals(JSON.parse(create!.body), { tea: "Assam", count: 2 });
      assertEquals([create!.headers.get("x-off"), create!.headers.get("x-on")?.length], [null, 36]);
      assertEquals(read!.path, "/orders/7");
      assertEquals([form!.body, form!.headers.get("x-key")], ["a=1&a=2", "the-key-of-the-shop"]);
    },
  });
});

Deno.test("new --from postman translates words of statuses, and variables that responses set", async () => {
  const exec = [
    "pm.response.to.have.status('OK');",
    "pm.response.to.be.json;",
    "pm.collectionVariables.set('id', pm.response.json().id);",
  ];
  const text = await importCase({
    args: ["postman", "c.json"],
    files: {
      "c.json": JSON.stringify({
        info: { name: "x" },
        variable: [
          { key: "id", value: "" },
          { key: "base", value: "URL" },
          { key: "word", value: "tea-for-two", type: "secret" },
        ],
        item: [
          {
            name: "a",
            request: { method: "GET", url: "{{base}}/a" },
            event: [{ listen: "test", script: { exec } }],
          },
          { name: "b", request: { method: "GET", url: "{{base}}/{{id}}?{{word}}" } },
        ],
      }),
    },
    vars: { word: "black" },
    lines: [
      "# Set here or by --var: word.",
      "res.status endsWith 'OK'",
      "&& res.headers['Content-Type'] contains 'json'",
    ],
    seen: ([, second]) => assertEquals(second!.path, "/7?black"),
  });
  assertEquals(/vars:\n.*id|tea-for-two/.test(text), false, text);
});

Deno.test("new --from postman translates scripts as they were written before pm", async () => {
  const exec = [
    "try { responseJSON = JSON.parse(responseBody); }",
    "catch (e) { }",
    "var is200 = responseCode.code === 200;",
    "tests['ok'] = is200;",
    "tests['says so'] = responseBody.has('token');",
    "var items = responseJSON.items || [];",
    "tests['a list'] = Array.isArray(items);",
    "tests['a number'] = (Number.isInteger(responseJSON.id));",
    "tests['a token'] = responseJSON.hasOwnProperty('token');",
    "tests['a path'] = 'path' in responseJSON;",
    "const { method } = pm.response.json();",
    "pm.expect(method).to.eql('GET');",
    "pm.expect(items).to.eql([",
    "  1,",
    "  2",
    "]);",
    "pm.expect(items).to.satisfy({",
    "  any: 'thing',",
    "  of: [1]",
    "});",
    "postman.setEnvironmentVariable('token', responseJSON.token);",
  ];
  const request = (name: string, url: unknown, extra = {}) => ({
    name,
    request: { method: "GET", url, ...extra },
  });
  const variable = [
    { key: "host", value: "URL" },
    { key: "scheme", value: "http" },
    { key: "address", value: "ADDRESS" },
    { key: "api", value: "{{host}}/v1" },
    { key: "deep", value: "{{api}}/deep" },
  ];
  const auth = { type: "basic", basic: [{ key: "username", value: "ann" }] };
  const header = [{ key: "Authorization", value: "Basic old" }];
  const item = [
    { ...request("old", "{{api}}/old"), event: [{ listen: "test", script: { exec } }] },
    request("none", "  "),
    request("parts", {
      protocol: "{{scheme}}",
      host: "{{address}}",
      path: ["a", "b"],
      query: [{ key: "c", value: "{{token}}" }, { key: "d", value: "1", disabled: true }],
    }),
    request("twice", "{{deep}}", { auth, header }),
  ];
  await importCase({
    args: ["postman", "c.json"],
    files: { "c.json": JSON.stringify({ info: { name: "Old" }, variable, item }) },
    notes: [
      'the request "none": it has no',
      "the script: pm.expect(items).to.satisfy({ any: 'thing', of: [1] })",
      "the header Authorization: auth sends it",
    ],
    lines: [
      'api: "URL/v1"',
      'deep: "URL/v1/deep"',
      "test: |",
      "res.code == 200",
      "&& (res.rawbody ?? res.body) contains 'token'",
      '&& type(res.body.items) == "array"',
      '&& type(res.body.id) == "int"',
      "&& 'token' in res.body",
      "&& 'path' in res.body",
      "&& res.body.method == 'GET'",
      "&& res.body.items == [1, 2]",
      "token: res.body.token",
    ],
    seen: (requests) =>
      assertEquals(requests.map(({ path }) => path), [
        "/v1/old",
        "/a/b?c=issued-token-1",
        "/v1/deep",
      ]),
  });
});

Deno.test("new --from postman reports the position of a part that is missing in a collection", async () => {
  const items = (text: string) => `{\n  "info": {},\n  "item": ${text}\n}`;
  await assertPlaces("postman", {
    "list.json": ["[]", "list.json:1:1: error: the file must be a map, not a list"],
    "values.json": [
      '{\n  "values": []\n}',
      "values.json:2:13: error: it is an environment, not a collection",
    ],
    "none.json": [items("[]"), "none.json:3:11: error: the collection has no requests"],
    "old.json": ['{"requests": []}', 'old.json:1:1: error: "info" is missing'],
    "broken.json": ['{"info": }', "broken.json:1:10: error: invalid JSON"],
    "item.json": ['{"info": {}}', 'item.json:1:1: error: "item" is missing'],
    "text.json": [items('"x"'), 'text.json:3:11: error: "item" must be a list, not "x"'],
    "deep.json": [
      items('[{"item": [\n    {"name": "a"}\n  ]}]'),
      'deep.json:4:5: error: "item[0].item[0].request" is missing',
      '  4 |     {"name": "a"}',
      "    |     ^^^^^^^^^^^^^",
    ],
    "request.json": [
      items('[{"request": 5}]'),
      'request.json:3:24: error: "item[0].request" must be a map, not 5',
    ],
  });
});

/** A collection of requests, each with the lines of its test script. */
function collectionOf(scripts: readonly (readonly string[])[]): string {
  const item = scripts.map((exec, index) => ({
    name: `request ${index + 1}`,
    request: { method: "GET", url: "URL/state" },
    event: [{ listen: "test", script: { exec } }],
  }));
  return JSON.stringify({ info: { name: "Scripts" }, item });
}

/** Assertions that fail in Postman for `STATE`, and must fail here. */
const FAILING = [
  "pm.expect(pm.response.json()).to.equal({ success: false, text: 'good', empty: null, zero: 0 })",
  "pm.expect(pm.response.json().success).to.be.ok",
  "pm.expect(pm.response.json().text).to.not.include('no').and.to.not.include('good')",
  "pm.expect(pm.response.json().text).to.not.eql('good', 'is another')",
  "pm.expect(pm.response.json().nothing).to.not.include('x')",
  "pm.expect(pm.response.json()).to.not.have.property('empty')",
  "pm.expect(pm.response.json().nothing).to.be.null",
  "pm.expect(pm.response.json().empty).to.be.undefined",
  "pm.expect(pm.response.json().gone).to.eql(null)",
  "pm.expect([pm.response.json().text]).to.not.have.property(0)",
  "pm.expect(pm.response.json().text).to.not.have.property(0)",
  "pm.expect(pm.response.json().length).to.be.above(0)",
  "pm.expect(pm.response.json()).to.have.lengthOf(4)",
  "pm.expect(pm.response.json().empty.name).to.not.be.null",
  "pm.expect(pm.response.json().empty.name).to.be.undefined",
  "pm.expect(pm.response.json().empty).to.not.have.property('a')",
  "pm.expect(pm.response.status).to.not.eql('OK')",
];
const STATE = { success: false, text: "good", empty: null, zero: 0 };

Deno.test("new --from postman: an assertion that fails there fails here, or is a comment", async () => {
  await using server = withServer(() => Response.json(STATE));
  for (const assertion of FAILING) {
    const file = collectionOf([[assertion]]).replace("URL", server.url);
    const { text, code } = await runTranslated(["postman", "c.json"], { "c.json": file });
    const isNoted = text.includes(`# Not translated: the script: ${assertion}`);
    assertEquals(code === 1 || isNoted, true, text);
  }
});

/** Scripts with an assertion that fails for `STATE`, which Postman does not make. */
const NOT_ASSERTED = [
  "// pm.test('off', () => { pm.response.to.have.status(404); });",
  "/* pm.expect(pm.response.code).to.eql(404); */",
  "if (pm.response.code === 404) { pm.expect(pm.response.json().text).to.eql('gone'); }",
  "if (pm.response.code === 200) {\n} else {\n  pm.test('x', () => pm.response.to.have.status(404));\n}",
  "for (const one of []) { pm.expect(pm.response.code).to.eql(404); }",
  "[].forEach((one) => { pm.expect(pm.response.code).to.eql(404); });",
  "function check() {\n  pm.response.to.have.status(404);\n}",
  "const check = () => pm.response.to.have.status(404);",
  "pm.response.code === 404 && pm.expect(pm.response.json().text).to.eql('gone');",
  "pm.response.code === 404 ? pm.response.to.have.status(500) : 0;",
  "pm.test.skip('off', () => { pm.response.to.have.status(404); });",
  "pm.test('x', () => {\n  if (pm.response.code === 200) return;\n  pm.response.to.have.status(404);\n});",
  "pm.test('x', () => {\n  return;\n  pm.response.to.have.status(404);\n});",
  "try { pm.response.to.have.status(404); } catch (error) {}",
  "let wanted = 404;\nif (true) { wanted = 200; }\npm.expect(pm.response.code).to.eql(wanted);",
  "const response = pm.response.json();\npm.expect(response.status).to.eql(undefined);",
  "const a = 1;\npm.test('x', () => { const a = 404; });\npm.expect(pm.response.code - 199).to.eql(a);",
  "const url = 'https://a/b'; // pm.response.to.have.status(404)",
];

Deno.test("new --from postman asserts nothing that may not run there", async () => {
  await using server = withServer(() => Response.json(STATE));
  for (const script of NOT_ASSERTED) {
    const file = collectionOf([[script]]).replace("URL", server.url);
    const { text, code } = await runTranslated(["postman", "c.json"], { "c.json": file });
    assertEquals(code, 0, text);
    const isComment = /^(?:\/[/*]|.* \/\/|const response)/.test(script);
    assertEquals(text.includes("# Not translated: the script: "), !isComment, text);
  }
});

Deno.test("new --from postman translates scripts as people write them", async () => {
  await importCase({
    args: ["postman", "c.json"],
    respond: () => Response.json(STATE),
    files: {
      "c.json": collectionOf([
        ['pm.test("ok", () => pm.response.to.have.status(200)); // always'],
        [
          'pm.test("type; and charset", function () {',
          '  pm.expect(pm.response.headers.get("Content-Type"))',
          "    .to.eql('application/json'); // no charset; see RFC",
          "});",
        ],
        ["pm.test('a', () => { pm.expect(pm.response.json().text).to.eql('good') })"],
        ["const ok = pm.response.code === 200", "pm.expect(ok).to.be.true"],
        [
          "pm.expect(pm.response.json().zero).to.not.be.ok",
          "pm.expect([200, 201]).to.include(pm.response.code)",
        ],
        ["let one = pm.response.json().text", "one = one.trim()", "pm.expect(one).to.eql('bad')"],
        ["pm.expect(pm.response.json().text).to.match(/^go;?od$/)"],
        [
          "let state;",
          "pm.test('all', () => {",
          "  state = pm.response.json();",
          "  pm.expect(state.text).to.be.a('string').that.has.length(4).and.not.include('bad');",
          "});",
          "pm.expect(state?.text).to.eql(`good`, 'a message');",
          "pm.expect(state).to.deep.equal({ success: false, text: 'good', empty: null, zero: 0 });",
          "pm.expect(state.text || '').to.eql('good');",
        ],
        [
          "pm.expect(pm.response.json()).to.eql({ success: false, 'text': 'good', empty: null, zero: 0, });",
          "pm.expect(pm.response.json()).to.include({text: 'good'})",
          "pm.expect(pm.response.json().text).to.be.oneOf(['a, b', 'good'])",
          "pm.environment.set('word', 'good')",
          "pm.expect(pm.response.json().text).to.eql(pm.environment.get('word'))",
        ],
      ]),
    },
    notes: [
      "the script: one = one.trim()",
      "the script: pm.expect(one).to.eql('bad')",
      "the script: pm.expect(state.text || '').to.eql('good')",
    ],
    lines: [
      "test: res.code == 200",
      "res.body == {'success': false, 'text': 'good', 'empty': nil, 'zero': 0}",
      "&& res.body.text in ['a, b', 'good']",
      "&& res.body.text == outputs.word",
      "test: \"res.headers['Content-Type'] == 'application/json'\"",
      "test: res.body.text == 'good'",
      "test: (res.code == 200) == true",
      "test: res.body.text matches '^go;?od$'",
      'not (not (res.body.zero in [nil, false, 0, ""]))',
      "&& res.code in [200, 201]",
    ],
  });
});

Deno.test("new --from postman copies no secret into a comment", async () => {
  const exec = ["pm.request.headers.add('X-Key: sk_live_4eC39HqLyjWDarjtT1zdp7dc')"];
  const item = [{
    name: "a",
    event: [
      { listen: "prerequest", script: { exec } },
      { listen: "test", script: { exec: ["pm.environment.set('token', 'a b c d e f')"] } },
    ],
    request: { method: "GET", url: "http://127.0.0.1:9/x" },
  }];
  const text = JSON.stringify({ info: { name: "Secret" }, item });
  await withFiles({ "c.json": text }, async (cwd) => {
    const { stdout } = await runMain(["new", "--from", "postman", "c.json"], { cwd });
    assertStringIncludes(stdout, "pm.request.headers.add('X-Key: ***')");
    assertStringIncludes(stdout, "pm.environment.set('token', '***')");
    assertEquals(stdout.includes("a b c"), false, stdout);
  });
});

Deno.test("new --from postman keeps what folders, settings and bodies say", async () => {
  const script = (listen: string, ...exec: string[]) => ({ listen, script: { exec } });
  const get = (name: string, extra = {}) => ({
    name,
    request: { method: "GET", url: "URL/get", ...extra },
  });
  const raw = (text: string, language: string) => ({
    mode: "raw",
    raw: text,
    options: { raw: { language } },
  });
  const item = [
    {
      name: "Folder",
      auth: { type: "oauth2", oauth2: [{ key: "accessToken", value: "{{key}}" }] },
      event: [
        script("test", "pm.test('ok', () => pm.expect(pm.response.code).to.be.below(400))"),
        script("prerequest", "pm.variables.set('now', Date.now())"),
      ],
      item: [
        get("inside"),
        { name: "Inner", event: [script("test", "eval('x')")], item: [get("deep")] },
        {
          ...get("stays", { url: "URL/moved" }),
          protocolProfileBehavior: { followRedirects: false, disableBodyPruning: true },
        },
      ],
    },
    get("a number", { method: "POST", body: raw('{"id": {{id}}}', "json") }),
    get("a key", {
      method: "POST",
      header: [{ key: "X-{{id}}", value: "x" }],
      body: raw('{"a{{id}}": 1}', "json"),
    }),
    get("xml", { method: "POST", body: raw("<a/>", "xml") }),
    get("graphql", {
      method: "POST",
      body: {
        mode: "graphql",
        graphql: { query: "query Q { a }", variables: '{"id": {{id}}}', operationName: "Q" },
      },
    }),
    get("parts", {
      method: "POST",
      body: {
        mode: "formdata",
        formdata: [
          { key: "tag", value: "a", type: "text" },
          { key: "tag", value: "b", type: "text" },
          { key: "off", value: "c", type: "text", disabled: true },
          { key: "file", type: "file", src: ["one.txt", "two.txt"] },
          { key: "meta", value: "{}", type: "text", contentType: "application/json" },
        ],
      },
    }),
  ];
  const variable = [
    { key: "id", value: "7" },
    { key: "id", value: "8", disabled: true },
    { key: "key", value: "{{ACCESS}}" },
  ];
  await importCase({
    args: ["postman", "c.json"],
    vars: { access: "key-of-the-folder-1" },
    files: {
      "c.json": JSON.stringify({ info: { name: "Parts" }, item, variable }),
      "one.txt": "first",
      "two.txt": "second",
    },
    respond: ({ path }) =>
      path === "/moved"
        ? new Response(null, { status: 302, headers: { location: "/lost" } })
        : undefined,
    notes: [
      "the test script of the folder \"Inner\": eval('x')",
      "the header X-{{id}}: its name has a variable",
    ],
    lines: ["follow_redirects: false", "test: res.code < 400"],
    seen: (requests) => {
      assertEquals(requests.some(({ path }) => path === "/lost"), false);
      const [number, key, xml, graphql, parts, inside] = requests;
      assertEquals(key!.body, '{"a7": 1}');
      assertEquals([number!.body, number!.headers.get("content-type")], [
        '{"id": 7}',
        "application/json",
      ]);
      assertEquals(xml!.headers.get("content-type"), "application/xml");
      assertEquals(graphql!.headers.get("content-type"), "application/json");
      assertEquals(JSON.parse(graphql!.body), {
        query: "query Q { a }",
        variables: { id: 7 },
        operationName: "Q",
      });
      for (const text of ["a", "b", "first", "second"]) {
        assertStringIncludes(parts!.body, `\r\n\r\n${text}\r\n`);
      }
      assertEquals(parts!.body.includes("off"), false);
      assertStringIncludes(parts!.body, "application/json");
      assertEquals(inside!.headers.get("authorization"), "Bearer key-of-the-folder-1");
    },
  });
});

Deno.test("new --from postman: bodies that are not sent, comments in JSON, parts that are off", async () => {
  const raw = { mode: "raw", raw: '{\n  // one\n  "a": "x//y" /* b */\n}' };
  const json = [{ key: "Content-Type", value: "application/json" }];
  const query = [
    { key: "a", value: "1", disabled: true },
    { key: "b", value: "2" },
    { key: "c", value: null },
  ];
  const url = { raw: "URL/post?a=1&b=2&c#top", query };
  const item = [
    { name: "get", request: { method: "GET", url: "URL/get", header: json, body: raw } },
    {
      name: "kept",
      protocolProfileBehavior: { disableBodyPruning: true },
      request: { method: "GET", url: "URL/kept", header: json, body: raw },
    },
    { name: "post", request: { method: "POST", url, header: json, body: raw } },
    {
      name: "old",
      event: [{
        listen: "test",
        disabled: true,
        script: { exec: "pm.response.to.have.status(404)" },
      }],
      request: { url: "URL/old", header: "A: 1\nB: 2" },
    },
  ];
  await importCase({
    args: ["postman", "c.json"],
    files: { "c.json": JSON.stringify({ info: { name: "Sent" }, item }) },
    notes: ["the headers A: 1 B: 2"],
    seen: (requests) => {
      const [get, kept, post] = requests;
      // The server does not read the body of a GET.
      assertEquals([get, kept].map((one) => one!.headers.get("content-length")), [null, "12"]);
      assertEquals(get!.headers.get("content-type"), "application/json");
      assertEquals([post!.path, JSON.parse(post!.body)], ["/post?b=2&c", { a: "x//y" }]);
    },
  });
});
