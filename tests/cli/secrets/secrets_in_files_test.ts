import { assert, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const REST = "\njobs: [{name: j, steps: [{uses: hello}]}]\n";

/** Files with a mistake in a line that contains a secret, by kind of mistake. */
const FILES: Readonly<Record<string, string>> = {
  "an expression": `name: n\nvars: {api_token: hunter22-x, bad: "{{ nope( }}"}${REST}`,
  "an expression in JSON": JSON.stringify({
    vars: { api_token: "hunter22-x", bad: "{{ nope( }}" },
    name: "n",
    jobs: [{ name: "j", steps: [{ uses: "hello" }] }],
  }),
  "a bracket": `name: n\nvars: {'db_password': "hunter22 {[,}\\" x", bad: ]${REST}`,
  "a tab": `name: n\nvars:\n\tapi_token: hunter22-x${REST}`,
  "a key that is there twice":
    `name: n\nvars:\n  api_token: hunter22, x\n  api_token: hunter22, x # no${REST}`,
  "a list": `name: n\nvars: [{api_token: hunter22-x}]${REST}`,
  "a duration beside a URL":
    `name: n\njobs: [{name: j, steps: [{uses: http, with: {get: "http://u:hunter22@h", timeout: x}}]}]\n`,
  "a URL":
    `name: n\njobs: [{name: j, steps: [{uses: http, with: {get: "http://u:hunter22@[h"}}]}]\n`,
  "a duration beside a header":
    `name: n\njobs: [{name: j, steps: [{uses: http, with: {get: "http://h", headers: {authorization: Bearer hunter22-x}, timeout: x}}]}]\n`,
};

Deno.test("no secret of a file is shown with its mistakes", async (test) => {
  for (const [mistake, text] of Object.entries(FILES)) {
    await test.step(mistake, () =>
      withFiles({ "w.yml": text }, async (cwd) => {
        const commands = [["w.yml"], ["check", "w.yml"], ["dag", "w.yml"], ["--dry-run", "w.yml"]];
        for (const args of commands) {
          const { stdout, stderr } = await runMain(args, { cwd });
          assertStringIncludes(stdout + stderr, "***");
          assert(!(stdout + stderr).includes("hunter"), stdout + stderr);
        }
        const github = await runMain(["w.yml"], { cwd, env: { GITHUB_ACTIONS: "true" } });
        assert(!(github.stdout + github.stderr).includes("hunter"), github.stderr);
      }));
  }
});

Deno.test("the line of a mistake stays readable around secrets", async () => {
  const lines = [
    "name: n",
    "jobs:",
    "- name: j",
    "  steps:",
    "  - uses: http",
    "    with:",
    '      get: "http://u:{{vars.password}}@h/{{ x( }}"',
    '      headers: { authorization: "Bearer {{ vars.token( }}", x-key: timeout }',
    "      timeout: timeout",
    "    outputs:",
    "      token: res.body.data.token )",
    '      password: trim(res.headers["X-Password"] )) # the new one',
  ];
  await withFiles({ "w.yml": lines.join("\n") }, async (cwd) => {
    const { stderr } = await runMain(["w.yml"], { cwd });
    for (const line of lines.slice(6, 9).concat(lines.slice(-2))) {
      assertStringIncludes(stderr, line);
    }
  });
});
