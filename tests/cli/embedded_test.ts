import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../support/assert_no_trace.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { withRig } from "../support/run/rig.ts";
import { type CliResult, startCli } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { runReports } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

type Files = Readonly<Record<string, string>>;

/** A workflow of one job with these steps. */
const workflow = (steps: string, top = "") =>
  `name: w\n${top}jobs:\n  - name: j\n    steps:\n${steps.replace(/^(?=.)/gm, "      ")}`;

/** A step that embeds the file `inner.yml`. */
const EMBEDS = "- {name: outer, uses: embedded, with: {path: inner.yml}}\n";

/** A job file with these steps. */
const job = (steps: string) => `name: inner\nsteps:\n${steps.replace(/^(?=.)/gm, "  ")}`;

/** A command that writes its number and that of a child of its, and goes on for ever. */
const ENDLESS = "trap '' TERM INT; sleep 1000 & echo $$ $! > pids.part; mv pids.part pids; " +
  "sleep 1000";

function run(files: Files, args: readonly string[] = []): Promise<CliResult> {
  return withFiles(files, async (cwd) => {
    const result = await runMain([...args, "w.yml"], { cwd });
    assertNoTrace(result);
    return result;
  });
}

async function untilAllAreGone(cwd: string): Promise<void> {
  const pids = (await Deno.readTextFile(`${cwd}/pids`)).trim().split(" ").map(Number);
  assertEquals(pids.length, 2);
  await until(() => !pids.some(isRunning), `the processes ${pids.join(" and ")} are gone`);
}

Deno.test("a step is as tested as the job that it embeds, whose failure is listed once", async () => {
  const inner = job(
    '- {name: part, uses: hello, test: "vars.n == 1"}\n- {name: more, uses: hello}',
  );
  const embed = (n: number, fields: string) =>
    `- {name: outer ${n}, uses: embedded, with: {path: inner.yml, vars: {n: ${n}}}${fields}}\n`;
  const files = {
    "w.yml": workflow(embed(1, "") + embed(2, ", test: res.code == 0")),
    "inner.yml": inner,
  };
  const { stdout, reports } = await runReports(files);
  // On a busy machine it takes long enough for its time to be shown.
  assertMatch(stdout, /1\. ✓ outer 1.*\n {8}1\. ✓ part.*\n {8}2\. ○ more.*\n/);
  assertStringIncludes(
    stdout,
    `Failures
  1. j › outer 2 › part   inner.yml:3:38
     test is false: vars.n is 2 (int)

`,
  );
  assertMatch(stdout, /\nSteps {6}1 passed · 1 failed \(2\)\n/);
  const names = [...reports["junit.xml"]!.matchAll(/<testcase name="(.*?)"/g)].map(([, name]) =>
    name
  );
  assertEquals(names, ["outer 1", "outer 2"]);
});

Deno.test("the timeout of a step stops the job that it embeds", async () => {
  const files = {
    "w.yml": workflow(
      `${EMBEDS.replace("outer", "outer, timeout: 1s")}- {name: next, uses: hello}`,
    ),
    "inner.yml": job(
      `- {name: command, uses: shell, with: {cmd: "${ENDLESS}"}}\n- {name: late, uses: hello}`,
    ),
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "inner.yml:3:27: the step around it timed out after 1s");
    assertStringIncludes(stdout, "w.yml:5:32: the step timed out after 1s");
    assert(!stdout.includes("late"), stdout);
    assertStringIncludes(stdout, "next");
    await untilAllAreGone(cwd);
  });
});

Deno.test("the timeout of a step closes the requests of a job three levels down", async () => {
  await withRig(async (rig) => {
    const files = {
      "w.yml": workflow(EMBEDS.replace("outer", "outer, timeout: 3s")),
      "inner.yml": job("- {name: middle, uses: embedded, with: {path: deep.yml}}"),
      "deep.yml": job("- {name: deep, uses: embedded, with: {path: deepest.yml}}"),
      "deepest.yml": job(`- {name: hang, uses: http, with: {get: "${rig.url}/hang"}}`),
    };
    const { code, stdout } = await run(files);
    assertEquals(code, 1);
    for (const file of ["inner", "deep", "deepest"]) {
      assertMatch(stdout, new RegExp(`${file}\.yml:3:.*the step around it timed out after 3s`));
    }
    await rig.untilSeen("-/hang");
  });
});

