import { assertEquals, assertStringIncludes } from "@std/assert";
import { describeText, explainText } from "../support/load_files.ts";

/** A workflow with these lines at the top level, and a good job unless they bring jobs. */
function top(lines: string): string {
  return lines + (/^jobs:/m.test(lines) ? "" : "\njobs: [{name: a, steps: [{uses: hello}]}]\n");
}

/** A workflow with these lines as keys of a job, and a good step unless they bring steps. */
function job(lines: string): string {
  const steps = /^steps:/m.test(lines) ? "" : "\n  steps: [{uses: hello}]";
  return `name: x\njobs:\n- name: a\n  ${lines.replaceAll("\n", "\n  ")}${steps}\n`;
}

/** A workflow with these lines as keys of a step; they begin in line 6, column 5. */
function step(lines: string, uses = "hello"): string {
  const indented = lines.replaceAll("\n", "\n    ");
  return `name: x\njobs:\n- name: a\n  steps:\n  - uses: ${uses}\n    ${indented}\n`;
}

type Case = readonly [yaml: string, ...messages: string[]];

async function check(cases: readonly Case[]): Promise<void> {
  for (const [yaml, ...messages] of cases) assertEquals(await describeText(yaml), messages, yaml);
}

Deno.test("a workflow has a name and jobs", () =>
  check([
    ["jobs: [{name: a, steps: [{uses: hello}]}]", '1:1: error: the workflow needs "name"'],
    [top("name:"), '1:1: error: "name" must not be empty'],
    [top("name: ''"), '1:7: error: "name" must not be empty'],
    [top("name: '  '"), '1:7: error: "name" must not be empty'],
    [top("name: [a]"), '1:7: error: "name" must be a string, not a list'],
    ["name: x", '1:1: error: the workflow needs "jobs"'],
    ["name: x\njobs:", '2:1: error: "jobs" must not be empty'],
    ["name: x\njobs: []", '2:7: error: "jobs" must not be empty'],
    [
      "name: x\njobs:\n  a:\n    steps: [{uses: hello}]",
      '3:3: error: "jobs" must be a list, not a map',
      '4:5: error: a job needs "name"',
    ],
    [
      "name: x\njobs:\n\u00a0 - name: a\n",
      '2:1: error: "jobs" must not be empty',
      '3:1: error: unknown key "\u00a0 - name" in the workflow',
    ],
    ["name: x\njobs: text", '2:7: error: "jobs" must be a list, not "text"'],
    ["- a\n- b", "1:1: error: the workflow must be a map, not a list"],
    ["just text", '1:1: error: the workflow must be a map, not "just text"'],
    [top("name: x\nvars: [a]"), '2:7: error: "vars" must be a map, not a list'],
    [top("name: x\nvars: 5"), '2:7: error: "vars" must be a map, not 5'],
    [top("name: x\nvars:\ndescription:")],
    [top("name: x\ndescription: {a: b}"), '2:14: error: "description" must be a string, not a map'],
  ]));

Deno.test("a job has a name and steps", () =>
  check([
    ["name: x\njobs:\n- steps: [{uses: hello}]", '3:3: error: a job needs "name"'],
    ["name: x\njobs: [{name: a}]", '2:8: error: a job needs "steps"'],
    ["name: x\njobs: [{name: a, steps: []}]", '2:25: error: "steps" must not be empty'],
    ["name: x\njobs: [{name: a, steps: {}}]", '2:25: error: "steps" must be a list, not a map'],
    [
      "name: x\njobs: [5, null]",
      "2:8: error: a job must be a map, not 5",
      "2:11: error: a job must be a map, not nothing",
    ],
    [job("id: [a]"), '4:7: error: "id" must be a string, not a list'],
    [job("lock: a b"), '4:9: error: "lock" must be made of letters, digits, _, . and -, not "a b"'],
    [job("lock: orders-db.1")],
    [job("skipif:"), '4:3: error: "skipif" is empty'],
    [job("skipif: ' '"), '4:11: error: "skipif" is empty'],
    [job("defaults: 5"), '4:13: error: "defaults" must be a map, not 5'],
    [
      job("defaults: {hello: 5}"),
      '4:21: error: the defaults of "hello" must be a map, not 5',
    ],
    [
      job("defaults: {helo: {a: 1}}"),
      '4:14: error: unknown action "helo" in "defaults"',
    ],
    [job("defaults: {browser: }")],
    [job("defaults:")],
  ]));

