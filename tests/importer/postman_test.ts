import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertPlaces, importCase } from "../support/import_case.ts";
import { runMain } from "../support/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { COLLECTION } from "./inputs.ts";

Deno.test("new --from postman translates a collection with its scripts", async () => {
  await importCase({
    args: ["postman", "c.json"],
    files: { "c.json": JSON.stringify(COLLECTION) },
    env: { API_TOKEN: "token-of-the-file-1", TEA: "Assam", KEY: "the-key-of-the-shop" },
    notes: [
      'the sign-in "ntlm"',
      "the script before the request: console.log('before')",
      "the script: eval('anything')",
    ],
    lines: [
      'api_token: "{{API_TOKEN}}"',
      "base_url: URL",
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
  const request = (name: string, url: unknown, more = {}) => ({
    name,
    request: { method: "GET", url, ...more },
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
      "api: URL/v1",
      "deep: URL/v1/deep",
      "test: |",
      "res.code == 200",
      "&& (res.rawbody ?? res.body) contains 'token'",
      '&& type(res.body.items) == "array"',
      '&& type(res.body.id) == "int"',
      "&& res.body.token != nil",
      "&& res.body.path != nil",
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

Deno.test("new --from postman says what is wrong with a file", async () => {
  const files = {
    "environment.json": '{"name": "x", "values": []}',
    "old.json": '{"requests": []}',
    "none.json": '{"info": {"name": "x"}, "item": []}',
    "broken.json": '{"info": }',
  };
  await withFiles(files, async (cwd) => {
    const run = async (file: string) =>
      (await runMain(["new", "--from", "postman", file], { cwd })).stderr;
    assertStringIncludes(await run("environment.json"), "it is an environment, not a collection");
    assertStringIncludes(await run("old.json"), 'old.json:1:1: error: "info" is missing');
    assertStringIncludes(await run("none.json"), "the collection has no requests");
    assertStringIncludes(await run("broken.json"), "broken.json:1:10: error: invalid JSON");
  });
});

Deno.test("new --from postman names the place of a part that a collection does not have there", async () => {
  const items = (text: string) => `{\n  "info": {},\n  "item": ${text}\n}`;
  await assertPlaces("postman", {
    "list.json": ["[]", "list.json:1:1: error: the file must be a map, not a list"],
    "values.json": [
      '{\n  "values": []\n}',
      "values.json:2:13: error: it is an environment, not a collection",
    ],
    "none.json": [items("[]"), "none.json:3:11: error: the collection has no requests"],
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
