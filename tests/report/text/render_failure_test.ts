import { assert, assertEquals } from "@std/assert";
import { displayWidth } from "../../../src/base/text/display_width.ts";
import {
  failureEntries,
  renderAttempts,
  renderFailure,
  renderFailureList,
  renderTrouble,
  type Shown,
} from "../../../src/report/text/render_failure.ts";
import { summarizeFailure } from "../../../src/run/failure/summarize_failure.ts";
import { failedRun } from "../../../src/report/failed_parts.ts";
import { IN_A_PIPE, roomOf } from "../../../src/report/text/lines.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import type { Attempt, Failure } from "../../../src/run/event.ts";
import { falseTest, stepFinished } from "../events.ts";

const cases: readonly (readonly [title: string, failure: Failure, expected: string])[] = [
  [
    "shows the place, the line and the values of a false test",
    falseTest(),
    `api.yml:14:11: test is false
  14 |     test: res.body.total == 3
     |           ^^^^^^^^^^^^^^^^^^^
res.body.total is 2 (int)`,
  ],
  [
    "puts the hint where the mark is",
    { ...falseTest(), operands: [], hint: 'did you mean "totals"?' },
    `api.yml:14:11: test is false
  14 |     test: res.body.total == 3
     |           ^^^^^^^^^^^^^^^^^^^ did you mean "totals"?`,
  ],
  [
    "shows both sides of a comparison, nil without a type",
    {
      ...falseTest(),
      operands: [
        { text: "res.body.a", type: "nil", value: null },
        { text: "vars.wanted", type: "map", value: { id: 1, name: "x" } },
      ],
    },
    `api.yml:14:11: test is false
  14 |     test: res.body.total == 3
     |           ^^^^^^^^^^^^^^^^^^^
res.body.a is nil
vars.wanted is {"id": 1, "name": "x"} (map)`,
  ],
  [
    "names the expression where there is no place",
    { kind: "test", field: "test", message: "test is false", expression: "a ==\n  b", hint: "h" },
    "test is false\nin: a == b\nhint: h",
  ],
  [
    "shows every line of what an action said",
    { kind: "action", field: "uses", message: "cannot connect\nrefused" },
    "cannot connect\nrefused",
  ],
  [
    "does not mark the file for an interruption",
    { ...falseTest(), kind: "interrupted", message: "interrupted", operands: [] },
    "api.yml:14:11: interrupted\nin: res.body.total == 3",
  ],
];
for (const [title, failure, expected] of cases) {
  Deno.test(`renderFailure() ${title}`, () => {
    assertEquals(renderFailure(failure, PLAIN, IN_A_PIPE).join("\n"), expected);
  });
}

Deno.test("renderFailure() wraps between words on a terminal, and keeps URLs and carets whole", () => {
  const url = "http://localhost:8080/a/rather/long/path";
  const failure: Failure = {
    ...falseTest(),
    message: `cannot read what ${url} has sent`,
    hint: "is it the right one?",
  };
  assertEquals(
    renderFailure(failure, PLAIN, roomOf(30)).join("\n"),
    `api.yml:14:11: cannot read
what
${url}
has sent
  14 |     test: res.body.tot…
     |           ^^^^^^^^^^^^^
     | is it the right one?
res.body.total is 2 (int)`,
  );
});

Deno.test("renderFailure() keeps a message in one line where there is no terminal", () => {
  const message = `cannot ${"go ".repeat(100)}on`;
  const failure: Failure = { kind: "action", field: "uses", message };
  assertEquals(renderFailure(failure, PLAIN, IN_A_PIPE), [message]);
});

Deno.test("summarizeFailure() says the values with the message, on one line that is not cut", () => {
  assertEquals(summarizeFailure(falseTest()), "test is false: res.body.total is 2 (int)");
  const failure = { kind: "expression", field: "with.id", message: "no such field" } as const;
  assertEquals(summarizeFailure(failure), "with.id: no such field");
  const message = "first\nsecond " + "x".repeat(200);
  const summary = summarizeFailure({ kind: "action", field: "uses", message });
  assertEquals(summary, `first second ${"x".repeat(200)}`);
});

const differing: Failure = {
  ...falseTest(),
  operands: [
    { text: "res.body", type: "map", value: { items: "x".repeat(80), total: 2 } },
    { text: "res.body.total", type: "int", value: 2 },
  ],
  difference: {
    expected: `{items: "${"x".repeat(80)}",\n total: 3}`,
    received: "res.body",
    lines: ["@ .total", '    "items": "x"', '-   "total": 3', '+   "total": 2', "  }"],
  },
};

Deno.test("renderFailure() shows what differs below both sides, which are cut then", () => {
  assertEquals(
    renderFailure(differing, PLAIN, IN_A_PIPE).slice(3).join("\n"),
    `res.body is {"items": "${"x".repeat(48)}… (map)
res.body.total is 2 (int)
- expected: {items: "${"x".repeat(50)}…
+ received: res.body
@ .total
    "items": "x"
-   "total": 3
+   "total": 2
  }`,
  );
  for (const line of renderFailure(differing, PLAIN, roomOf(20)).slice(3)) {
    assert(displayWidth(line) <= 20, line);
  }
});

