import { testFailuresAt80 } from "../../support/failures_at_80.ts";

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
    'jmespath(vars.order, "items[].name") == ["tea"]',
    `
w.yml:15:11: test is false
  15 |           jmespath(vars.order, "items[].name") == ["tea"]
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | they differ at [1]: the right side has none
jmespath(vars.order, "items[].name") is ["tea", "milk"] (array)
jmespath(vars.order, "items[].name")[1] is "milk" (string)
- expected: ["tea"]
+ received: jmespath(vars.order, "items[].name")
@ [1]
  [
    "tea"
+   "milk"
  ]
`,
  ],
  [
    'jmespath(vars.order, "sum(items[].name)") == 5.5',
    `
w.yml:15:11: jmespath() cannot evaluate this expression: argument 1 of
sum() must be a list of numbers, got another list
  15 |           jmespath(vars.order, "sum(items[].name)") == 5.5
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'jmespath(vars.order, "length(id)") == 1',
    `
w.yml:15:11: jmespath() cannot evaluate this expression: argument 1 of
length() must be a string or a list or a map, got number
  15 |           jmespath(vars.order, "length(id)") == 1
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'jmespath(vars.order, "missing(id)") == 1',
    `
w.yml:15:11: jmespath() has no function missing()
  15 |           jmespath(vars.order, "missing(id)") == 1
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    "jmespath(vars.order, vars.query) == 1",
    `
w.yml:15:11: invalid JMESPath: it ends too early
  15 |           jmespath(vars.order, vars.query) == 1
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'jmespath(vars.order, "total") > 3',
    `
w.yml:15:11: cannot compare nil > int
  15 |           jmespath(vars.order, "total") > 3
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
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
