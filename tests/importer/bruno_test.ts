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
    env: { TOKEN: "token-of-the-shop", TEA: "Assam", PASSWORD: "tea-for-two" },
    notes: [
      "the environment z.bru: only the first becomes vars",
      "the assertion res.custom: eq 1",
      'the script: console.log("x")',
    ],
    lines: [
      "name: Tea shop",
      "host: URL",
      'token: "{{TOKEN}}"',
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
    lines: ["api: URL/v1"],
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
  const own = "  auth: inherit\n}\n";
  const files = {
    "shop/bruno.json": '{ "version": "1", "name": "Tea shop", "type": "collection" }',
    "shop/collection.bru": "auth {\n  mode: bearer\n}\n\nauth:bearer {\n  token: {{key}}\n}\n\n" +
      "vars:pre-request {\n  host: http://from.collection\n  who: all\n}\n\n" +
      'tests {\n  test("ok", () => expect(res.status).to.be.below(400));\n}\n',
    "shop/environments/local.bru": "vars {\n  host: URL\n}\nvars:secret [\n  key\n]\n",
    "shop/a/folder.bru": "meta {\n  name: a\n  seq: 2\n}\n\nauth {\n  mode: inherit\n}\n\n" +
      "headers {\n  X-Outer: yes\n}\n\nscript:pre-request {\n  bru.setVar('x', 1);\n}\n",
    "shop/b/folder.bru": "meta {\n  name: b\n  seq: 1\n}\n\nvars:pre-request {\n  who: bee\n}\n",
    "shop/a/deep/one.bru": request(1, "one", own, "get", "/one/{{who}}"),
    "shop/b/two.bru": request(1, "two", own, "get", "/two/{{who}}"),
    "shop/b/three.bru": request(
      2,
      "three",
      own +
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
    env: { KEY: "key-of-the-shop-1" },
    answer: ({ path }) =>
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
