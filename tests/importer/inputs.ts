// Inputs in the formats of other tools, written for these tests. `URL` is the address of a server.

const JSON_TYPE = {
  status: 200,
  headers: [],
  content: { mimeType: "application/json; charset=utf-8" },
};

export const HAR = {
  log: {
    version: "1.2",
    creator: { name: "test", version: "1" },
    entries: [
      {
        _resourceType: "document",
        request: {
          method: "GET",
          url: "URL/start",
          headers: [
            { name: ":authority", value: "x" },
            { name: "User-Agent", value: "Browser/1" },
            { name: "sec-ch-ua", value: "x" },
            { name: "Accept", value: "text/html" },
          ],
        },
        response: {
          status: 302,
          headers: [{ name: "Set-Cookie", value: "sid=abc123def456; Path=/" }],
          content: { mimeType: "x-unknown" },
        },
      },
      { _resourceType: "image", request: { method: "GET", url: "URL/logo.png", headers: [] } },
      {
        _resourceType: "fetch",
        request: {
          method: "POST",
          url: "URL/api/orders?x={{y}}",
          headers: [
            { name: "Content-Type", value: "application/json" },
            { name: "Cookie", value: "sid=abc123def456; lang=de" },
            { name: "X-Api-Key", value: "k3y-of-the-recording-9" },
          ],
          postData: { mimeType: "application/json", text: '{"tea":"Assam"}' },
        },
        response: JSON_TYPE,
      },
      {
        _resourceType: "xhr",
        request: {
          method: "POST",
          url: "URL/form",
          headers: [{ name: "content-type", value: "application/x-www-form-urlencoded" }],
          postData: { mimeType: "application/x-www-form-urlencoded", text: "a=1&b=2" },
        },
        response: JSON_TYPE,
      },
    ],
  },
};

export const COLLECTION = {
  info: {
    name: "Tea shop",
    schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
  },
  variable: [{ key: "baseUrl", value: "URL" }, { key: "apiToken", value: "token-of-the-file-1" }],
  auth: { type: "bearer", bearer: [{ key: "token", value: "{{apiToken}}" }] },
  item: [
    {
      name: "Orders",
      item: [
        {
          name: "Create",
          request: {
            method: "POST",
            header: [{ key: "X-Off", value: "1", disabled: true }, {
              key: "X-On",
              value: "{{$guid}}",
            }],
            url: {
              raw: "{{baseUrl}}/orders/:shop?x=1",
              variable: [{ key: "shop", value: "main" }],
            },
            body: {
              mode: "raw",
              raw: '{"tea": "{{tea}}", "count": 2}',
              options: { raw: { language: "json" } },
            },
          },
          event: [
            { listen: "prerequest", script: { exec: ["console.log('before')"] } },
            {
              listen: "test",
              script: {
                exec: [
                  'pm.test("is created", function () {',
                  "    pm.response.to.have.status(200);",
                  '    pm.response.to.have.header("Content-Type");',
                  "});",
                  "const order = pm.response.json();",
                  'pm.test("has an id", () => { pm.expect(order.id).to.eql(7); });',
                  "pm.expect(order.items).to.be.an('array');",
                  "pm.expect(order.items.length).to.be.above(1);",
                  'pm.expect(order).to.have.property("path", "/orders/main?x=1");',
                  "pm.expect(pm.response.code).to.be.oneOf([200, 201]);",
                  "pm.expect(pm.response.responseTime).to.be.below(30000);",
                  "pm.expect(order.missing).to.not.exist;",
                  'pm.environment.set("orderId", order.id);',
                  "eval('anything')",
                ],
              },
            },
          ],
        },
        { name: "Read", request: { method: "GET", url: "{{baseUrl}}/orders/{{orderId}}" } },
        {
          name: "Inner",
          item: [{
            name: "Form",
            request: {
              method: "PUT",
              auth: {
                type: "apikey",
                apikey: [{ key: "key", value: "X-Key" }, { key: "value", value: "{{key}}" }],
              },
              url: "{{baseUrl}}/form",
              body: {
                mode: "urlencoded",
                urlencoded: [{ key: "a", value: "1" }, { key: "a", value: "2" }],
              },
            },
          }],
        },
      ],
    },
    {
      name: "Last",
      request: {
        method: "POST",
        url: "{{baseUrl}}/graphql",
        auth: { type: "ntlm" },
        body: { mode: "graphql", graphql: { query: "{ teas { id } }", variables: '{"a": 1}' } },
      },
    },
  ],
};

