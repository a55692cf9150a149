import { assertEquals } from "@std/assert";
import { renderExchange, withoutMinor } from "../../../src/report/text/render_exchange.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
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
