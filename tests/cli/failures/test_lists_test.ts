import { assertEquals, assertStringIncludes } from "@std/assert";
import { failureAt80 } from "../../support/failures_at_80.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const inJob = (steps: string, job = "") =>
  `name: n\nvars: { n: 7, order: { id: 1, items: [a, b] } }\njobs:\n  - name: j\n${job}    steps:\n${steps}`;

async function printed(workflow: string, ...options: string[]) {
  return await withFiles({ "w.yml": workflow }, async (cwd) => {
    const result = await runMain(["--no-check", ...options, "w.yml"], { cwd });
    const files: Record<string, string> = {};
    for await (const { name } of Deno.readDir(cwd)) {
      files[name] = await Deno.readTextFile(`${cwd}/${name}`);
    }
    return { ...result, files };
  });
}

Deno.test("each false test of a list is a failure of its own", async () => {
  const text = await failureAt80(inJob(`
      - uses: hello
        test:
          - vars.n == 8
          - status == 0
          - 'vars.order == {id: 1, items: ["a"]}'
          - vars.nope.x == 1
          - vars.n
`));
  assertEquals(
    text,
    `w.yml:9:13: test 1 of 5 is false
  9 |           - vars.n == 8
    |             ^^^^^^^^^^^
vars.n is 7 (int)
w.yml:11:14: test 3 of 5 is false
  11 |           - 'vars.order == {id: 1, items: ["a"]}'
     |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | they differ at .items[1]: the right side has none
vars.order is {"id": 1, "items": ["a", "b"]} (map)
vars.order.items[1] is "b" (string)
- expected: {id: 1, items: ["a"]}
+ received: vars.order
@ .items[1]
    "id": 1
    "items": [
      "a"
+     "b"
    ]
  }
w.yml:12:18: vars has no "nope"
  12 |           - vars.nope.x == 1
     |                  ^^^^ there is "n", "order"
w.yml:13:13: test must be true or false, it is int
  13 |           - vars.n
     |             ^^^^^^ compare it with something`,
  );
});

Deno.test("a step passes when all tests of its list are true", async () => {
  const { code, stdout } = await printed(inJob(`
      - { name: both, uses: hello, test: [status == 0, vars.n == 7] }
`));
  assertEquals(code, 0);
  assertStringIncludes(stdout, "✓ both (2 assertions)\n");
});

Deno.test("a retry repeats the step until all tests of its list are true", async () => {
  const { code, stdout } = await printed(inJob(`
      - name: twice
        uses: shell
        with: { cmd: "if [ -e flag ]; then echo ok; else touch flag; fi" }
        retry: { max_attempts: 3 }
        test: [status == 0, 'res.stdout contains "ok"']
`));
  assertEquals(code, 0);
  assertStringIncludes(stdout, "↻ 2/3");
});

Deno.test("the list of failures numbers items as the report of the step does", async () => {
  const { stdout } = await printed(inJob(`
      - uses: hello
        test: [false, res.nope.x == 1]
`));
  assertStringIncludes(stdout, "test 1 of 2 is false\n");
  assertStringIncludes(stdout, 'test 1 of 2 is false; test 2: res has no "nope" – ');
});

Deno.test("each false item of load.expect is a failure of the job", async () => {
  const { code, stdout } = await printed(inJob(
    `
      - { uses: hello }
`,
    "    load: { users: 1, count: 2, expect: [stats.count == 3, stats.failed == 0, stats.count.x > 1] }\n",
  ));
  assertEquals(code, 1);
  assertStringIncludes(stdout, "w.yml:5:42\n     expect is false: stats.count is 2; ");
  assertStringIncludes(stdout, "✗ stats.count.x > 1  int has no .x");
  assertEquals(stdout.includes("stats.failed is"), false);
});

for (
  const [test, message] of [
    ["[]", '"test" is empty'],
    ["['']", 'item 1 of "test" is empty'],
    ["[status == 0, [res]]", 'item 2 of "test" must be an expression, not a list'],
    ["[status == 0, nope(1)]", 'unknown function "nope"'],
    ["{a: 1}", '"test" must be an expression, not a map'],
  ] as const
) {
  Deno.test(`test: ${test} is refused: ${message}`, async () => {
    const { code, stderr } = await printed(inJob(`      - { uses: hello, test: ${test} }\n`));
    assertEquals(code, 1);
    assertStringIncludes(stderr, message);
  });
}

Deno.test("check looks into lists of tests", async () => {
  const { stdout } = await withFiles({
    "w.yml": inJob(`
      - uses: shell
        with: { cmd: echo }
        test:
          - status == 0
          - status == 200
          - 1 == 1
`),
  }, (cwd) => runMain(["check", "w.yml"], { cwd }));
  assertStringIncludes(stdout, "w.yml:11:13: warning: status is 0 or 1");
  assertStringIncludes(stdout, "w.yml:12:13: warning: this test is always true");
});

