import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testFailuresAt80 } from "../../support/failures_at_80.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Tests about values that are found in data and texts, and what is printed about each. */
const FAILURES: readonly (readonly [test: string, printed: string])[] = [
  [
    'json_path(vars.order, "$..price") == [3.5, 3]',
    `
w.yml:15:11: test is false
  15 |           json_path(vars.order, "$..price") == [3.5, 3]
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | they differ at [1]
json_path(vars.order, "$..price") is [3.5, 2] (array)
json_path(vars.order, "$..price")[1] is 2 (int)
- expected: [3.5, 3]
+ received: json_path(vars.order, "$..price")
@ [1]
  [
    3.5
-   3
+   2
  ]
`,
  ],
  [
    'json_path(vars.order, "$.id") == 7',
    `
w.yml:15:11: test is false
  15 |           json_path(vars.order, "$.id") == 7
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | json_path(vars.order, "$.id") is array, 7 is int
json_path(vars.order, "$.id") is [7] (array)
`,
  ],
  [
    'json_path(vars.order, "$.total")[0] == 7',
    `
w.yml:15:11: index 0 is outside a list of length 0
  15 |           json_path(vars.order, "$.total")[0] == 7
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | json_path() found nothing
`,
  ],
  [
    "json_path(vars.order, vars.path) == []",
    `
w.yml:15:11: invalid JSONPath: unclosed bracketed selection at character
5
  15 |           json_path(vars.order, vars.path) == []
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'xpath(vars.feed, "//title") == ["tea"]',
    `
w.yml:15:11: test is false
  15 |           xpath(vars.feed, "//title") == ["tea"]
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | they differ at [0]: the left side has none
xpath(vars.feed, "//title") is [] (array)
- expected: ["tea"]
+ received: xpath(vars.feed, "//title")
@ [0]
- [
-   "tea"
- ]
+ []
`,
  ],
  [
    'xpath(vars.feed, "//f:title") == ["tea"]',
    `
w.yml:15:11: xpath() does not know the namespace of the prefix "f"
  15 |           xpath(vars.feed, "//f:title") == ["tea"]
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | name it: xpath(text, "//f:name", {f: "http://…"})
`,
  ],
  [
    'xpath(vars.feed, "count(//*)") == 4',
    `
w.yml:15:11: test is false
  15 |           xpath(vars.feed, "count(//*)") == 4
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
xpath(vars.feed, "count(//*)") is 3 (int)
`,
  ],
  [
    "xpath(vars.feed, vars.pattern) == []",
    `
w.yml:15:11: invalid XPath: "[" is not closed
  15 |           xpath(vars.feed, vars.pattern) == []
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'xpath(vars.order, "//title") == ["tea"]',
    `
w.yml:15:17: argument 1 of xpath() must be a string, got map
  15 |           xpath(vars.order, "//title") == ["tea"]
     |                 ^^^^^^^^^^
`,
  ],
  [
    'xpath(vars.text, "//title") == ["tea"]',
    `
w.yml:15:11: this text has no elements
  15 |           xpath(vars.text, "//title") == ["tea"]
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^ xpath() reads XML and HTML
`,
  ],
  [
    'css(vars.page, "a", "href") == ["/2"]',
    `
w.yml:15:11: test is false
  15 |           css(vars.page, "a", "href") == ["/2"]
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | they differ at [0]
css(vars.page, "a", "href") is ["/1"] (array)
css(vars.page, "a", "href")[0] is "/1" (string)
- expected: ["/2"]
+ received: css(vars.page, "a", "href")
@ [0]
  [
-   "/2"
+   "/1"
  ]
`,
  ],
  [
    'css(vars.page, "h1") == "Orders"',
    `
w.yml:15:11: test is false
  15 |           css(vars.page, "h1") == "Orders"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | css(vars.page, "h1") is array, "Orders" is string
css(vars.page, "h1") is ["Orders"] (array)
`,
  ],
  [
    'css(vars.page, "h2")[0] == "Orders"',
    `
w.yml:15:11: index 0 is outside a list of length 0
  15 |           css(vars.page, "h2")[0] == "Orders"
     |           ^^^^^^^^^^^^^^^^^^^^^^^ css() found nothing
`,
  ],
  [
    "css(vars.page, vars.pattern) == []",
    `
w.yml:15:11: invalid selector: attribute selector didn't terminate
  15 |           css(vars.page, vars.pattern) == []
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'capture(vars.text, "code is ([0-9]+)")[1] == 4711',
    `
w.yml:15:11: test is false
  15 |           capture(vars.text, "code is ([0-9]+)")[1] == 4711
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | capture(vars.text, "code is ([0-9]+)")[1] is string, 4711 is int:
     | write parse_int(capture(vars.text, "code is ([0-9]+)")[1])
capture(vars.text, "code is ([0-9]+)")[1] is "4711" (string)
`,
  ],
  [
    'capture(vars.text, "token is ([0-9]+)")[1] == "4711"',
    `
w.yml:15:11: cannot read [1] of nil
  15 |           capture(vars.text, "token is ([0-9]+)")[1] == "4711"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | the pattern does not match; use ?. where it may not
`,
  ],
  [
    'capture(vars.text, "code is [0-9]+")[1] == "4711"',
    `
w.yml:15:11: index 1 is outside a list of length 1
  15 |           capture(vars.text, "code is [0-9]+")[1] == "4711"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | the pattern has no groups: put one in parentheses
`,
  ],
  [
    'capture(vars.text, vars.pattern)[1] == "4711"',
    `
w.yml:15:11: invalid regular expression: missing closing ]
  15 |           capture(vars.text, vars.pattern)[1] == "4711"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'capture(vars.order.id, "7") != nil',
    `
w.yml:15:19: argument 1 of capture() must be a string, got int
  15 |           capture(vars.order.id, "7") != nil
     |                   ^^^^^^^^^^^^^
`,
  ],
];

