import { assert, assertEquals } from "@std/assert";
import { RunResources } from "../../src/action/run_resources.ts";
import { until } from "../support/run/processes.ts";
import { withFiles } from "../support/temp_dir.ts";

const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);

/** A program that has saved a binary body and has started no command. */
const PROGRAM = `
import { runHttp } from ${module("../../src/action/http/run_http.ts")};
import { actionContext } from ${module("../support/action_context.ts")};
import { rawServer, response } from ${module("../support/servers/raw_server.ts")};
const server = rawServer(async (connection) => {
  await connection.request();
  await connection.send(response("200 OK", "\\0\\x01", ["Content-Type: image/png"]));
});
const context = actionContext();
const { res } = await runHttp({ get: server.url }, context);
console.log(res.filepath);
await Deno.stdin.read(new Uint8Array(1));
if (Deno.args[0] === "end") {
  await context[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
}
`;

for (const how of ["is killed", "has ended"]) {
  Deno.test(`No body that http has saved outlives a run that ${how}`, async () => {
    await withFiles({ "program.ts": PROGRAM }, async (directory) => {
      const program = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-config", "program.ts", how === "is killed" ? "wait" : "end"],
        cwd: directory,
        env: { TMPDIR: directory },
        stdin: "piped",
        stdout: "piped",
      }).spawn();
      const output = program.stdout.pipeThrough(new TextDecoderStream()).getReader();
      const path = (await output.read()).value!.trim();
      assertEquals((await Deno.readFile(path)).length, 2);
      assert(path.startsWith(`${directory}/`) && path.endsWith(".png"), path);

      if (how === "is killed") program.kill("SIGKILL");
      await program.stdin.close().catch(() => {});
      await output.read();
      assertEquals((await program.status).success, how === "has ended");
      const files = () => [...Deno.readDirSync(directory)].map(({ name }) => name);
      if (how === "is killed") await until(() => files().length === 1, "the file has gone");
      assertEquals(files(), ["program.ts"]);
    });
  });
}

Deno.test("RunResources.newFile() gives each file its own path in one directory", async () => {
  const resources = new RunResources();
  const [one, other] = await Promise.all([resources.newFile(".a"), resources.newFile(".a")]);
  assertEquals(other, one!.replace("1.a", "2.a"));
  await Deno.writeTextFile(other!, "");
  await resources.end();
  assert(!await Deno.stat(other!).then(() => true, () => false));
});

Deno.test("RunResources.end() stops remaining processes before it removes their files", async () => {
  const resources = new RunResources();
  const path = await resources.newFile(".log");
  resources.defer(() => Deno.writeTextFile(path, "the last words"));
  await resources.end();
  assert(!await Deno.stat(path).then(() => true, () => false));
});
