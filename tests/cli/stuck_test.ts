import { assert, assertEquals, assertMatch } from "@std/assert";
import { startCli } from "../support/run/run_cli.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { withFiles } from "../support/temp_dir.ts";

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

const HOST = new URL("../../src/host/deno_host.ts", import.meta.url).href;

/** Starts a program that listens for signals and is too busy to hear any, once it prints. */
async function startStuck(
  timeout: string,
): Promise<[Deno.ChildProcess, Promise<string>, command: number]> {
  const program = `import { denoHost } from "${HOST}";
    denoHost().signals.listen(() => {}, ${timeout});
    const { pid } = new Deno.Command("sleep", { args: ["100"], detached: true }).spawn();
    const line = new TextEncoder().encode(pid + "\\n");
    setTimeout(() => { Deno.stdout.writeSync(line); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); }, 1500);`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `data:text/typescript,${encodeURIComponent(program)}`],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const command = Number(new TextDecoder().decode((await reader.read()).value));
  await reader.cancel();
  return [child, new Response(child.stderr).text(), command];
}

Deno.test("a program whose main thread is stuck is ended after a signal, with its commands", async () => {
  const [child, stderr, command] = await startStuck("undefined");
  assert(isRunning(command));
  child.kill("SIGTERM");
  assertEquals((await statusOf(child)).success, false);
  assertMatch(
    await stderr,
    /^runner: error: interrupted by SIGTERM, and the program did not react/m,
  );
  await until(() => !isRunning(command), "the command has ended");
});

Deno.test("a program whose main thread is stuck is ended by RUNNER_TIMEOUT", async () => {
  const [child, stderr] = await startStuck('{ milliseconds: 1600, reason: "the time is over" }');
  assertEquals((await statusOf(child)).success, false);
  assertMatch(await stderr, /the time is over, and the program did not react/);
});

Deno.test("a signal ends a program whose standard output is not read", async () => {
  await withFiles({ "w.yml": CHATTY }, async (cwd) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const child = startCli(["w.yml", "--report", "json=report.json"], { cwd });
      // The run continues although nothing reads its output.
      await untilThere(`${cwd}/report.json`);
      child.kill(signal);
      const { success } = await statusOf(child);
      assertEquals(success, false);
      await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
      await Deno.remove(`${cwd}/report.json`);
    }
  });
});

Deno.test("RUNNER_TIMEOUT ends a program whose standard output is not read", async () => {
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
