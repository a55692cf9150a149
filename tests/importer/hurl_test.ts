import { assertEquals } from "@std/assert";
import { assertPlaces, importCase, runTranslated } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { HURL } from "./inputs.ts";

Deno.test("new --from hurl translates requests, captures and asserts", async () => {
  await importCase({
    args: ["hurl", "orders.hurl"],
    files: { "orders.hurl": HURL },
    vars: { token: "token-from-outside", tea: "Assam", password: "tea-for-two" },
    notes: ['the assert certificate "Subject" == "CN=x"'],
    lines: [
      "name: orders",
      "on_failure: stop",
      "- name: Creates an order",
      "shop: main",
      "tea: \"{{vars.tea}}{{''}}\"",
      "order: res.body.id",
      "&& res.rawbody != nil && not (json_path(res.body, '$.none') != [])",
      "&& json_path(res.body, '$..id') != []",
      "max_attempts: 3",
      "interval: 100ms",
      "- name: 3. PUT /form",
    ],
    respond: ({ path }) =>
      Response.json({ path, id: 7, items: [1, 2], token: "issued" }, {
        headers: { "set-cookie": "sid=abc" },
      }),
    seen: ([create, read, form, text]) => {
      assertEquals(create!.path, "/orders?shop=main");
      assertEquals(JSON.parse(create!.body), { tea: "Assam", count: 2 });
      assertEquals(create!.headers.get("x-token"), "token-from-outside");
      assertEquals(read!.headers.get("authorization"), `Basic ${btoa("ann:tea-for-two")}`);
      assertEquals(read!.headers.get("user-agent"), "mine/1");
      assertEquals(form!.body, "a=1&a=2&b=x%20y");
      assertEquals(text!.body, "two\nlines\n");
    },
  });
});

Deno.test("new --from hurl translates asserts about pages and texts", async () => {
  const text = `GET URL/page
HTTP 200
[Captures]
token: xpath "string(//meta[@name='csrf']/@content)"
[Asserts]
xpath "string(/html/head/title)" == "Tea shop"
xpath "count(//p)" == 2
xpath "//p" count == 2
xpath "//p" exists
xpath "//h2" not exists
body contains "<title>"
cookie "sid" == "7"
cookie "sid[SameSite]" == "Lax"
cookie "sid[HttpOnly]" exists
cookie "sid[Secure]" not exists
cookie "sid[Path]" == "/"

GET URL/text
X-CSRF-TOKEN: {{token}}
HTTP 200
\`tea\`
`;
  const page = "<html><head><meta name=csrf content=t0k><title>Tea shop</title></head><p>a<p>b";
  await importCase({
    args: ["hurl", "page.hurl"],
    files: { "page.hurl": text },
    lines: [", '//p'), true) == 2", "&& not (xpath((res.headers["],
    respond: ({ path }) =>
      path === "/text" ? new Response("tea") : new Response(page, {
        headers: {
          "content-type": "text/html",
          "set-cookie": "sid=7; Path=/; HttpOnly; SameSite=Lax",
        },
      }),
    seen: ([, second]) => assertEquals(second!.headers.get("x-csrf-token"), "t0k"),
  });
});

Deno.test("a value that a later response gives anew is the one that is read from there on", async () => {
  const hurl = [1, 2, 3].map((n) => {
    const capture = n < 3 ? '[Captures]\nlast: jsonpath "$.last"\n' : "";
    return `GET URL/${n}?last=${n > 1 ? "{{last}}" : "none"}\nHTTP 200\n${capture}`;
  }).join("\n");
  const event = [{
    listen: "test",
    script: { exec: ["pm.environment.set('last', pm.response.json().last)"] },
  }];
  const item = [1, 2, 3].map((n) => ({
    name: "again",
    request: `URL/${n}?last=${n > 1 ? "{{last}}" : "none"}`,
    event: n < 3 ? event : [],
  }));
  const bru = (n: number) =>
    `meta {\n  name: again\n  seq: ${n}\n}\n\nget {\n  url: URL/${n}?last=${
      n > 1 ? "{{last}}" : "none"
    }\n}\n${n < 3 ? "\nvars:post-response {\n  last: res.body.last\n}\n" : ""}`;
  const inputs: [args: string[], files: Record<string, string>][] = [
    [["hurl", "a.hurl"], { "a.hurl": hurl }],
    [["postman", "a.json"], { "a.json": JSON.stringify({ info: { name: "x" }, item }) }],
    [["bruno", "c"], {
      "c/bruno.json": "{}",
      ...Object.fromEntries([1, 2, 3].map((n) => [`c/${n}.bru`, bru(n)])),
    }],
  ];
  for (const [args, files] of inputs) {
    await importCase({
      args,
      files,
      respond: ({ path }) => Response.json({ last: `after${path[1]}` }),
      seen: (requests) =>
        assertEquals(requests.map(({ path }) => path), [
          "/1?last=none",
          "/2?last=after1",
          "/3?last=after2",
        ]),
    });
  }
});

