import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { ActionResult, Dict } from "../../../src/action/action.ts";
import { findInterpreter } from "../../../src/actions/shell/interpreter.ts";
import { needsFile } from "../../../src/actions/shell/run_command.ts";
import { shell } from "../../../src/actions/shell/shell.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";
import { freePort } from "../../support/servers/free_port.ts";
import { isRunning, until } from "../../support/run/processes.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";

const runShell = runnerOf(shell);

/** Gives a test a run with one step, and ends the run after it. */
async function inRun<T>(test: (context: TestContext) => Promise<T>): Promise<T> {
  await using context = actionContext();
  return await test(context);
}

function sh(params: Dict): Promise<ActionResult> {
  return inRun((context) => runShell(params, context));
}

function inTempDir<T>(test: (directory: string) => Promise<T>): Promise<T> {
  return withFiles({}, async (directory) => test(await Deno.realPath(directory)));
}

async function hasText(path: string): Promise<boolean> {
  return (await Deno.readTextFile(path).catch(() => "")).endsWith("\n");
}

const results: readonly (readonly [string, Dict, Dict, string, number])[] = [
  [
    "prints",
    { cmd: "echo out; echo err >&2" },
    { code: 0, stdout: "out\n", stderr: "err\n" },
    "exit 0",
    0,
  ],
  ["says nothing", { cmd: "true" }, { code: 0, stdout: "", stderr: "", signal: null }, "exit 0", 0],
  ["fails", { cmd: "exit 7" }, { code: 7, signal: null }, "exit 7", 1],
  ["is unknown", { cmd: "no-such-command-here" }, { code: 127 }, "exit 127", 1],
  ["is killed", { cmd: "kill -9 $$" }, { code: 137, signal: "SIGKILL" }, "signal SIGKILL", 1],
  ["ends itself", { cmd: "kill -TERM $$" }, { code: 143, signal: "SIGTERM" }, "signal SIGTERM", 1],
  ["is a number", { cmd: 42 }, { code: 127 }, "exit 127", 1],
  [
    "takes a variable",
    { cmd: "echo $A-$B", env: { A: "x y", B: 1.5 } },
    { stdout: "x y-1.5\n" },
    "exit 0",
    0,
  ],
  [
    "takes a map as JSON",
    { cmd: 'echo "$A"', env: { A: { b: [1] } } },
    { stdout: '{"b":[1]}\n' },
    "exit 0",
    0,
  ],
  ["reads stdin", { cmd: "cat", stdin: "é\nlast" }, { stdout: "é\nlast" }, "exit 0", 0],
  ["reads no stdin", { cmd: "cat; echo end" }, { stdout: "end\n" }, "exit 0", 0],
  ["ignores much stdin", { cmd: "true", stdin: "x".repeat(1_000_000) }, { code: 0 }, "exit 0", 0],
  ["has bash", { cmd: "echo ${BASH_VERSION%%.*}", shell: "bash" }, {}, "exit 0", 0],
  ["prints no UTF-8", { cmd: "printf 'a\\377b\\303'" }, { stdout: "a\ufffdb\ufffd" }, "exit 0", 0],
  ["prints a BOM", { cmd: "printf '\\357\\273\\277a'" }, { stdout: "\ufeffa" }, "exit 0", 0],
  ["prints NUL", { cmd: "printf 'a\\000b'" }, { stdout: "a\0b", stdout_bytes: 3 }, "exit 0", 0],
  [
    "prints just enough",
    { cmd: "printf 12345", max_output: 5 },
    { stdout: "12345", truncated: false },
    "exit 0",
    0,
  ],
  [
    "prints too much",
    { cmd: "printf 123456; printf abc >&2", max_output: 5 },
    { stdout: "23456", stderr: "abc", stdout_bytes: 6, stderr_bytes: 3, truncated: true },
    "exit 0",
    0,
  ],
  [
    "is cut in a character",
    { cmd: "printf 'éa'", max_output: 2 },
    { stdout: "a", stdout_bytes: 3 },
    "exit 0",
    0,
  ],
  [
    "may keep nothing",
    { cmd: "echo a", max_output: 0 },
    { stdout: "", stdout_bytes: 2 },
    "exit 0",
    0,
  ],
];

