import { assertEquals, assertStringIncludes } from "@std/assert";
import { withRig } from "../support/run/rig.ts";
import { BUILT, type CliResult, programEnv } from "../support/run/run_cli.ts";
import { runNarrowed } from "../support/run/run_narrowed.ts";
import { withFiles } from "../support/temp_dir.ts";

const FLOWS = {
  "hello.yml": "{uses: hello}",
  "http.yml": '{uses: http, with: {get: "RIG/"}, test: res.code == 200}',
  "shell.yml": "{uses: shell, with: {cmd: 'echo hi'}}",
  "long.yml": `{uses: shell, with: {cmd: 'echo hi # ${"x".repeat(150_000)}'}}`,
  "preload.yml": "{uses: shell, with: {cmd: 'echo hi', env: {LD_PRELOAD: ''}}}",
  "embedded.yml": "{uses: embedded, with: {path: job.yml}}",
  "program.yml": "{uses: program}",
  "vars.yml": "{uses: hello, with: {text: '{{vars.a}}'}}",
};

const FILES = {
  "job.yml": "name: inside\nsteps: [{uses: hello}]\n",
  "values.yml": "a: 1\n",
  "api.yml": "openapi: 3.0.0\ninfo: {title: t, version: '1'}\n" +
    "paths: {/a: {get: {responses: {'200': {description: d}}}}}\n",
  "plugins/runner-program": "#!/bin/sh\necho '{\"status\": 0}'\n",
};

/** Runs the program by Deno with some flags, in a directory with workflows. */
async function narrowed(flags: readonly string[], args: readonly string[]): Promise<CliResult> {
  return await withRig(async (rig) => {
    const flows = Object.entries(FLOWS).map(([name, step]) => [
      name,
      `name: n\nvars: {a: 0}\njobs: [{name: j, steps: [${step.replace("RIG", rig.url)}]}]\n`,
    ]);
    return await withFiles({ ...FILES, ...Object.fromEntries(flows) }, async (made) => {
      const cwd = await Deno.realPath(made);
      await Deno.chmod(`${cwd}/plugins/runner-program`, 0o755);
      const place = (text: string) =>
        text.replace("CWD", cwd).replace("HOST", new URL(rig.url).host);
      const env: Record<string, string> = args[0] === "program.yml"
        ? { RUNNER_PLUGIN_DIR: "plugins" }
        : {};
      const result = await runNarrowed(flags.map(place), args, { cwd, env });
      const steady = (text: string) =>
        text.replaceAll(cwd, "CWD").replaceAll(new URL(rig.url).host, "HOST")
          .replaceAll(`127.0.0.1 port ${new URL(rig.url).port}`, "HOST");
      return { ...result, stdout: steady(result.stdout), stderr: steady(result.stderr) };
    });
  });
}

const ENV = "--allow-env";
const READ = "--allow-read=.";
const BOTH = [ENV, READ];

Deno.test({
  name: "what Deno does not allow is an error that names the flag, not a stack",
  ignore: Deno.build.os === "windows",
  async fn(test) {
    const table: [flags: string[], args: string[], reported: string, hint: string][] = [
      [[READ], ["hello.yml"], "error: Deno does not let it read the environment", "--allow-env\n"],
      [
        ["--allow-env=HOME", READ],
        ["hello.yml"],
        "error: Deno does not let it read the environment",
        "--allow-env\n",
      ],
      [
        [ENV, "--deny-env=RUNNER_OUTPUT", READ],
        ["hello.yml"],
        'error: Deno does not let it read the variable "RUNNER_OUTPUT"',
        "--allow-env\n",
      ],
      [
        [ENV],
        ["hello.yml"],
        `cannot read workflow file 'hello.yml': Deno does not let it read "hello.yml"`,
        "--allow-read=hello.yml\n",
      ],
      [
        [ENV, "--allow-read=embedded.yml"],
        ["embedded.yml"],
        `cannot read job file 'job.yml': Deno does not let it read "job.yml"`,
        "--allow-read=job.yml\n",
      ],
      [
        [ENV, "--allow-read=vars.yml"],
        ["vars.yml", "--var-file=values.yml"],
        `cannot read var file 'values.yml': Deno does not let it read "values.yml"`,
        "--allow-read=values.yml\n",
      ],
      [
        BOTH,
        ["http.yml"],
        `GET "http://HOST/": Deno does not allow access to HOST`,
        "--allow-net=HOST",
      ],
      [
        [...BOTH, "--allow-net=example.com"],
        ["http.yml"],
        `GET "http://HOST/": Deno does not allow access to HOST`,
        "--allow-net=HOST",
      ],
      [
        [...BOTH, "--allow-net", "--deny-net=127.0.0.1"],
        ["http.yml"],
        `GET "http://HOST/": Deno does not allow access to HOST`,
        "--allow-net=HOST",
      ],
      [
        BOTH,
        ["shell.yml"],
        'cannot run the command: Deno does not let it run "/bin/sh"',
        "--allow-run=/bin/sh",
      ],
      [
        [...BOTH, "--allow-run=bash"],
        ["shell.yml"],
        'cannot run the command: Deno does not let it run "/bin/sh"',
        "--allow-run=/bin/sh",
      ],
      [
        [...BOTH, "--allow-run=/bin/sh"],
        ["preload.yml"],
        "cannot run the command: Deno does not let it run programs",
        "--allow-run",
      ],
      [
        [...BOTH, "--allow-run=/bin/sh"],
        ["long.yml"],
        "cannot run the command: Deno does not let it write",
        "--allow-write",
      ],
      [
        BOTH,
        ["program.yml"],
        'cannot run the plugin "program": Deno does not let it run "CWD/plugins/runner-program"',
        "--allow-run=CWD/plugins/runner-program",
      ],
      [
        [ENV, "--allow-read=program.yml"],
        ["program.yml"],
        'Deno does not let it read "plugins"',
        "--allow-read=plugins",
      ],
      [
        BOTH,
        ["hello.yml", "--report=json=out.json"],
        "cannot write the report 'out.json': Deno does not let it write",
        "--allow-write=",
      ],
      [
        BOTH,
        ["hello.yml", "--history=kept"],
        "cannot write the history 'kept': Deno does not let it write \"kept\"",
        "--allow-write=kept\n",
      ],
      [
        [ENV, "--allow-read=hello.yml", "--allow-write=."],
        ["hello.yml", "--history=kept"],
        "cannot write the history 'kept': Deno does not let it read \"kept\"",
        "--allow-read=kept\n",
      ],
      [
        BOTH,
        ["gen", "api.yml", "-o", "new.yml"],
        "Deno does not let it write",
        "--allow-write=",
      ],
      [[ENV], ["gen", "api.yml"], 'Deno does not let it read "', "--allow-read="],
      [[ENV], ["check", "hello.yml"], "Deno does not let it read", "--allow-read="],
      [[READ], ["check", "hello.yml"], "Deno does not let it read the environment", "--allow-env"],
      [[READ], ["dag", "hello.yml"], "Deno does not let it read the environment", "--allow-env"],
    ];
    for (const [flags, args, reported, hint] of table) {
      await test.step(`${flags.join(" ")} ${args.join(" ")}`, async () => {
        const { code, stdout, stderr } = await narrowed(flags, args);
        const all = stdout + stderr;
        assertEquals(code, 1, all);
        assertStringIncludes(all, reported);
        assertStringIncludes(all, `run it with deno run ${hint}`);
        assertEquals(/^ +at |internal error|Uncaught|Allow\?|NotCapable/m.exec(all), null, all);
      });
    }
  },
});

