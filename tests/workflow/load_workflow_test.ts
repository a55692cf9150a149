import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { LoadError, UsageError } from "../../src/base/errors.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import {
  describeText,
  explainFiles,
  explainText,
  hostWith,
  loadFiles,
  loadText,
} from "../support/load_files.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const HELLO = "name: x\njobs: [{name: a, steps: [{uses: hello}]}]\n";

Deno.test("loadWorkflow() gives the jobs and steps of a file", async () => {
  const { workflow, warnings } = await loadText(`name: The name
description: Some text
vars:
  home: "{{HOME ?? 'none'}}"
  port: 80
jobs:
- name: First {{vars.port}}
  steps:
  - uses: hello
- name: Second
  id: second
  needs: [job_0]
  skipif: vars.port == 81
  repeat: {count: 3, interval: 2s, async: true}
  steps:
  - uses: shell
    id: one
    name: Step
    with: {cmd: "echo {{vars.port}}"}
    test: res.code == 0
    echo: text
    vars: {a: 1}
    outputs: {line: res.stdout}
    skipif: "false"
    wait: 100ms
    timeout: 1m
    iteration: [{b: 1}, null]
    retry: {max_attempts: 3, interval: 1, initial_delay: 1.5s}
`);
  assertEquals(warnings, []);
  assertEquals([workflow.name, workflow.description], ["The name", "Some text"]);
  const [first, second] = workflow.jobs;
  assertEquals([first?.id, first?.index, first?.needs], ["job_0", 0, []]);
  assertEquals(first?.name.source, "First {{vars.port}}");
  assertEquals(first?.steps[0]?.timeout, { kind: "constant", milliseconds: 300_000 });
  assertEquals([second?.id, second?.needs], ["second", ["job_0"]]);
  assertEquals(second?.skipif?.source, "vars.port == 81");
  const twoSeconds = { kind: "constant", milliseconds: 2000 } as const;
  assertEquals(second?.repeat, {
    ...{ count: 3, interval: twoSeconds, async: true },
  });
  const step = second?.steps[0];
  assertEquals(step?.path, ["jobs", 1, "steps", 0]);
  assertEquals([step?.id, step?.index, step?.action.name], ["one", 0, "shell"]);
  assertEquals([step?.test?.[0]?.expression.source, step?.skipif?.source], [
    "res.code == 0",
    "false",
  ]);
  assertEquals([step?.name?.source, step?.echo?.source], ["Step", "text"]);
  assertEquals(step?.outputs.map(({ name, value }) => [name, value.source]), [
    ["line", "res.stdout"],
  ]);
  assertEquals(step?.wait, { kind: "constant", milliseconds: 100 });
  assertEquals(step?.timeout, { kind: "constant", milliseconds: 60_000 });
  const { iteration } = step!;
  assertEquals(iteration?.kind === "list" && iteration.entries.length, 2);
  assertEquals(step?.retry?.maxAttempts, 3);
  assertEquals(step?.retry?.initialDelay, { kind: "constant", milliseconds: 1500 });
});

Deno.test("loadWorkflow() takes numbers and booleans where text is wanted", async () => {
  const { workflow } = await loadText(`name: 123
description: true
jobs:
- name: 5
  id: 7
  steps: [{uses: hello, name: 1.5, test: true, echo: 42, wait: 0, skipif: false, id: 3}]
- name: b
  needs: [7]
  repeat: {count: "2"}
  steps: [{uses: hello, outputs: {}, timeout: 0, iteration: [], wait: , echo: , vars: }]
`);
  assertEquals([workflow.name, workflow.description], ["123", "true"]);
  const [a, b] = workflow.jobs;
  assertEquals([a?.name.source, a?.id, b?.needs], ["5", "7", ["7"]]);
  const step = a?.steps[0];
  assertEquals(
    [
      step?.name?.source,
      step?.test?.[0]?.expression.source,
      step?.echo?.source,
      step?.skipif?.source,
      step?.id,
    ],
    ["1.5", "true", "42", "false", "3"],
  );
  assertEquals(b?.repeat?.count, 2);
  assertEquals(b?.steps[0]?.timeout, { kind: "constant", milliseconds: 0 });
});

Deno.test("loadWorkflow() generates ids that no other job has", async () => {
  const { workflow } = await loadText(`name: x
jobs:
- {name: a, steps: [{uses: hello}]}
- {name: b, id: job_0, steps: [{uses: hello}]}
- {name: c, steps: [{uses: hello}]}
`);
  assertEquals(workflow.jobs.map(({ id }) => id), ["job_0_", "job_0", "job_2"]);
});