Deno.test("a step has an action", () =>
  check([
    [job("steps: [{name: a}]"), '4:11: error: a step needs "uses"'],
    [job("steps: [{uses: }]"), '4:12: error: "uses" must not be empty'],
    [
      job("steps: [null, 5]"),
      "4:11: error: a step must be a map, not nothing",
      "4:17: error: a step must be a map, not 5",
    ],
    [step("name: s", "helo"), '5:11: error: unknown action "helo"'],
    [step("name: s", "'{{vars.a}}'"), '5:11: error: unknown action "{{vars.a}}"'],
    [step("name: s", "mongo"), '5:11: error: unknown action "mongo"'],
    [step("with: 5"), '6:11: error: "with" must be a map, not 5'],
    [step("id: Abc"), '6:9: error: the step id "Abc" must be made of a-z, 0-9, _ and -'],
    [step("id: a b"), '6:9: error: the step id "a b" must be made of a-z, 0-9, _ and -'],
    [step("test:"), '6:5: error: "test" is empty'],
    [step("test: ''"), '6:11: error: "test" is empty'],
    [step("test: {a: 1}"), '6:11: error: "test" must be an expression, not a map'],
    [step("test: []"), '6:11: error: "test" is empty'],
    [step("test: [[a]]"), '6:12: error: item 1 of "test" must be an expression, not a list'],
    [step("echo: {a: 1}"), '6:11: error: "echo" must be a string, not a map'],
    [step("vars: []"), '6:11: error: "vars" must be a map, not a list'],
    [
      step("iteration: {a: 1}"),
      '6:16: error: iteration needs "list", "matrix", "file" or "until"',
      '6:17: error: unknown key "a" in iteration',
    ],
    [step("iteration: [1]")],
    [step("iteration: '{{vars.rows}}'")],
    [
      step("iteration: { list: [1], until: res }"),
      '6:29: error: "list" and "until" cannot be combined',
    ],
    [
      step("iteration: { until: res }"),
      '6:16: error: "until" needs "max": how often the step may run',
    ],
    [
      step("iteration: { list: [1], parallel: 0 }"),
      '6:39: error: "parallel" must be at least 1, not 0',
    ],
    [
      step("iteration: { list: [1], where: vars.a }"),
      '6:29: error: "where" has no effect with "list"',
    ],
    [step("iteration: { matrix: { a: [1, x], b: ['{{1}}'], c: '{{vars.rows}}' }, parallel: 2 }")],
    [
      step("iteration: { matrix: { a: [1], b: 5 } }"),
      '6:39: error: "b" must be a list, not 5',
    ],
    [step("iteration: { matrix: {} }"), '6:26: error: "matrix" has no values'],
    [step("iteration: { matrix: { a: [] } }"), '6:31: error: "a" must not be empty'],
    [
      step("iteration: { matrix: { a: [1] }, list: [1] }"),
      '6:18: error: "list" and "matrix" cannot be combined',
    ],
    [step("iteration: { file: a, types: auto }")],
    [
      step("iteration: { file: a, types: any }"),
      '6:34: error: "types" must be a map or "auto", not "any"',
    ],
    [step("iteration: { file: a, types: { b: text } }"), '6:39: error: unknown type "text" of "b"'],
    [
      step("iteration: { file: a, format: xml }"),
      '6:35: error: invalid value "xml" for "format"',
    ],
    [step("iteration: [null]")],
    [step("retry: 3"), '6:12: error: "retry" must be a map, not 3'],
    [
      step("id: s\noutputs: [a]"),
      '7:14: error: "outputs" must be a map of names to expressions, not a list',
    ],
    [step("id: s\noutputs: {a: }"), '7:15: error: the output "a" is empty'],
    [
      step("id: s\noutputs: {a: [1]}"),
      '7:18: error: the output "a" must be an expression, not a list',
    ],
    [step("outputs: {a: res}"), "6:5: warning: outputs of a step without id are lost"],
  ]));

