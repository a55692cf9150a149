import { assertEquals, assertMatch } from "@std/assert";
import { runCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const PLUGIN = `import process from "node:process";
console.log("loaded");
export const action = {
  name: "chat",
  summary: "Prints",
  load: async () => async () => {
    const token = Deno.env.get("A_TOKEN");
    const bytes = (text) => new TextEncoder().encode(text);
    console.log("log %s", token, { n: 1 });
    console.error("error", token);
    console.table([{ token }]);
    Deno.stdout.writeSync(bytes("half of a line: super"));
    await Deno.stdout.write(bytes("secret\\n"));
    await new Response("stream " + token + "\\n").body.pipeTo(Deno.stderr.writable, { preventClose: true });
    await new Promise((resolve) => process.stdout.write("process " + token + "\\n", resolve));
    process.stderr.write("no end of a line " + token);
    return { res: {}, status: 0 };
  },
};
`;
const FILES = {
  "runner-chat.js": PLUGIN,
  "w.yml": "name: n\njobs: [{name: j, steps: [{uses: chat, test: status == 0}]}]\n",
};
const ENV = { A_TOKEN: "supersecret" };

Deno.test("the output of a module is part of the verbose report, without secrets", async () => {
  await withFiles(FILES, async (cwd) => {
    const env = { ...ENV, RUNNER_PLUGIN_DIR: cwd };
    const { stderr } = await runCli(["-v", "w.yml"], { cwd, env });
    const lines = [...stderr.matchAll(/^debug: j › chat: (.*)$/gm)].map(([, line]) => line);
    assertEquals(lines.filter((line) => !line!.startsWith("┌")), [
      "loaded",
      "log *** { n: 1 }",
      "error ***",
      "half of a line: ***",
      "stream ***",
      "process ***",
      "no end of a line ***",
    ]);
    assertMatch(stderr, /│ +0 +│ +'?\*\*\*'? +│/);
  });
});

Deno.test("the output of a module is not mixed with reports", async () => {
  await withFiles(FILES, async (cwd) => {
    const env = { ...ENV, RUNNER_PLUGIN_DIR: cwd };
    const { stdout, stderr } = await runMain(["--report", "json=-", "w.yml"], { cwd, env });
    assertEquals([JSON.parse(stdout).state, stderr], ["passed", ""]);
  });
});