Deno.test("loadWorkflow() merges the defaults of a job into its steps", async () => {
  const { workflow } = await loadText(`name: x
jobs:
- name: a
  defaults:
    hello: {a: 1, b: {c: 1, d: 1}, l: [1, 2]}
    shell:
  steps:
  - uses: hello
  - uses: hello
    with: {b: {c: 2}, l: [3], a: null, e: "{{vars.x}}"}
  - uses: shell
    with: {cmd: ls}
`);
  const params = workflow.jobs[0]?.steps.map((step) => step.with);
  assertEquals(
    JSON.stringify(params?.[0]),
    JSON.stringify({ kind: "constant", value: { a: 1, b: { c: 1, d: 1 }, l: [1, 2] } }),
  );
  const second = params?.[1];
  assert(second?.kind === "map");
  const entries = Object.fromEntries(second.entries);
  assertEquals(JSON.stringify(entries.b), '{"kind":"constant","value":{"c":2,"d":1}}');
  assertEquals(JSON.stringify(entries.l), '{"kind":"constant","value":[3]}');
  assertEquals(JSON.stringify(entries.a), '{"kind":"constant","value":null}');
  assertEquals(entries.e?.kind, "template");
});

Deno.test("loadWorkflow() merges files, and reports errors in their own files", async () => {
  const shared = `x_step: &step
  uses: hello
  test: res.status == 0
vars: {a: 1}
`;
  const { workflow } = await loadFiles({
    "shared.yml": shared,
    "flow.yml": "name: x\nvars: {b: 2}\njobs: [{name: a, steps: [*step, *step]}]",
  });
  assertEquals(workflow.jobs[0]?.steps.length, 2);
  assertEquals(JSON.stringify(workflow.vars), '{"kind":"constant","value":{"b":2}}');
  const reported = await explainFiles({
    "shared.yml": shared.replace("res.status", "nope"),
    "flow.yml": "name: x\njobs:\n- name: a\n  steps: [*step, *step, {uses: helo}]",
  });
  assertEquals(
    reported,
    `workflow file 'shared.yml,flow.yml' has 2 errors
shared.yml:3:9: error: unknown name "nope" in a step
  3 |   test: nope == 0
    |         ^^^^ the names here are vars, res, req, rt, status, outputs, needs, run, repeat_index, iteration_index, trace
flow.yml:4:32: error: unknown action "helo"
  4 |   steps: [*step, *step, {uses: helo}]
    |                                ^^^^ did you mean "hello"? (plugins are looked for where RUNNER_PLUGIN_DIR says)`,
  );
});

Deno.test("loadWorkflow() reads a file with a byte order mark", async () => {
  const bom = "\ufeff";
  const { workflow } = await loadFiles({ "a.yml": bom + "vars: {a: 1}\n", "b.yml": bom + HELLO });
  assertEquals(workflow.name, "x");
  assertEquals(workflow.vars.kind, "constant");
});

Deno.test("loadWorkflow() trims the paths of a list", async () => {
  await withFiles({ "a b.yml": "vars: {a: 1}", "c.yml": HELLO }, async (directory) => {
    const { workflow } = await loadWorkflow(
      ` ${directory}/a b.yml , ${directory}/c.yml `,
      hostWith(),
    );
    assertEquals(workflow.document.name, `${directory}/a b.yml,${directory}/c.yml`);
  });
});

