import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertPlaces, importCase } from "../support/import_case.ts";
import { HTTP } from "./inputs.ts";

Deno.test("new --from http translates requests, variables and what they read of each other", async () => {
  await importCase({
    args: ["http", "shop.http"],
    files: { "shop.http": HTTP, "body.txt": "content" },
    env: { PASSWORD: "tea-for-two" },
    vars: { day: "Monday" },
    notes: ['the script: client.log("done")'],
    lines: [
      "name: shop",
      'base: "URL"',
      "- name: Sign in",
      "id: sign_in_login_token",
      "login_token: res.body.token",
      "&& res.body.id == 7",
      'X-Token: "{{outputs.login_token}}"',
      "file: body.txt",
      "- name: reads an order",
    ],
    seen: ([login, orders, form, file, plain]) => {
      assertEquals(JSON.parse(login!.body).day, "Monday");
      assertEquals(login!.headers.get("authorization"), `Basic ${btoa("ann:tea-for-two")}`);
      assertEquals(orders!.path, "/orders?page=2&size=5");
      assertEquals(orders!.headers.get("x-token"), "issued-token-1");
      assertEquals(orders!.headers.get("x-path"), "/login");
      assertEquals([form!.method, form!.body], ["PUT", "a=1&b=2"]);
      assertEquals(file!.body, "content");
      assertEquals([plain!.method, plain!.path], ["GET", "/plain"]);
    },
  });
});

Deno.test("new --from http puts variables of what a response has in their places", async () => {
  const text = `@base = URL

# @name login
POST {{base}}/login

###
@token = {{login.response.body.$.token}}
@bearer = Bearer {{token}}

# @name order
GET {{base}}/order
Authorization: {{bearer}}

###
GET {{base}}/list/{{order.response.body.//item[1]/@id}}
X-Token: {{token}}
`;
  await importCase({
    args: ["http", "shop.http"],
    files: { "shop.http": text },
    lines: [
      'Authorization: "Bearer {{outputs.login_token}}"',
      "order_id: \"first(xpath(res.body, '//item[1]/@id'))\"",
    ],
    respond: ({ path }) =>
      path === "/order" ? new Response('<order><item id="n7"/></order>') : undefined,
    seen: ([, order, list]) => {
      assertEquals(order!.headers.get("authorization"), "Bearer issued-token-1");
      assertEquals([list!.path, list!.headers.get("x-token")], ["/list/n7", "issued-token-1"]);
    },
  });
});

Deno.test("new --from http says where a file is wrong", async () => {
  await assertPlaces("http", {
    "start.http": ["### a\nhello there\n", "start.http:2:1: error: expected a request"],
    "header.http": ["GET http://x\nno header\n", "header.http:2:1: error: expected a header"],
    "script.http": [
      "GET http://x\n\n> {%\nclient.log(1)\n\n### b\nGET http://y\n",
      "script.http:3:1: error: the script is not closed",
    ],
    "empty.http": ["### nothing\n@a = b\n", "there is no request in the file"],
  });
});

