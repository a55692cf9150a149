import { assertEquals, assertStringIncludes } from "@std/assert";
import { findIn } from "../support/check_text.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { type Case, check, jobs, steps } from "./workflows.ts";

const VARS = "vars: { shop: a, port: 80, service: { name: x, tags: [a] } }";

Deno.test("a var that nothing defines is an error wherever it is read", () =>
  check(["undefined-var"], [
    [
      steps(["test: vars.¦shpo == 1"], VARS),
      'error undefined-var: undefined variable "shpo" (did you mean "shop"?)',
    ],
    [
      steps(["test: vars.¦other == 1"]),
      'error undefined-var: undefined variable "other" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps(["vars: { own: 1 }, test: vars.own == 1", "test: vars.¦own == 1"]),
      'error undefined-var: undefined variable "own" (it is a var of another step, which only that step sees)',
    ],
    // Vars of a step do not see each other.
    [
      steps(["vars: { one: 1, two: '{{vars.¦one}}' }, test: vars.one == vars.two"]),
      'error undefined-var: undefined variable "one" (it is a var of another step, which only that step sees)',
    ],
    [
      jobs([["skipif: vars.¦nope == 1", "test: true"]]),
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps(['name: "{{vars.¦nope}}"'], VARS),
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps([`test: '"a" == vars[¦"shopp"]'`], VARS),
      'error undefined-var: undefined variable "shopp" (did you mean "shop"?)',
    ],
    // A mistake elsewhere hides no warning: only keys below it may be the intended ones.
    [
      steps(["test: vars.¦nope == vars.mine"], "nam: x\nvarz: { mine: 1 }"),
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [
      steps(["repeat: 3, test: vars.¦nope == 1"]),
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    ...["¦nope != nil", "not ¦nope", "type(¦nope) == 'nil'", "int(¦nope) == 3"].map((
      test,
    ): Case => [
      steps([`test: ${test.replace(/¦?nope/, "vars.¦nope")}`], VARS),
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ]),
    // A mistake in defaults is reported once, where it is written.
    [
      "name: x\njobs:\n- name: a\n  defaults: { hello: { to: '{{vars.¦nope}}' } }\n  steps: [{uses: hello}, {uses: hello}]\n",
      'error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
    ],
    [steps(["test: vars.shop == 'a'", "test: len(vars.service.tags) == 1"], VARS)],
    [steps(["test: (vars.nope ?? 1) == 1"], VARS)],
    [steps(["test: vars.nope?.at.all == nil"], VARS)],
    [steps([`test: '"nope" in vars && vars.nope == 1'`], VARS)],
    [steps(["test: vars[res.name] == 1 && vars == {}"], VARS)],
    [steps(["vars: { own: 1 }, test: vars.own == 1 && vars.shop == 'a'"], VARS)],
    [steps(["iteration: [{ n: 1 }, { m: 2 }], test: vars.n == 1 || vars.m == 2"], VARS)],
    [steps(["vars: { own: 1 }, iteration: [{ n: '{{vars.own}}' }], test: vars.n == 1"])],
    // The environment is seen in the vars of the workflow by any name.
    [steps(["test: vars.a == 1"], "vars: { a: '{{HOME}} {{HOME.b}}' }")],
    // The part that could not be read may define it.
    [steps(["test: vars.shop == 1"], "vars: [shop]")],
    [steps(["test: vars.shop == 1"], "var: { shop: 1 }")],
    [steps(["vars: [own], test: vars.own == 1"])],
    [steps(["var: { own: 1 }, test: vars.own == 1"])],
    [steps(["iteration: { own: 1 }, test: vars.own == 1"])],
  ]));

Deno.test("a key that a var does not have is an error", () =>
  check(["undefined-key"], [
    [
      steps(["test: vars.service.¦nmae == 'x'"], VARS),
      'error undefined-key: vars.service has no "nmae" (did you mean "name"?)',
    ],
    [
      steps(["test: vars.service.¦other == 'x'"], VARS),
      'error undefined-key: vars.service has no "other" (there is name, tags)',
    ],
    [
      steps(["test: vars.port.¦x == 1"], VARS),
      'error undefined-key: vars.port is not a map and has no "x"',
    ],
    [
      steps(["vars: { service: plain }, test: vars.service.¦name == 1"], VARS),
      'error undefined-key: vars.service is not a map and has no "name"',
    ],
    [
      steps(["test: vars.a.b.¦d == 1"], "vars: { a: { b: { c: '{{X}}' } } }"),
      'error undefined-key: vars.a.b has no "d" (there is c)',
    ],
    // Lists, templates and nil may be anything; so may what a step lays over it.
    [steps(["test: vars.service.tags.x == 1"], VARS)],
    [steps(["test: vars.a.x == 1"], "vars: { a: '{{X}}' }")],
    [steps(["test: vars.a.x == 1"], "vars: { a: }")],
    [steps(["test: vars.service.nmae?.x == nil && (vars.service.nmae ?? 1) == 1"], VARS)],
    [steps(
      ["vars: { service: { own: 1 } }, test: vars.service.own + len(vars.service.name) == 2"],
      VARS,
    )],
    [steps(["vars: { service: '{{outputs}}' }, test: vars.service.own == 2"], VARS)],
    [steps(["iteration: [{}, { service: { own: 1 } }], test: vars.service.own == 1"], VARS)],
    [steps(["test: vars.shop[0] == 'a' && vars.service.name[1:2] == ''"], VARS)],
  ]));

Deno.test("a var that nothing reads is a hint", () =>
  check(["unused-var"], [
    [steps([""], "vars: { ¦a: 1 }"), 'hint unused-var: nothing reads the var "a"'],
    [
      steps(["vars: { ¦own: 1 }"], "vars: { ¦a: 1 }"),
      'hint unused-var: nothing reads the var "a"',
      'hint unused-var: nothing reads the var "own"',
    ],
    [
      steps(["vars: { ¦own: 1 }", "test: (vars.own ?? 1) == 1"]),
      'hint unused-var: nothing reads the var "own"',
    ],
    // Environment variables are not vars.
    [
      steps(["test: vars.b == 1"], "vars: { ¦a: 1, b: '{{a}}' }"),
      'hint unused-var: nothing reads the var "a"',
    ],
    [steps(["test: vars.a == 1"], "vars: { a: 1 }")],
    [steps(["test: vars.a.b == 1"], "vars: { a: { b: 1, c: 2 } }")],
    [steps(["test: vars[res.name] == 1"], "vars: { a: 1 }")],
    [steps(["with: { all: '{{vars}}' }"], "vars: { a: 1 }")],
    [steps(["test: $env.vars.a == 1"], "vars: { a: 1 }")],
    [steps(["vars: { own: '{{vars.a}}' }, test: vars.own == 1"], "vars: { a: 1 }")],
    [steps(["timeout: '{{vars.a}}s'"], "vars: { a: 1 }")],
    [steps(["echo: '{{vars.a}}'"], "vars: { a: 1 }")],
    ["name: x\nvars: { a: 1 }\njobs: [{name: '{{vars.a}}', steps: [{uses: hello}]}]\n"],
    [jobs([["skipif: vars.a == 1", "test: true"]]).replace("jobs", "vars: { a: 1 }\njobs")],
    [
      jobs([["defaults: {http: {url: '{{vars.a}}'}}", "test: true"]]).replace(
        "jobs",
        "vars: { a: 1 }\njobs",
      ),
    ],
    [steps(["tset: vars.a == 1"], "vars: { a: 1 }")],
    [steps(["test: vars.a == = 1"], "vars: { a: 1 }")],
    ["name: x\nvars: { a: 1 }\njobs: { x: { name: 'x {{vars.a}}' } }\n"],
  ]));

const EMBEDDING = "name: x\njobs:\n- name: a\n  steps:\n" +
  "  - { uses: embedded, with: { path: job.yml, vars: { shop: a } }, test: res.code == 0 }\n";

const JOB = "name: a job\nsteps:\n" +
  "- { uses: hello, id: a, outputs: { unread: '1' }, test: vars.shop == vars.shop }\n";

Deno.test("job files are checked with the workflow that embeds them", async () => {
  assertEquals(await findIn(EMBEDDING, { "job.yml": JOB }), []);
  const bad = JOB +
    "- { uses: assert }\n- { uses: hello, test: outputs.b.x == 1 }\n";
  assertEquals(
    await findIn(EMBEDDING + "  - { uses: hello, test: vars.nope }\n", { "job.yml": bad }),
    [
      '6:31 error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
      "job.yml:4:11 warning constant-test: this step asserts nothing (add a test, like test: outputs.order.total == 12)",
      'job.yml:5:32 error unpublished-output: no step publishes "b"',
    ],
  );
});

Deno.test("the job files that vars choose are checked, as far as the vars are known", () =>
  withFiles({
    "flow.yml": `name: x
vars: { one: good, other: "{{OTHER ?? 'gone'}}", open: "{{NOT_SET_ANYWHERE}}" }
jobs:
- name: a
  steps:
  - { uses: embedded, with: { path: "{{vars.one}}.yml" }, test: res.code == 0 }
  - { uses: embedded, with: { path: "{{vars.other}}.yml" }, test: res.code == 0 }
  - { uses: embedded, with: { path: "{{vars.open}}.yml" }, test: res.code == 0 }
`,
    "good.yml": "name: a job\nsteps:\n- { uses: hello, test: outputs.b.x == 1 }\n",
    "bad.yml": "name: a job\n",
  }, async (cwd) => {
    const reported = async (env: Record<string, string>) => {
      const { stdout } = await runMain(["check", "flow.yml"], { cwd, env });
      return stdout.match(/^\S.*/gm);
    };
    const inGood = 'good.yml:3:32: error: no step publishes "b"';
    assertEquals(await reported({}), [
      "flow.yml:7:37: error: job file 'gone.yml' not found",
      inGood,
      "1 workflow checked: 2 errors",
    ]);
    assertEquals(await reported({ OTHER: "bad" }), [
      inGood,
      'bad.yml:1:1: error: a job file needs "steps"',
      "1 workflow checked: 2 errors",
    ]);
    assertEquals(await reported({ OTHER: "good" }), [inGood, "1 workflow checked: 1 error"]);
  }));

Deno.test("a path in a job file is a constant, also where it is computed without names", async () => {
  const job = (path: string) =>
    `name: a job\nsteps:\n- { uses: embedded, with: { path: '${path}' }, test: vars.shop == 'a' }\n`;
  const at = async (path: string, files = {}) =>
    (await findIn(EMBEDDING, { "job.yml": job(path), ...files })).join();
  assertEquals(
    await at('{{ "in" + ".yml" }}', { "in.yml": "name: i\nsteps: [{ uses: hello }]\n" }),
    "",
  );
  assertStringIncludes(await at('{{ "in" + ".yml" }}'), "/in.yml' not found");
  assertStringIncludes(await at("{{vars.shop}}.yml"), "a path in a job file cannot be a template");
});

Deno.test("a secret in a job file is found, and not printed", () =>
  withFiles({
    "flow.yml": EMBEDDING,
    "job.yml": JOB + "- { uses: hello, with: { password: hunter22 } }\n",
  }, async (cwd) => {
    const { code, stdout } = await runMain(["check", "flow.yml"], { cwd });
    assertEquals(code, 0);
    assertStringIncludes(stdout, 'job.yml:4:36: warning: "password" holds a hard-coded secret');
    assertEquals(stdout.includes("hunter22"), false);
  }));

Deno.test("a job file among the arguments is checked with who embeds it, or by itself", () =>
  withFiles({
    "flow.yml": EMBEDDING,
    "other.yml": EMBEDDING,
    "job.yml": JOB + "- { uses: hello, test: outputs.b.x == 1 }\n",
    "alone/job.yml": JOB,
  }, async (cwd) => {
    const reported = (stdout: string) => stdout.match(/no step publishes/g)?.length ?? 0;
    for (const args of [["*.yml"], ["job.yml", "flow.yml", "other.yml"]]) {
      const { code, stdout } = await runMain(["check", ...args], { cwd });
      assertEquals([code, reported(stdout)], [1, 1], stdout);
      assertStringIncludes(stdout, "\n2 workflows checked: 1 error\n");
    }
    for (const operand of ["alone/*", "alone/job.yml"]) {
      const { code, stdout } = await runMain(["check", operand], { cwd });
      assertEquals([code, stdout], [0, "1 job file checked: ok\n"], operand);
    }
    const both = await runMain(["check", "*.yml", "alone/job.yml"], { cwd });
    assertStringIncludes(both.stdout, "\n2 workflows and 1 job file checked: 1 error\n");
  }));

Deno.test("a named job file is checked as a job file, and several joined files are not", () =>
  withFiles({ "job.yml": "steps:\n  - { uses: helo }\n", "name.yml": "name: n\n" }, async (cwd) => {
    const { code, stdout } = await runMain(["check", "job.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'job.yml:1:1: error: a job file needs "name"');
    assertStringIncludes(stdout, 'job.yml:2:13: error: unknown action "helo"');
    assertStringIncludes(stdout, "\n1 job file checked: 2 errors\n");
    const env = { RUNNER_CONFIG: "name.yml" };
    assertEquals((await runMain(["check", "job.yml"], { cwd, env })).stdout, stdout);
    const joined = await runMain(["check", "name.yml,job.yml"], { cwd });
    assertStringIncludes(joined.stdout, 'the workflow needs "jobs"');
  }));

Deno.test("a var that a job file reads and its step does not give is an error at the step", async () => {
  const job = "name: a job\nsteps:\n- { uses: hello, test: vars.shop + vars.shpo == 'ab' }\n" +
    "- { uses: hello, vars: { own: 1 }, test: vars.own == (vars.maybe ?? 1) }\n";
  assertEquals(await findIn(EMBEDDING, { "job.yml": job }), [
    '5:37 error ungiven-var: the job file reads the var "shpo", which this step does not give (did you mean "shop"?)',
  ]);
  const open = EMBEDDING.replace("vars: { shop: a }", 'vars: "{{vars}}"');
  assertEquals((await findIn(open, { "job.yml": job })).join().includes("ungiven-var"), false);
});