Deno.test("loadWorkflow() says why it cannot read a file", async () => {
  await withFiles({
    "ok.yml": HELLO,
    "bytes.yml": new Uint8Array([0x6e, 0xff, 0xfe]),
    "nul.yml": "name: \0",
    "wide.yml": Uint8Array.from(
      [...`\xff\xfe${HELLO}`].flatMap((one, at) =>
        at < 2 ? [one.charCodeAt(0)] : [one.charCodeAt(0), 0]
      ),
    ),
    "folder/b.yaml": "",
    "folder/a.yml": "",
    "folder/c.txt": "",
    "none/c.txt": "",
  }, async (directory) => {
    const explain = async (argument: string) => {
      const error = await assertRejects(() => loadWorkflow(argument, hostWith()), LoadError);
      const hint = error.hint === undefined ? "" : ` (${error.hint})`;
      return (error.message + hint).replaceAll(`${directory}/`, "");
    };
    const at = (name: string) => `${directory}/${name}`;
    assertEquals(await explain(at("gone.yml")), "workflow file 'gone.yml' not found");
    assertEquals(
      await explain(at("okk.yaml")),
      "workflow file 'okk.yaml' not found (did you mean \"ok.yml\"?)",
    );
    assertEquals(await explain(at("ok.yml/x")), "workflow file 'ok.yml/x' not found");
    assertEquals(
      await explain(`${at("ok.yml")},${at("gone.yml")}`),
      "workflow file 'gone.yml' not found",
    );
    assertEquals(
      await explain(at("folder")),
      "cannot read workflow file 'folder': it is a directory (name one of the files in it: a.yml, b.yaml)",
    );
    assertEquals(
      await explain(at("none")),
      "cannot read workflow file 'none': it is a directory (it has no .yml or .yaml file)",
    );
    for (const [name, byte] of [["bytes.yml", "1 is 0xff"], ["nul.yml", "6 is 0x00"]] as const) {
      assertEquals(
        await explain(at(name)),
        `cannot read workflow file '${name}': it is not UTF-8 text: the byte at offset ${byte} (save it as UTF-8)`,
      );
    }
    assertEquals((await loadWorkflow(at("wide.yml"), hostWith())).workflow.jobs.length, 1);
    assertEquals(
      await explain(""),
      "cannot load a workflow: the path is empty (write path,path with a path on each side of a comma)",
    );
    for (const argument of ["a.yml,,b.yml", ",a.yml", "a.yml, "]) {
      assertEquals(
        await explain(argument),
        `cannot load a workflow: "${argument}" has an empty path in it ` +
          "(write path,path with a path on each side of a comma)",
      );
    }
  });
});

Deno.test({
  name: "loadWorkflow() says that a file may not be read",
  // The superuser may read everything.
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
  fn: async () => {
    await withFiles({ "a.yml": HELLO }, async (directory) => {
      await Deno.chmod(`${directory}/a.yml`, 0o000);
      await assertRejects(
        () => loadWorkflow(`${directory}/a.yml`, hostWith()),
        LoadError,
        `permission denied reading '${directory}/a.yml'`,
      );
    });
  },
});

Deno.test("loadWorkflow() keeps to the limits that the environment sets", async () => {
  const text = (count: number, attempts: number) =>
    `name: x
jobs:
- name: a
  repeat: {count: ${count}}
  steps: [{uses: hello, retry: {max_attempts: ${attempts}}}]
`;
  assertEquals(await explainText(text(10_000, 10_000)), "");
  assertEquals(await explainText(text(0, 1)), "");
  const env = { RUNNER_MAX_REPEAT_COUNT: "5", RUNNER_MAX_ATTEMPTS: " 3 " };
  assertEquals(await explainText(text(5, 3), env), "");
  assertEquals(await explainText(text(5, 3), { RUNNER_MAX_REPEAT_COUNT: "" }), "");
  assertEquals(
    await explainText(text(6, 4), env),
    `workflow file 'flow.yml' has 2 errors
flow.yml:4:19: error: "count" must be at most 5, not 6
  4 |   repeat: {count: 6}
    |                   ^ RUNNER_MAX_REPEAT_COUNT sets the limit
flow.yml:5:47: error: "max_attempts" must be at most 3, not 4
  5 |   steps: [{uses: hello, retry: {max_attempts: 4}}]
    |                                               ^ RUNNER_MAX_ATTEMPTS sets the limit`,
  );
  for (const name of ["RUNNER_MAX_REPEAT_COUNT", "RUNNER_MAX_ATTEMPTS"]) {
    for (const value of ["0", "-1", "1.5", "abc", "1e3", "99999999999999999999"]) {
      await assertRejects(
        () => loadText(HELLO, { [name]: value }),
        UsageError,
        `${name} must be an integer of at least 1, not "${value}"`,
      );
    }
  }
});

Deno.test("loadWorkflow() warns where the jobs of a file are replaced by those of another", async () => {
  const jobs = "jobs: [{name: a, steps: [{uses: hello}]}]\n";
  const files = { "a.yml": `name: a\nvars: {x: 1}\n${jobs}`, "b.yml": `vars: {x: 2}\n${jobs}` };
  const { warnings, hints } = await loadFiles(files);
  const messages = (found: typeof warnings) =>
    found.map(({ message, span }) =>
      `${span!.start} ${message.replaceAll(/'[^']*\/(\w\.yml)'/g, "'$1'")}`
    );
  assertEquals(messages(warnings), [
    `13 "jobs" of 'b.yml' replaces "jobs" of 'a.yml', which do not run`,
  ]);
  assertEquals(messages(hints), [`0 "vars" of 'b.yml' replaces "vars" of 'a.yml'`]);
});