Deno.test("an expression that reads the response before the action of its step is a warning", () =>
  check([
    [step("skipif: status == 0"), '6:13: warning: "status" is always 0 here'],
    [step("skipif: res.code == 200"), '6:13: warning: "res" is always nil here'],
    [step('name: "{{req}}"'), '6:14: warning: "req" is always nil here'],
    [step('wait: "{{rt.sec}}"'), '6:14: warning: "rt" is always empty here'],
    [step('timeout: "{{rt.sec}}"'), '6:17: warning: "rt" is always empty here'],
    [step('with: {a: "{{status}}"}'), '6:18: warning: "status" is always 0 here'],
    [
      step('retry: {max_attempts: 2, interval: "{{rt.sec}}", initial_delay: "{{rt.sec}}"}'),
      '6:72: warning: "rt" is always empty here',
    ],
    [step('test: status == 0\necho: "{{rt.sec}} {{res}} {{req}}"\nid: a\noutputs: {a: res.b}')],
    [step('with: {a: "{{let status = 1; status}}"}')],
  ]));

Deno.test("repeat and retry have counts", () =>
  check([
    [job("repeat: 3"), '4:11: error: "repeat" must be a map, not 3'],
    [job("repeat: {}"), '4:11: error: repeat needs "count"'],
    [job("repeat: {count: -1}"), '4:19: error: "count" must be 0 or greater, not -1'],
    [job("repeat: {count: 2.5}"), '4:19: error: "count" must be an integer, not 2.5'],
    [job("repeat: {count: many}"), '4:19: error: "count" must be an integer, not "many"'],
    [job("repeat: {count: 10001}"), '4:19: error: "count" must be at most 10000, not 10001'],
    [
      job("repeat: {count: 1, async: yes}"),
      '4:29: error: "async" must be a boolean, not "yes"',
    ],
    [
      job("repeat: {count: 1, rate: 20/s, expect: stats.p95 < 1}"),
      '4:22: error: unknown key "rate" in repeat',
      '4:34: error: unknown key "expect" in repeat',
    ],
    [
      step("retry: {max_attempts: 2, backoff: 0.5}"),
      '6:39: error: "backoff" must be at least 1, not 0.5',
    ],
    [step("retry: {}"), '6:12: error: retry needs "max_attempts" or "for"'],
    [step("retry: {max_attempts: 0}"), '6:27: error: "max_attempts" must be at least 1, not 0'],
    [
      step("retry: {max_attempts: 1.5}"),
      '6:27: error: "max_attempts" must be an integer, not 1.5',
    ],
    [
      step("retry: {max_attempts: 10001}"),
      '6:27: error: "max_attempts" must be at most 10000, not 10001',
    ],
  ]));

Deno.test("durations are accepted wherever a key takes one", async () => {
  const forms = 'like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds';
  const fields: readonly (readonly [at: string, yaml: (value: string) => string])[] = [
    ['6:11: error: "wait"', (value) => step(`wait: ${value}`)],
    ['6:14: error: "timeout"', (value) => step(`timeout: ${value}`)],
    ['6:40: error: "interval"', (value) => step(`retry: {max_attempts: 2, interval: ${value}}`)],
    [
      '6:45: error: "initial_delay"',
      (value) => step(`retry: {max_attempts: 2, initial_delay: ${value}}`),
    ],
    ['4:32: error: "interval"', (value) => job(`repeat: {count: 2, interval: ${value}}`)],
  ];
  for (const [at, yaml] of fields) {
    for (const value of ["abc", "5x", "1m2", "1 s", "''", "5 seconds", "true", ".s", "'{{ 5s'"]) {
      const shown = value === "true" ? value : `"${value.replaceAll("'", "")}"`;
      const messages = `${at} must be a duration ${forms}, not ${shown}`;
      assertEquals(await describeText(yaml(value)), [messages], value);
    }
    for (const [value, shown] of [["-5s", '"-5s"'], ["-1", "-1"]] as const) {
      assertEquals(await describeText(yaml(value)), [`${at} must not be negative, not ${shown}`]);
    }
    for (const [value, shown] of [[".inf", "Infinity"], [".nan", "NaN"]] as const) {
      assertEquals(await describeText(yaml(value)), [
        `${at} must be a duration ${forms}, not ${shown}`,
      ]);
    }
    for (const value of ["[1]", "{a: 1}"]) {
      const [messages] = await describeText(yaml(value));
      assertEquals(messages?.startsWith(`${at} must be a duration, not a`), true, messages);
    }
    for (const value of ["5", "1.5", "'5'", "500ms", "1h30m", "0", "\"{{vars.x ?? '5s'}}\""]) {
      assertEquals(await describeText(yaml(value)), [], value);
    }
  }
});

