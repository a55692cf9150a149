import { assertEquals, assertStringIncludes } from "@std/assert";
import { importCase, runTranslated } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { BRUNO } from "./inputs.ts";

Deno.test("new --from bruno translates a collection", async () => {
  await importCase({
    args: ["bruno", "shop"],
    files: BRUNO,
    vars: { token: "token-of-the-shop", tea: "Assam", password: "tea-for-two" },
    notes: [
      "the environment z.bru: only the first becomes vars",
      "the assertion res.custom: eq 1",
      'the script: console.log("x")',
    ],
    lines: [
      "name: Tea shop",
      'host: "URL"',
      "token: null",
      'post: "{{vars.host}}/orders/main?x=1"',
      "&& res.body.path startsWith '/orders'",
      "&& res.body.id in [6, 7]",
      "order: res.body.id",
      'get: "{{vars.host}}/orders/{{outputs.order}}"',
    ],
    seen: ([create, read, form]) => {
      assertEquals([form!.method, form!.body, form!.headers.get("x-all")], [
        "PUT",
        "a=1&b=Assam",
        "yes",
      ]);
      assertEquals(create!.headers.get("authorization"), "Bearer token-of-the-shop");
      assertEquals([create!.headers.get("x-own"), create!.headers.get("x-off")], ["Assam", null]);
      assertEquals(JSON.parse(create!.body), { tea: "Assam" });
      assertEquals(read!.path, "/orders/7");
      assertEquals(read!.headers.get("authorization"), `Basic ${btoa("ann:tea-for-two")}`);
    },
  });
});

Deno.test("new --from bruno leaves out requests without a URL, and vars may be made of others", async () => {
  await importCase({
    args: ["bruno", "shop"],
    files: {
      "shop/bruno.json": '{"name": "Tea shop"}',
      "shop/environments/a.bru":
        "vars {\n  api: {{host}}/v1\n  host: URL\n  key: {{process.env.SHOP_KEY}}\n  both: {{key}}/{{key}}\n}\n",
      "shop/a.bru": "meta {\n  name: first\n  seq: 1\n}\n\nget {\n  url: {{api}}/a?k={{both}}\n}\n",
      "shop/b.bru": "meta {\n  name: empty\n  seq: 2\n}\n\nget {\n  url: \n}\n",
    },
    env: { SHOP_KEY: "tea" },
    notes: ['the request "empty": it has no'],
    lines: ['api: "URL/v1"'],
    seen: (requests) => assertEquals(requests.map(({ path }) => path), ["/v1/a?k=tea/tea"]),
  });
});

Deno.test("new --from bruno says what is wrong with a collection", async () => {
  const files = {
    "open/a.bru": "get {\n  url: x\n",
    "text/a.bru": "meta {\n}\nhello\n",
    "none/bruno.json": "{}",
    "request/a.bru": "meta {\n  name: x\n}\n",
    "url/a.bru": "get {\n  url:\n}\n",
    "list/bruno.json": "[]",
    "list/a.bru": "get {\n  url: x\n}\n",
    "broken/bruno.json": "{",
    "broken/a.bru": "get {\n  url: x\n}\n",
  };
  await withFiles(files, async (cwd) => {
    const run = async (dir: string) =>
      (await runMain(["new", "--from", "bruno", dir], { cwd })).stderr;
    assertStringIncludes(await run("open"), 'a.bru:1:1: error: the block "get" is not closed');
    assertStringIncludes(await run("text"), "a.bru:3:1: error: expected a block");
    assertStringIncludes(await run("request"), "a.bru:1:1: error: the request is missing");
    assertStringIncludes(
      await run("list"),
      "bruno.json:1:1: error: the file must be a map, not a list",
    );
    assertStringIncludes(await run("url"), "no request of the directory has a URL");
    assertStringIncludes(await run("none"), "the directory has no requests of Bruno");
    assertStringIncludes(
      await run("broken"),
      "bruno.json:1:2: error: invalid JSON: it ends too early",
    );
    assertStringIncludes(await run("nowhere"), "'nowhere' is not a directory, or it is empty");
  });
});