const JOB = "name: x\njobs: [{name: a, steps: [{uses: hello}]}]\n";

Deno.test("loadWorkflow() refuses aliases that make a small file a huge value", async () => {
  const lines = Array.from(
    { length: 30 },
    (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}]`,
  );
  const [reported, ...others] = await describeText(
    `a0: &a0 [x]\n${lines.join("\n")}\n${JOB}vars: {x: *a30}`,
  );
  assertEquals(others, []);
  assertEquals(reported?.replace(/^\d+:\d+/, ""), ": error: aliases make the document too large");
});

Deno.test("loadWorkflow() accepts an alias that is used many thousand times", async () => {
  const { workflow } = await loadText(`x: &x {a: [1, 2, 3], b: {c: 1}}
${JOB}vars: {list: [${"*x, ".repeat(20_000)}]}
`);
  assertEquals(workflow.name, "x");
});

Deno.test("loadWorkflow() refuses an alias that refers to itself", async () => {
  for (const value of ["&v {a: *v}", "&v {a: [{b: *v}]}", "\n  a: &v\n    b: [*v]"]) {
    const [reported] = await describeText(`${JOB}vars: ${value}`);
    assertEquals(reported?.replace(/^\d+:\d+/, ""), ": error: an alias refers to itself");
  }
});

Deno.test("loadWorkflow() refuses aliases that nest without end", async () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, index) => `a${index + 1}: &a${index + 1} [*a${index}]`,
  );
  const [reported] = await describeText(`a0: &a0 [x]\n${lines.join("\n")}\n${JOB}`);
  assertEquals(reported?.replace(/^\d+:\d+/, ""), ": error: the values are nested too deeply");
});

Deno.test("loadWorkflow() reads values that are nested a few hundred levels deep", async () => {
  const nested = "[".repeat(400) + "]".repeat(400);
  assertEquals(await explainText(`${JOB}vars: {a: ${nested}}`), "");
});

function chain(length: number, last: string): string {
  const jobs = Array.from({ length }, (_, index) => {
    const need = index + 1 < length ? `j${index + 1}` : last;
    return `- {name: j, id: j${index}, needs: [${need}], steps: [{uses: hello}]}`;
  });
  return `name: x\njobs:\n${jobs.join("\n")}\n`;
}

Deno.test("loadWorkflow() follows a chain of 10,000 jobs", async () => {
  const { workflow } = await loadText(chain(10_000, ""));
  assertEquals(workflow.jobs.length, 10_000);
});

Deno.test("loadWorkflow() reports a dependency cycle of 10,000 jobs on one short line", async () => {
  const [reported = "", ...others] = await describeText(chain(10_000, "j0"));
  assertEquals(others, []);
  assert(reported.startsWith("3:29: error: dependency cycle: j0 → j1 → j2 → j3"), reported);
  assert(reported.length < 500, reported);
});

Deno.test("loadWorkflow() reports the first of many thousand errors, in order", async () => {
  const steps = Array.from(
    { length: 5_000 },
    (_, index) => `  - uses: hello\n    test: foo${index} == 1\n`,
  );
  const text = await explainText(`name: x\njobs:\n- name: a\n  steps:\n${steps.join("")}`);
  const reported = text.split("\n").filter((line) => line.includes(": error: "));
  assertEquals(reported.length, 300);
  assertEquals(reported[299], 'flow.yml:604:11: error: unknown name "foo299" in a step');
  assertEquals(text.split("\n").at(-1), "error: at least 4700 more problems are not shown");
  assertEquals(text.split("\n")[0], "workflow file 'flow.yml' has 5000 errors");
});

Deno.test("loadWorkflow() is not misled by names of Object.prototype", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
  for (const name of names) {
    const yaml = `name: x
vars: {${name}: 1, deep: {${name}: {a: 1}}}
${name}: 1
jobs:
- name: a
  id: ${name}
  ${name}: 1
  defaults: {hello: {${name}: {b: 1}}}
  steps:
  - uses: hello
    ${name}: 1
    with: {${name}: {c: 1}}
    iteration: {list: [{a: 1}], ${name}: 1}
  - uses: ${name}
- name: b
  needs: [${name}]
  steps: [{uses: hello, test: ${name} == 1}]
`;
    assertEquals(await describeText(yaml), [
      `3:1: error: unknown key "${name}" in the workflow`,
      `7:3: error: unknown key "${name}" in a job`,
      `11:5: error: unknown key "${name}" in a step`,
      `13:33: error: unknown key "${name}" in iteration`,
      `14:11: error: unknown action "${name}"`,
      `17:31: error: unknown name "${name}" in a step`,
    ]);
  }
  assertEquals(({} as Record<string, unknown>).a, undefined);
});

Deno.test("of thousands of unknown needs the first are reported, without a search for each", async () => {
  const jobs = Array.from(
    { length: 4000 },
    (_, i) => `  - {name: j, id: some-job-${i}, needs: [sme-jbo-x${i}], steps: [{uses: hello}]}\n`,
  );
  let found: unknown;
  try {
    await loadText(`name: n\njobs:\n${jobs.join("")}`);
  } catch (error) {
    found = error;
  }
  const diagnostics = found instanceof LoadError ? found.diagnostics : [];
  assertEquals(diagnostics.length, 301);
  assertEquals(diagnostics.filter(({ hint }) => hint !== undefined).length, 20);
});

const WORKFLOW = "name: w\njobs: [{name: j, steps: [{uses: embedded, with: {path: jobs/a.yml}, " +
  "test: res.code == 0}]}]\n";
const job = (name: string) =>
  `name: ${name}\nsteps: [{uses: hello, name: ${name}, test: 1 == 1}]\n`;

Deno.test("a job file that is not beside the workflow is taken from the current directory", async () => {
  const files = { "flows/w.yml": WORKFLOW, "jobs/a.yml": job("above") };
  await withFiles(files, async (cwd) => {
    const run = await runMain(["flows/w.yml"], { cwd });
    assertEquals([run.code, run.stderr], [0, ""]);
    assertStringIncludes(run.stdout, "above");
    const checked = await runMain(["check", "flows/w.yml"], { cwd });
    assertStringIncludes(
      checked.stdout + checked.stderr,
      "hint: 'flows/jobs/a.yml' not found; using 'jobs/a.yml' in the current directory",
    );
  });
});

Deno.test("a job file beside the workflow comes before one in the current directory", async () => {
  const files = {
    "flows/w.yml": WORKFLOW,
    "flows/jobs/a.yml": job("beside"),
    "jobs/a.yml": job("above"),
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runMain(["flows/w.yml"], { cwd });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "beside");
  });
});

const JOBS = "\njobs: [{name: a, steps: [{uses: hello}]}]\n";

Deno.test("loadWorkflow() warns of a number that its leading zero makes another one", async () => {
  assertEquals(
    await explainText(`name: x\nvars:\n  zip: 01234 # in Massachusetts${JOBS}`),
    `flow.yml:3:8: warning: 01234 is read as 668
  3 |   zip: 01234 # in Massachusetts
    |        ^^^^^ put it in quotes for text, or leave out the zero`,
  );
});