Deno.test({
  name: "it runs with no more permissions than what it does needs",
  ignore: Deno.build.os === "windows",
  async fn(test) {
    const table: [flags: string[], args: string[]][] = [
      [BOTH, ["hello.yml"]],
      [[ENV, "--allow-read=hello.yml"], ["hello.yml", "-v"]],
      [BOTH, ["embedded.yml", "--only=j", "--var=a=2"]],
      [BOTH, ["vars.yml", "--dry-run"]],
      [BOTH, ["check", "h*.yml", "embedded.yml"]],
      [BOTH, ["dag", "hello.yml"]],
      [BOTH, ["gen", "api.yml"]],
      [[], ["schema"]],
      [[], ["actions", "db"]],
      [[], ["completions", "bash"]],
      [[], ["--help"]],
      [[], ["--version"]],
      [[...BOTH, "--allow-net=HOST"], ["http.yml", "--timing"]],
      [[...BOTH, "--allow-run=/bin/sh"], ["shell.yml"]],
      [[...BOTH, "--allow-run=/bin/sh", "--allow-write=/tmp,CWD"], ["long.yml"]],
      [[...BOTH, "--allow-run=CWD/plugins/runner-program"], ["program.yml"]],
      [[...BOTH, "--allow-write=."], ["hello.yml", "--report-dir=out/reports"]],
      [[...BOTH, "--allow-write=kept"], ["hello.yml", "--history=kept"]],
      [[...BOTH, "--allow-write=."], ["gen", "api.yml", "-o", "new.yml"]],
    ];
    for (const [flags, args] of table) {
      await test.step(`${flags.join(" ")} ${args.join(" ")}`, async () => {
        const { code, stdout, stderr } = await narrowed(flags, args);
        assertEquals(
          [code, /Deno does not|internal error/.exec(stderr)],
          [0, null],
          stdout + stderr,
        );
      });
    }
  },
});

Deno.test({
  name:
    "commands of an allowed shell end with their time, and files go, without --allow-run for all",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFiles({
      "w.yml": "name: n\njobs: [{name: j, steps: [{uses: shell, timeout: 200ms, " +
        "with: {cmd: 'exec sleep 60'}}]}]\n",
    }, async (cwd) => {
      const flags = [...BOTH, "--allow-run=/bin/sh"];
      const { code, stdout, stderr } = await runNarrowed(flags, ["w.yml"], { cwd });
      assertEquals([code, stderr], [1, ""]);
      assertStringIncludes(stdout, "the step timed out after 200ms");
    });
  },
});

Deno.test({
  name: "modules that Deno does not let it read are an error, not silence",
  ignore: BUILT !== undefined,
  async fn() {
    const script = new URL("../../cli.ts", import.meta.url);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-env",
        "--allow-read=hello.yml",
        script.href,
        "hello.yml",
      ],
      env: programEnv(),
    }).output();
    const text = new TextDecoder().decode(stderr);
    assertEquals(code, 1, text);
    assertStringIncludes(text, "Deno does not let it read its own modules");
    assertStringIncludes(text, "run it with deno run --allow-read=");
  },
});
