import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml/parse";
import config from "../../deno.json" with { type: "json" };
import { CHECKOUT } from "../support/documents.ts";
import { theProgram } from "../support/run/run_cli.ts";
import { readDirectory, REPORT_FILES } from "../support/run/run_reports.ts";
import { shWords } from "../support/sh_words.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";

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

interface Step {
  readonly id?: string;
  readonly name: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const { inputs, runs } = parse(
  await Deno.readTextFile(new URL("../../action.yml", import.meta.url)),
) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

/** Runs a step of the action in a directory, as a runner of GitHub does. */
async function runStep({ run, shell }: Step, cwd: string, env: Readonly<Record<string, string>>) {
  await Deno.writeTextFile(`${cwd}/step.sh`, run!);
  const [command, args] = shell === "sh"
    ? ["sh", ["-e", `${cwd}/step.sh`]] as const
    : ["bash", ["--noprofile", "--norc", "-eo", "pipefail", `${cwd}/step.sh`]] as const;
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd: env.IN ?? cwd,
    env: { GITHUB_ACTIONS: "true", GITHUB_OUTPUT: `${cwd}/outputs`, ...env },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: err! };
}

/** Runs the step of the action that runs a workflow; `times` as often, in one job. */
async function runAction(
  args?: string,
  path = "w.yml",
  { directory = ".", times = 1, report = "" } = {},
): Promise<Ended> {
  const step = runs.steps.find(({ id }) => id === "run")!;
  const [program, before] = theProgram();
  const files = {
    "w.yml": SHOWS,
    "bin/runner": `#!/bin/sh\nexec ${shWords([program, ...before])} "$@"\n`,
    "outputs": "",
    "summary": "",
    "flows/a b.yml": "name: first\njobs: [{ name: j, steps: [{ uses: hello }] }]\n",
    "deep/er/v.yml": SHOWS,
    "suite.yml": "name: all\nworkflows: [flows, w.yml]\n",
  };
  return await withFiles(files, async (cwd) => {
    await Deno.chmod(`${cwd}/bin/runner`, 0o755);
    const env = {
      PATH: `${cwd}/bin:${Deno.env.get("PATH")}`,
      GITHUB_STEP_SUMMARY: `${cwd}/summary`,
      GITHUB_WORKSPACE: cwd,
      WORKFLOW: path,
      ARGS: args ?? inputs.args!.default!,
      REPORT: report,
      TEMPORARY: `${cwd}/temp`,
      IN: `${cwd}/${directory}`,
    };
    for (let time = 1; time < times; time++) await runStep(step, cwd, env);
    const ended = await runStep(step, cwd, env);
    const { outputs = "", summary = "" } = readDirectory(cwd);
    const written = `${cwd}/${report || "temp/runner-report"}`;
    const reports = Object.keys(ended.code === 0 ? readDirectory(written) : {});
    return { ...ended, outputs, summary, reports };
  });
}

const ignore = Deno.build.os === "windows";

Deno.test("the action runs a workflow without arguments", { ignore }, async () => {
  const { code, stdout, stderr, outputs, summary, reports } = await runAction();
  assertEquals([code, stderr], [0, ""], stdout);
  assertStringIncludes(stdout, "a is none, b is none");
  assert(/^report=.*\/temp\/runner-report\nresult=passed\n$/.test(outputs), outputs);
  assertStringIncludes(summary, "shows");
  assertEquals(reports.toSorted(), [...REPORT_FILES].sort());
});

Deno.test("the action splits its arguments like a shell, and executes nothing", {
  ignore,
}, async () => {
  for (const between of [" ", "\n", "  \n"]) {
    const args = ["--var", "'a=1 $(touch made) 2'", "--var", '"b=*"', ""];
    const { code, stdout, stderr } = await runAction(args.join(between));
    assertEquals([code, stderr], [0, ""], stdout);
    assertStringIncludes(stdout, "a is 1 $(touch made) 2, b is *");
  }
});