Deno.test("loadWorkflow() finds leading zeros everywhere", async () => {
  const rows: [vars: string, reported: string[]][] = [
    ["{a: 010}", ["2:11: warning: 010 is read as 8"]],
    ["{a: [1,007]}", ["2:14: warning: 007 is read as 7"]],
    ["{a: [&b -010, *b]}", ["2:15: warning: -010 is read as -8"]],
    ["{a: 0o10}", []],
    ["{a: 0x10, b: 0, c: 10, d: 0.5, e: 1_0}", []],
    ["{a: '010', b: \"01234\", c: see 010 there}", []],
    ["{a: 09, b: 2024-01-02}", []],
  ];
  for (const [vars, reported] of rows) {
    assertEquals(await describeText(`name: x\nvars: ${vars}${JOBS}`), reported, vars);
  }
});

Deno.test("load says how rounds start and when they end", async () => {
  const job = (lines: string) =>
    `name: x\njobs:\n- name: a\n  ${lines.replaceAll("\n", "\n  ")}` +
    (/^steps:/m.test(lines) ? "\n" : "\n  steps: [{uses: hello}]\n");
  const cases: readonly (readonly [yaml: string, ...messages: string[]])[] = [
    [job("load: {rate: 20/s, for: 5m, warm_up: 10s, max_in_flight: 5, expect: stats.p999 < 1}")],
    [job("load: {users: 5, count: 20, think_time: 1s, together: true, keep: cookies}")],
    [job("load: {stages: [{rate: 0.5/s, for: 1s}, {rate: 0/s, for: 1m, ramp: true}]}")],
    [job("load: {users: 2, data: rows.csv, each: once}")],
    [job("load: 5"), '4:9: error: "load" must be a map, not 5'],
    [job("load: {for: 1m}"), '4:9: error: load needs "rate", "users" or "stages"'],
    [job("load: {rate: 1/s}"), '4:9: error: load needs "for" or "count": when it ends'],
    [
      job("load: {rate: 20/d, users: 0}\nrepeat: {count: 1}"),
      '4:3: error: "load" and "repeat" cannot be combined',
      '4:16: error: "rate" must be like 20/s, 90/m or 100/h, not "20/d"',
      '4:22: error: "rate" and "users" cannot be combined',
      '4:29: error: "users" must be at least 1, not 0',
    ],
    [
      job("load: {rate: 20/d, for: soon, think_time: 1s, each: twice, lod: 1}"),
      '4:16: error: "rate" must be like 20/s, 90/m or 100/h, not "20/d"',
      '4:27: error: "for" must be a duration like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds, not "soon"',
      '4:33: error: "think_time" goes with users, not with a rate',
      '4:49: error: "each" has no effect without "data"',
      '4:55: error: invalid value "twice" for "each"',
      '4:62: error: unknown key "lod" in load',
    ],
    [
      job("load: {users: 2, for: 1s, max_in_flight: 5, data: {file: a, list: []}}"),
      '4:29: error: "max_in_flight" has no effect with users, each of whom runs one round at a time',
      '4:63: warning: "list" is empty',
      '4:63: error: "file" and "list" cannot be combined',
    ],
    [
      job(
        "load:\n  for: 1s\n  warm_up: 1s\n  together: true\n  stages:\n" +
          "  - {rate: 1/s, for: 1s, ramp: true}\n  - {users: 1, for: 1s}\n  - {rate: 1/s}\n  - {for: 1s}",
      ),
      '5:5: error: "for" cannot be combined with stages: each has its for',
      '6:5: error: "warm_up" needs a first stage without ramp: what would its pace be?',
      '7:5: error: "together" goes with "users"',
      "10:7: error: this stage has users, and the first has a rate",
      '11:7: error: a stage needs "for"',
      '12:7: error: a stage needs "rate" or "users"',
    ],
    [
      job(
        'load: {rate: 1/s, for: 1s, expect: stats.steps.hallo.p95 < stats.p96, stop_if: "status"}',
      ),
      '4:50: error: unknown field "hallo" of stats.steps',
      '4:68: error: unknown field "p96" of stats',
      '4:83: error: unknown name "status" in a job',
    ],
    [job("load: {rate: 1/s, for: 1s, expect: stats.steps.hello.p95 < 1}")],
    [
      job("load: {users: 100000000, count: 1}"),
      '4:17: error: "users" must be at most 100,000',
    ],
    [
      job("load: {stages: [{rate: 2000000000/s, for: 1s}]}"),
      '4:26: error: "rate" must be at most 1,000,000/s',
    ],
    [
      job(
        "load:\n  rate: 1/s\n  for: 1s\n  expect:\n" +
          '    - stats.steps.a.codes["40x"] == 0\n    - stats.steps.a.codes["4xx"] == 0\n' +
          "    - stats.steps.a.phases.first_bite < 1\n    - stats.steps.b.bytes_in < 1\n" +
          '    - stats.steps.b.codes["5xx"] == 0\n' +
          "steps: [{id: a, uses: http, with: {get: 'http://a.example'}}, {id: b, uses: hello}]",
      ),
      '8:29: error: unknown field "40x" of stats.steps.a.codes',
      '10:30: error: unknown field "first_bite" of stats.steps.a.phases',
      '11:23: error: unknown field "bytes_in" of stats.steps.b',
      '12:23: error: unknown field "codes" of stats.steps.b',
    ],
    [
      job('steps: [{uses: hello, with: {a: "{{round.index}}"}}]'),
      '4:38: error: unknown name "round" in a step',
    ],
    [
      job('load: {rate: 1/s, for: 1s}\nsteps: [{uses: hello, with: {a: "{{round.idx}}"}}]'),
      '5:44: error: unknown field "idx" of round',
    ],
  ];
  for (const [yaml, ...messages] of cases) assertEquals(await describeText(yaml), messages, yaml);
});
