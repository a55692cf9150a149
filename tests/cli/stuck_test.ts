import { assert, assertEquals, assertMatch } from "@std/assert";
import { startCli } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

const STUCK = `name: Stuck
jobs:
  - name: j
    steps:
      - {uses: stuck, wait: 300ms}
`;

const PLUGIN = `export const action = {
  name: "stuck",
  summary: "does not return",
  parameters: [],
  load: () => Promise.resolve(() => {
    Deno.writeTextFileSync("begun", "");
    for (;;);
  }),
};
`;

const STEP = `      - {uses: hello, echo: "${"x".repeat(1000)}"}\n`;
/** Prints more than a pipe holds. */
const CHATTY = `name: Chatty\njobs:\n  - name: j\n    steps:\n${STEP.repeat(300)}`;

async function untilThere(path: string): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    if (await Deno.stat(path).then(() => true, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`there is no ${path}`);
}

/** Ends a process that does not end by itself, so that a failing test ends. */
async function statusOf(child: Deno.ChildProcess): Promise<Deno.CommandStatus> {
  const timer = setTimeout(() => child.kill("SIGKILL"), 30_000);
  const status = await child.status;
  clearTimeout(timer);
  return status;
}

Deno.test("a program whose main thread is stuck is ended after a signal", async () => {
  const files = { "w.yml": STUCK, "plugins/runner-stuck.ts": PLUGIN };
  await withFiles(files, async (cwd) => {
    const env = { RUNNER_PLUGIN_DIR: `${cwd}/plugins` };
    const child = startCli(["w.yml"], { cwd, env });
    await untilThere(`${cwd}/begun`);
    child.kill("SIGTERM");
    const [{ success }, stderr] = await Promise.all([
      statusOf(child),
      new Response(child.stderr).text(),
      child.stdout.cancel(),
    ]);
    assertEquals(success, false);
    assertMatch(stderr, /^runner: error: interrupted by SIGTERM, and the program did not react/m);
  });
});

Deno.test("a program whose main thread is stuck is ended by RUNNER_TIMEOUT", async () => {
  const files = { "w.yml": STUCK, "plugins/runner-stuck.ts": PLUGIN };
  await withFiles(files, async (cwd) => {
    const env = { RUNNER_PLUGIN_DIR: `${cwd}/plugins`, RUNNER_TIMEOUT: "1s" };
    const child = startCli(["w.yml"], { cwd, env });
    const [{ success }, stderr] = await Promise.all([
      statusOf(child),
      new Response(child.stderr).text(),
      child.stdout.cancel(),
    ]);
    assertEquals(success, false);
    assertMatch(stderr, /RUNNER_TIMEOUT of 1s is over, and the program did not react/);
  });
});

Deno.test("a signal ends a program whose standard output nobody reads", async () => {
  await withFiles({ "w.yml": CHATTY }, async (cwd) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const child = startCli(["w.yml", "--report", "json=report.json"], { cwd });
      // The run goes on although nobody reads what it prints.
      await untilThere(`${cwd}/report.json`);
      child.kill(signal);
      const { success } = await statusOf(child);
      assertEquals(success, false);
      await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
      await Deno.remove(`${cwd}/report.json`);
    }
  });
});

Deno.test("RUNNER_TIMEOUT ends a program whose standard output nobody reads", async () => {
  await withFiles({ "w.yml": CHATTY }, async (cwd) => {
    const began = performance.now();
    const child = startCli(["w.yml"], { cwd, env: { RUNNER_TIMEOUT: "1s" } });
    const [{ code }, stderr] = await Promise.all([
      statusOf(child),
      new Response(child.stderr).text(),
    ]);
    assertEquals(code, 1);
    assert(performance.now() - began >= 1000);
    // Both outputs wait in one queue, so that this one may be empty.
    assert(stderr === "" || stderr.includes("nobody reads it"), stderr);
    await child.stdout.cancel();
  });
});
