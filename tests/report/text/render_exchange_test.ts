import { assert, assertEquals } from "@std/assert";
import {
  renderExchange,
  renderTable,
  withoutMinor,
} from "../../../src/report/text/render_exchange.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import { fittingJson, renderJson, shortJson } from "../../../src/base/value/render_json.ts";
import type { Value } from "../../../src/base/value/value.ts";

const style = PLAIN;

function lines(req: Value, res: Value, bounds = { columns: 60, lines: 20 }): string {
  return renderExchange({ req, res }, style, bounds).join("\n");
}

Deno.test("renderExchange() shows the titles of an action in place of the fields that they cover", () => {
  const req = {
    method: "POST",
    url: "http://localhost/orders",
    headers: { Accept: "*/*", "X-Ids": "1, 2" },
    body: '{"customer": "a long name, to see it break", "items": [1, 2, 3]}',
  };
  const res = {
    code: 404,
    status: "404 Not Found",
    headers: {},
    body: { error: "no such order" },
    cookies: {},
  };
  const view = {
    request: { title: "POST http://localhost/orders", covered: ["method", "url"] },
    response: { title: "404 Not Found", covered: ["code", "status"], asJson: ["body"] },
  };
  assertEquals(
    renderExchange({ req, res, view }, style, { columns: 60, lines: 20 }).join("\n"),
    `request:
  POST http://localhost/orders
  headers:
    Accept: */*
    X-Ids: 1, 2
  body:
    {
      "customer": "a long name, to see it break",
      "items": [1, 2, 3]
    }
response:
  404 Not Found
  body: {"error": "no such order"}`,
  );
});

Deno.test("withoutMinor() drops fields that an action marks as minor", () => {
  const req = { cmd: "make", background: false };
  const res = { headers: { Date: "today", Via: "proxy" }, pid: 5, text: "x" };
  const view = {
    request: { minor: [["background"], ["absent", "deep"]] },
    response: { minor: [["headers", "Date"], ["pid"]] },
  };
  assertEquals(withoutMinor({ req, res, view }), {
    req: { cmd: "make" },
    res: { headers: { Via: "proxy" }, text: "x" },
    view,
  });
});

Deno.test("renderExchange() shows the output of a command as blocks", () => {
  const req = { cmd: "make\nmake test", env: { CI: "1", EMPTY: "" }, workdir: null };
  const res = { code: 2, stdout: "one line\n", stderr: "first\n\n\tsecond\n", pid: 7 };
  assertEquals(
    lines(req, res),
    `request:
  cmd:
    make
    make test
  env:
    CI: 1
    EMPTY: ""
response:
  code: 2
  stdout: one line
  stderr:
    first

        second
  pid: 7`,
  );
});

Deno.test("renderExchange() wraps lines that are too wide and loses none of them", () => {
  assertEquals(
    lines({ body: "x".repeat(130) }, null),
    ["request:", "  body:", ...[60, 60, 10].map((count) => "    " + "x".repeat(count))].join("\n"),
  );
});

Deno.test("renderExchange() takes text that only begins like JSON as text", () => {
  assertEquals(
    lines({ body: '{"a": [1, 2… (30 more characters)' }, null),
    `request:
  body: {"a": [1, 2… (30 more characters)`,
  );
});

Deno.test("renderExchange() bounds the lines of each field", () => {
  const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n");
  assertEquals(
    lines({ body: text, more: "text" }, { body: "short" }, { columns: 60, lines: 4 }),
    `request:
  body:
    line 0
    line 1
  … (48 more lines, -v shows all)
  more: text
response:
  body: short`,
  );
});

Deno.test("renderExchange() leaves out a side of which nothing is known", () => {
  assertEquals(lines({ cmd: "x" }, null), "request:\n  cmd: x");
  assertEquals(lines(null, null), "");
});

Deno.test("renderExchange() shows the last lines of a command's output", () => {
  const said = Array.from({ length: 9 }, (_, index) => `line ${index}\n`).join("");
  assertEquals(
    lines({}, { code: 1, stdout: said, stderr: "e\n", note: said }, { columns: 60, lines: 4 }),
    `response:
  code: 1
  stdout:
    (7 lines before, -v shows all) …
    line 7
    line 8
  stderr: e
  note:
    line 0
    line 1
  … (7 more lines, -v shows all)`,
  );
});

Deno.test("renderExchange() promises no more of an output than was kept", () => {
  const stdout = Array.from({ length: 9 }, (_, index) => `line ${index}\n`).join("");
  assertEquals(
    lines({}, { stdout, truncated: true }, { columns: 60, lines: 3 }),
    `response:
  stdout:
    (8 lines before, -v shows what max_output kept) …
    line 8
  truncated: true`,
  );
});