for (const [what, params, res, brief, status] of results) {
  Deno.test(`shell runs a command that ${what}`, async () => {
    const result = await sh(params);
    const wanted = Object.fromEntries(Object.keys(res).map((key) => [key, result.res[key]!]));
    assertEquals(wanted, res);
    assertEquals([result.brief, result.status], [brief, status]);
  });
}

const problems: readonly (readonly [string, Dict, string])[] = [
  ["no command", {}, 'cannot run shell: "cmd" is nil'],
  ["an empty command", { cmd: " " }, 'cannot run shell: "cmd" must not be empty'],
  ["a list as command", { cmd: ["ls"] }, 'cannot run shell: "cmd" must be a string, not a list'],
  ["a NUL", { cmd: "a\0b" }, 'cannot run shell: "cmd" must not hold a NUL character'],
  [
    "a missing workdir",
    { cmd: "ls", workdir: "/nope/nope" },
    'cannot run the command: workdir "/nope/nope" does not exist',
  ],
  [
    "a file as workdir",
    { cmd: "ls", workdir: "/etc/passwd" },
    'cannot run the command: workdir "/etc/passwd" is a file, not a directory',
  ],
  [
    "a workdir in a file",
    { cmd: "ls", workdir: "/etc/passwd/x" },
    'cannot run the command: workdir "/etc/passwd/x" leads through a file',
  ],
  [
    "a missing shell",
    { cmd: "ls", shell: "/nope/sh" },
    'cannot run the command: shell "/nope/sh" does not exist',
  ],
  [
    "an unknown shell",
    { cmd: "ls", shell: "no-such-shell" },
    'cannot run the command: shell "no-such-shell" is not on the PATH',
  ],
  [
    "a shell that is not a program",
    { cmd: "ls", shell: "/etc/passwd" },
    'cannot run the command: permission to execute shell "/etc/passwd" is denied',
  ],
  [
    "an environment that is not a map",
    { cmd: "ls", env: "A=1" },
    'cannot run shell: "env" must be a map, not "A=1"',
  ],
  [
    "a variable that cannot be",
    { cmd: "ls", env: { "A=B": "1" } },
    'cannot run shell: "env" cannot hold "A=B": no variable can have that name',
  ],
  [
    "too large an environment",
    { cmd: "ls", env: { A: "x".repeat(200_000) } },
    "cannot run the command: its environment is too large",
  ],
  [
    "a background command in a missing directory",
    { cmd: "ls", workdir: "/nope", background: true },
    'cannot run the command: workdir "/nope" does not exist',
  ],
];

for (const [what, params, message] of problems) {
  Deno.test(`shell refuses ${what}`, async () => {
    const error = await assertRejects(() => sh(params), StepError);
    assertEquals(error.message, message);
  });
}

Deno.test("shell reports its request", async () => {
  const { req } = await sh({ cmd: "true", env: { A: 1 }, timeout: "90s", workdir: "/" });
  assertEquals(req, {
    cmd: "true",
    shell: "/bin/sh",
    workdir: "/",
    env: { A: "1" },
    timeout: "1m30s",
    background: false,
  });
});

Deno.test("shell runs in a directory and inherits the environment", async () => {
  await inTempDir(async (directory) => {
    Deno.env.set("SHELL_TEST_KEPT", "kept");
    Deno.env.set("SHELL_TEST_GONE", "gone");
    const cmd = "pwd; echo $SHELL_TEST_KEPT; echo ${SHELL_TEST_GONE-unset}";
    const all = await sh({ cmd, workdir: directory });
    assertEquals(all.res.stdout, `${directory}\nkept\ngone\n`);
    const some = await sh({ cmd, workdir: directory, env: { SHELL_TEST_GONE: null } });
    assertEquals(some.res.stdout, `${directory}\nkept\nunset\n`);
    Deno.env.delete("SHELL_TEST_KEPT");
    Deno.env.delete("SHELL_TEST_GONE");
  });
});

