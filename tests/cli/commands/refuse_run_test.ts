import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const flow = (steps: string, more = "") =>
  `name: n\nvars: { a: 1, unset: "{{NOT_SET}}", list: [] }\njobs:\n- name: j\n  id: j\n${more}` +
  `  steps:\n  - { uses: hello, id: first, outputs: { x: "1" } }\n${steps}`;

/** Steps that certainly fail, so that a run is refused. */
const FAIL: readonly string[] = [
  "{ uses: hello, test: vars.nope == 1 }",
  "{ uses: hello, test: vars.nope }",
  "{ uses: hello, test: status == 0 && vars.nope == 1 }",
  "{ uses: hello, test: vars.nope contains 'a' }",
  "{ uses: hello, test: \"'a' in vars.nope\" }",
  "{ uses: hello, test: vars.nope < 1 < 2 }",
  "{ uses: hello, test: upper(outputs.nope) == 0 }",
  "{ uses: hello, test: (vars.nope.deep ?? 1) == 1 }",
  "{ uses: hello, test: rt.ms < 1 }",
  "{ uses: hello, test: needs.other.state == 'passed' }",
  "{ uses: echo, with: { message: '{{outputs.nope}}' } }",
  "{ uses: hello, with: { a: 'x {{outputs.first.y}}' } }",
  "{ uses: hello, with: { a: 'x {{vars.unset}}' } }",
  "{ uses: hello, echo: '{{outputs.later.x.y}}' }",
  "{ uses: hello, wait: '{{vars.nope}}' }",
  "{ uses: hello, skipif: vars.nope }",
  "{ uses: hello, id: own, with: { a: '{{outputs.own.x}}' }, outputs: { x: '1' } }",
  "{ uses: hello, iteration: [{ n: 1 }], test: vars.m == 1 }",
  "{ uses: hello, retry: { max_attempts: 1, until: res.a.b == outputs.nope.x } }",
];

/** Steps with the same mistakes that may pass, and here do. */
const PASS: readonly string[] = [
  "{ uses: hello, test: vars.nope != 1 }",
  "{ uses: hello, test: vars.nope == outputs.nope }",
  "{ uses: hello, test: status == 0 || vars.nope == 1 }",
  "{ uses: hello, test: (vars.a ?? vars.nope.x) == 1 }",
  "{ uses: hello, test: '(vars.a == 1 ? 1 : vars.nope.x) == 1' }",
  "{ uses: hello, test: not (vars.nope == 1) }",
  "{ uses: hello, test: 'not any(vars.list, vars.nope.x == 1)' }",
  "{ uses: hello, skipif: vars.nope == 1 }",
  "{ uses: hello, skipif: vars.a == 1, test: vars.nope.x == 1 }",
  "{ uses: hello, iteration: '{{vars.list}}', test: vars.nope.x == 1 }",
  "{ uses: hello, id: o, outputs: { x: vars.nope } }",
  "{ uses: hello, with: { a: '{{vars.nope}}' } }",
  "{ uses: hello, name: '{{vars.nope}}', echo: '{{vars.nope}}' }",
  "{ uses: hello, test: true, retry: { max_attempts: 2, interval: '{{vars.nope}}' } }",
  "{ uses: hello, test: vars.unset == nil || vars.unset == '' }",
  "{ uses: hello, iteration: [], test: vars.nope.x == 1 }",
  "{ uses: hello, test: needs.other?.state == nil }",
  "{ uses: hello, test: outputs.skipped?.nope.x == nil }",
];

Deno.test("a run is refused by what certainly fails, and by nothing that passes", () =>
  withFiles({}, async (cwd) => {
    const run = async (step: string, ...args: string[]) => {
      const skipped = "{ uses: hello, id: skipped, skipif: true, outputs: { x: '1' } }";
      const later = "  - { uses: hello, id: later, outputs: { x: '1' } }\n";
      const other = "- { name: other, id: other, steps: [{ uses: hello }] }\n";
      const text = flow(`  - ${skipped}\n  - ${step}\n${later}${other}`);
      await Deno.writeTextFile(`${cwd}/w.yml`, text);
      const { code, stdout } = await runMain([...args, "w.yml"], { cwd });
      return [code, stdout.includes("Total workflow time")];
    };
    for (const step of FAIL) {
      assertEquals(await run(step), [1, false], step);
      assertEquals(await run(step, "--no-check"), [1, true], step);
    }
    for (const step of PASS) assertEquals(await run(step), [0, true], step);
  }));

Deno.test("what may not run, or may fail, refuses no run", () =>
  withFiles({}, async (cwd) => {
    const bad = "  - { uses: hello, test: vars.nope == 1 }\n";
    for (
      const [job, code] of [
        ["  skipif: true\n", 0],
        ["  when: failure\n  needs: [k]\n", 0],
        ["  when: failure\n  needs: [k]\n  skipif: vars.nope.x\n", 0],
        ["  repeat: { count: 2, expect: stats.failed == 2 }\n", 0],
        ["  repeat: { count: 2, expect: stats.passed == 2 }\n", 1],
      ] as const
    ) {
      const text = flow(bad, job) + "- { name: k, id: k, steps: [{ uses: hello }] }\n";
      await Deno.writeTextFile(`${cwd}/w.yml`, text);
      const { code: got, stdout } = await runMain(["w.yml"], { cwd });
      assertEquals([got, stdout !== ""], [code, true], job);
    }
    const text = flow(bad + "  - { uses: hello, with: { a: 'x {{vars.unset}}' } }\n");
    await Deno.writeTextFile(
      `${cwd}/w.yml`,
      text + "- { name: k, id: k, steps: [{ uses: hello }] }\n",
    );
    for (const args of [["--only", "k"], ["--skip", "j"], ["--dry-run", "--only", "k"]]) {
      const { code, stderr } = await runMain([...args, "w.yml"], { cwd });
      assertEquals([code, stderr], [0, ""], args.join(" "));
    }
    assertEquals((await runMain(["--only", "j", "w.yml"], { cwd })).code, 1);
  }));

