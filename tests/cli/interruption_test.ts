import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { until } from "../support/run/processes.ts";
import { type Rig, withRig } from "../support/run/rig.ts";
import { runCli, startCli } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

interface Interrupted {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves once the program has printed a text, to either output. */
type UntilPrinted = (text: string) => Promise<void>;

/** Collects an output as it arrives, and notifies the watchers of each piece. */
async function collect(
  stream: ReadableStream<Uint8Array>,
  watchers: Set<() => void>,
  sink: { text: string },
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const piece of stream) {
    sink.text += decoder.decode(piece, { stream: true });
    for (const watcher of [...watchers]) watcher();
  }
}

/**
 * Starts a workflow, waits until `ready` says that it is in the midst of things, and interrupts
 * it. `{url}` and `{directory}` in the workflow are the rig's address and a directory for files.
 */
function interrupt(
  yaml: string,
  ready: (rig: Rig, directory: string, untilPrinted: UntilPrinted) => Promise<void>,
  signals: readonly Deno.Signal[] = ["SIGINT"],
  check: (result: Interrupted, rig: Rig, directory: string) => void | Promise<void> = () => {},
  options: readonly string[] = [],
): Promise<Interrupted> {
  return withRig((rig) =>
    withFiles({ "w.yml": "" }, async (directory) => {
      const text = yaml.replaceAll("{url}", rig.url).replaceAll("{directory}", directory);
      await Deno.writeTextFile(`${directory}/w.yml`, text);
      const child = startCli([...options, "w.yml"], { cwd: directory });
      const watchers = new Set<() => void>();
      const [stdout, stderr] = [{ text: "" }, { text: "" }];
      const ended = Promise.all([
        collect(child.stdout, watchers, stdout),
        collect(child.stderr, watchers, stderr),
      ]);
      const isReady = ready(rig, directory, (text) =>
        new Promise((resolve) => {
          const look = () => {
            if (stdout.text.includes(text) || stderr.text.includes(text)) resolve();
          };
          watchers.add(look);
          look();
        }));
      await Promise.race([
        isReady,
        ended.then(() => {
          throw new Error(`ended before it was interrupted:\n${stdout.text}${stderr.text}`);
        }),
      ]);
      for (const signal of signals) child.kill(signal);
      await ended;
      const { code } = await child.status;
      const result = { code, stdout: stdout.text, stderr: stderr.text };
      await check(result, rig, directory);
      return result;
    })
  );
}

/** Resolves once a file is there and holds a whole line; gives the line. */
async function untilWritten(path: string): Promise<string> {
  for (let tries = 0; tries < 3000; tries++) {
    const text = await Deno.readTextFile(path).catch(() => "");
    if (text.endsWith("\n")) return text.trim();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`nothing was written to ${path}`);
}