Deno.test("shell runs a command that is longer than an argument may be, with its stdin", async () => {
  const cmd = `x='${"y".repeat(300_000)}'; echo \${#x}; cat`;
  await inRun(async (context) => {
    const { res } = await runShell({ cmd, stdin: "in" }, context);
    assertEquals(res.stdout, "300000\nin");
  });
});

Deno.test("shell keeps little of a command that prints 500 MB", async () => {
  // Of this module alone: other tests run in the same process.
  const memory = () => Deno.memoryUsage().heapUsed + Deno.memoryUsage().external;
  const before = memory();
  const { res } = await sh({ cmd: "head -c 500000000 /dev/zero" });
  assertEquals([res.stdout_bytes, res.truncated], [500_000_000, true]);
  assertEquals((res.stdout as string).length, 1024 * 1024);
  const grown = memory() - before;
  // Discarded output is freed at some later garbage collection.
  assert(grown < 250_000_000, `memory grew by ${grown} bytes`);
});

Deno.test("shell ends everything that a command started when its time is over", async () => {
  const cmd = `
    sleep 100 & echo $!
    (trap '' TERM; echo in-subshell; while :; do sleep 1; done) &
    echo $!
    echo $$; echo oops >&2; wait`;
  await inRun(async (context) => {
    const params = { cmd, timeout: "500ms" };
    const error = await assertRejects(() => runShell(params, context), StepError);
    assertEquals(error.message, "the command timed out after 500ms");
    const { stdout, stderr } = error.details.res as { stdout: string; stderr: string };
    assertEquals(stderr, "oops\n");
    assertStringIncludes(stdout, "in-subshell");
    const pids = stdout.match(/^\d+$/gm)!.map(Number);
    assertEquals(pids.length, 3);
    assertEquals(pids.filter(isRunning), []);
    assertEquals(error.details.req?.timeout, "500ms");
    assertEquals(context.stops, 0);
  });
});

Deno.test("shell ends a command that ignores SIGTERM by force when the attempt is stopped", async () => {
  await inTempDir(async (directory) => {
    await inRun(async (context) => {
      const cmd = "trap '' TERM; echo $$ > pid; while :; do sleep 1; done";
      const result = runShell({ cmd, workdir: directory }, context);
      await until(() => hasText(`${directory}/pid`), "the command is running");
      context.stop(new StepError("the run was interrupted"));
      const error = await assertRejects(() => result, StepError);
      assertEquals([error.message, error.hint], ["the run was interrupted", undefined]);
      assertEquals(isRunning(Number(await Deno.readTextFile(`${directory}/pid`))), false);
    });
  });
});

Deno.test("shell lets a command clean up when it is stopped", async () => {
  await inTempDir(async (directory) => {
    await inRun(async (context) => {
      const cmd = "trap 'echo bye > gone; exit' TERM; echo > up; while :; do sleep 0.01; done";
      const result = runShell({ cmd, workdir: directory }, context);
      await until(() => hasText(`${directory}/up`), "the command is running");
      context.stop(new StepError("interrupted"));
      await assertRejects(() => result, StepError, "interrupted");
      assertEquals(await Deno.readTextFile(`${directory}/gone`), "bye\n");
    });
  });
});

Deno.test("shell starts nothing for long in an attempt that was stopped before", async () => {
  await inRun(async (context) => {
    context.stop(new StepError("too late"));
    const result = runShell({ cmd: "sleep 100" }, context);
    await assertRejects(() => result, StepError, "too late");
  });
});