Deno.test("an interruption stops an embedded job, and is reported inside", async () => {
  const files = {
    "w.yml": workflow(EMBEDS + "- {name: next, uses: hello}"),
    "inner.yml": job("- {name: middle, uses: embedded, with: {path: deep.yml}}"),
    "deep.yml": job(
      `- {name: command, uses: shell, with: {cmd: "${ENDLESS}"}}\n- {name: late, uses: hello}`,
    ),
  };
  await withFiles(files, async (cwd) => {
    const child = startCli(["w.yml"], { cwd });
    const output = new Response(child.stdout).text();
    const errors = new Response(child.stderr).text();
    await until(() => Deno.stat(`${cwd}/pids`).then(() => true, () => false), "it has begun");
    child.kill("SIGINT");
    const [{ code }, stdout, stderr] = await Promise.all([child.status, output, errors]);
    assertEquals([code, stderr], [1, ""]);
    assertStringIncludes(stdout, "› middle › command   deep.yml:3:");
    assertStringIncludes(stdout, "\nReason     interrupted by SIGINT\n");
    assert(!stdout.includes("late") && !stdout.includes("next"), stdout);
    await untilAllAreGone(cwd);
  });
});

Deno.test("--fail-fast starts no step after the first failure, inside or outside", async () => {
  const files = {
    "w.yml": workflow(EMBEDS + "- {name: next, uses: hello}"),
    "inner.yml": job('- {name: fails, uses: hello, test: "false"}\n- {name: late, uses: hello}'),
  };
  const { code, stdout } = await run(files, ["--fail-fast"]);
  assertEquals(code, 1);
  assertMatch(stdout, /1\. ✗ outer.*\n +1\. ✗ fails/);
  assertMatch(
    stdout,
    /2\. - late \(skipped: not started: --fail-fast after "inner.yml" failed\)/,
  );
  assertMatch(stdout, /2\. - next \(skipped: not started: --fail-fast after "j.*" failed\)/);
});

Deno.test("--fail-fast does not take a failed attempt of an embedded job for the end", async () => {
  await withRig(async (rig) => {
    const embeds = EMBEDS.replace("outer", "outer, retry: {max_attempts: 3}");
    const files = {
      "w.yml": workflow(embeds + "- {name: next, uses: hello}"),
      "inner.yml": job(
        `- {uses: http, with: {get: "${rig.url}/flaky/a/3"}, test: res.code == 200}\n` +
          `- {uses: http, with: {get: "${rig.url}/after"}}`,
      ),
    };
    const { code, stdout } = await run(files, ["--fail-fast"]);
    assertEquals(code, 0, stdout);
    assertEquals(rig.seen, ["/flaky/a/3", "/flaky/a/3", "/flaky/a/3", "/after"]);
  });
});

Deno.test("--fail-fast stops an embedded job that another job does not wait for", async () => {
  await withRig(async (rig) => {
    const meet = `- {uses: http, with: {get: "${rig.url}/meet/both/2"}}\n`;
    const files = {
      "w.yml": `name: w\njobs:\n  - name: fails\n    id: a\n    steps:\n` +
        `      ${meet}      - {uses: hello, test: "false"}\n` +
        `      - {name: never, uses: http, with: {get: "${rig.url}/never"}}\n` +
        `  - name: embeds\n    id: b\n    steps:\n      ${EMBEDS}`,
      "inner.yml": job(
        `${meet}- {name: wait, uses: http, with: {get: "${rig.url}/hang"}, timeout: 1s}\n` +
          `- {name: late, uses: http, with: {get: "${rig.url}/late"}}`,
      ),
    };
    const { code, stdout } = await run(files, ["--fail-fast"]);
    assertEquals(code, 1);
    assert(!rig.seen.includes("/late") && !rig.seen.includes("/never"), rig.seen.join());
    assertStringIncludes(stdout, "✗ wait");
  });
});