async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 300; tries++) {
    try {
      const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
      if (/\) Z /.test(stat)) return true;
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

const job = (steps: string) => `name: n\njobs:\n  - name: j\n    steps:\n${steps}`;
const FIRST =
  '      - {name: first, uses: http, with: {get: "{url}/first"}, test: res.code == 200}\n';
const LAST = '      - {name: last, uses: http, with: {get: "{url}/last"}}\n';

function checkReport({ code, stdout, stderr }: Interrupted, rig: Rig): void {
  assertEquals([code, stderr.includes("error")], [1, false], stderr);
  assertStringIncludes(stdout, "✓ first");
  assertStringIncludes(stdout, "interrupted by SIG");
  assert(!rig.seen.includes("/last"), "a step after the interruption ran");
}

Deno.test("RUNNER_TIMEOUT ends a run that never waits", async () => {
  const hello = "name: n\njobs: [{ name: a, repeat: { count: 5000 }, steps: [{ uses: hello }] }]\n";
  await withFiles({ "d/a.yml": hello, "d/b.yml": hello }, async (cwd) => {
    for (const path of ["d/a.yml", "d"]) {
      const { code, stdout } = await runMain([path], { cwd, env: { RUNNER_TIMEOUT: "1ms" } });
      assertEquals(code, 1);
      assertStringIncludes(stdout, "RUNNER_TIMEOUT of 1ms is over");
    }
  });
});

Deno.test("SIGINT in the middle of a wait ends the run with a report", async () => {
  const steps = FIRST + '      - {name: w, wait: 1h, uses: http, with: {get: "{url}/waited"}}\n' +
    LAST;
  const ready = (_rig: Rig, _directory: string, untilPrinted: UntilPrinted) =>
    untilPrinted("waits 1h");
  const check = (result: Interrupted, rig: Rig) => {
    checkReport(result, rig);
    assert(!rig.seen.includes("/waited"));
  };
  await interrupt(job(steps), ready, ["SIGINT"], check, ["-v"]);
});

Deno.test("SIGTERM in the middle of a request closes its socket", async () => {
  const steps = FIRST + '      - {name: hang, uses: http, with: {get: "{url}/hang"}}\n' + LAST;
  await interrupt(job(steps), (rig) => rig.untilSeen("/hang"), ["SIGTERM"], async (result, rig) => {
    checkReport(result, rig);
    assertStringIncludes(result.stdout, "✗ hang");
    await rig.untilSeen("-/hang");
  });
});

Deno.test("SIGINT in the middle of a command ends it and its children", async () => {
  const steps = FIRST +
    "      - name: command\n        uses: shell\n        with:\n          cmd: |\n" +
    "            trap '' TERM INT\n            sleep 1000 &\n" +
    "            echo $$ $! > {directory}/pids\n            sleep 1000\n" + LAST;
  await interrupt(
    job(steps),
    async (_, directory) => void await untilWritten(`${directory}/pids`),
    ["SIGINT"],
    async (result, rig, directory) => {
      checkReport(result, rig);
      for (const pid of (await untilWritten(`${directory}/pids`)).split(" ")) {
        assert(await isGone(Number(pid)), `process ${pid} is still there`);
      }
    },
  );
});

Deno.test("SIGINT between two attempts ends the run", async () => {
  const steps = FIRST +
    '      - {name: retried, uses: http, with: {get: "{url}/status/503"}, test: "false",' +
    " retry: {max_attempts: 9, interval: 1h}}\n" + LAST;
  const ready = (_rig: Rig, _directory: string, untilPrinted: UntilPrinted) =>
    untilPrinted("waits 1h");
  await interrupt(job(steps), ready, ["SIGINT"], checkReport, ["-v"]);
});

Deno.test("a second SIGINT leaves at once, and leaves nothing behind", async () => {
  const yaml = job(
    "      - name: background\n        uses: shell\n        with:\n          background: true\n" +
      "          cmd: \"trap '' TERM; echo $$ > pid; while :; do sleep 1000; done\"\n" +
      "      - name: stubborn\n        uses: shell\n        with:\n" +
      "          cmd: \"trap 'echo asked > asked' TERM; echo $$ > pids; while :; do sleep 1; done\"\n",
  );
  await withFiles({ "w.yml": yaml, "temp/kept": "" }, async (directory) => {
    const temp = `${directory}/temp`;
    const child = startCli(["w.yml"], { cwd: directory, env: { TMPDIR: temp } });
    const outputs = [child.stdout, child.stderr].map((output) => new Response(output).text());
    const pids = await Promise.all(
      ["pid", "pids"].map((name) => untilWritten(`${directory}/${name}`)),
    );
    assertEquals([...Deno.readDirSync(temp)].length, 2);
    child.kill("SIGINT");
    // The first SIGINT was heard: it has begun to ask kindly. The second does not wait for more.
    // On a machine that is very busy the command is killed before it can say that it was asked.
    let isOver = false;
    child.status.then(() => isOver = true);
    const isAsked = () => Deno.stat(`${directory}/asked`).then(() => true, () => isOver);
    await until(isAsked, "the command was asked to end");
    if (!isOver) child.kill("SIGINT");
    await Promise.all(outputs);
    assertEquals((await child.status).code, 1);
    for (const pid of pids) assert(await isGone(Number(pid)), `process ${pid} is still there`);
    await until(() => [...Deno.readDirSync(temp)].length === 1, "the temporary directory has gone");
  });
});

Deno.test("a background command ends with the run", async () => {
  const steps =
    "      - name: first\n        uses: shell\n        with:\n          background: true\n" +
    '          cmd: "echo $$ > {directory}/pids; sleep 1000"\n        test: "true"\n' +
    '      - {name: hang, uses: http, with: {get: "{url}/hang"}}\n' + LAST;
  await interrupt(
    job(steps),
    async (rig, directory) => {
      await rig.untilSeen("/hang");
      await untilWritten(`${directory}/pids`);
    },
    ["SIGINT"],
    async (result, rig, directory) => {
      checkReport(result, rig);
      assert(await isGone(Number(await untilWritten(`${directory}/pids`))));
    },
  );
});

const CLEANUP = job(
  '      - {uses: http, with: {get: "{url}/hang"}}\n' + LAST,
) + '    finally:\n      - {uses: http, with: {get: "{url}/job/{{run.state}}"}}\n' +
  '      - {uses: http, with: {get: "{url}/then"}}\n' +
  'finally:\n  - {uses: http, with: {get: "{url}/workflow/{{run.state}}"}}\n';

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`${signal} leaves time for the steps under finally`, async () => {
    await interrupt(CLEANUP, (rig) => rig.untilSeen("/hang"), [signal], ({ code, stdout }, rig) => {
      assertEquals(code, 1);
      assertStringIncludes(stdout, `interrupted by ${signal}`);
      assertEquals(rig.seen.filter((path) => path !== "-/hang"), [
        "/hang",
        "/job/interrupted",
        "/then",
        "/workflow/interrupted",
      ]);
    });
  });
}