Deno.test("the action takes several paths, one a line, a directory and a suite", {
  ignore,
}, async () => {
  for (const path of ["flows/a b.yml\nw.yml\n", "flows\n\nw.yml", "suite.yml"]) {
    const { code, stdout, stderr, outputs, summary } = await runAction("", path);
    assertEquals([code, stderr], [0, ""], stdout);
    assertStringIncludes(stdout, "2 passed (2)");
    assertStringIncludes(outputs, "\nresult=passed\n");
    for (const name of ["first", "shows"]) assertStringIncludes(summary, name);
  }
});

Deno.test("the action fails if the workflow fails or its arguments are invalid", {
  ignore,
}, async () => {
  const failed = await runAction("--var a=bad");
  assertEquals(failed.code, 1);
  assertStringIncludes(failed.outputs, "\nresult=failed\n");
  assertStringIncludes(failed.stdout, "::error file=w.yml,line=5");
  const open = await runAction("--var 'a=1");
  assertEquals(open.code, 1);
  assertStringIncludes(open.stdout, "::error::invalid args: unterminated quote");
  assertStringIncludes(open.outputs, "\nresult=failed\n");
});

Deno.test("the action runs in its working-directory, and annotates from the workspace", {
  ignore,
}, async () => {
  const directory = "deep/er";
  const { code, outputs } = await runAction("", "v.yml", { directory });
  assertEquals(code, 0);
  assertStringIncludes(outputs, "\nresult=passed\n");
  const failed = await runAction("--var a=bad", "v.yml", { directory });
  assertStringIncludes(failed.stdout, "::error file=deep/er/v.yml,line=5");
  const step = runs.steps.find(({ id }) => id === "run") as { "working-directory"?: string };
  assertEquals(step["working-directory"], "${{ inputs.working-directory }}");
});

Deno.test("the action takes a path for no option and no command, and a report for one path", {
  ignore,
}, async () => {
  for (const path of ["-h", "--version", "help", "w.yml\n--help"]) {
    const { code, stdout, stderr, outputs } = await runAction("", path);
    assertEquals(code, 1, path);
    assertStringIncludes(stdout + stderr, "error");
    assertStringIncludes(outputs, "\nresult=failed\n");
  }
  const { code, stdout, outputs } = await runAction("", "w.yml", { report: "a\nresult=passed" });
  assertEquals([code, outputs], [1, "result=failed\n"]);
  assertStringIncludes(stdout, "::error::invalid report: a path of one line is expected");
  assertEquals((await runAction("", "w.yml", { report: "out\n" })).outputs.split("\n").length, 3);
});

Deno.test("the action keeps the reports of each of its uses in a job", { ignore }, async () => {
  const { outputs } = await runAction("", "w.yml", { times: 3 });
  const found = [...outputs.matchAll(/^report=.*\/(.*)$/gm)].map(([, name]) => name);
  assertEquals(found, ["runner-report", "runner-report-2", "runner-report-3"]);
});

Deno.test(
  "the action writes its reports into a directory of the workspace",
  { ignore },
  async () => {
    const ended = await runAction("", "v.yml", { directory: "deep/er", report: "out/run" });
    assert(/^report=\/.*\/out\/run\n/.test(ended.outputs), ended.outputs);
    assertEquals(ended.reports.toSorted(), [...REPORT_FILES].sort());
  },
);

const choose = runs.steps.find(({ id }) => id === "choose")!;

/** Runs the step that chooses a version, for an action whose `deno.json` is that of the checkout. */
async function chooseVersion(version: string, installed: Readonly<Record<string, string>> = {}) {
  return await withFiles({ outputs: "", ...installed }, async (cwd) => {
    for (const path of Object.keys(installed)) await Deno.chmod(`${cwd}/${path}`, 0o755);
    const ended = await runStep(choose, cwd, {
      VERSION: version,
      ACTION: CHECKOUT,
      TOOLS: `${cwd}/tools`,
      ARCH: "X64",
      OS: "Linux",
    });
    const outputs = await Deno.readTextFile(`${cwd}/outputs`);
    return { ...ended, outputs: outputs.replaceAll(cwd, "~") };
  });
}