Deno.test("ids are unique: of jobs, and of steps in all jobs together", async () => {
  assertEquals(
    await explainText(`name: x
x: &step {uses: hello, id: three}
jobs:
- {name: a, id: one, steps: [{uses: hello, id: two}]}
- {name: b, id: one, steps: [{uses: nope, id: two}, *step]}
- {name: c, steps: [*step, {uses: hello, id: one}]}
`),
    `workflow file 'flow.yml' has 4 errors
flow.yml:2:28: error: the step id "three" is already defined
  2 | x: &step {uses: hello, id: three}
    |                            ^^^^^
flow.yml:5:17: error: the job id "one" is already defined
  5 | - {name: b, id: one, steps: [{uses: nope, id: two}, *step]}
    |                 ^^^
flow.yml:5:37: error: unknown action "nope"
  5 | - {name: b, id: one, steps: [{uses: nope, id: two}, *step]}
    |                                     ^^^^ the actions are ACTIONS (plugins are looked for where RUNNER_PLUGIN_DIR says)
flow.yml:5:47: error: the step id "two" is already defined
  5 | - {name: b, id: one, steps: [{uses: nope, id: two}, *step]}
    |                                               ^^^`.replace("ACTIONS", await actionNames()),
  );
});

async function actionNames(): Promise<string> {
  const { ACTIONS } = await import("../../src/actions/registry.ts");
  return ACTIONS.map(({ name }) => name).join(", ");
}

Deno.test("needs name other jobs, without cycles", async () => {
  const jobs = (...needs: readonly string[]) =>
    "name: x\njobs:\n" + needs.map((list, index) => {
      const id = "abcdef"[index];
      return `- {name: Job ${id?.toUpperCase()}, id: ${id}, needs: ${list}, steps: [{uses: hello}]}\n`;
    }).join("");
  await check([
    [jobs("[]", "[a]", "[a, b, a]")],
    [jobs("[b]", "[]")],
    [jobs("[a]"), "3:32: error: dependency cycle: a → a"],
    [jobs("[b]", "[a]"), "3:32: error: dependency cycle: a → b → a"],
    [
      jobs("[]", "[d]", "[b]", "[c]", "[e]"),
      "4:32: error: dependency cycle: b → d → c → b",
      "7:32: error: dependency cycle: e → e",
    ],
    [
      jobs("[b, c]", "[a]", "[d]", "[c]"),
      "3:32: error: dependency cycle: a → b → a",
      "5:32: error: dependency cycle: c → d → c",
    ],
    [jobs("b"), '3:31: error: "needs" must be a list, not "b"'],
    [jobs("[[b]]"), '3:32: error: item 1 of "needs" must be a string, not a list'],
    [jobs("[zzz]"), '3:32: error: unknown job "zzz" in needs of "Job A"'],
    [
      "name: x\njobs:\n- {name: a, steps: [{uses: hello}]}\n- {name: b, needs: [job_0, job_7], steps: [{uses: hello}]}",
      '4:28: error: unknown job "job_7" in needs of "b"',
    ],
    // A broken job is a job nevertheless.
    [
      "name: x\njobs:\n- {id: a}\n- {name: b, needs: [a], steps: [{uses: hello}]}",
      '3:3: error: a job needs "name"',
      '3:3: error: a job needs "steps"',
    ],
  ]);
  assertEquals(
    await explainText(jobs("[]", "[Job A]", "[bb]")),
    `workflow file 'flow.yml' has 2 errors
flow.yml:4:32: error: unknown job "Job A" in needs of "Job B"
  4 | - {name: Job B, id: b, needs: [Job A], steps: [{uses: hello}]}
    |                                ^^^^^ "Job A" is the name of a job; its id is "a"
flow.yml:5:32: error: unknown job "bb" in needs of "Job C"
  5 | - {name: Job C, id: c, needs: [bb], steps: [{uses: hello}]}
    |                                ^^ did you mean "b"?`,
  );
});