Deno.test("new --from bruno keeps what directories, settings and bodies say", async () => {
  const request = (seq: number, name: string, rest: string, method = "get", path = `/${name}`) =>
    `meta {\n  name: ${name}\n  type: http\n  seq: ${seq}\n}\n\n` +
    `${method} {\n  url: {{host}}${path}\n${rest}`;
  const inherit = "  auth: inherit\n}\n";
  const files = {
    "shop/bruno.json": '{ "version": "1", "name": "Tea shop", "type": "collection" }',
    "shop/collection.bru": "auth {\n  mode: bearer\n}\n\nauth:bearer {\n  token: {{key}}\n}\n\n" +
      "vars:pre-request {\n  host: http://from.collection\n  who: all\n}\n\n" +
      'tests {\n  test("ok", () => expect(res.status).to.be.below(400));\n}\n',
    "shop/environments/local.bru": "vars {\n  host: URL\n}\nvars:secret [\n  key\n]\n",
    "shop/a/folder.bru": "meta {\n  name: a\n  seq: 2\n}\n\nauth {\n  mode: inherit\n}\n\n" +
      "headers {\n  X-Outer: yes\n}\n\nscript:pre-request {\n  bru.setVar('x', 1);\n}\n",
    "shop/b/folder.bru": "meta {\n  name: b\n  seq: 1\n}\n\nvars:pre-request {\n  who: bee\n}\n",
    "shop/a/deep/one.bru": request(1, "one", inherit, "get", "/one/{{who}}"),
    "shop/b/two.bru": request(1, "two", inherit, "get", "/two/{{who}}"),
    "shop/b/three.bru": request(
      2,
      "three",
      inherit +
        "\nvars:pre-request {\n  who: '\"cat\"'\n}\n\nsettings {\n  followRedirects: false\n}\n",
      "get",
      "/moved/{{who}}",
    ),
    "shop/b/json.bru": request(
      3,
      "json",
      "  body: json\n  auth: none\n}\n\nvars:pre-request {\n  id: 7\n}\n\nbody:json {\n  {\n" +
        "    \"id\": {{id}}\n  }\n}\n\nheaders {\n  X-Long: '''\n    one\n  '''\n}\n",
      "post",
    ),
    "shop/b/xml.bru": request(4, "xml", "  body: xml\n}\n\nbody:xml {\n  <a/>\n}\n", "post"),
    "shop/b/parts.bru": request(
      5,
      "parts",
      "  body: multipartForm\n}\n\nvars:pre-request {\n  id: 8\n  kind: token\n}\n\nbody:multipart-form {\n  tag: a\n  tag: b\n" +
        "  file: @file(one.txt|two.txt) @contentType(text/x-tea)\n}\n\n" +
        "assert {\n  res.body.id: notIn [1, 2]\n  res.body.id: between 1, 9\n" +
        "  res.body.items: isNotEmpty\n  res.body.items.length: eq 2\n" +
        '  res.body["id"]: neq {{id}}\n  res.body.token: eq issued-{{kind}}-1\n  res.body.items: contains 1\n  res.body: isJson\n' +
        "  res.body.token: notMatches /^x/\n  res.body.token: notContains word\n" +
        "  res.body.gone: isUndefined\n}\n",
      "post",
    ),
    "shop/one.txt": "first",
    "shop/two.txt": "second",
  };
  await importCase({
    args: ["bruno", "shop"],
    files,
    vars: { key: "key-of-the-shop-1" },
    respond: ({ path }) =>
      path.startsWith("/moved")
        ? new Response(null, { status: 302, headers: { location: "/lost" } })
        : undefined,
    notes: ["the block script:pre-request of the directory \"a\": bru.setVar('x', 1);"],
    lines: [
      "not (res.body.id in [1, 2])",
      "&& res.body.id >= 1 && res.body.id <= 9",
      "&& 1 in res.body.items",
      "&& len(res.body.items) == 2",
      "&& string(res.body.id) != string(vars.id_2)",
      "&& not ('gone' in res.body)",
    ],
    seen: (requests) => {
      assertEquals(requests.map(({ path }) => path), [
        "/two/bee",
        "/moved/'%22cat%22'",
        "/json",
        "/xml",
        "/parts",
        "/one/all",
      ]);
      const [two, , json, xml, parts, one] = requests;
      assertEquals(two!.headers.get("authorization"), "Bearer key-of-the-shop-1");
      assertEquals(one!.headers.get("authorization"), "Bearer key-of-the-shop-1");
      assertEquals([one!.headers.get("x-outer"), two!.headers.get("x-outer")], ["yes", null]);
      assertEquals(JSON.parse(json!.body), { id: 7 });
      assertEquals(json!.headers.get("content-type"), "application/json");
      assertEquals([json!.headers.get("x-long"), json!.headers.get("authorization")], [
        "one",
        null,
      ]);
      assertEquals(xml!.headers.get("content-type"), "application/xml");
      for (const text of ["a", "b", "first", "second"]) {
        assertStringIncludes(parts!.body, `\r\n\r\n${text}\r\n`);
      }
      assertStringIncludes(parts!.body, "text/x-tea");
    },
  });
});