export const HURL = `# Creates an order
POST URL/orders
Content-Type: application/json
X-Token: {{token}}
[QueryStringParams]
shop: main   # the only one
{
  "tea": "{{tea}}",
  "count": 2
}
HTTP 200
Content-Type: application/json
[Captures]
order: jsonpath "$.id"
kind: header "Content-Type" split "/" nth 1
[Asserts]
status == 200
header "Content-Type" contains "json"
jsonpath "$.id" == 7
jsonpath "$.items" count == 2
jsonpath "$.items[0]" isInteger
jsonpath "$.path" startsWith "/orders"
jsonpath "$.path" matches /^.orders/
jsonpath "$.none" not exists
jsonpath "$..id" exists
body contains "issued"
duration < 30000
cookie "sid" == "abc"
regex "\\"id\\":(\\\\d+)" == "7"
certificate "Subject" == "CN=x"

GET URL/orders/{{order}}
User-Agent: {{agent}}
[BasicAuth]
ann: {{password}}
[Options]
variable: agent=mine/1
location: true
retry: 2
retry-interval: 100ms
HTTP *
[Asserts]
jsonpath "$.path" == "/orders/{{order}}"

PUT URL/form
X-Kind: {{kind}}
[FormParams]
a: 1
a: 2
b: x y
HTTP/1.1 200

POST URL/text
\`\`\`
two
lines
\`\`\`
HTTP 200
`;

export const HTTP = `@base = URL
@agent=tests/1

### Sign in
# @name login
POST {{base}}/login HTTP/1.1
Content-Type: application/json
Authorization: Basic ann tea-for-two

{
  "day": "{{day}}",
  "id": "{{$guid}}"
}

> {%
  client.test("is good", function () {
    client.assert(response.status === 200, "a message");
    client.assert(response.body.id == 7);
  });
  client.global.set("path", response.body.path);
  client.log("done");
%}

###
# reads an order
GET {{base}}/orders
    ?page=2
    &size=5
User-Agent: {{agent}}
X-Token: {{login.response.body.token}}
X-Path: {{path}}

### A form
// @no-redirect
PUT {{base}}/form
Content-Type: application/x-www-form-urlencoded

a=1
&b=2

### From a file
POST {{base}}/file
Content-Type: text/plain

< ./body.txt

###
{{base}}/plain
`;

export const BRUNO = {
  "shop/bruno.json": '{"version": "1", "name": "Tea shop", "type": "collection"}',
  "shop/collection.bru": `headers {
  X-All: yes
}

auth {
  mode: bearer
}

auth:bearer {
  token: {{token}}
}
`,
  "shop/environments/test.bru": `vars {
  host: URL
}
vars:secret [
  token
]
`,
  "shop/environments/z.bru": "vars {\n  host: http://other\n}\n",
  "shop/orders/create.bru": `meta {
  name: Create
  type: http
  seq: 1
}

post {
  url: {{host}}/orders/:shop?x=1
  body: json
  auth: inherit
}

params:path {
  shop: main
}

headers {
  X-Own: {{tea}}
  ~X-Off: no
}

body:json {
  {
    "tea": "{{tea}}"
  }
}

vars:post-response {
  order: res.body.id
}

assert {
  res.status: eq 200
  res.body.path: startsWith /orders
  res.body.items: length 2
  res.headers.content-type: contains json
  res.body.id: in 6, 7
  res.custom: eq 1
}

tests {
  test("is fine", function() {
    const data = res.getBody();
    expect(res.getStatus()).to.equal(200);
    expect(data.items[0]).to.eql(1);
  });
  console.log("x")
}

docs {
  Creates an order.
}
`,
  "shop/orders/read.bru": `meta {
  name: Read
  seq: 2
}

get {
  url: {{host}}/orders/{{order}}
  body: none
  auth: basic
}

auth:basic {
  username: ann
  password: {{password}}
}
`,
  "shop/form.bru": `meta {
  name: Form
}

put {
  url: {{host}}/form
  body: formUrlEncoded
  auth: none
}

body:form-urlencoded {
  a: 1
  b: {{tea}}
}
`,
};
