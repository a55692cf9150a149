import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { theProgram } from "../support/run_cli.ts";
import { readFolder, REPORT_FILES } from "../support/run_reports.ts";
import { shWords } from "../support/sh_words.ts";
import { withFiles } from "../support/temp_dir.ts";

const SHOWS = `name: shows
vars: { a: none, b: none }
jobs:
  - name: j
    steps: [{ uses: hello, echo: "a is {{vars.a}}, b is {{vars.b}}", test: vars.a != "bad" }]
`;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly outputs: string;
  readonly summary: string;
  readonly reports: readonly string[];
}

/** Runs the step of the action that runs a workflow, as a runner of GitHub does. */
async function runAction(options?: string): Promise<Ended> {
  const { inputs, runs } = parse(
    await Deno.readTextFile(new URL("../../action.yml", import.meta.url)),
  ) as {
    readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
    readonly runs: { readonly steps: readonly { readonly id?: string; readonly run: string }[] };
  };
  const script = runs.steps.find(({ id }) => id === "run")!.run;
  const [program, args] = theProgram();
  const files = {
    "w.yml": SHOWS,
    "step.sh": script,
    "bin/runner": `#!/bin/sh\nexec ${shWords([program, ...args])} "$@"\n`,
    "outputs": "",
    "summary": "",
  };
  return await withFiles(files, async (cwd) => {
    await Deno.chmod(`${cwd}/bin/runner`, 0o755);
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["--noprofile", "--norc", "-eo", "pipefail", "step.sh"],
      cwd,
      env: {
        PATH: `${cwd}/bin:${Deno.env.get("PATH")}`,
        GITHUB_ACTIONS: "true",
        GITHUB_OUTPUT: `${cwd}/outputs`,
        GITHUB_STEP_SUMMARY: `${cwd}/summary`,
        WORKFLOW: "w.yml",
        OPTIONS: options ?? inputs.options!.default!,
        REPORT: `${cwd}/report`,
      },
    }).output();
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    const { outputs = "", summary = "" } = readFolder(cwd);
    const reports = Object.keys(code === 0 ? readFolder(`${cwd}/report`) : {});
    return { code, stdout: out!, stderr: err!, outputs, summary, reports };
  });
}

const ignore = Deno.build.os === "windows";

Deno.test("the action runs a workflow without options", { ignore }, async () => {
  const { code, stdout, stderr, outputs, summary, reports } = await runAction();
  assertEquals([code, stderr], [0, ""], stdout);
  assertStringIncludes(stdout, "a is none, b is none");
  assert(/^report=.*\/report\nresult=passed\n$/.test(outputs), outputs);
  assertStringIncludes(summary, "shows");
  assertEquals(reports.toSorted(), [...REPORT_FILES].sort());
});

Deno.test("the action splits its options like a shell, and executes nothing", {
  ignore,
}, async () => {
  for (const between of [" ", "\n", "  \n"]) {
    const words = ["--var", "'a=1 $(touch made) 2'", "--var", '"b=*"', ""];
    const { code, stdout, stderr } = await runAction(words.join(between));
    assertEquals([code, stderr], [0, ""], stdout);
    assertStringIncludes(stdout, "a is 1 $(touch made) 2, b is *");
  }
});

Deno.test("the action fails if the workflow fails or its options are invalid", {
  ignore,
}, async () => {
  const failed = await runAction("--var a=bad");
  assertEquals(failed.code, 1);
  assertStringIncludes(failed.outputs, "\nresult=failed\n");
  assertStringIncludes(failed.stdout, "::error file=w.yml,line=5");
  const open = await runAction("--var 'a=1");
  assertEquals(open.code, 1);
  assertStringIncludes(open.stdout, "::error::invalid options: unterminated quote");
  assertStringIncludes(open.outputs, "\nresult=failed\n");
});
