import { assert, assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runHttp } from "../../src/actions/http/run_http.ts";
import { Resources } from "../../src/action/resource_scope.ts";
import { RunResources } from "../../src/action/run_resources.ts";
import { Deadlines } from "../../src/host/deadlines.ts";
import { actionContext } from "../support/action_context.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { isRunning, until } from "../support/run/processes.ts";
import { rawServer, response } from "../support/servers/raw_server.ts";
import { withFiles } from "../support/temp_dir.ts";

/** Closes a scope and gives the warnings. */
async function close(scope: Resources): Promise<string[]> {
  const warnings: string[] = [];
  await scope.close(new Deadlines(fakeClock()), (text) => void warnings.push(text));
  return warnings;
}

Deno.test("resource() opens once and gives everybody the same", async () => {
  const scope = new Resources();
  let opened = 0;
  const open = () => Promise.resolve({ number: ++opened });
  const [one, other] = await Promise.all([scope.resource("a", open), scope.resource("a", open)]);
  assertEquals(one === other, true);
  assertEquals(await scope.resource("b", open), { number: 2 });
  assertEquals(scope.resource("c", () => 5), 5);
  assertEquals(scope.resource("c", () => 6), 5);
});

Deno.test("resource() tries again after an open that failed, and closes nothing for it", async () => {
  const scope = new Resources();
  const closed: string[] = [];
  const fail = () => Promise.reject(new Error("refused"));
  await assertRejects(() => scope.resource("a", fail, () => void closed.push("never")), Error);
  const open = () => Promise.resolve("opened");
  assertEquals(await scope.resource("a", open, (what) => void closed.push(what)), "opened");
  await close(scope);
  assertEquals(closed, ["opened"]);
});

Deno.test("A scope closes its resources in the reverse order of opening, and waits for each", async () => {
  const scope = new Resources();
  const closed: string[] = [];
  const later = async (name: string) => {
    await Promise.resolve();
    closed.push(name);
  };
  const slow = Promise.withResolvers<string>();
  const waiting = scope.resource("slow", () => slow.promise, later);
  scope.resource("first", () => "first", later);
  scope.resource("second", () => "second", (name) => void closed.push(name));
  slow.resolve("slow");
  await waiting;
  await close(scope);
  assertEquals(closed, ["slow", "second", "first"]);
  assertEquals(await close(scope), []);
  assertEquals(closed.length, 3);
});

Deno.test("A scope waits for resources that are still opening, and closes them", async () => {
  const scope = new Resources();
  const opening = Promise.withResolvers<string>();
  const closed: string[] = [];
  scope.resource("pool", () => opening.promise, (name) => void closed.push(name));
  const closing = close(scope);
  opening.resolve("pool");
  assertEquals(await closing, []);
  assertEquals(closed, ["pool"]);
});

Deno.test("A resource that cannot be closed is a warning, and the others are closed", async () => {
  const scope = new Resources();
  const closed: string[] = [];
  scope.resource("first", () => 1, () => void closed.push("first"));
  scope.resource("bad", () => 2, () => Promise.reject(new Error("connection lost")));
  scope.resource("worse", () => 3, () => {
    throw new Error("not open");
  });
  assertEquals(await close(scope), [
    'cannot close "worse": not open',
    'cannot close "bad": connection lost',
  ]);
  assertEquals(closed, ["first"]);
});

Deno.test("A resource that does not close is left after a while", async () => {
  const clock = fakeClock();
  const scope = new Resources();
  scope.resource("stuck", () => 1, () => new Promise<void>(() => {}));
  const warnings: string[] = [];
  const closing = scope.close(new Deadlines(clock), (text) => void warnings.push(text));
  clock.advance(10_000);
  await closing;
  assertEquals(warnings, ['"stuck" is still being closed after 10 seconds']);
});

const CONFIG = fromFileUrl(new URL("../../deno.json", import.meta.url));
const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/**
 * A program with a command at work, one in the background in a group of its own, one that left a
 * child behind and one whose child left the session on purpose.
 */
const PROGRAM = `
import { shell } from ${module("../../src/actions/shell/shell.ts")};
import { actionContext } from ${module("../support/action_context.ts")};
const context = actionContext();
const runShell = await shell.load();
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
