import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A workflow with something to warn of when it is loaded. */
const WARNING = "name: n\njobs:\n  - name: j\n    steps:\n      - uses: hello\n        colour: a\n";
const WARNED = 'unknown key "colour" in a step';
/** A message that is printed only with details. */
const DETAIL = "j › hello: started (hello)";

function runner(level: string, args: readonly string[] = ["flow.yml"], flow = WARNING) {
  const env = { RUNNER_LOG_LEVEL: level };
  return withFiles({ "flow.yml": flow }, (cwd) => runMain(args, { cwd, env }));
}

Deno.test("RUNNER_LOG_LEVEL selects the messages on standard error", async (test) => {
  const table: [level: string, args: string[], warned: boolean, details: boolean][] = [
    ["debug", [], true, true],
    ["info", [], true, false],
    ["", [], true, false],
    ["warn", [], true, false],
    ["error", [], false, false],
    ["error", ["-v"], true, true],
    ["nonsense", ["-v"], true, true],
  ];
  for (const [level, args, warned, details] of table) {
    await test.step([level, ...args].join(" "), async () => {
      const { code, stdout, stderr } = await runner(level, [...args, "flow.yml"]);
      assertEquals(code, 0);
      assertStringIncludes(stdout, "✓ All jobs succeeded");
      assertEquals([stderr.includes(WARNED), stderr.includes(DETAIL)], [warned, details], stderr);
    });
  }
});

Deno.test("errors are printed at every level", async () => {
  const { code, stderr } = await runner("error", ["flow.yml"], "name: n\n");
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'the workflow needs "jobs"');
});

Deno.test("RUNNER_LOG_LEVEL holds for dag too", async () => {
  assertStringIncludes((await runner("warn", ["dag", "flow.yml"])).stderr, WARNED);
  const { code, stderr } = await runner("error", ["dag", "flow.yml"]);
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("a level that there is not is an error, and nothing is run", async () => {
  for (const args of [["flow.yml"], ["dag", "flow.yml"]]) {
    const { code, stdout, stderr } = await runner("wran", args);
    assertEquals([code, stdout], [1, ""]);
    assertEquals(
      stderr,
      'runner: error: invalid value "wran" for RUNNER_LOG_LEVEL\n  did you mean "warn"?\n',
    );
  }
});
