import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { runUntilPrinted } from "../support/run/run_until_printed.ts";
import { withFiles } from "../support/temp_dir.ts";

const flowOf = (steps: string, more = "") =>
  `name: Strict\njobs:\n  - name: j\n${more}    steps: [${steps}]\n`;

const runStrictly = (flow: string) =>
  withFiles({ "w.yml": flow }, (cwd) => runMain(["--strict", "w.yml"], { cwd }));

Deno.test("--strict accepts a run without warnings whose steps succeed", async () => {
  const { code, stderr } = await runStrictly(flowOf("{uses: hello}"));
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("--strict makes warnings about the file errors, and runs nothing", async () => {
  const { code, stdout, stderr } = await runStrictly(flowOf("{uses: hello, colour: red}"));
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^runner: error: 'w.yml' has 1 warning, which --strict makes errors?\n/);
  assertMatch(stderr, /w\.yml:4:\d+: error: /);
});

Deno.test("--strict fails a run in which no step runs, and says so", async () => {
  const { code, stdout } = await runStrictly(flowOf("{uses: hello}", "    skipif: 1 == 1\n"));
  assertEquals(code, 1);
  assertStringIncludes(stdout, "✗ --strict: no step was run; 1 job skipped");
});

Deno.test("--strict fails a run that warns while it runs", async () => {
  const dead = '{uses: shell, with: {cmd: "exit 2", background: true}}';
  const wait = '{uses: http, with: {get: "{url}"}}';
  const flow = flowOf(`${dead}, ${wait}`);
  const { code, stdout, stderr } = await runUntilPrinted("exit code 2", flow, ["--strict"]);
  assertEquals(code, 1);
  assertMatch(stderr, /in the background ended with exit code 2/);
  assertStringIncludes(stdout, "✗ --strict: 1 warning");
});