Deno.test("reports count the assertions of each step and of the run", async () => {
  const { code, files } = await printed(
    inJob(`
      - { name: three, uses: hello, test: [status == 0, status == 1, vars.n == 7] }
      - { name: one, uses: hello, test: status == 0 }
      - { name: none, uses: hello }
`),
    ...["junit=j.xml", "ctrf=c.json", "json=r.json", "html=h.html"].flatMap((
      to,
    ) => ["--report", to]),
  );
  assertEquals(code, 1);
  const junit = files["j.xml"]!;
  assertEquals(junit.match(/assertions="\d+"/g), [4, 4, 3, 1].map((n) => `assertions="${n}"`));
  const { summary, tests } = JSON.parse(files["c.json"]!).results;
  assertEquals(summary.extra.assertions, { passed: 3, failed: 1 });
  assertEquals(
    tests.map(({ extra }: { extra?: unknown }) => extra),
    [{ assertions: { passed: 2, failed: 1 } }, { assertions: { passed: 1, failed: 0 } }, undefined],
  );
  const { totals, jobs: [{ steps }] } = JSON.parse(files["r.json"]!);
  assertEquals(totals.assertions, { passed: 3, failed: 1 });
  assertEquals(steps[0].assertions, { passed: 2, failed: 1 });
  assertEquals(
    steps[0].tests.map(({ expression }: { expression: string }) => expression),
    ["status == 0", "vars.n == 7"],
  );
  assertStringIncludes(files["h.html"]!, '"assertions":{"passed":2,"failed":1}');
});

/** Lists of tests, and the output for each. */
const FAILURES: readonly (readonly [title: string, test: string, printed: string])[] = [
  [
    "one of three is false",
    "[vars.n == 7, vars.n > 8, status == 0]",
    `
w.yml:7:29: test 2 of 3 is false
  7 |         test: [vars.n == 7, vars.n > 8, status == 0]
    |                             ^^^^^^^^^^
vars.n is 7 (int)
`,
  ],
  [
    "all are false",
    "[vars.n == 8, status == 1]",
    `
w.yml:7:16: test 1 of 2 is false
  7 |         test: [vars.n == 8, status == 1]
    |                ^^^^^^^^^^^
vars.n is 7 (int)
w.yml:7:29: test 2 of 2 is false
  7 |         test: [vars.n == 8, status == 1]
    |                             ^^^^^^^^^^^
status is 0 (int)
`,
  ],
  [
    "a key is misspelt",
    "[status == 0, 'vars.order.itms == [\"a\"]']",
    `
w.yml:7:30: test 2 of 2 is false
  7 |         test: [status == 0, 'vars.order.itms == ["a"]']
    |                              ^^^^^^^^^^^^^^^^^^^^^^^^
    | vars.order has no "itms"; did you mean "items"?
vars.order.itms is nil
`,
  ],
  [
    "two lists differ",
    '[\'vars.order.items == ["a", "c"]\', status == 0]',
    `
w.yml:7:17: test 1 of 2 is false
  7 |         test: ['vars.order.items == ["a", "c"]', status == 0]
    |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ they differ at [1]
vars.order.items is ["a", "b"] (array)
vars.order.items[1] is "b" (string)
- expected: ["a", "c"]
+ received: vars.order.items
@ [1]
  [
    "a"
-   "c"
+   "b"
  ]
`,
  ],
  [
    "a type is another",
    "[status == 0, 'vars.n == \"7\"']",
    `
w.yml:7:30: test 2 of 2 is false
  7 |         test: [status == 0, 'vars.n == "7"']
    |                              ^^^^^^^^^^^^^
    | vars.n is int, "7" is string: write 7 without quotes
vars.n is 7 (int)
`,
  ],
  [
    "one cannot be evaluated",
    "[vars.n.x == 1, vars.n == 8]",
    `
w.yml:7:23: int has no .x
  7 |         test: [vars.n.x == 1, vars.n == 8]
    |                       ^
w.yml:7:31: test 2 of 2 is false
  7 |         test: [vars.n.x == 1, vars.n == 8]
    |                               ^^^^^^^^^^^
vars.n is 7 (int)
`,
  ],
  [
    "one is not a condition",
    "[status == 0, vars.n]",
    `
w.yml:7:29: test must be true or false, it is int
  7 |         test: [status == 0, vars.n]
    |                             ^^^^^^ compare it with something
`,
  ],
  [
    "a list has one item",
    "[vars.n == 8]",
    `
w.yml:7:16: test 1 of 1 is false
  7 |         test: [vars.n == 8]
    |                ^^^^^^^^^^^
vars.n is 7 (int)
`,
  ],
  [
    "an item of a list decides",
    "[\"all(vars.order.items, # != 'b')\", status == 0]",
    `
w.yml:7:17: test 1 of 2 is false
  7 |         test: ["all(vars.order.items, # != 'b')", status == 0]
    |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
vars.order.items[1] is "b" (string)
`,
  ],
  [
    "a part is missing",
    "['includes_json(vars.order, {paid: true})', vars.n == 7]",
    `
w.yml:7:17: test 1 of 2 is false
  7 |         test: ['includes_json(vars.order, {paid: true})', vars.n …
    |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: {paid: true}
+ received: vars.order
@ .paid
- true
+ (missing)
`,
  ],
];

for (const [title, test, printed] of FAILURES) {
  Deno.test(`the failure of a list of tests at 80 columns where ${title}`, async () => {
    const text = await failureAt80(`name: n
vars: { n: 7, order: { id: 1, items: [a, b] } }
jobs:
  - name: j
    steps:
      - uses: hello
        test: ${test}
`);
    assertEquals(`\n${text}\n`, printed);
  });
}

Deno.test("the list of failures numbers the tests that cannot be evaluated", async () => {
  const { stdout } = await printed(inJob(`
      - uses: hello
        test:
          - status == 0
          - vars.nope.x == 1
`));
  assertStringIncludes(stdout, '     test 2: vars has no "nope" – ');
});
