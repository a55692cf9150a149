import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { SignalName, Signals } from "../../src/host/host.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { type Rig, withRig } from "../support/run/rig.ts";
import { runCli, startCli } from "../support/run/run_cli.ts";
import { runHere, runMain } from "../support/run/run_main.ts";
import { runUntilPrinted } from "../support/run/run_until_printed.ts";
import { freePort } from "../support/servers/free_port.ts";
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
    await insist(child);
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

/** Sends SIGINT until the program ends: one that follows the first at once is not a second. */
async function insist(child: Deno.ChildProcess): Promise<void> {
  let isOver = false;
  child.status.then(() => isOver = true);
  await until(() => {
    try {
      if (!isOver) child.kill("SIGINT");
    } catch {
      // It ended in between.
    }
    return isOver;
  }, "it ends");
}

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

Deno.test("a SIGINT that npm sends as well as the terminal is one", async () => {
  await withRig((rig) =>
    withFiles({ "w.yml": CLEANUP.replaceAll("{url}", rig.url) }, async (cwd) => {
      let hear: (signal: SignalName) => void;
      const signals: Signals = {
        listen(listener) {
          hear = listener;
          return () => {};
        },
      };
      const exits: number[] = [];
      const run = runHere(["w.yml"], { cwd }, { signals }, (code) => exits.push(code));
      await rig.untilSeen("/hang");
      hear!("SIGINT");
      hear!("SIGINT");
      assertStringIncludes((await run).stdout, "interrupted by SIGINT");
      assert(rig.seen.includes("/workflow/interrupted"));
      assertEquals(exits, [1]);
    })
  );
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
      await insist(child);
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

/** Starts a program that listens for signals, and is too busy to hear any from its start on. */
async function startStuck(
  timeout: string,
): Promise<[Deno.ChildProcess, Promise<string>, command: number]> {
  const program = `import { denoHost } from "${HOST}";
    denoHost().signals.listen(() => {}, ${timeout}, (begins) => begins());
    const { pid } = new Deno.Command("sleep", { args: ["100"], detached: true }).spawn();
    Deno.stdout.writeSync(new TextEncoder().encode(pid + "\\n"));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
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

for (
  const [what, timeout, signal] of [
    ["interrupted by SIGTERM", "undefined", "SIGTERM"],
    ["interrupted by SIGINT", "undefined", "SIGINT"],
    ["the time is over", '{ milliseconds: 100, reason: "the time is over" }', undefined],
  ] as const
) {
  Deno.test(`a program whose first second is blocked is ended with its commands: ${what}`, async () => {
    const [child, stderr, command] = await startStuck(timeout);
    // Several times, as the first may come before the program listens.
    const signals = signal &&
      setInterval(() => isRunning(child.pid) && Deno.kill(child.pid, signal), 50);
    assertEquals((await statusOf(child)).success, false);
    clearInterval(signals);
    assertMatch(await stderr, new RegExp(`^runner: error: ${what}, and the program did not`, "m"));
    await until(() => !isRunning(command), "the command has ended");
  });
}

Deno.test("RUNNER_TIMEOUT ends a program that is loading", async () => {
  await withFiles({}, async (cwd) => {
    const env = { RUNNER_TIMEOUT: "10ms" };
    // Nobody writes into it.
    await new Deno.Command("mkfifo", { args: ["w.yml"], cwd }).output();
    const child = startCli(["w.yml"], { cwd, env });
    const [stderr, { code }] = await Promise.all([
      new Response(child.stderr).text(),
      statusOf(child),
      child.stdout.cancel(),
    ]);
    assertEquals(code, 1);
    assertStringIncludes(stderr, "RUNNER_TIMEOUT of 10ms is over, and nothing has run");
  });
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

/** A step that starts a command in the background. */
const service = (cmd: string) =>
  `      - id: service
        uses: shell
        with: { cmd: ${JSON.stringify(cmd)}, background: true }
        outputs: { pid: res.pid }
`;

/** A step that waits until the program has printed the words that a test waits for. */
const WAIT = `      - { name: wait, uses: http, with: { get: "{url}/" }, test: res.code == 200 }
`;

const flow = (...steps: readonly string[]) =>
  `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`;

/** Runs a workflow that starts a command in the background and waits for the words. */
function inBackground(cmd: string, ending: string, env: Record<string, string> = {}) {
  return runUntilPrinted(ending, flow(service(cmd), WAIT), ["-q"], { env });
}

Deno.test("a command in the background that fails by itself is warned of, with its last line", async () => {
  const cmd = "echo starting; echo 'the port is taken' >&2; exit 3";
  const { code, stderr } = await inBackground(cmd, "taken\n");
  assertEquals([code, stderr], [
    0,
    "warning: j › shell: the command in the background ended with exit code 3: " +
    "the port is taken\n",
  ]);
});

Deno.test("the warning of a command in the background shows no secret", async () => {
  const env = { A_TOKEN: "supersecret" };
  const { stderr } = await inBackground('echo "no access with $A_TOKEN"; exit 1', "***\n", env);
  assertStringIncludes(stderr, "exit code 1: no access with ***\n");
});

Deno.test("the warning of a command in the background shows no part of a line that is too long", async () => {
  const env = { A_TOKEN: "supersecret" };
  const cmd = 'printf "$A_TOKEN"; head -c 65530 /dev/zero | tr "\\0" x; exit 1';
  const { stderr } = await inBackground(cmd, "exit code 1", env);
  assertStringIncludes(stderr, "ended with exit code 1\n");
});

Deno.test("a command in the background that a step ends or that succeeds is not warned of", async () => {
  const stop = "until [ -e ready ]; do sleep 0.01; done; kill {{outputs.service.pid}}";
  const loop = "echo > ready; while :; do sleep 0.05; done";
  for (
    const [cmd, then] of [
      ["echo > ready; exec sleep 60", stop],
      [`trap 'exit 143' TERM; ${loop}`, stop],
      ["exit 0", "true"],
    ] as const
  ) {
    // One that fails after the first has ended is warned of, and so would have been the first.
    const next = `${then}; while kill -0 {{outputs.service.pid}} 2>&-; do sleep 0.01; done; exit 9`;
    const last = `      - { name: next, uses: shell, with: { cmd: ${
      JSON.stringify(next)
    }, background: true } }\n`;
    const { code, stderr } = await runUntilPrinted("code 9", flow(service(cmd), last, WAIT), [
      "-q",
    ]);
    const warning = "warning: j › next: the command in the background ended with exit code 9\n";
    assertEquals([code, stderr], [0, warning], cmd);
  }
});

Deno.test("a command in the background that the end of the run ends is not warned of", async () => {
  const cmd = "trap 'exit 1' TERM; echo > ready; while :; do sleep 0.05; done";
  const ready =
    '      - { uses: shell, with: { cmd: "until [ -e ready ]; do sleep 0.01; done" } }\n';
  await withFiles({ "w.yml": flow(service(cmd), ready) }, async (cwd) => {
    const { code, stderr } = await runCli(["-q", "w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""]);
  });
});

Deno.test("a step that needs a background server reports how the server ended", async () => {
  const ask = `      - name: is it ready
        uses: http
        with: { get: "http://127.0.0.1:1/" }
        test: res.code == 200
        retry: { max_attempts: 2, interval: 1ms }
`;
  const problem = "the command in the background ended with exit code 2: the port is taken";
  const steps = [service("echo 'the port is taken'; exit 2"), WAIT, ask];
  const { code, stdout } = await runUntilPrinted(problem, flow(...steps));
  assertEquals(code, 1);
  assertStringIncludes(stdout, ` – ${problem}\n`);
  assert(!stdout.includes("is the server running there"), stdout);
});

Deno.test("every failure after the end of a server that was ready says how it ended", async () => {
  const cmd = "echo ready; until [ -e stop ]; do sleep 0.02; done; echo out of tea; exit 7";
  const steps = `      - id: service
        uses: shell
        with: { cmd: ${JSON.stringify(cmd)}, background: true, ready: { log: ready } }
        outputs: { pid: res.pid }
      - uses: shell
        with: { cmd: "touch stop; while kill -0 {{outputs.service.pid}} 2>&-; do sleep 0.01; done" }
      - { uses: hello, with: { a: 1 }, test: res.a == 2 }
`;
  const other = "  - name: other\n    needs: [j]\n    when: always\n    steps:\n" +
    "      - { uses: hello, with: { a: 1 }, test: res.a == 3 }\n";
  await withFiles(
    { "w.yml": flow(steps).replace("name: j", "name: j\n    id: j") + other },
    async (cwd) => {
      const { code, stdout, stderr } = await runCli(["w.yml", "--report=json=r.json"], { cwd });
      assertEquals(code, 1);
      const problem = "the command in the background ended with exit code 7: out of tea";
      assertEquals(stderr, `warning: j › shell: ${problem}\n`);
      assertStringIncludes(stdout, ` – ${problem}\n`);
      const report = await Deno.readTextFile(`${cwd}/r.json`);
      assertEquals(report.split(`"hint":"${problem}"`).length, 2, report);
    },
  );
});

const ASKS: readonly ((port: number) => string)[] = [
  (port) => `{ uses: http, with: { get: "http://127.0.0.1:${port}/" }, test: res.code == 200 }`,
  (port) =>
    `{ uses: tcp, with: { host: 127.0.0.1, port: ${port}, send: "GET / HTTP/1.0\\r\\n\\r\\n", expect: y } }`,
  (port) => `{ uses: grpc, with: { addr: "127.0.0.1:${port}", service: a.B, method: C } }`,
];

Deno.test("a request whose server crashes reports the exit code of the server", async () => {
  for (const ask of ASKS) {
    const port = freePort();
    const server = `Deno.serve({ port: ${port}, onListen() {} }, () => {
      console.log("out of tea");
      Deno.exit(7);
    })`;
    await withFiles({
      "server.ts": server,
      "w.yml": flow(
        service(`exec '${Deno.execPath()}' run -A --no-config server.ts`),
        `      - uses: tcp
        with: { host: 127.0.0.1, port: ${port} }
        retry: { max_attempts: 200, interval: 50ms }
      - ${ask(port)}
`,
      ),
    }, async (cwd) => {
      const { code, stdout, stderr } = await runCli(["w.yml"], { cwd });
      assertEquals(code, 1);
      const problem = "the command in the background ended with exit code 7: out of tea";
      assertStringIncludes(stdout, ` – ${problem}\n`);
      assert(!stdout.includes("https://"), stdout);
      assertEquals(stderr, `warning: j › shell: ${problem}\n`);
    });
  }
});
