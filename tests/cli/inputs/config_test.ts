import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const CONFIG = `name: By default
description: From the configuration
vars:
  where: config
  only: here
x-step: &greeting
  uses: hello
jobs:
  - name: never
    steps: [{ uses: hello, test: "false" }]
`;

const FLOW = `vars:
  where: workflow
jobs:
  - name: j
    steps:
      - uses: echo
        with: { message: "{{ vars.where }} {{ vars.only ?? 'nothing' }}" }
        echo: "{{ res.message }}"
`;

function runner(
  args: readonly string[],
  env: Record<string, string>,
  files: Record<string, string | Uint8Array> = {},
) {
  const all = { "flow.yml": FLOW, "config.yml": CONFIG, "sub/x.yml": "", ...files };
  return withFiles(all, (cwd) => runMain(args, { cwd, env }));
}

Deno.test("RUNNER_CONFIG gives the top-level keys that a workflow does not have", async () => {
  const { code, stdout, stderr } = await runner(["flow.yml"], { RUNNER_CONFIG: "config.yml" });
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "By default\nFrom the configuration\n");
  // A key is replaced as a whole.
  assertStringIncludes(stdout, "workflow nothing");
});

Deno.test("RUNNER_CONFIG holds for every command that loads a workflow", async () => {
  const env = { RUNNER_CONFIG: "config.yml" };
  const table: [args: string[], shown: string][] = [
    [["dag", "--json", "flow.yml"], '"By default"'],
    [["--dry-run", "flow.yml"], "By default"],
    [["--list", "flow.yml,config.yml"], "never"],
    [["flow.yml,config.yml"], "never"],
  ];
  for (const [args, shown] of table) {
    assertStringIncludes((await runner(args, env)).stdout, shown, args.join(" "));
  }
  assertEquals((await runner(["check", "flow.yml"], env)).code, 0);
  assertEquals((await runner(["check", "flow.yml"], {})).code, 1);
});

Deno.test("an anchor of RUNNER_CONFIG can be used in a workflow", async () => {
  const flow = "name: n\njobs:\n  - name: j\n    steps:\n      - *greeting\n";
  const env = { RUNNER_CONFIG: "config.yml" };
  const { code, stderr } = await runner(["flow.yml"], env, { "flow.yml": flow });
  assertEquals([code, stderr], [0, ""]);
});

Deno.test("a mistake in RUNNER_CONFIG is reported in its file", async () => {
  const env = { RUNNER_CONFIG: "config.yml" };
  const wrong = await runner(["flow.yml"], env, { "config.yml": "name: n\ndescription: [a]\n" });
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  assertEquals(wrong.stderr.split("\n").slice(0, 2), [
    "runner: error: workflow file 'flow.yml' has 1 error",
    'config.yml:2:14: error: "description" must be a string, not a list',
  ]);
  const broken = await runner(["flow.yml"], env, { "config.yml": "name: n\n  vars: x\n" });
  assertEquals([broken.code, broken.stdout], [1, ""]);
  assertMatch(broken.stderr, /^runner: error: YAML syntax error at line 2\nconfig\.yml:2:/);
});

Deno.test("a RUNNER_CONFIG that cannot be read is an error that names it", async (test) => {
  const about = "RUNNER_CONFIG is the path of a file with defaults for every workflow";
  const table: [path: string, message: string, hint: string][] = [
    ["none.yml", "RUNNER_CONFIG file 'none.yml' not found", about],
    ["flow.yml/x", "RUNNER_CONFIG file 'flow.yml/x' not found", about],
    ["sub", "cannot read RUNNER_CONFIG file 'sub': it is a directory", "x.yml"],
    [
      "binary",
      "cannot read RUNNER_CONFIG file 'binary': it is not UTF-8 text: the byte at offset 0 is 0x00",
      "UTF-8",
    ],
  ];
  for (const [path, message, hint] of table) {
    await test.step(path, async () => {
      const { code, stdout, stderr } = await runner(["flow.yml"], { RUNNER_CONFIG: path }, {
        binary: new Uint8Array([0, 255, 1]),
      });
      assertEquals([code, stdout, stderr.split("\n")[0]], [1, "", `runner: error: ${message}`]);
      assertStringIncludes(stderr, hint);
    });
  }
});

Deno.test("an empty RUNNER_CONFIG is ignored", async () => {
  const { code, stderr } = await runner(["flow.yml"], { RUNNER_CONFIG: "" });
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'the workflow needs "name"');
});