Deno.test("new --from http translates the extensions of editors", async () => {
  const text = `@id = 7
@page = {{$randomInt 3 4}}

### Digest
GET URL/digest
Authorization: Digest ann tea

### By its host
GET /orders/{{id}}?page={{page}}
Host: ADDRESS

> {%
  client.test("all", function () {
    client.assert(response.status === 200, "a; b");
    client.assert(response.body.id);
    client.assert(response.body.token !== "a" && response.body.token !== "b");
    client.assert(response.body.token !== "a" || response.body.token !== "issued-token-1");
    client.global.set("type", response.headers.valueOf("Content-Type"));
  });
%}

### Without a scheme
GET ADDRESS/plain
X-Type: {{type}}

### A query
GRAPHQL URL/graphql

query Q($id: ID) { order(id: $id) { id } }

{ "id": {{id}} }

### Parts
POST URL/parts
    ?a=1 HTTP/1.1
Content-Type: multipart/form-data; boundary=B

--B
Content-Disposition: form-data; name="text"

id {{id}}
--B
Content-Disposition: form-data; name="f"; filename="other.txt"
Content-Type: text/x-tea

< ./body.txt
--B--

> {%
  client.assert(response.contentType.mimeType === "application/json" && response.body.id === 7, "x");
  client.assert(response.body.hasOwnProperty("token"), "x");
  client.assert(response.body.items.includes(2));
%}

### A file
POST URL/file
Content-Type: text/plain

<@ ./body.txt

### A socket
WEBSOCKET wss://example.com/socket
`;
  await importCase({
    args: ["http", "all.http"],
    files: { "all.http": text, "body.txt": "with {{id}}" },
    env: { PASSWORD: "tea" },
    notes: [
      "WEBSOCKET wss://example.com/socket",
      "the variables in the file ./body.txt",
    ],
    lines: ['&& not (res.body.id in [nil, false, 0, ""])', "digest:"],
    seen: (requests) => {
      const paths = requests.map(({ path }) => path);
      assertEquals(paths, [
        "/digest",
        "/orders/7?page=3",
        "/plain",
        "/graphql",
        "/parts?a=1",
        "/file",
      ]);
      const [, , plain, graphql, parts] = requests;
      for (const part of ["id 7", "with {{id}}", "text/x-tea", "other.txt"]) {
        assertStringIncludes(parts!.body, part);
      }
      assertEquals(plain!.headers.get("x-type"), "application/json");
      assertEquals(graphql!.method, "POST");
      assertEquals(JSON.parse(graphql!.body), {
        query: "query Q($id: ID) { order(id: $id) { id } }",
        variables: { id: 7 },
      });
    },
  });
});

Deno.test("new --from http asserts nothing from what is commented out, or may not run", async () => {
  await importCase({
    args: ["http", "in.http"],
    files: {
      "in.http": `GET URL/a

> {%
  // client.test("off", () => { client.assert(response.status === 404); });
  if (response.status === 404) {
    client.assert(response.body.id === 1);
  }
  client.test("on", () => client.assert(response.status === 200));
%}
`,
    },
    notes: ["the script: if (response.status === 404) { client.assert(response.body.id === 1); }"],
    lines: ["test: res.code == 200"],
  });
});

Deno.test("new --from http: what belongs to httpYac, curl or GraphQL is a comment, not a body", async () => {
  const text = `{{
  exports.day = 1;
}}

###
fragment Tea on Product {
  name
}

# @no-cookie-jar
GET URL/a
?? status == 200

{{+after
  test.status(200);
}}
?? body id == 7

GET URL/not-sent

###
curl -X POST URL/not-sent \\
  -d a=1

###
# @disabled
GET URL/not-sent

###
GET URL/set

###
import other.http

###
GET URL/b?
    c=1&
    d=2
`;
  await importCase({
    args: ["http", "a.http"],
    files: { "a.http": text },
    lines: ["cookies: false", 'skipif: "true"'],
    notes: [
      "the script {{ … }} of httpYac",
      "curl -X POST URL/not-sent",
      "import other.http: it is no request of HTTP",
      "fragment Tea on Product {: it is no request of HTTP",
      "?? status == 200",
      "the script {{ … }} of httpYac",
      "?? body id == 7",
      "GET URL/not-sent: begin it with ###",
    ],
    seen: (requests) =>
      assertEquals(requests.map(({ path, body }) => path + body), ["/a", "/set", "/b?c=1&d=2"]),
  });
});

Deno.test("new --from http makes vars of the values that scripts before requests set", async () => {
  const text = `@id = 1

### one
< {%
  request.variables.set("id", "42");
  client.global.set("env", "test");
%}
GET URL/one/{{id}}?env={{env}}

> {% client.test("ok", () => client.assert(response.status === 200)) %}

### two
< {% if (later) client.global.set("env", random()) %}
GET URL/two/{{id}}?env={{env}}

### three
< ./before.js
GET URL/three
`;
  await importCase({
    args: ["http", "before.http"],
    files: { "before.http": text },
    notes: [
      'the script before the request: if (later) client.global.set("env", random())',
      "the script before the request: ./before.js",
    ],
    seen: (requests) => {
      assertEquals(requests.map(({ path }) => path), [
        "/one/42?env=test",
        "/two/1?env=test",
        "/three",
      ]);
    },
  });
});