Deno.test("a killed run cleans up nothing", async () => {
  const ready = (rig: Rig) => rig.untilSeen("/hang");
  await interrupt(CLEANUP, ready, ["SIGKILL"], async (_, rig) => {
    await rig.untilSeen("-/hang");
    assertEquals(rig.seen, ["/hang", "-/hang"]);
  });
});

Deno.test("a second SIGINT within its cleanup ends the program at once", async () => {
  const hanging = CLEANUP.replace("/then", "/hang");
  await withRig((rig) =>
    withFiles({ "w.yml": hanging.replaceAll("{url}", rig.url) }, async (directory) => {
      const child = startCli(["w.yml"], { cwd: directory });
      await rig.untilSeen("/hang");
      child.kill("SIGINT");
      await rig.untilSeen("/job/interrupted");
      await until(() => rig.seen.filter((path) => path === "/hang").length === 2, "cleanup hangs");
      child.kill("SIGINT");
      const { code } = await child.status;
      await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
      assertEquals([code, rig.seen.includes("/workflow/interrupted")], [1, false]);
    })
  );
});

Deno.test("--cleanup-timeout ends a cleanup that hangs after an interruption", async () => {
  const hanging = CLEANUP.replace("/then", "/hang");
  const ready = (rig: Rig) => rig.untilSeen("/hang");
  const check = ({ code, stdout }: Interrupted) => {
    assertEquals(code, 1);
    assertStringIncludes(stdout, "cleanup timed out after 200ms");
  };
  await interrupt(hanging, ready, ["SIGINT"], check, ["--cleanup-timeout", "200ms"]);
});

Deno.test("--cleanup-timeout takes a duration greater than 0", async () => {
  for (const wrong of ["0", "soon"]) {
    const { code, stderr } = await runCli(["--cleanup-timeout", wrong, "w.yml"]);
    assertEquals(code, 1);
    assertStringIncludes(stderr, "runner: error: option --cleanup-timeout must be ");
  }
});