Deno.test("unknown keys are errors, but x-", async () => {
  assertEquals(
    await explainText(`name: x
descripton: y
env: {A: b}
defaults: {}
steps: []
x-anything: 1
x_anything: 1
shared: {a: 1}
jobs:
- name: a
  if: true
  timeout: 5s
  continue_on_error: true
  skip_if: "false"
  whatever: 1
  x_note: 1
  repeat: {count: 1, intervall: 1s}
  steps:
  - uses: hello
    if: true
    action: hello
    continue_on_error: true
    outptus: {a: b}
    retry: {max_attempts: 1, max_attempt: 1}
`),
    `workflow file 'flow.yml' has 16 errors
flow.yml:2:1: error: unknown key "descripton" in the workflow
  2 | descripton: y
    | ^^^^^^^^^^ did you mean "description"?
flow.yml:3:1: error: unknown key "env" in the workflow
  3 | env: {A: b}
    | ^^^ environment variables are read in "vars": NAME: "{{NAME}}"
flow.yml:4:1: error: unknown key "defaults" in the workflow
  4 | defaults: {}
    | ^^^^^^^^ "defaults" is a key of a job
flow.yml:5:1: error: unknown key "steps" in the workflow
  5 | steps: []
    | ^^^^^ "steps" is a key of a job: write jobs: and a list of jobs, or embed this in one: uses: embedded, with: { path }
flow.yml:8:1: error: unknown key "shared" in the workflow
  8 | shared: {a: 1}
    | ^^^^^^ a key for notes or anchors begins with "x-"
flow.yml:11:3: error: unknown key "if" in a job
  11 |   if: true
     |   ^^ the key is "skipif", which skips if it is true; "when: always" and "when: failure" run a job after failures
flow.yml:12:3: error: unknown key "timeout" in a job
  12 |   timeout: 5s
     |   ^^^^^^^ "timeout" is a key of a step
flow.yml:13:3: error: unknown key "continue_on_error" in a job
  13 |   continue_on_error: true
     |   ^^^^^^^^^^^^^^^^^ the key is "allow_failure"; other steps and independent jobs continue after a failure anyway
flow.yml:14:3: error: unknown key "skip_if" in a job
  14 |   skip_if: "false"
     |   ^^^^^^^ did you mean "skipif"?
flow.yml:15:3: error: unknown key "whatever" in a job
  15 |   whatever: 1
     |   ^^^^^^^^ a key for notes or anchors begins with "x-"
flow.yml:17:22: error: unknown key "intervall" in repeat
  17 |   repeat: {count: 1, intervall: 1s}
     |                      ^^^^^^^^^ did you mean "interval"?
flow.yml:20:5: error: unknown key "if" in a step
  20 |     if: true
     |     ^^ the key is "skipif", which skips if it is true
flow.yml:21:5: error: unknown key "action" in a step
  21 |     action: hello
     |     ^^^^^^ the key is "uses"
flow.yml:22:5: error: unknown key "continue_on_error" in a step
  22 |     continue_on_error: true
     |     ^^^^^^^^^^^^^^^^^ the key is "allow_failure"; other steps and independent jobs continue after a failure anyway
flow.yml:23:5: error: unknown key "outptus" in a step
  23 |     outptus: {a: b}
     |     ^^^^^^^ did you mean "outputs"?
flow.yml:24:30: error: unknown key "max_attempt" in retry
  24 |     retry: {max_attempts: 1, max_attempt: 1}
     |                              ^^^^^^^^^^^ did you mean "max_attempts"?`,
  );
});

Deno.test("parameters are checked after the defaults are merged, and marked at their places", () =>
  check([
    [
      `name: x
jobs:
- name: a
  defaults:
    shell: {cmdd: ls}
    http: {url: "http://localhost"}
  steps:
  - uses: shell
    with: {cmd: ls}
  - uses: shell
    with: {cmd: [1]}
  - uses: http
  - uses: http
    with: {get: /}
- name: b
  steps:
  - uses: shell
  - uses: shell
    with: {cmd: ls, timeout: never}
`,
      '5:13: error: unknown parameter "cmdd" of shell',
      '11:17: error: "cmd" must be a string, not a list',
      "12:5: error: http step has no method",
      '17:5: error: shell needs "cmd"',
      `19:30: error: "timeout" must be a duration like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds, not "never"`,
    ],
  ]));