Deno.test("new --from bruno: an assertion that fails there fails here", async () => {
  await using server = withServer(() =>
    Response.json({ list: [1], empty: null, tags: ["teapot"], number: 7, text: "it is 7" })
  );
  const failing = [
    "res.body.list: isJson",
    "res.body.empty: isUndefined",
    "res.body.missing: isNull",
    "res.body.missing: eq null",
    "res.body.empty: eq undefined",
    "res.body.missing: notContains x",
    "res.body.tags: contains tea",
    "res.body.number: neq {{seven}}",
    "res.body.text: neq it is {{seven}}",
  ];
  for (const assertion of failing) {
    const bru =
      `get {\n  url: ${server.url}/x\n}\n\nvars:pre-request {\n  seven: 7\n}\n\nassert {\n  ${assertion}\n}\n`;
    const { text, code } = await runTranslated(["bruno", "shop"], { "shop/x.bru": bru });
    assertEquals(code, 1, text);
  }
});

const OPEN_COLLECTION = {
  "shop/opencollection.yml": `opencollection: 1.0.0
info: { name: Tea shop }
request:
  auth: { type: bearer, token: "{{token}}" }
  headers:
    - { name: X-All, value: "yes" }
    - { name: X-Own, value: all }
    - { name: X-Off, value: "no", disabled: true }
  variables:
    - { name: count, value: { type: number, data: "100" } }
    - { name: who, value: all }
  scripts:
    - { type: tests, code: 'test("ok", () => expect(res.status).to.be.below(400));' }
`,
  "shop/environments/local.yml": `name: local
variables:
  - { name: host, value: URL }
  - { secret: true, name: token }
`,
  "shop/compose.yml": "services: {}\n",
  "shop/last.yml": `info: { name: Last, type: graphql }
graphql:
  url: "{{host}}/graphql/{{order}}/{{id}}"
  body: { query: "{ teas }", variables: '{ "n": {{count}} }' }
`,
  "shop/orders/folder.yml": `info: { name: orders, seq: 1 }
request:
  auth: inherit
  variables: [{ name: who, value: orders }]
`,
  "shop/orders/form.yml": `info: { name: Form, type: http, seq: 3 }
http:
  method: PUT
  url: "{{host}}/form"
  body:
    type: form-urlencoded
    data: [{ name: "a[]", value: 1 }, { name: b, value: x }, { name: off, value: x, disabled: true }]
  auth: { type: apikey, key: X-Key, value: "{{who}}", placement: header }
`,
  "shop/orders/create.yml": `info: { name: Create, type: http, seq: 1 }
http:
  method: POST
  url: "{{host}}/orders/:shop?x=1"
  params:
    - { name: x, value: "1", type: query }
    - { name: shop, value: main, type: path }
  headers: [{ name: X-Own, value: "{{who}}" }]
  body:
    type: json
    data: |-
      {
        // how many
        "count": {{count}} /* packs */
      }
  auth: inherit
runtime:
  assertions:
    - { expression: res.body.id, operator: eq, value: "7" }
    - { expression: res.body.items, operator: length, value: 2 }
    - { expression: res.body.id, operator: eq, value: "8", disabled: true }
  scripts:
    - { type: before-request, code: 'bru.setVar("a", 1)' }
    - type: after-response
      code: |-
        // test("off", () => expect(res.status).to.equal(404));
        bru.setVar("id", res.body.id);
        if (res.status === 404) { expect(res.body.id).to.equal(1); }
    - { type: tests, code: 'test("path", () => expect(res.body.path).to.include("/orders"))' }
  actions:
    - type: set-variable
      phase: after-response
      selector: { expression: res.body.token, method: jsonq }
      variable: { name: order, scope: runtime }
settings: { encodeUrl: true, timeout: inherit, followRedirects: false }
`,
  "shop/orders/parts.yml": `info: { name: Parts, type: http, seq: 4 }
http:
  method: POST
  url: "{{host}}/parts"
  body:
    type: multipart-form
    data:
      - { name: text, type: text, value: "a\\nb", contentType: text/x-tea }
      - { name: file, type: file, value: [one.txt, two.txt] }
`,
  "shop/orders/file.yml": `info: { name: File, type: http, seq: 2 }
http:
  method: POST
  url: "{{host}}/file"
  body:
    type: file
    data:
      - { filePath: one.txt, contentType: text/plain, selected: false }
      - { filePath: two.txt, contentType: image/png, selected: true }
`,
  "shop/one.txt": "first",
  "shop/two.txt": "second",
};