testFailuresAt80(
  `  order: {id: 7, items: [{name: tea, price: 3.5}, {name: milk, price: 2}]}
  page: <html><body><h1>Orders</h1><a href="/1">one</a></body></html>
  feed: <feed xmlns="urn:f"><entry><title>tea</title></entry></feed>
  text: Your code is 4711.
  path: $..[
  query: items[
  pattern: "[a-"
`,
  FAILURES,
);

/** Tests about an order, and what is printed about each. */
const INCLUDES_JSON_FAILURES: readonly (readonly [test: string, printed: string])[] = [
  [
    'includes_json(vars.order, {state: "paid"})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {state: "paid"})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {state: "paid"}
+ received: vars.order
@ .state
- "paid"
+ "open"
`,
  ],
  [
    'includes_json(vars.order, {id: is_type("string"), customer: {name: anything()}})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {id: is_type("string"), cust…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {id: is_type("string"), customer: {name: anything()}}
+ received: vars.order
@ .id: it is int
- is_type("string")
+ 7
@ .customer
- {"name":anything()}
+ (missing)
`,
  ],
  [
    'includes_json(vars.order, {items: [{name: "tea"}]})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {items: [{name: "tea"}]})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: [{name: "tea"}]}
+ received: vars.order
@ .items: 2 items, not 1
- [{"name":"tea"}]
+ [{"name":"tea","price":3.5},{"name":"milk","price":2}]
`,
  ],
  [
    'includes_json(vars.order, {items: [{name: "tea"}, {price: "/^[0-9]+[.][0-9]{2}$/"}]})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {items: [{name: "tea"}, {pri…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: [{name: "tea"}, {price: "/^[0-9]+[.][0-9]{2}$/"}]}
+ received: vars.order
@ .items[1].price
- /^[0-9]+[.][0-9]{2}$/
+ 2
`,
  ],
  [
    'includes_json(vars.order, {tags: unordered(["new", "gift"])})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {tags: unordered(["new", "gi…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {tags: unordered(["new", "gift"])}
+ received: vars.order
@ .tags[1]: in any order
- "new"
+ "express"
`,
  ],
  [
    "includes_json(vars.order, {items: unordered([{price: 2}, {price: 4}])})",
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, {items: unordered([{price: 2…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {items: unordered([{price: 2}, {price: 4}])}
+ received: vars.order
@ .items[0]: in any order
- {"price":4}
+ {"name":"tea","price":3.5}
`,
  ],
  [
    'includes_json(vars.order.items, {name: "tea"})',
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order.items, {name: "tea"})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {name: "tea"}
+ received: vars.order.items
@ the value itself: it is list, not map
- {"name":"tea"}
+ [{"name":"tea","price":3.5},{"name":"milk","price":2}]
`,
  ],
  [
    "includes_json(vars.ordr, {id: 7})",
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.ordr, {id: 7})
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | vars has no "ordr"; did you mean "order"?
vars.ordr is nil
`,
  ],
  [
    "includes_json(vars.order, vars.wanted)",
    `
w.yml:15:11: test is false
  15 |           includes_json(vars.order, vars.wanted)
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: vars.wanted
+ received: vars.order
@ .state
- "paid"
+ "open"
@ .note
- "short"
+ "long long long long long long long long long long long long long lon…
@ .total
- 5.5
+ (missing)
`,
  ],
  [
    'vars.order.id == 7 && includes_json(vars.order, {id: "7"})',
    `
w.yml:15:33: test is false
  15 |           vars.order.id == 7 && includes_json(vars.order, {id: "…
     |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {id: "7"}
+ received: vars.order
@ .id: it is int, not string
- "7"
+ 7
`,
  ],
];