Deno.test("summarizeFailure() names what differs, not what both sides begin with", () => {
  assertEquals(summarizeFailure(differing), "test is false: res.body.total is 2 (int)");
  const long = { text: "res.body", type: "string", value: "x".repeat(300) };
  const difference = {
    expected: "vars.page",
    received: "res.body",
    lines: ["@ line 7", "- a", "+ b"],
  };
  assertEquals(
    summarizeFailure({
      ...differing,
      operands: [long, { ...long, text: "vars.page" }],
      difference,
    }),
    "test is false: res.body and vars.page differ at line 7",
  );
});

function attempts(...messages: readonly string[]): Attempt[] {
  return messages.map((message, index) => {
    return { number: index + 1, started: 0, duration: 1, outcome: "failed", message };
  });
}

const attemptCases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["is silent about a single attempt", ["HTTP 500"], []],
  ["groups attempts that were alike", ["a", "a", "b"], ["attempts: 1–2 a, 3 b"]],
  [
    "gives each a line where they are long",
    ["x".repeat(60), "y".repeat(60)],
    ["attempts:", `  1 ${"x".repeat(60)}`, `  2 ${"y".repeat(60)}`],
  ],
  [
    "leaves out the middle of many",
    Array.from({ length: 100 }, (_, index) => `m${index}`),
    ["attempts: 1 m0, 2 m1, 3 m2, 4 m3, 5 m4, … (6–98), 99 m98, 100 m99"],
  ],
];
for (const [title, messages, expected] of attemptCases) {
  Deno.test(`renderAttempts() ${title}`, () => {
    assertEquals(renderAttempts(attempts(...messages), IN_A_PIPE), expected);
  });
}

Deno.test("renderAttempts() names the outcome of an attempt without a message", () => {
  const [first] = attempts("HTTP 500");
  const second: Attempt = { number: 2, started: 0, duration: 1, outcome: "passed" };
  assertEquals(renderAttempts([first!, second], IN_A_PIPE), ["attempts: 1 HTTP 500, 2 passed"]);
});

Deno.test("renderTrouble() shows a line of the file and an exchange once for each job", () => {
  const shown: Shown = new Map();
  const exchange = (code: number) => ({ req: { url: "http://x/" }, res: { code, reason: "none" } });
  const lines = [2, 3, 4].map((value) => {
    const failed = {
      state: "failed",
      failures: [falseTest(value)],
      exchange: exchange(value % 2),
    } as const;
    const { result } = stepFinished({ job: "build", step: value }, "check", failed);
    return renderTrouble(result, PLAIN, IN_A_PIPE, shown, ["build", `in step ${value}`]);
  });
  assertEquals(lines.map((step) => step.length), [9, 7, 1]);
  assertEquals(lines[2], [
    "api.yml:14:11: test is false: res.body.total is 4 (int), as in step 2",
  ]);
});

/** The entries of a step that failed so. */
function entriesOf(name: string, failures: readonly Failure[], request?: string) {
  const view = { request: { title: request } };
  const exchange = request === undefined ? undefined : { req: {}, res: {}, view };
  const step = stepFinished({ job: "build", step: 0 }, name, {
    state: "failed",
    failures,
    exchange,
  });
  return failedRun({ ...step, inside: [] }, "Build").flatMap((part) => failureEntries(part, "r"));
}

Deno.test("renderFailureList() repeats neither a hint nor the names of entries", () => {
  const failure = {
    ...falseTest(1),
    operands: [],
    hint: "they differ at .total",
    difference: { expected: "{total: 2}", received: "res.body", lines: ["@ .total", "- 2", "+ 1"] },
  };
  const entries = [1, 2, 3].flatMap(() => entriesOf("n", [failure]));
  assertEquals(renderFailureList(entries, PLAIN, IN_A_PIPE), [
    "Failures",
    "  1. Build › n   api.yml:14:11",
    "     test is false: res.body and {total: 2} differ at .total",
    "     and 2 more",
    "",
  ]);
});

Deno.test("renderFailureList() lists failures at one place, or of one request, once", () => {
  const refused: Failure = { kind: "action", field: "uses", message: "no such path" };
  const entries = [
    ...[1, 2, 3].flatMap((value) => entriesOf(`n ${value}`, [falseTest(value)])),
    ...entriesOf("get", [refused], "GET /a"),
    ...entriesOf("get again", [refused], "GET /a"),
    ...entriesOf("get b", [refused], "GET /b"),
    ...entriesOf("two", [refused, { ...refused, message: "and 503" }], "GET /b"),
    ...entriesOf("other", [refused, { ...refused, message: "and 404" }], "GET /b"),
  ];
  assertEquals(renderFailureList(entries, PLAIN, IN_A_PIPE), [
    "Failures",
    "  1. Build › n 1   api.yml:14:11",
    "     test is false: res.body.total is 1 (int)",
    "     and 2 more: n 2, n 3",
    "  2. Build › get",
    "     no such path",
    "     and 2 more: get again, get b",
    "  3. Build › two",
    "     no such path; and 503",
    "  4. Build › other",
    "     no such path; and 404",
    "",
  ]);
});
