import { assert, assertEquals } from "@std/assert";
import { theProgram } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

/** How often it is killed. */
const KILLS = 200;

/** Monitors at once, each with a state of its own. */
const LANES = 4;

const WORKFLOW = `name: W
jobs:
  - name: a
    steps:
      - { id: big, uses: hello, outputs: { text: 'repeat("some text ", 20000)' } }
`;

/** Starts a monitor, and resolves when it has run that often. */
async function startMonitor(cwd: string, runs: number): Promise<Deno.ChildProcess> {
  const [program, args] = theProgram();
  const child = new Deno.Command(program, {
    args: [...args, "--every", "10ms", "--state", "s.json", "w.yml"],
    cwd,
    stdout: "piped",
    stderr: "null",
    stdin: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  let lines = 0;
  while (lines < runs) {
    const { value, done } = await reader.read();
    assert(!done, "the monitor has ended");
    lines += value.filter((byte) => byte === 10).length;
  }
  reader.releaseLock();
  return child;
}

/**
 * A monitor is killed with SIGKILL at random moments while it writes its state again and again; the
 * next one takes over. Each time the file is whole, and counts at least the runs that were reported.
 */
Deno.test("a state is whole whenever its program is killed", async () => {
  await Promise.all(Array.from({ length: LANES }, () => killAgainAndAgain(KILLS / LANES)));
});

async function killAgainAndAgain(kills: number): Promise<void> {
  await withFiles({ "w.yml": WORKFLOW }, async (cwd) => {
    let streak = 0;
    for (let kill = 0; kill < kills; kill++) {
      const runs = 1 + Math.floor(Math.random() * 3);
      const child = await startMonitor(cwd, runs);
      // A random part of a run later.
      const spin = performance.now() + Math.random() * 12;
      while (performance.now() < spin);
      child.kill("SIGKILL");
      await child.stdout.cancel();
      await child.status;
      const { schema, runs: { "w.yml": run } } = JSON.parse(Deno.readTextFileSync(`${cwd}/s.json`));
      assertEquals([schema, run.state], ["runner-state/1", "passed"]);
      assert(run.streak >= streak + runs, `${run.streak} after ${streak} and ${runs} more`);
      assertEquals(run.outputs.big.text.length, 200_000);
      streak = run.streak;
      if (Deno.build.os !== "windows") {
        assertEquals(Deno.statSync(`${cwd}/s.json`).mode! & 0o777, 0o600);
      }
    }
  });
}

Deno.test({
  name: "a state that does not fit on the disk leaves the one before",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await withFiles({ "w.yml": WORKFLOW }, async (cwd) => {
      const [program, args] = theProgram();
      const run = (limit: string) =>
        new Deno.Command("sh", {
          args: ["-c", `${limit} exec "$@"`, "sh", program, ...args, "--state", "s.json", "w.yml"],
          cwd,
        }).output();
      assertEquals((await run("")).code, 0);
      const before = Deno.readTextFileSync(`${cwd}/s.json`);
      const { code, stderr } = await run("trap '' XFSZ; ulimit -f 100;");
      assertEquals(code, 1);
      assert(new TextDecoder().decode(stderr).includes("cannot write the state 's.json'"));
      assertEquals(Deno.readTextFileSync(`${cwd}/s.json`), before);
      assertEquals([...Deno.readDirSync(cwd)].length, 2);
    });
  },
});