testFailuresAt80(
  `  order:
    id: 7
    state: open
    tags: [gift, express]
    items: [{name: tea, price: 3.5}, {name: milk, price: 2}]
    note: ${"long ".repeat(30)}
  wanted: {state: paid, note: short, total: 5.5}
`,
  INCLUDES_JSON_FAILURES,
);

/** A certificate for `localhost` and 127.0.0.1, which has signed itself. */
const CERTIFICATE = tlsPath("localhost.pem");

function getFrom(url: string, authority = CERTIFICATE): Promise<{ code: number; stdout: string }> {
  const steps = [{ uses: "http", with: { get: url }, test: "res.body == 'in'" }];
  const workflow = JSON.stringify({ name: "n", jobs: [{ name: "j", steps }] });
  return withFiles({ "w.yml": workflow }, (cwd) => {
    return runCli(["w.yml"], { cwd, env: { NODE_EXTRA_CA_CERTS: authority } });
  });
}

Deno.test("a certificate for another host is reported with both names", async () => {
  const [cert, key] = await Promise.all(
    [CERTIFICATE, tlsPath("localhost_key.pem")].map((name) => Deno.readTextFile(name)),
  );
  await using server = withServer(() => new Response("in"), { cert: cert!, key: key! });
  const good = await getFrom(server.url);
  assertEquals(good.code, 0, good.stdout);
  const bad = await getFrom(`https://[::ffff:127.0.0.1]:${server.port}`);
  assertEquals(bad.code, 1);
  assertStringIncludes(
    bad.stdout,
    `the certificate of [::ffff:7f00:1] port ${server.port} is for another host: localhost, 127.0.0.1 (ERR_TLS_CERT_ALTNAME_INVALID)\n`,
  );
});

Deno.test("a certificate that has expired is reported as such where its authority is known", async () => {
  const [cert, key] = await Promise.all(
    ["expired.pem", "expired_key.pem"].map((name) => Deno.readTextFile(tlsPath(name))),
  );
  await using server = withServer(() => new Response("in"), { cert: cert!, key: key! });
  const { code, stdout } = await getFrom(server.url, tlsPath("authority.pem"));
  assertEquals(code, 1);
  assertMatch(stdout, /expired on 2025-03-01, \d+ days ago \(CERT_HAS_EXPIRED\)\n/);
});
