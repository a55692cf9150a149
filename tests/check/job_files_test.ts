import { assertEquals, assertStringIncludes } from "@std/assert";
import { findIn } from "../support/check_text.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const EMBEDDING = "name: x\njobs:\n- name: a\n  steps:\n" +
  "  - { uses: embedded, with: { path: job.yml, vars: { shop: a } }, test: res.code == 0 }\n";

const JOB = "name: a job\nsteps:\n" +
  "- { uses: hello, id: a, outputs: { unread: '1' }, test: vars.shop == vars.shop }\n";

Deno.test("job files are checked with the workflow that embeds them", async () => {
  assertEquals(await findIn(EMBEDDING, { "job.yml": JOB }), []);
  const bad = JOB +
    "- { uses: shell, with: { cmd: ls } }\n- { uses: hello, test: outputs.b.x == 1 }\n";
  assertEquals(
    await findIn(EMBEDDING + "  - { uses: hello, test: vars.nope }\n", { "job.yml": bad }),
    [
      '6:31 error undefined-var: undefined variable "nope" (add it to the vars of the workflow, or write ?? "…" where it may be missing)',
      "job.yml:4:11 hint untested-result: nothing tests the result of this step (add a test, like test: res.code == 0)",
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

Deno.test("a secret in a job file is found, and not printed", () =>
  withFiles({
    "flow.yml": EMBEDDING,
    "job.yml": JOB + "- { uses: hello, with: { password: hunter22 } }\n",
  }, async (cwd) => {
    const { code, stdout } = await runMain(["check", "flow.yml"], { cwd });
    assertEquals(code, 0);
    assertStringIncludes(stdout, 'job.yml:4:36: warning: "password" holds a secret as it is');
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