Deno.test("shell leaves a child in the background running until the run ends", async () => {
  await inTempDir(async (directory) => {
    let pid = 0;
    let notes: readonly string[] = [];
    await inRun(async (context) => {
      const cmd = "(while :; do echo alive; echo > beat; sleep 0.02; done) & echo $!";
      const { res } = await runShell({ cmd, workdir: directory }, context);
      pid = Number((res.stdout as string).match(/^\d+$/m)![0]);
      assertEquals(res.code, 0);
      // It prints into a pipe that is no longer recorded, which must not end it.
      for (let beat = 0; beat < 3; beat++) {
        await Deno.remove(`${directory}/beat`).catch(() => {});
        await until(() => hasText(`${directory}/beat`), "the child has printed once more");
      }
      assert(isRunning(pid));
      notes = context.notes;
    });
    assertEquals(isRunning(pid), false);
    assertMatch(
      notes.join(),
      /^warning: stopped [12] process(es)? that "test" left running: \/bin\/sh -c \(while/,
    );
  });
});

/** Ends a process that a test left running on purpose. */
async function endLeft(path: string): Promise<void> {
  const pid = Number(await Deno.readTextFile(path));
  assert(isRunning(pid));
  Deno.kill(pid, "SIGKILL");
}

Deno.test("shell leaves a process that left the session alone, and warns if it holds the output", async () => {
  await inTempDir(async (directory) => {
    let notes: readonly string[] = [];
    await inRun(async (context) => {
      const cmd = "setsid sh -c 'echo $$ > pid; exec sleep 100' & echo started";
      const { res } = await runShell({ cmd, workdir: directory }, context);
      assertEquals([res.code, res.stdout], [0, "started\n"]);
      await until(() => hasText(`${directory}/pid`), "the process has its own session");
      notes = context.notes;
    });
    assertEquals(notes, [
      'warning: a process that "test" started lives on, but can no longer print: redirect its output',
    ]);
    await endLeft(`${directory}/pid`);
  });
});

Deno.test("shell ends what has a group of its own in the session of the command", async () => {
  await inTempDir(async (directory) => {
    const read = async (name: string) => Number(await Deno.readTextFile(`${directory}/${name}`));
    const pids: number[] = [];
    await inRun(async (context) => {
      const run = (name: string) => `timeout 100 sh -c 'echo $$ > ${name}; exec sleep 100'`;
      await runShell({ cmd: `${run("left")} > log 2>&1 &`, workdir: directory }, context);
      await until(() => hasText(`${directory}/left`), "the command left a process");
      const result = runShell({ cmd: `${run("late")}; true`, workdir: directory }, context);
      await until(() => hasText(`${directory}/late`), "the second is running");
      pids.push(await read("left"), await read("late"));
      context.stop(new StepError("the step timed out"));
      await assertRejects(() => result, StepError, "timed out");
      assertEquals(pids.map(isRunning), [true, false]);
    });
    assertEquals(pids.map(isRunning), [false, false]);
  });
});

Deno.test("shell leaves a process that left the session alone when its time is over", async () => {
  await inTempDir(async (directory) => {
    await inRun(async (context) => {
      const cmd = "setsid sh -c 'echo $$ > pid; exec sleep 100' > log 2>&1 & sleep 100";
      const result = runShell({ cmd, workdir: directory }, context);
      await until(() => hasText(`${directory}/pid`), "the process has its own session");
      context.stop(new StepError("the step timed out"));
      await assertRejects(() => result, StepError, "timed out");
    });
    await endLeft(`${directory}/pid`);
  });
});

Deno.test("shell starts a detached command, which lives on in a session of its own", async () => {
  await inTempDir(async (directory) => {
    let notes: readonly string[] = [];
    await inRun(async (context) => {
      const cmd = "cut -d ' ' -f 6 /proc/$$/stat > session; echo $$ > pid; exec sleep 100";
      const { req, res } = await runShell({ cmd, workdir: directory, detach: true }, context);
      await until(() => hasText(`${directory}/pid`), "the command is running");
      assertEquals(await Deno.readTextFile(`${directory}/pid`), `${res.pid}\n`);
      assertEquals(await Deno.readTextFile(`${directory}/session`), `${res.pid}\n`);
      assertEquals([req.detach, res.code], [true, null]);
      notes = context.notes;
    });
    assertEquals(notes, []);
    await endLeft(`${directory}/pid`);
  });
});

Deno.test("shell runs a command in the background until the run ends", async () => {
  let pid = 0;
  let log = "";
  await inRun(async (context) => {
    const cmd = "cat; echo err >&2; sleep 100";
    const params = { cmd, background: true, stdin: "hi\n" };
    const { res, status, brief } = await runShell(params, context);
    assertEquals([res.code, status, brief], [null, 0, "started"]);
    pid = res.pid as number;
    log = res.log as string;
    await until(
      async () => (await Deno.readTextFile(log)).split("\n").sort().join() === ",err,hi",
      "the log holds both outputs",
    );
    assert(isRunning(pid));
  });
  assertEquals(isRunning(pid), false);
  await assertRejects(() => Deno.stat(log), Deno.errors.NotFound);
});

/** The command of a server that refuses its first request. */
const serverCommand = (port: number) =>
  `exec '${Deno.execPath()}' eval 'let asked = 0; Deno.serve({ port: ${port}, onListen: () => ` +
  `console.log("listen" + "ing") }, () => new Response("", { status: asked++ ? 200 : 503 }))'`;

Deno.test("shell waits until a command in the background is ready", async (test) => {
  const kinds: readonly ((port: number) => Dict)[] = [
    (port) => ({ http: `http://127.0.0.1:${port}/` }),
    (port) => ({ tcp: port }),
    () => ({ log: "listening" }),
  ];
  for (const kind of kinds) {
    const port = freePort();
    const ready = kind(port);
    await test.step(Object.keys(ready)[0]!, () =>
      inRun(async (context) => {
        const params = { cmd: serverCommand(port), background: true, ready };
        const { req, brief } = await runShell(params, context);
        assertEquals([req.ready, brief], [ready, "ready"]);
        (await Deno.connect({ port })).close();
      }));
  }
});

Deno.test("a command in the background that does not become ready is ended", async (test) => {
  const port = freePort();
  const refused = new RegExp(
    `^the last try: cannot connect to localhost port ${port}: .*ECONNREFUSED.*\noutput:\n  hello$`,
    "s",
  );
  const table: [name: string, cmd: string, ready: Dict, message: RegExp, hint: RegExp][] = [
    [
      "time",
      "echo hello; echo $$ > $FILE; sleep 100",
      { tcp: port },
      /^timed out after 1s while waiting until the command is ready$/,
      refused,
    ],
    [
      "a program that keeps what it prints",
      "echo $$ > $FILE; sleep 100",
      { log: "ready" },
      /^timed out after 1s while waiting/,
      /it has printed nothing: many programs keep what they print .* stdbuf -oL/,
    ],
    [
      "end",
      "echo $$ > $FILE; echo one; echo no port >&2; exit 3",
      { log: "ready" },
      /^the command ended with exit code 3 before it was ready: (?:no port|one)$/,
      /^output:\n/,
    ],
  ];
  for (const [name, cmd, ready, message, hint] of table) {
    await test.step(name, () =>
      withFiles({}, (directory) =>
        inRun(async (context) => {
          const FILE = `${directory}/pid`;
          const params = { cmd, env: { FILE }, background: true, ready, ready_timeout: "1s" };
          const error = await assertRejects(() => runShell(params, context), StepError);
          assertMatch(error.message, message);
          assertMatch(error.hint ?? "", hint);
          assertEquals(isRunning(Number(await Deno.readTextFile(FILE))), false);
          assertEquals(context.notes, []);
        })));
  }
});

Deno.test("nothing is asked any more whether a command is ready that has ended", () =>
  withFiles({}, (directory) =>
    inRun(async (context) => {
      const asked = { "/first": 0, "/second": 0 };
      const FILE = `${directory}/asked`;
      await using server = Deno.serve({ port: 0, onListen() {} }, async ({ url }) => {
        const path = new URL(url).pathname as keyof typeof asked;
        asked[path]++;
        await Deno.writeTextFile(FILE, "");
        return new Response("", { status: asked["/second"] > 3 ? 200 : 503 });
      });
      const run = (path: string, cmd: string) => {
        const ready = { http: `http://127.0.0.1:${server.addr.port}${path}` };
        return runShell({ cmd, env: { FILE }, background: true, ready }, context);
      };
      const cmd = "until [ -e $FILE ]; do sleep 0.01; done; exit 3";
      await assertRejects(() => run("/first", cmd), StepError, "ended with exit code 3");
      const before = asked["/first"];
      await run("/second", "sleep 100");
      assertEquals(asked["/first"], before);
    })));

Deno.test("permissions apply to what shows that a command is ready", async () => {
  await inRun(async (context) => {
    const run = [{ text: "/bin/sh", path: `${await Deno.realPath("/bin")}/sh` }];
    const permissions = { run, net: [{ host: "example.com", below: false }] };
    const params = { cmd: "sleep 100", background: true, ready: { tcp: 1 } };
    const narrow: TestContext = Object.create(context, { permissions: { value: permissions } });
    const error = await assertRejects(() => runShell(params, narrow), StepError);
    assertMatch(error.message, /^cannot connect to localhost port 1: --allow-net does not/);
  });
});

Deno.test("shell runs many commands at once", async () => {
  await inRun(async (context) => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, i) => runShell({ cmd: `echo ${i}; exit ${i}` }, context)),
    );
    assertEquals(results.map(({ res }) => res.code), results.map((_, i) => i));
    assertEquals(results.map(({ res }) => res.stdout), results.map((_, i) => `${i}\n`));
    assertEquals(context.notes, []);
  });
});