Deno.test("new --from hurl says where a file is wrong", async () => {
  await assertPlaces("hurl", {
    "start.hurl": ["hello\n", "start.hurl:1:1: error: expected a request"],
    "header.hurl": ["GET http://x\nno header\n", "header.hurl:2:1: error: expected a header"],
    "open.hurl": [
      "GET http://x\n```\nnever closed\n",
      "open.hurl:2:1: error: the body ``` is not closed",
    ],
    "capture.hurl": [
      "GET http://x\nHTTP 200\n[Captures]\nnothing\n",
      "capture.hurl:4:1: error: expected name: query",
    ],
    "code.hurl": [
      "GET http://x\nHTTP 2000\n",
      "code.hurl:2:1: error: expected a header",
      "a response begins with HTTP 200",
    ],
    "method.hurl": [
      "GET http://x\n\nGet http://y\n",
      "method.hurl:3:1: error: expected a header, a section or a body",
    ],
    "section.hurl": [
      "GET http://x\n[Quary]\na: b\n",
      "section.hurl:2:1: error: unknown section [Quary] of a request",
    ],
    "side.hurl": [
      "GET http://x\n[Asserts]\nstatus == 200\n",
      "side.hurl:2:1: error: unknown section [Asserts] of a request",
    ],
    "json.hurl": ['POST http://x\n{"a": }\n', "json.hurl:2:1: error: the body is not JSON"],
    "empty.hurl": ["# only a comment\n", "there is no request in the file"],
  });
});

Deno.test("new --from hurl translates files as people write them", async () => {
  const text = `# Creates an order
POST URL/orders
[Options]
variable: count=2
user: ann:tea
{ "tea": "a # b", "count": {{count}} }

# The answer is created
HTTP/1.1 200 # not 201
[Captures]
order: jsonpath "$.id"
token: jsonpath "$.token" redact
[Asserts]
jsonpath "$.id" == {{order}}
jsonpath "$.items[*].name" contains "milk"
jsonpath "$.items[*].name" count == 2
jsonpath "$.items[?(@.name=='tea')].price" == 4
jsonpath "$.note" != "bad"
jsonpath "$.gone" not exists
bytes count == 138 # bytes, "not" characters
certificate "Subject" exists
jsonpath "$.text" == "日本\\u{21} # no comment"   # a "comment"
redirects count == 0
version == "1.1"
# jsonpath "$.old" == 1

# Reads it
GET URL/orders/{{order}}
X-Token: {{token}}
X-Id: {{newUuid}}
X-Hash: a\\#b
HTTP *

POST URL/graphql
\`\`\`graphql
query Q($id: ID) { order(id: $id) { id } }
variables { "id": {{order}} }
\`\`\`
HTTP 200
{"id":{{order}},"items":[{"name":"tea","price":4},{"name":"milk","price":1}],"note":"{{word}}","token":"issued-token-1","text":"日本! # no comment"}

# The end
GET URL/skipped
[Options]
skip: true
HTTP 200
`;
  await importCase({
    args: ["hurl", "orders.hurl"],
    env: { PASSWORD: "tea" },
    vars: { word: "good" },
    files: { "orders.hurl": text },
    respond: () =>
      Response.json({
        id: 7,
        items: [{ name: "tea", price: 4 }, { name: "milk", price: 1 }],
        note: "good",
        token: "issued-token-1",
        text: "日本! # no comment",
      }),
    notes: ['the assert certificate "Subject" exists'],
    lines: [
      "- name: Creates an order",
      "- name: Reads it",
      "found[0] == outputs.order)",
      "&& json_path(res.body, '$.note') != [] && res.body.note != 'bad'",
      "&& res.size == 138",
      "token: secret(res.body.token)",
      "test: res.code > 0",
    ],
    seen: ([create, read, graphql]) => {
      assertEquals(create!.headers.get("content-type"), "application/json");
      assertEquals(create!.body, '{"tea":"a # b","count":2}');
      assertEquals(create!.headers.get("authorization"), `Basic ${btoa("ann:tea")}`);
      assertEquals(read!.headers.get("x-token"), "issued-token-1");
      assertEquals([read!.headers.get("x-id")?.length, read!.headers.get("x-hash")], [36, "a#b"]);
      assertEquals(JSON.parse(graphql!.body), {
        query: "query Q($id: ID) { order(id: $id) { id } }",
        variables: { id: 7 },
      });
    },
  });
});