Deno.test("a var that is passed under a secret name is masked everywhere from then on", async () => {
  const files = {
    "w.yml": workflow(
      '- {uses: echo, id: make, with: {message: "hidden-and-computed"}, ' +
        "outputs: {value: res.message}}\n" +
        '- {uses: embedded, with: {path: inner.yml, vars: {api_token: "{{outputs.value}}"}}, ' +
        'echo: "{{res}} {{req}}"}\n- {uses: echo, with: {message: "{{outputs.value}}"}, ' +
        'echo: "{{res.message}}"}',
    ),
    "inner.yml": job(
      '- {name: "with {{vars.api_token}}", id: x, uses: shell, ' +
        'with: {cmd: "echo {{vars.api_token}}"}, echo: "{{res.stdout}}", ' +
        'outputs: {out: res.stdout}, test: res.stdout == ""}',
    ),
  };
  const { code, stdout, stderr } = await run(files, ["-v"]);
  assertEquals(code, 1);
  // Before it is passed it is not known to be a secret.
  const [, after = ""] = stderr.split("(embedded)");
  assert(!(stdout + after).includes("hidden-and-computed"), stdout + after);
  assertStringIncludes(stdout, "✗ with ***");
});

Deno.test("failures inside are in every report, with their file and line", async () => {
  const files = {
    "w.yml": workflow(EMBEDS),
    "inner.yml": job("- {name: middle, uses: embedded, with: {path: deep.yml}}"),
    "deep.yml": job("- name: the culprit\n  uses: hello\n  test: 1 == 2"),
  };
  const help = await runMain(["--help"]);
  const formats = /Also write a report: ([^;]*);/.exec(help.stdout)?.[1]?.split(/,\s+/) ?? [];
  assert(formats.length >= 8, help.stdout);
  // The coverage of an API is not a report of steps, metrics are numbers alone, and spans are sent.
  const others = ["coverage", "prometheus", "otlp"];
  for (const name of formats.filter((name) => !others.includes(name))) {
    const report = name === "github" ? name : `${name}=-`;
    const { code, stdout, stderr } = await run(files, ["--report", report]);
    assertEquals(code, 1, stderr);
    assertStringIncludes(stdout, "the culprit", name);
    assertStringIncludes(stdout, "deep.yml", name);
    assertMatch(stdout, /deep\.yml(:|,line=|"?,\s*"line":\s*)5/, name);
  }
  for (const args of [[], ["-q"], ["--output=stream"], ["-v"]]) {
    const { stdout } = await run(files, args);
    assertStringIncludes(stdout, "› middle › the culprit", args.join());
    assertStringIncludes(stdout, "deep.yml:5:11", args.join());
  }
});

Deno.test("a path is relative to the file that names it, of several files too", async () => {
  const files = {
    "a/one.yml": "name: w\nvars: {n: 1}\n",
    "b/two.yml":
      "jobs:\n  - name: j\n    defaults: {embedded: {path: inner.yml}}\n    steps: [{uses: embedded}]\n",
    "a/inner.yml": job("- {name: wrong, uses: hello}"),
    "b/inner.yml": job("- {name: right, uses: hello, test: vars.n == nil}"),
  };
  await withFiles(files, async (cwd) => {
    for (
      const names of ["a/one.yml,b/two.yml", "b/two.yml,a/one.yml", `a/one.yml,${cwd}/b/two.yml`]
    ) {
      const { code, stdout, stderr } = await runMain([names], { cwd });
      assertEquals([code, stderr], [0, ""], stdout);
      assertStringIncludes(stdout, "✓ right");
    }
  });
});

Deno.test("an absolute path is taken as it is", async () => {
  await withFiles({ "far/inner.yml": job("- {name: far, uses: hello}") }, async (directory) => {
    const { code, stdout } = await run({
      "w.yml": workflow(EMBEDS.replace("inner.yml", `${directory}/far/inner.yml`)),
    });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "○ far");
  });
});

Deno.test("job files may be nested 32 levels deep, and no deeper", async () => {
  const chain = (length: number) => {
    const files: Record<string, string> = {
      "w.yml": workflow("- {uses: embedded, with: {path: 1.yml}}"),
    };
    for (let level = 1; level < length; level++) {
      files[`${level}.yml`] = job(`- {uses: embedded, with: {path: ${level + 1}.yml}}`);
    }
    files[`${length}.yml`] = job("- {name: the end, uses: hello}");
    return files;
  };
  const deep = await run(chain(32));
  assertEquals(deep.code, 0, deep.stderr);
  assertStringIncludes(deep.stdout, "○ the end");
  const tooDeep = await run(chain(33));
  assertEquals([tooDeep.code, tooDeep.stdout], [1, ""]);
  assertStringIncludes(
    tooDeep.stderr,
    "32.yml:3:35: error: job files are nested more than 32 levels deep",
  );
});

Deno.test("a cycle through a link to a directory is refused", async () => {
  const files = {
    "w.yml": workflow(EMBEDS),
    "inner.yml": job("- {uses: embedded, with: {path: loop/inner.yml}}"),
  };
  await withFiles(files, async (cwd) => {
    await Deno.symlink(cwd, `${cwd}/loop`);
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "job files are nested more than 32 levels deep");
  });
});