Deno.test("shell keeps variables with a secret name out of reports", async () => {
  await using context = actionContext();
  await runShell({ cmd: "true", env: { TOKEN: "token-1", NAME: "plain", KEY: null } }, context);
  assertEquals(context.learned, ["token-1"]);
});

Deno.test("shell has the timeout of the step where its own is 0", async () => {
  await inRun(async (context) => {
    const { res, req } = await runShell({ cmd: "echo hi", timeout: 0 }, context);
    assertEquals([res.stdout, req.timeout], ["hi\n", undefined]);
  });
});

Deno.test("shell names the directory for temporary files where that does not exist", async () => {
  const step = "{ uses: shell, with: { cmd: sleep 100, background: true } }";
  await withFiles({ "w.yml": `name: n\njobs: [{ name: j, steps: [${step}] }]\n` }, async (cwd) => {
    const { stdout } = await runCli(["w.yml"], { cwd, env: { TMPDIR: "/no/such/directory" } });
    assertStringIncludes(
      stdout,
      'cannot create a temporary directory in "/no/such/directory": it does not exist',
    );
    assertStringIncludes(stdout, "TMPDIR names the directory for temporary files");
  });
});

const unix = { windows: false, comSpec: undefined };
const windows = { windows: true, comSpec: "C:\\Windows\\system32\\cmd.exe" };