const BAD = flow(
  "  - { uses: hello, test: vars.nope == 1 }\n  - { uses: hello, echo: '{{outputs.b.c}}' }\n",
).replace("{{NOT_SET}}", "{{NOT_SET ?? nil}}");

Deno.test("run, --dry-run, prepare, export and suites refuse before the first job, with all errors", () =>
  withFiles({ "w.yml": BAD, "good.yml": flow("") }, async (cwd) => {
    for (
      const args of [
        ["w.yml"],
        ["--dry-run", "w.yml"],
        ["--report", "junit=out.xml", "w.yml"],
        ["prepare", "w.yml", "--out", "out.json"],
        ["export", "github", "w.yml", "-o", "out.yml"],
      ]
    ) {
      assertEquals(await runMain(args, { cwd }), {
        code: 1,
        stdout: "",
        stderr: `runner: error: workflow file 'w.yml' has 2 errors
  found by check; --no-check runs it all the same
w.yml:8:31: error: undefined variable "nope"
  8 |   - { uses: hello, test: vars.nope == 1 }
    |                               ^^^^ add it to the vars of the workflow, or write ?? "…" where it may be missing
w.yml:9:37: error: no step publishes "b"
  9 |   - { uses: hello, echo: '{{outputs.b.c}}' }
    |                                     ^
`,
      }, args.join(" "));
    }
    assertEquals([...Deno.readDirSync(cwd)].length, 2);
    const suite = await runMain([".", "--report", "junit=out.xml"], { cwd });
    assertEquals(suite.code, 1);
    assertStringIncludes(suite.stdout, "2 workflows: 1 passed, 1 failed");
    assertStringIncludes(await Deno.readTextFile(`${cwd}/out.xml`), "undefined variable");
    for (const args of [["--list"], ["dag"]]) {
      assertEquals((await runMain([...args, "w.yml"], { cwd })).code, 0);
    }
  }));

Deno.test("with --strict a run is refused by what check warns of", () =>
  withFiles({ "w.yml": flow("  - { uses: hello, test: true || vars.nope.x }\n") }, async (cwd) => {
    assertEquals((await runMain(["w.yml"], { cwd })).code, 0);
    const { code, stdout, stderr } = await runMain(["--strict", "w.yml"], { cwd });
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, 'w.yml:8:39: error: undefined variable "nope"');
  }));

Deno.test("vars that are set elsewhere, and outputs of the setup of a suite, are there", () =>
  withFiles({
    "suite.yml": "workflows: [w.yml]\nsetup: set.yml\nvars: { more: 1 }\n",
    "set.yml": "name: s\njobs:\n- name: j\n  steps:\n  - " +
      "{ uses: hello, id: login, outputs: { token: \"'t'\" } }\n",
    "w.yml": flow("  - { uses: hello, test: outputs.login.token == 't' && vars.more == 1 }\n"),
  }, async (cwd) => {
    for (const args of [["suite.yml"], ["check", "suite.yml"], ["--no-check", "suite.yml"]]) {
      const { code, stdout, stderr } = await runMain(args, { cwd });
      assertEquals(code, 0, stdout + stderr);
    }
    assertEquals((await runMain(["w.yml"], { cwd })).stderr.match(/error: /g)?.length, 3);
  }));

Deno.test("job files count if a step that runs embeds them", () =>
  withFiles(
    { "in.yml": "name: in\nsteps: [{ uses: hello, test: vars.nope == 1 }]\n" },
    async (cwd) => {
      const step = (more: string) =>
        flow(`  - { uses: embedded, with: { path: "{{vars.file}}" }${more} }\n`)
          .replace("a: 1", "file: in.yml");
      for (const [more, code] of [["", 1], [", skipif: true", 0]] as const) {
        await Deno.writeTextFile(`${cwd}/w.yml`, step(more));
        const result = await runMain(["w.yml"], { cwd });
        assertEquals(
          [result.code, result.stderr.includes("does not give")],
          [code, code === 1],
          more,
        );
      }
    },
  ));

Deno.test("a variable that is not set is one line, if a run cannot do without it", () =>
  withFiles({
    "w.yml": 'name: n\nvars:\n  token: "{{API_TOKEN}}"\n  other: "{{OTHER}}"\njobs:\n' +
      '- { name: j, steps: [{ uses: hello, with: { a: "Bearer {{vars.token}}" }, test: vars.other != 1 }] }\n',
  }, async (cwd) => {
    const line =
      'API_TOKEN is not set (vars.token, w.yml:3)\n  set it, or give a default: "{{NAME ?? …}}"\n';
    assertEquals(await runMain(["w.yml"], { cwd }), {
      code: 1,
      stdout: "",
      stderr: `runner: error: ${line}`,
    });
    for (const args of [["--var", "token=t", "w.yml"], ["check", "w.yml"]]) {
      assertEquals((await runMain(args, { cwd })).code, 0);
    }
    assertEquals((await runMain(["w.yml"], { cwd, env: { API_TOKEN: "t" } })).code, 0);
  }));