Deno.test("new --from hurl: secrets in asserts are vars of the expressions", async () => {
  const [one, two] = [
    "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
  ];
  const text = (operator: string) =>
    `GET URL/keys\nHTTP 200\n[Asserts]\njsonpath "$.api_key" ${operator} "${one}"\n` +
    `jsonpath "$.text" == "Token ${two}!"\n`;
  const body = { api_key: one, text: `Token ${two}!` };
  await importCase({
    args: ["hurl", "a.hurl"],
    files: { "a.hurl": text("==") },
    env: { API_KEY: one, TEXT_SECRET: two },
    lines: [
      "# Set in the environment: API_KEY, TEXT_SECRET.",
      "&& res.body.api_key == vars.api_key",
      "&& res.body.text == 'Token ' + vars.text_secret + '!'",
    ],
    respond: () => Response.json(body),
  });
  await using server = withServer(() => Response.json(body));
  await withFiles({ "a.hurl": text("!=").replace("URL", server.url) }, async (cwd) => {
    const { stdout } = await runMain(["new", "--from", "hurl", "a.hurl"], { cwd });
    await Deno.writeTextFile(`${cwd}/made.yml`, stdout);
    const env = { API_KEY: one, TEXT_SECRET: two };
    assertEquals((await runMain(["made.yml"], { cwd, env })).code, 1, stdout);
  });
});

const BOOKS = {
  books: [{ id: 1, title: "Dune", tags: ["a", "b"] }, { id: 2, title: "Emma" }],
  shop: { day: "2024-03-20T11:23:56Z", id: "01cc0f54-8885-4a1d-9121-ae5d316a33c5", none: null },
  url: "https://x/?q=é",
  text: "0YjQtdC70LvRiw==",
  json: '{"a": {"b": 1}}',
};

/** Asserts that Hurl passes for these books. */
const PASSING = [
  'jsonpath "$.books[?(@.id==1)].title" == "Dune"',
  'jsonpath "$.books[?(@.id==1)].title" != "Emma"',
  'jsonpath "$.books[?(@.id==1)].title" startsWith "Du"',
  'jsonpath "$.books[?(@.id==1)].title" contains "un"',
  'jsonpath "$.books[?(@.id==1)].tags" contains "b"',
  'jsonpath "$.books[?(@.id==1)].tags" count == 2',
  'jsonpath "$.books[?(@.id==1)]" isObject',
  'jsonpath "$.books[*].title" contains "Emma"',
  'jsonpath "$.books[*].title" count == 2',
  'jsonpath "$.books[*].title" nth 1 == "Emma"',
  'jsonpath "$.books[-1].title" == "Emma"',
  'jsonpath "$.books[{{zero}}].title" == "Dune"',
  'jsonpath "$..none" == null',
  'jsonpath "$.shop.none" not isString',
  'jsonpath "$.books[?(@.id==3)]" not exists',
  'jsonpath "$.shop.day" isIsoDate',
  'jsonpath "$.shop.id" isUuid',
  'jsonpath "$.url" urlEncode == "https%3A//x/%3Fq%3D%C3%A9"',
  'jsonpath "$.text" base64Decode == hex,d188d0b5d0bbd0bbd18b;',
  'jsonpath "$.json" jsonpath "$.a.b" == 1',
  'jsonpath "$.url" replace "https" "http" startsWith "http:"',
  'variable "dune" == "Dune"',
  'variable "long" == 9007199254740993',
];

Deno.test("new --from hurl: an assert that passes there passes here", async () => {
  const text = `GET URL/books
[Options]
variable: zero=0
variable: long=9007199254740993
HTTP 200
X-Many: one
X-Many: two
Set-Cookie: a=1
[Captures]
dune: jsonpath "$.books[?(@.id==1)].title"
[Asserts]
${PASSING.join("\n")}

GET URL/{{dune}}
[Cookies]
[Multipart]
HTTP 200
`;
  await importCase({
    args: ["hurl", "a.hurl"],
    files: { "a.hurl": text },
    respond: () => {
      const response = Response.json(BOOKS);
      for (const value of ["one", "two"]) response.headers.append("X-Many", value);
      for (const value of ["a=1", "b=2"]) response.headers.append("Set-Cookie", value);
      return response;
    },
    seen: ([, second]) => assertEquals([second!.path, second!.body], ["/Dune", ""]),
  });
});

/** Asserts that fail in Hurl for the response of the test below. */
const FAILING = [
  'jsonpath "$.items[?(@==\'tea\')]" != "tea"',
  'jsonpath "$.items[?(@==\'tea\')]" not contains "t"',
  'jsonpath "$.items[?(@==\'coffee\')]" != "tea"',
  'jsonpath "$.items[*]" == "tea"',
  'jsonpath "$.missing" != "x"',
  'jsonpath "$.none[*]" exists',
  'jsonpath "$.empty" not exists',
  'jsonpath "$.items[*]" contains "te"',
  'jsonpath "$.missing" == null',
];

Deno.test("new --from hurl: an assert that fails there fails here", async () => {
  await using server = withServer(() =>
    Response.json({ items: ["tea", "milk"], none: [], empty: null })
  );
  for (const assert of FAILING) {
    const file = `GET ${server.url}/x\nHTTP 200\n[Asserts]\n${assert}\n`;
    const { text, code } = await runTranslated(["hurl", "a.hurl"], { "a.hurl": file });
    assertEquals(code, 1, text);
  }
});