Deno.test("unquoted templates are reported once, without their consequences", async () => {
  assertEquals(
    await explainText(`name: x
vars:
  a: {{ HOME }}
jobs:
- name: a
  steps:
  - uses: shell
    name: {{ vars.a }}
    with:
      cmd: {{ vars.a }}
    echo: [{{ vars.a }}]
`),
    `workflow file 'flow.yml' has 5 errors
flow.yml:3:6: error: YAML reads {{ }} without quotes as a map
  3 |   a: {{ HOME }}
    |      ^^^^^^^^^^ put the whole value in quotes
flow.yml:8:11: error: YAML reads {{ }} without quotes as a map
  8 |     name: {{ vars.a }}
    |           ^^^^^^^^^^^^ put the whole value in quotes
flow.yml:10:12: error: YAML reads {{ }} without quotes as a map
  10 |       cmd: {{ vars.a }}
     |            ^^^^^^^^^^^^ put the whole value in quotes
flow.yml:11:11: error: "echo" must be a string, not a list
  11 |     echo: [{{ vars.a }}]
     |           ^^^^^^^^^^^^^^
flow.yml:11:12: error: YAML reads {{ }} without quotes as a map
  11 |     echo: [{{ vars.a }}]
     |            ^^^^^^^^^^^^ put the whole value in quotes`,
  );
});

Deno.test("an unknown key at the top is an error unless an anchor in it is used", async () => {
  const jobs = "jobs: [{name: a, steps: [*s]}]\nname: x\n";
  await check([
    [`shared: [&s {uses: hello}]\n${jobs}`],
    [`x-other: 1\nx_step: &s {uses: hello}\n${jobs}`],
    [
      `teardown: {}\nx: &s {uses: hello}\n${jobs}unused: &u 1\n`,
      '1:1: error: unknown key "teardown" in the workflow',
      '5:1: error: unknown key "unused" in the workflow',
    ],
  ]);
});

Deno.test("a workflow of GitHub Actions is recognized", async () => {
  const text =
    "name: x\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n    steps: [{run: ls}]\n";
  assertEquals(
    await explainText(text),
    `workflow file 'flow.yml' has 6 errors
flow.yml:2:1: error: unknown key "on" in the workflow
  2 | on: push
    | ^^ this looks like a GitHub Actions workflow, which runner does not run
flow.yml:4:3: error: "jobs" must be a list, not a map
  4 |   build:
    |   ^^^^^^ this looks like a GitHub Actions workflow, which runner does not run
flow.yml:5:5: error: unknown key "runs-on" in a job
  5 |     runs-on: ubuntu-latest
    |     ^^^^^^^ this looks like a GitHub Actions workflow, which runner does not run
flow.yml:5:5: error: a job needs "name"
  5 |     runs-on: ubuntu-latest
    |     ^^^^^^^^^^^^^^^^^^^^^^
flow.yml:6:13: error: a step needs "uses"
  6 |     steps: [{run: ls}]
    |             ^^^^^^^^^
flow.yml:6:14: error: unknown key "run" in a step
  6 |     steps: [{run: ls}]
    |              ^^^ this looks like a GitHub Actions workflow: a shell command is "uses: shell" with "cmd" under "with"`,
  );
});

