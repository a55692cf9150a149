import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { RunResources } from "../../src/action/run_resources.ts";
import { runHttp } from "../../src/action/http/run_http.ts";
import { actionContext } from "../support/action_context.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { rawServer, response } from "../support/servers/raw_server.ts";
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
runShell({ cmd: "trap '' TERM; " + cmd, env: { NAME: "working" } }, context);
await Deno.writeTextFile("ready", "yes");
await Deno.stdin.read(new Uint8Array(1));
Deno.exit(1);
`;

Deno.test("No command outlives a program that exits in the middle of a run", async () => {
  await withFiles({ "program.ts": PROGRAM }, async (directory) => {
    const program = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `--config=${CONFIG}`, "program.ts"],
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

    await program.stdin.close();
    assertEquals((await program.status).code, 1);

    const escaped = pids.pop()!;
    await until(() => !pids.some(isRunning), "the commands have ended");
    assert(isRunning(escaped));
    Deno.kill(escaped, "SIGKILL");
    await until(() => Deno.stat(log).then(() => false, () => true), "the log is gone");
  });
});

Deno.test("A body that http has saved goes with the run", async () => {
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(response("200 OK", "\0\x01", ["Content-Type: image/png"]));
  });
  const context = actionContext();
  const { res } = await runHttp({ get: server.url }, context);
  const path = String(res.filepath);
  assertEquals((await Deno.readFile(path)).length, 2);
  assert(path.endsWith(".png"), path);
  await context[Symbol.asyncDispose]();
  assert(!await Deno.stat(path).then(() => true, () => false));
});

Deno.test("RunResources.newFile() gives each file its own path in one directory", async () => {
  const resources = new RunResources();
  const [one, other] = await Promise.all([resources.newFile(".a"), resources.newFile(".a")]);
  assertEquals(other, one!.replace("1.a", "2.a"));
  await Deno.writeTextFile(other!, "");
  await resources.end();
  assert(!await Deno.stat(other!).then(() => true, () => false));
});