Deno.test("job files that multiply each other are refused", async () => {
  const files: Record<string, string> = { "w.yml": workflow(EMBEDS.replace("inner", "0")) };
  for (let level = 0; level < 20; level++) {
    files[`${level}.yml`] = job(`- {uses: embedded, with: {path: ${level + 1}.yml}}\n`.repeat(4));
  }
  files["20.yml"] = job("- {uses: hello}");
  const { code, stdout, stderr } = await run(files);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "more than 100000 steps, including those of embedded job files");
});

Deno.test("a job file that is binary or unreadable is reported at its path", async () => {
  const files = {
    "w.yml": workflow(EMBEDS + "- {uses: embedded, with: {path: w.yml/inner.yml}}"),
    "inner.yml": "\0\0",
  };
  const { code, stdout, stderr } = await run(files);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(
    stderr,
    "w.yml:5:52: error: cannot read job file 'inner.yml': it is not UTF-8 text: the byte at offset 0 is 0x00",
  );
  assertStringIncludes(stderr, "w.yml:6:39: error: job file 'w.yml/inner.yml' not found");
});

Deno.test("a job file is read once, however often it is embedded", async () => {
  const files = {
    "w.yml": workflow(EMBEDS.repeat(3)),
    "inner.yml": job("- {uses: hello, outputs: {a: status}}"),
  };
  const { code, stderr } = await run(files);
  assertEquals([code, stderr.match(/outputs of a step without id are lost/g)?.length], [0, 1]);
});

Deno.test("the path of a job file follows the vars that are set from outside", async () => {
  const files = {
    "w.yml": workflow(
      '- {uses: embedded, with: {path: "{{vars.stage}}.yml"}}',
      "vars: {stage: dev}\n",
    ),
    "dev.yml": job("- {name: development, uses: hello}"),
    "prod.yml": job("- {name: production, uses: hello}"),
  };
  assertStringIncludes((await run(files)).stdout, "○ development");
  assertStringIncludes((await run(files, ["--var", "stage=prod"])).stdout, "○ production");
  const missing = await run(files, ["--var", "stage=test"]);
  assertEquals([missing.code, missing.stdout], [1, ""]);
  assertStringIncludes(missing.stderr, "w.yml:6:39: error: job file 'test.yml' not found");
});

Deno.test("dag draws the steps of job files, and check looks into them", async () => {
  const files = {
    "w.yml": workflow(
      '- {name: outer, uses: embedded, with: {path: "{{vars.path}}.yml"}}\n' + EMBEDS +
        "- {name: unknown, uses: embedded, with: {path: '{{vars.unset}}'}}",
      'vars: {path: inner, unset: "{{NOT_SET_ANYWHERE}}"}\n',
    ),
    "inner.yml": job("- {name: middle, uses: embedded, with: {path: deep.yml}}"),
    "deep.yml": job("- {name: deepest, uses: hello, outputs: {a: status}}"),
  };
  await withFiles(files, async (cwd) => {
    const drawn = await runMain(["dag", "w.yml"], { cwd });
    assertEquals(drawn.code, 0, drawn.stderr);
    assertEquals(drawn.stdout.match(/└ deepest/g)?.length, 2);
    const checked = await runMain(["check", "w.yml"], { cwd });
    assertStringIncludes(
      checked.stdout,
      "deep.yml:3:34: warning: outputs of a step without id are lost",
    );
  });
});
