import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { startWatchdog } from "../../src/action/watchdog.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { withFiles } from "../support/temp_dir.ts";

const CONFIG = fromFileUrl(new URL("../../deno.json", import.meta.url));
const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * A program with a command at work, one in the background in a group of its own, one that left a
 * child behind and one whose child left the session on purpose.
 */
const PROGRAM = `
import { runShell } from ${module("../../src/action/shell/run_shell.ts")};
import { actionContext } from ${module("../support/action_context.ts")};
const context = actionContext();
const cmd = "echo $$ > $NAME.new; mv $NAME.new $NAME; sleep 100";
const background = await runShell(
  { cmd: "timeout 100 sh -c '" + cmd + "'; true", env: { NAME: "background" }, background: true },
  context,
);
await runShell({ cmd: "(" + cmd.replace("$$", "$(sh -c 'echo $PPID')") + ") &", env: { NAME: "left" } }, context);
await runShell({ cmd: "setsid sh -c '" + cmd + "' >/dev/null 2>&1 &", env: { NAME: "escaped" } }, context);
await Deno.writeTextFile("log", background.res.log);
const working = runShell({ cmd: "trap '' TERM; " + cmd, env: { NAME: "working" } }, context);
// By then the watchdog has been sent the process, too.
await Deno.writeTextFile("ready", "yes");
await Deno.stdin.read(new Uint8Array(1));
if (Deno.args[0] === "throw") throw new Error("a bug");
if (Deno.args[0] === "exit") Deno.exit(1);
await working;
`;

const ends: readonly (readonly [string, string])[] = [
  ["is killed", "kill"],
  ["has a bug", "throw"],
  ["exits in the middle of a run", "exit"],
];

for (const [what, how] of ends) {
  Deno.test(`No group of a command outlives a program that ${what}`, async () => {
    await withFiles({ "program.ts": PROGRAM }, async (directory) => {
      const program = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", `--config=${CONFIG}`, "program.ts", how],
        cwd: directory,
        stdin: "piped",
        stdout: "null",
        stderr: "null",
      }).spawn();
      const read = (name: string) => Deno.readTextFile(`${directory}/${name}`).catch(() => "");
      const names = ["background", "left", "working", "escaped"];
      await until(
        async () => (await Promise.all([...names, "ready"].map(read))).every((text) => text !== ""),
        "all commands are running",
      );
      const pids = (await Promise.all(names.map(read))).map(Number);
      const log = await read("log");
      assertEquals(pids.filter(isRunning), pids);
      assert((await Deno.stat(log)).isFile);

      if (how === "kill") program.kill("SIGKILL");
      await program.stdin.close().catch(() => {});
      assertNotEquals((await program.status).code, 0);

      const escaped = pids.pop()!;
      await until(() => !pids.some(isRunning), "the commands have ended");
      assert(isRunning(escaped));
      Deno.kill(escaped, "SIGKILL");
      await until(() => Deno.stat(log).then(() => false, () => true), "the log is gone");
    });
  });
}

Deno.test("A dismissed watchdog leaves groups and directories alone", async () => {
  await withFiles({ "kept": "" }, async (directory) => {
    const child = new Deno.Command("sleep", {
      args: ["100"],
      detached: true,
      stdout: "null",
      stderr: "null",
    }).spawn();
    const guard = startWatchdog();
    guard.started(child.pid);
    guard.made(directory);
    await guard.dismiss();
    assert(isRunning(child.pid));
    assert((await Deno.stat(`${directory}/kept`)).isFile);
    child.kill("SIGKILL");
    await child.status;
  });
});

Deno.test("A watchdog spares the groups that were reported as ended", async () => {
  await withFiles({}, async (directory) => {
    const path = `${directory}/pids`;
    // Its guard ends with it; it learns of two processes, one of which reports that it has ended.
    const program = new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        "--no-config",
        `import { startWatchdog } from ${module("../../src/action/watchdog.ts")};
         const start = () => new Deno.Command("sleep", { args: ["100"], detached: true, stdout: "null", stderr: "null" }).spawn();
         const [spared, ended, other] = [start(), start(), start()];
         const guard = startWatchdog();
         for (const { pid } of [spared, ended, other]) guard.started(pid);
         guard.ended(spared.pid);
         await Deno.writeTextFile("pids", [spared, ended, other].map(({ pid }) => pid).join(" "));
         // Messages are written in order: this is the last one.
         await guard.made(Deno.cwd() + "/made");
         Deno.exit(0);`,
      ],
      cwd: directory,
    });
    assertEquals((await program.output()).code, 0);
    const [spared, ...others] = (await Deno.readTextFile(path)).split(" ").map(Number);
    await until(() => !others.some(isRunning), "the others have ended");
    assert(isRunning(spared!));
    Deno.kill(spared!, "SIGKILL");
  });
});