Deno.test("renderTable() shows maps by column, numbers to the right", () => {
  const rows = [{ id: 1, name: "Ann", tags: { a: 1 } }, { id: 2000, name: null, tags: "é\n世界" }];
  assertEquals(renderTable(rows, undefined, 80), [
    "  id | name | tags",
    "-----+------+--------",
    '   1 | Ann  | {"a":1}',
    "2000 | nil  | é 世界",
  ]);
});

Deno.test("renderTable() shows lists under the names of their columns, and what was left out", () => {
  assertEquals(renderTable([["a", 1], ["b"], "… (5 more)"], ["x", "y"], 80), [
    "x | y",
    "--+--",
    "a | 1",
    "b |",
    "… (5 more)",
  ]);
  assertEquals(renderTable([[true]], undefined, 80), ["1", "----", "true"]);
});

Deno.test("renderTable() cuts wide cells and lines", () => {
  const rows = [{ text: "x".repeat(100), more: "y".repeat(30) }];
  const [head, , row] = renderTable(rows, undefined, 60);
  assertEquals([head!.length <= 60, row!.length], [true, 60]);
  assertEquals(row!.startsWith(`${"x".repeat(39)}… | yyy`), true);
});

Deno.test("renderJson() keeps on one line what fits there", () => {
  assertEquals(renderJson({ id: 1, tags: ["a", "b"] }, 80), ['{"id": 1, "tags": ["a", "b"]}']);
});

Deno.test("renderJson() breaks what does not fit, and only that", () => {
  const value = { id: 1, tags: ["one", "two"], owner: { name: "a rather long name", age: 30 } };
  assertEquals(renderJson(value, 34), [
    "{",
    '  "id": 1,',
    '  "tags": ["one", "two"],',
    '  "owner": {',
    '    "name": "a rather long name",',
    '    "age": 30',
    "  }",
    "}",
  ]);
});

Deno.test("renderJson() writes what JSON.parse() reads back", () => {
  const value: Value = { 'a"b': [1, null, true, "x\ny", [], {}], long: "word ".repeat(5).trim() };
  for (const columns of [38, 60, 200]) {
    assertEquals(JSON.parse(renderJson(value, columns).join("\n")), value);
  }
});

Deno.test("shortJson() ends with … where it left something out", () => {
  assertEquals(shortJson([1, 2, 3], 20), "[1, 2, 3]");
  assertEquals(shortJson("abcdefghij", 8), '"abcdef…');
  assertEquals(shortJson({ key: "abcdefghij", more: 1 }, 12), '{"key": "ab…');
  assertEquals(shortJson(Array.from({ length: 100 }, (_, i) => i), 12), "[0, 1, 2, 3…");
  // A value that did not fit is not shown as empty.
  assertEquals(shortJson([{ a: 1 }, { b: 2 }], 13), '[{"a": 1}, {…');
  assertEquals(shortJson({ list: [{ a: 1 }] }, 13), '{"list": [{…');
  for (const columns of [2, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]) {
    const text = shortJson({ a: [], b: [[1], {}] }, columns);
    assert(text.length <= columns && text.endsWith("…"), text);
    assert(
      JSON.stringify({ a: [], b: [[1], {}] }).startsWith(text.slice(0, -1).replaceAll(" ", "")),
    );
  }
});

Deno.test("fittingJson() gives up as soon as it is clear that a value is too long", () => {
  assertEquals(fittingJson({ a: 1 }, 8), '{"a": 1}');
  assertEquals(fittingJson({ a: 1 }, 7), undefined);
});

Deno.test("renderJson() does not lose its way in data that is nested without end", () => {
  let value: Value = 1;
  for (let depth = 0; depth < 5000; depth++) value = [value];
  assert(renderJson(value, 80).length < 200);
});

Deno.test("shortJson() writes numbers that JSON has no words for as expressions do", () => {
  assertEquals(shortJson([Infinity, -Infinity, NaN], 20), "[+Inf, -Inf, NaN]");
});

Deno.test("renderExchange() breaks a command between its words, so that it can still be run", () => {
  const command = "curl -L 'http://x/a b' -H 'Accept: text/plain' \\\n  --data 'two\nlines'";
  const lines = (columns: number, wraps: boolean) =>
    renderExchange({ req: null, res: null, command }, style, { columns, lines: 9, wraps }).slice(1);
  assertEquals(lines(30, true), [
    "  curl -L 'http://x/a b' \\",
    "      -H 'Accept: text/plain' \\",
    "    --data 'two",
    "  lines'",
  ]);
  assertEquals(lines(30, false).length, 3);
  assertEquals(lines(100, true), lines(30, false));
});