Deno.test("new translates a collection of OpenCollection", async () => {
  await importCase({
    args: ["bruno", "shop"],
    files: OPEN_COLLECTION,
    vars: { token: "token-of-the-shop" },
    notes: [
      "the file compose.yml: it has no request of HTTP",
      "the script: if (res.status === 404) { expect(res.body.id).to.equal(1); }",
    ],
    lines: [
      "name: Tea shop",
      "- name: orders",
      "res.body.id == 7",
      "&& len(res.body.items) == 2",
      "&& res.code < 400",
      "follow_redirects: false",
    ],
    seen: ([create, file, form, parts, last]) => {
      assertEquals([create!.method, create!.path], ["POST", "/orders/main?x=1"]);
      assertEquals(JSON.parse(create!.body), { count: 100 });
      assertEquals(create!.headers.get("authorization"), "Bearer token-of-the-shop");
      assertEquals([create!.headers.get("x-own"), create!.headers.get("x-off")], ["orders", null]);
      assertEquals([file!.body, file!.headers.get("content-type")], ["second", "image/png"]);
      assertEquals([form!.body, form!.headers.get("x-key")], ["a%5B%5D=1&b=x", "orders"]);
      assertStringIncludes(parts!.body, "Content-Type: text/x-tea\r\n\r\na\nb\r\n");
      for (const text of ["first", "second"]) assertStringIncludes(parts!.body, `\r\n${text}\r\n`);
      assertEquals(last!.path, "/graphql/issued-token-1/7");
      assertEquals(JSON.parse(last!.body), { query: "{ teas }", variables: { n: 100 } });
      assertEquals([last!.headers.get("x-all"), last!.headers.get("authorization")], ["yes", null]);
    },
  });
});

Deno.test("new translates a bundled file of OpenCollection", async () => {
  await importCase({
    args: ["bruno", "shop.yml"],
    files: {
      "shop.yml": `opencollection: 1.0.0
info: { name: Bundle }
bundled: true
config: { environments: [{ name: local, variables: [{ name: host, value: URL }] }] }
items:
  - info: { name: Last, type: http }
    http: { method: GET, url: "{{host}}/last" }
  - info: { name: Folder, type: folder }
    request: { headers: [{ name: X-In, value: "yes" }] }
    items:
      - info: { name: First, type: http }
        http: { method: QUERY, url: "{{host}}/first" }
`,
    },
    seen: ([first, last]) => {
      assertEquals([first!.method, first!.path, first!.headers.get("x-in")], [
        "QUERY",
        "/first",
        "yes",
      ]);
      assertEquals([last!.path, last!.headers.get("x-in")], ["/last", null]);
    },
  });
});

Deno.test("new --from bruno reads annotations, several lines, files with types and small numbers", async () => {
  await importCase({
    args: ["bruno", "shop"],
    files: {
      "shop/parts.bru": `meta {
  name: parts
  seq: 1
}

post {
  url: URL/parts
  body: multipartForm
}

headers {
  @description('''
    Kind: of tea
  ''')
  X-A: a
  @description("b: the second")
  X-B: b
}

body:multipart-form {
  foo: {"a": 1} @contentType(application/json)
  lines: '''
    one
    two
  ''' @contentType(text/x-tea)
  last: end
}

assert {
  res.body.id: gt 9.876e-12
  res.body.token: neq "issued"
}
`,
      "shop/file.bru": `meta {
  name: file
  seq: 2
}

http {
  method: QUERY
  url: URL/file
  body: file
}

body:file {
  file: @file(tea.bin) @contentType(image/x-tea)
}

tests {
  // test("off", function() { expect(res.status).to.equal(404); });
  if (res.status === 404) {
    test("gone", () => expect(res.body.id).to.equal(1));
  }
}
`,
      "shop/plain.bru":
        "meta {\n  name: plain\n  seq: 3\n}\n\npost {\n  url: URL/plain\n  body: file\n}\n\nbody:file {\n  file: @file(tea.bin)\n}\n",
      "shop/tea.bin": "leaves",
    },
    notes: [
      'the script: if (res.status === 404) { test("gone", () => expect(res.body.id).to.equal(1)); }',
    ],
    lines: ["res.body.id > 9.876e-12", "&& res.body.token != 'issued'"],
    seen: ([parts, file, plain]) => {
      assertEquals([parts!.headers.get("x-a"), parts!.headers.get("x-b")], ["a", "b"]);
      assertStringIncludes(parts!.body, 'application/json\r\n\r\n{"a": 1}\r\n');
      assertStringIncludes(parts!.body, "text/x-tea\r\n\r\none\ntwo\r\n");
      assertStringIncludes(parts!.body, "\r\n\r\nend\r\n");
      assertEquals([file!.method, file!.headers.get("content-type")], ["QUERY", "image/x-tea"]);
      assertEquals(plain!.headers.get("content-type"), "application/octet-stream");
    },
  });
});