const shells:
  readonly (readonly [string | undefined, typeof unix | typeof windows, string, string[]])[] = [
    [undefined, unix, "/bin/sh", ["-c", "x"]],
    ["bash", unix, "bash", ["-c", "x"]],
    ["/opt/my shells/zsh", unix, "/opt/my shells/zsh", ["-c", "x"]],
    ["/usr/bin/pwsh", unix, "/usr/bin/pwsh", ["-NoProfile", "-NonInteractive", "-Command", "x"]],
    [undefined, windows, windows.comSpec, ["/d", "/s", "/c", '"x"']],
    [undefined, { windows: true, comSpec: undefined }, "cmd.exe", ["/d", "/s", "/c", '"x"']],
    ["PowerShell.exe", windows, "PowerShell.exe", [
      "-NoProfile",
      "-NonInteractive",
      "-Command",
      "x",
    ]],
    ["C:\\Git\\bin\\bash.exe", windows, "C:\\Git\\bin\\bash.exe", ["-c", "x"]],
  ];

for (const [shell, system, program, args] of shells) {
  Deno.test(`findInterpreter() runs ${shell} on ${system.windows ? "Windows" : "Unix"}`, () => {
    const interpreter = findInterpreter(shell, system);
    assertEquals(interpreter.program, program);
    assertEquals(interpreter.inline("x"), args);
  });
}