Deno.test("the action installs the version of its own commit, unless another is given", {
  ignore,
}, async () => {
  const chosen = (version: string, missing = true) =>
    `version=${version}\ndirectory=~/tools/${version}/X64\nbin=~/tools/${version}/X64/bin\n` +
    `missing=${missing}\n`;
  assertEquals(inputs.version!.default, "");
  assertEquals((await chooseVersion("")).outputs, chosen(config.version));
  assertEquals((await chooseVersion("v1.2.3")).outputs, chosen("1.2.3"));
  assertEquals((await chooseVersion("latest")).outputs, chosen("latest"));
  const there = (version: string) => ({ [`tools/${version}/X64/bin/runner`]: "#!/bin/sh\n" });
  assertEquals((await chooseVersion("1.2.3", there("1.2.3"))).outputs, chosen("1.2.3", false));
  assertEquals((await chooseVersion("1.2.4", there("1.2.3"))).outputs, chosen("1.2.4"));
  // The latest is looked for each time.
  assertEquals((await chooseVersion("latest", there("latest"))).outputs, chosen("latest"));
  for (const wrong of ["../x", "main", "1.2.3/../../x", "1\ndirectory=/"]) {
    const { code, stdout, outputs } = await chooseVersion(wrong);
    assertEquals([code, outputs], [1, ""]);
    assertStringIncludes(stdout, "is not a version of runner: use one such as 1.2.3, or latest");
  }
});

const PROGRAM = "#!/bin/sh\necho Runner Version 1.2.3\n";

/** Runs the steps that install a release, from a host that answers a request for its checksums. */
async function installFrom(sums: () => Response) {
  const [install, add] = [
    runs.steps.find(({ shell }) => shell === "sh")!,
    runs.steps.find(({ name }) => name === "Add runner to the PATH")!,
  ];
  const asked: string[] = [];
  await using server = withServer((request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return pathname.endsWith("/SHA256SUMS") ? sums() : new Response(PROGRAM);
  });
  // An npm that installs the program.
  const npm = `#!/bin/sh
echo "$@" >> asked
mkdir -p "$4/bin"
cp program "$4/bin/runner"
`;
  const files = { outputs: "", path: "", asked: "", program: PROGRAM, "tools/npm": npm };
  return await withFiles(files, async (cwd) => {
    for (const name of ["program", "tools/npm"]) await Deno.chmod(`${cwd}/${name}`, 0o755);
    const env = {
      PATH: `${cwd}/tools:${Deno.env.get("PATH")}`,
      RUNNER_RELEASES: `${server.url}/releases`,
      RUNNER_INSTALL: `${cwd}/1.2.3/bin`,
      PREFIX: `${cwd}/1.2.3`,
      VERSION: "1.2.3",
      ACTION: CHECKOUT,
      BIN: `${cwd}/1.2.3/bin`,
      GITHUB_PATH: `${cwd}/path`,
    };
    const { code, stderr } = await runStep(install, cwd, env);
    const added = code === 0 ? (await runStep(add, cwd, env)).stdout : "";
    const { path, asked: npm } = readDirectory(cwd);
    return {
      code,
      stderr,
      added,
      asked,
      path: path!.replace(cwd, "~"),
      npm: npm!.replace(cwd, "~"),
    };
  });
}

Deno.test("the action installs a release, and adds it to the PATH", { ignore }, async () => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(PROGRAM));
  const names = ["linux-x64", "linux-arm64", "macos-x64", "macos-arm64"];
  const sums = names.map((name) => `${new Uint8Array(digest).toHex()}  runner-${name}\n`).join("");
  const { code, stderr, asked, added, path, npm } = await installFrom(() => new Response(sums));
  assertEquals([code, npm], [0, ""], stderr);
  assertEquals(asked[0], "/releases/download/v1.2.3/SHA256SUMS");
  assertEquals([added, path], ["Runner Version 1.2.3\n", "~/1.2.3/bin\n"]);
});

Deno.test("the action installs from npm only if there is no such release", { ignore }, async () => {
  const missing = await installFrom(() => new Response("", { status: 404 }));
  assertEquals([missing.code, missing.added], [0, "Runner Version 1.2.3\n"], missing.stderr);
  assertEquals(
    missing.npm,
    `install --global --prefix ~/1.2.3 --no-audit --no-fund ${config.name}@1.2.3\n`,
  );
  for (const sums of [() => new Response("", { status: 403 }), () => new Response("other")]) {
    const { code, npm } = await installFrom(sums);
    assertEquals([code, npm], [1, ""]);
  }
});
