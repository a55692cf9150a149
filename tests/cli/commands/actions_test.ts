import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ACTIONS } from "../../../src/actions/registry.ts";
import { listParameters } from "../../../src/action/list_parameters.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

Deno.test("runner actions lists every action in one line", async () => {
  const { code, stdout, stderr } = await runMain(["actions"]);
  assertEquals([code, stderr], [0, ""]);
  for (const { name, load } of ACTIONS) {
    const { summary } = await load();
    const line = stdout.split("\n").find((line) => line.trim().split(/ +/)[0] === name);
    assertEquals(line?.replace(/^ *\S+ +/, ""), summary);
  }
});

Deno.test("runner actions names the plugins that are there", async () => {
  const files = { "plugins/runner-ping.ts": "", "plugins/runner-sum": "", "plugins/README": "" };
  await withFiles(files, async (cwd) => {
    const env = { RUNNER_PLUGIN_DIR: "plugins" };
    const { code, stdout } = await runCli(["actions"], { cwd, env });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "\n\nPlugins in plugins: ping, sum\n");
  });
});

Deno.test("runner actions prints the parameters and the fields of an action", async () => {
  for (const { name, load } of ACTIONS) {
    const { code, stdout } = await runMain(["actions", name]);
    assertEquals(code, 0);
    const { summary, parameters = [], responseFields = [] } = await load();
    assertEquals(stdout.split("\n")[0], `${name} - ${summary}`);
    for (const { name: word } of listParameters(parameters)) {
      assertEquals(stdout.includes(`\n  ${word} `), true, `${name} has no line for ${word}`);
    }
    for (const field of responseFields) assertStringIncludes(stdout, field.name);
  }
  const { stdout } = await runMain(["actions", "redis"]);
  assertMatch(stdout, /^ {2}url +The server: .*\n.*\(string; required\)$/m);
  assertStringIncludes(stdout, "\n  tls.verify ");
  assertStringIncludes(stdout, "\nSet exactly one of command, commands.\n");
});

Deno.test("runner actions suggests a name", async () => {
  const { code, stderr } = await runMain(["actions", "htpp"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'invalid value "htpp" for <action>');
  assertStringIncludes(stderr, 'did you mean "http"?');
});