Deno.test("needsFile() is for commands that are longer than an argument may be", () => {
  const sh = findInterpreter(undefined, unix);
  assertEquals(needsFile(sh, "echo a\necho b"), false);
  assertEquals(needsFile(sh, "x".repeat(40_000)), false);
  assertEquals(needsFile(sh, "€".repeat(44_000)), true);
});

Deno.test("needsFile() is for commands of several lines where the shell reads one alone", () => {
  const cmd = findInterpreter(undefined, windows);
  assertEquals([needsFile(cmd, "dir"), needsFile(cmd, "dir\ndir")], [false, true]);
  assertEquals([cmd.preamble, cmd.extension], ["@echo off\r\n", ".cmd"]);
  assertEquals(cmd.file("C:\\a b\\1.cmd"), ["/d", "/s", "/c", '""C:\\a b\\1.cmd""']);
});

const cases: readonly (readonly [Dict, readonly string[]])[] = [
  [{ cmd: "ls" }, []],
  [{ cmd: "{{c}}", env: { A: null, B: 1, C: "{{c}}" }, timeout: "{{t}}", max_output: 0 }, []],
  [{ cmd: "ls", shell: "bash", workdir: ".", stdin: "", background: true, timeout: 1 }, []],
  [{}, ['shell needs "cmd"']],
  [{ cmd: "" }, ['"cmd" must not be empty']],
  [{ cmd: "a\0" }, ['"cmd" must not hold a NUL character']],
  [{ cmd: ["ls"] }, ['"cmd" must be a string, not a list']],
  [{ command: "ls" }, ['unknown parameter "command" of shell', 'shell needs "cmd"']],
  [{ cmd: "ls", shell: " ", workdir: "" }, [
    '"shell" must not be empty',
    '"workdir" must not be empty',
  ]],
  [{ cmd: "ls", timeout: "0s" }, []],
  [{ cmd: "ls", detach: true, background: false, stdin: null }, []],
  [{ cmd: "ls", detach: true, background: true, stdin: "a" }, [
    '"detach" and "background" cannot be combined: nothing waits for a detached command',
    '"detach" and "stdin" cannot be combined: nothing waits for a detached command',
  ]],
  [{ cmd: "ls", background: true, ready: { log: "up" }, ready_timeout: "1s" }, []],
  [{ cmd: "ls", background: "{{b}}", ready: { tcp: "{{p}}" } }, []],
  [{ cmd: "ls", ready: { http: "localhost" } }, [
    'invalid URL "localhost"',
    '"ready" needs "background: true"',
  ]],
  [{ cmd: "ls", background: true, ready: { tcp: 0, log: "a" }, ready_timeout: "1s" }, [
    "invalid port 0",
    '"ready" has "tcp" and "log", which cannot be combined',
  ]],
  [{ cmd: "ls", background: true, ready: { log: "" } }, ['"ready.log" must not be empty']],
  [{ cmd: "ls", background: true, ready_timeout: "1s" }, ['"ready_timeout" needs "ready"']],
  [{ cmd: "ls", max_output: -1 }, ['"max_output" must be 0 or greater, not -1']],
  [{ cmd: "ls", background: "yes" }, ['"background" must be a boolean, not "yes"']],
  [{ cmd: "ls", env: ["A=1"] }, ['"env" must be a map, not a list']],
  [{ cmd: "ls", env: { "": "1" } }, ['"env" cannot hold "": no variable can have that name']],
  [{ cmd: "ls", env: { A: "\0" } }, ['"env" cannot hold "A": its value has a NUL']],
];

for (const [params, messages] of cases) {
  Deno.test(`shell judges ${JSON.stringify(params)} at load`, () => {
    assertEquals(shell.problems!(params).map(({ message }) => message), [...messages]);
  });
}
