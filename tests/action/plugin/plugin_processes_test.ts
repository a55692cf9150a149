import { assertEquals } from "@std/assert";
import { withProgram } from "../../support/run/run_program.ts";

/** Starts a process in every way that Deno has; each writes its id and leaves its process group. */
const PLUGIN = `
import { exec, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";

const leave = (file: string) =>
  \`setsid sh -c 'echo $$ > \${file}; exec sleep 100' >/dev/null 2>&1 &
   until [ -s \${file} ]; do sleep 0.01; done\`;

export const action = {
  name: "start",
  summary: "starts processes",
  load: () => async ({ directory }: { directory: string }, { signal }: { signal: AbortSignal }) => {
    const command = (name: string) => leave(directory + "/" + name + ".pid");
    await new Deno.Command("sh", { args: ["-c", command("Deno")] }).output();
    const child = spawn("sh", ["-c", command("spawn")]);
    await new Promise((resolve) => child.on("close", resolve));
    await promisify(exec)(command("exec"));
    await new Promise((resolve) => execFile("sh", ["-c", command("execFile")], resolve));
    if (directory.endsWith("waiting")) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }
    return { req: {}, res: {}, status: 0 };
  },
};
`;

const PROGRAM = `
import { isRunning, until } from "support/run/processes.ts";
import { loadWorkflow, makePlan, run } from "@runner/runner";

const WAYS = ["Deno", "spawn", "exec", "execFile"];
const pidOf = (path: string) => { try { return Number(Deno.readTextFileSync(path)); } catch { return 0; } };
const pids = (name: string) => WAYS.map((way) => pidOf(name + "/" + way + ".pid"));
const haveStarted = (name: string) => until(() => pids(name).every((pid) => pid > 0), name);
const running = (name: string) => WAYS.filter((_, at) => isRunning(pids(name)[at]!));
const planOf = async (name: string) => await makePlan(await loadWorkflow(name + ".yml"));

const stop = new AbortController();
const waiting = run(await planOf("waiting"), { signal: stop.signal }).passed;
await haveStarted("waiting");
const passed = await run(await planOf("short")).passed;
await haveStarted("short");
const between = [running("short"), running("waiting")];
stop.abort();
await waiting;
console.log(JSON.stringify({ passed, between, after: running("waiting") }));
`;

const workflow = (directory: string) => `
name: ${directory}
jobs:
  - name: one
    steps: [{ uses: start, with: { directory: ${directory} } }]
`;

const ignore = Deno.build.os !== "linux";
Deno.test("processes that a module plugin starts end with their run, and not with another", {
  ignore,
}, async () => {
  const files = {
    "plugins/runner-start.ts": PLUGIN,
    "waiting.yml": workflow("waiting"),
    "short.yml": workflow("short"),
    "waiting/.keep": "",
    "short/.keep": "",
  };

  await withProgram(
    { program: PROGRAM, files, env: { RUNNER_PLUGIN_DIR: "plugins" } },
    ({ stdout, stderr }) => {
      assertEquals(stderr, "");
      assertEquals(JSON.parse(stdout), {
        passed: true,
        between: [[], ["Deno", "spawn", "exec", "execFile"]],
        after: [],
      });
    },
  );
});