Deno.test("a key or a value as other tools have it leads to the one to write", async () => {
  const http = (lines: string) => step(lines, "http");
  const shell = (lines: string) => step(lines, "shell");
  const hints: readonly (readonly [yaml: string, hint: string])[] = [
    [step("retry: 5"), "write retry: { max_attempts: 5 }"],
    [job("repeat: 5"), "write repeat: { count: 5 }"],
    [job("repeat: { count: '{{vars.n}}' }"), "it cannot be a template"],
    [step("iteration: rows.csv"), "a file is given as iteration: { file: cases.csv }"],
    [step("iteration: 6"), 'to run the step 6 times, write iteration: "{{1..6}}"'],
    [step("iteration: { count: 6 }"), 'write iteration: "{{1..3}}"'],
    [step("iteration: { file: a.csv, types: { a: int } }"), 'did you mean "integer"?'],
    [step("iteration: { matrix: { a: b } }"), "write a: [b]"],
    [step("", "sql"), 'did you mean "db"?'],
    [step("", "sleep"), "wait: 5s"],
    [step("", "webhook"), 'did you mean "listen"?'],
    [step("with: { from: a, where: body.id == 1 }", "receive"), "write message.body"],
    [step("with: { from: a }\ntest: body.id == 1", "receive"), "write message.body"],
    [
      step("with: { routes: [{ on: GET /a, respond: { body: '{{body.a}}' } }] }", "listen"),
      "write request.body",
    ],
    [http("with: { get: 'http://h' }\ntest: body.id == 1"), "write res.body"],
    [step("test: rt.sec < 300ms"), 'write duration("300ms")'],
    [step("skipif: [vars.a == 1]"), "join conditions with &&"],
    [step("test: res.a == 1; res.b"), "join conditions with &&"],
    [step("test: res.a == tea"), 'put text in quotes: "tea"'],
    [step("assert: res.a == 1"), 'the key is "test"'],
    [http("get: /a"), 'parameters of an action go under "with"'],
    [http("with: { get: 'http://h', params: {} }"), 'the key is "query"'],
    [http("with: { get: '${base}/a' }"), "a value is put in by {{vars.name}}"],
    [shell("with: { cmd: ls, cwd: /tmp }"), 'the key is "workdir"'],
    [step("with: { url: pg }", "db"), 'the key is "dsn": dsn: "postgres://'],
    [step("with: { user: a, password: b }", "smtp"), "auth: { username: …, password: … }"],
    [shell("env: { A: b }"), 'those of a command are "env" under "with"'],
    [step("when: always"), 'the condition of a step is "skipif"'],
    [step("continue-on-error: true"), 'the key is "allow_failure"'],
    [step("timeout-minutes: 5"), 'the key is "timeout": timeout: 5m'],
    [job("if: always()"), '"when: always" and "when: failure" run a job after failures'],
    [http("with: { get: 'http://h/${{ vars.a }}' }"), "unlike in GitHub Actions, a template is"],
    [step("with: { a: '{{secrets.A}}' }"), "secrets come from environment variables"],
    [step("with: { a: '{{github.sha}}' }"), 'SHA: "{{GITHUB_SHA}}"'],
    [step("loop: [a]"), 'the key is "iteration"'],
    [step("retries: 3"), 'the key is "retry"'],
    [step("retry: { attempts: 3 }"), 'the key is "max_attempts"'],
    [step("retry: { max_attempts: 3, delay: 1s }"), 'the key is "interval"'],
    [job("strategy: { matrix: {} }"), 'the key is "matrix"'],
    [job("teardown: true"), 'the key is "finally"'],
    [job("echo: hi"), '"echo" is a key of a step'],
    [step("defaults: {}"), '"defaults" is a key of a job'],
    [job("retry: { max_attempts: 3 }"), '"retry" is a key of a step'],
    [job("test: status == 0"), '"test" is a key of a step'],
    [step("with:\nto: world"), '"with" is empty: indent the keys that belong to it deeper'],
    [step("with: {}\nto: world"), 'unknown key "to" in a step'],
    [step("iteration: []"), "the step runs once for each entry, and so never"],
  ];
  for (const [yaml, hint] of hints) assertStringIncludes(await explainText(yaml), hint, yaml);
});

Deno.test("another tool's word for a test is an error, since the test would be lost", async () => {
  for (const word of ["assert", "asserts", "expect", "check"]) {
    const shown = [`6:5: error: unknown key "${word}" in a step`];
    assertEquals(await describeText(step(`${word}: res.a == 1`)), shown);
  }
});

Deno.test("a with that is not a mapping is reported once", async () => {
  const shown = ['6:11: error: "with" must be a map, not "GET http://h"'];
  assertEquals(await describeText(step("with: GET http://h", "http")), shown);
});

Deno.test("a test that is a value is refused", () =>
  check([
    [
      job("steps: [{ uses: hello, test: 1 }]"),
      "4:32: error: test must be true or false, it is int",
    ],
    [
      job("steps: [{ uses: hello, test: [\"'a'\", { that: '[1]' }, nil] }]"),
      "4:33: error: test must be true or false, it is string",
      "4:48: error: test must be true or false, it is array",
      "4:57: error: test must be true or false, it is nil",
    ],
    [
      job("load: { users: 1, count: 2, expect: 3 }"),
      "4:39: error: expect must be true or false, it is int",
    ],
    [job("steps: [{ uses: hello, test: [true, 1 == 1] }]")],
  ]));

Deno.test("a value that a semicolon discards is reported", async () => {
  const shown = ['6:11: warning: the value before ";" is ignored'];
  assertEquals(await describeText(step("test: res.a == 1; res.b")), shown);
  assertEquals(await describeText(step("test: let a = 1; res.b == a")), []);
});
