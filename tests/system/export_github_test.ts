/**
 * The steps of the workflow for GitHub, each job in a directory of its own, with artifacts as
 * upload-artifact and download-artifact put them. Its runner is not in any package.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { runCli, theProgram } from "../support/run/run_cli.ts";
import { RUNNER_KEY } from "../support/run/run_pieces.ts";
import { withFiles } from "../support/temp_dir.ts";

const FLOW = `name: Release
vars: { stage: "{{STAGE ?? 'test'}}" }
jobs:
  - name: Build
    id: build
    steps: [{ id: a, uses: hello, test: true, outputs: { file: "'app'", token: "'tok-abcdefgh'" } }]
  - name: Load
    id: load
    needs: [build]
    repeat: { count: 4, async: true }
    steps: [{ id: b, uses: hello, test: outputs.a.file == "app", outputs: { n: repeat_index } }]
  - name: Check
    id: check
    needs: [build]
    steps: [{ uses: hello, test: outputs.a.token == "tok-abcdefgh" && vars.stage == "test" }]
  - { name: Last, id: last, needs: [load, check], steps: [{ uses: hello, test: outputs.b.n == 3 }] }
  - { name: Alarm, id: alarm, needs: [last], when: failure, steps: [{ uses: hello }] }
finally:
  - { name: ends, uses: echo, with: { message: "{{run.state}}" }, echo: "run {{res.message}}" }
`;

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface Job {
  readonly needs?: readonly string[];
  readonly if?: string;
  readonly strategy?: { readonly matrix: { readonly part: readonly number[] } };
  readonly steps: readonly Step[];
}

interface Machine {
  /** Has the directories of artifacts, the workflow and the program. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

async function sh(
  script: string,
  cwd: string,
  env: Machine["env"] = {},
): Promise<[boolean, string]> {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-e", "-c", script],
    cwd,
    env,
  }).output();
  return [success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)];
}

/** Runs a job as one of its machines does: whether it passed, and what its commands printed. */
async function runJob(
  { steps }: Job,
  part: number | undefined,
  { root, env }: Machine,
): Promise<[boolean, string]> {
  const cwd = await Deno.makeTempDir({ dir: root, prefix: "machine_" });
  const fill = (text: string) => text.replaceAll("${{ matrix.part }}", `${part}`);
  let [passed, said] = [true, ""];
  for (const { uses = "", run, with: options = {} } of steps) {
    const { name = "", pattern, path = "" } = options;
    if (uses.startsWith("actions/checkout@")) {
      await Deno.copyFile(`${root}/flow.yml`, `${cwd}/flow.yml`);
    }
    if (uses.startsWith("actions/download-artifact@") && passed) {
      const all = [...Deno.readDirSync(`${root}/artifacts`)].map((artifact) => artifact.name);
      const found = all.filter((one) =>
        pattern === undefined ? one === name : one.startsWith(pattern.replace("*", ""))
      );
      assertEquals(found.length > 0 || pattern !== undefined, true, `no artifact ${name}`);
      for (const one of found) {
        const to = found.length === 1 ? path : `${path}/${one}`;
        await sh(`mkdir -p '${to}' && cp -r '${root}/artifacts/${one}/.' '${to}'`, cwd);
      }
    }
    if (run !== undefined && passed) {
      const [isGood, text] = await sh(fill(run), cwd, env);
      passed = isGood;
      said += text;
    }
    if (uses.startsWith("actions/upload-artifact@")) {
      const to = `${root}/artifacts/${fill(name)}`;
      await sh(`mkdir -p '${to}' && cp -r '${path}'${path.endsWith("/") ? "." : ""} '${to}'`, cwd);
    }
  }
  return [passed, said];
}

/** All jobs in the order of their needs. A condition says that a job starts after failures. */
async function runWorkflow(jobs: Readonly<Record<string, Job>>, machine: Machine) {
  const results: Record<string, boolean> = {};
  let said = "";
  for (const [id, job] of Object.entries(jobs)) {
    const needs = job.if === undefined
      ? job.needs ?? []
      : [...job.if.matchAll(/needs\.([\w-]+)\.result == 'success'/g)].map(([, need]) => need!);
    if (!needs.every((need) => results[need])) continue;
    const parts = job.strategy?.matrix.part ?? [undefined];
    const ends = await Promise.all(parts.map((part) => runJob(job, part, machine)));
    results[id] = ends.every(([passed]) => passed);
    said = ends.map(([, text]) => text).join("");
  }
  return { results, said };
}

Deno.test("the jobs for GitHub find their files where its actions put them", async (test) => {
  const table = [
    { stage: "test", failed: [], says: " passed · 1 skipped (" },
    { stage: "broken", failed: ["check", "runner-report"], says: "1 failed · 1 skipped" },
  ];
  for (const { stage, failed, says } of table) {
    await test.step(stage, async () => {
      await withFiles({ "flow.yml": FLOW }, async (root) => {
        const [program, args] = theProgram();
        const command = [program, ...args].map((word) => `'${word}'`).join(" ");
        await Deno.mkdir(`${root}/bin`);
        await Deno.mkdir(`${root}/artifacts`);
        await Deno.writeTextFile(`${root}/bin/runner`, `#!/bin/sh\nexec ${command} "$@"\n`, {
          mode: 0o755,
        });
        const PATH = `${root}/bin:${Deno.env.get("PATH")}`;
        const { stdout } = await runCli(["export", "github", "flow.yml", "--split", "load=2"], {
          cwd: root,
        });
        const { jobs } = parse(stdout) as { readonly jobs: Readonly<Record<string, Job>> };
        const env = { PATH, RUNNER_KEY, STAGE: stage, RUNNER_OUTPUT: "stream" };
        const { results, said } = await runWorkflow(jobs, { root, env });
        const wrong = Object.entries(results).filter(([, passed]) => !passed).map(([id]) => id);
        assertEquals(wrong, failed, said);
        assertStringIncludes(said, says);
        const junit = await Deno.readTextFile(`${root}/artifacts/report/junit.xml`);
        assertStringIncludes(junit, `<testsuite name="Load"`);
        assertEquals(junit.includes("tok-abcdefgh"), false);
      });
    });
  }
});
