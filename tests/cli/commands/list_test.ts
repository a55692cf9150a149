import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FLOW = `
name: Shop
vars: {base: "{{BASE}}", must: "x{{MISSING}}"}
jobs:
  - name: Test {{vars.base}}
    id: test
    needs: [build, lint]
    steps:
      - {uses: hello}
      - {uses: hello, id: long-id, name: "on {{vars.base}}, {{outputs.x}}"}
  - {name: Lint, id: lint, steps: [{uses: shell, id: l, with: {cmd: touch ran}}]}
  - name: "Build\\nit"
    id: build
    steps: [{uses: embedded, name: inner, with: {path: in.yml}}]
  - {name: no id, steps: [{uses: hello, name: "{{vars.must}}"}]}
`;
const FILES = {
  "w.yml": FLOW,
  "in.yml": "name: In\nsteps: [{uses: hello, id: deep, name: Deep}]\n",
};

function list(args: string[], env: Record<string, string> = { BASE: "b" }) {
  return withFiles(FILES, async (cwd) => {
    const result = await runMain(["--list", ...args, "w.yml"], { cwd, env });
    assertEquals([...Deno.readDirSync(cwd)].length, 2, "something was run");
    return result;
  });
}

Deno.test("--list prints jobs and steps with their ids, also where a run would lack something", async () => {
  const { code, stdout, stderr } = await list([]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    `test   Test b  (needs build, lint)
  -        hello
  long-id  on b, {{outputs.x}}
lint   Lint
  l  shell
build  Build it
  -  inner
    deep  Deep
job_3  no id
  -  {{vars.must}}
`,
  );
});

Deno.test("--list shows the part that was chosen", async (test) => {
  const table: [args: string[], jobs: string[]][] = [
    [["--only", "test"], ["test   Test b  (needs build, lint)", "lint   Lint", "build  Build it"]],
    [["--only", "test", "--no-needs"], ["test  Test b"]],
    [["--only", "Test b", "--skip", "lint", "--var", "base=c"], []],
    [["--only", "Test c", "--no-needs", "--skip", "te*", "--var", "base=c"], [
      "test  Test c  (skipped: --skip)",
    ]],
  ];
  for (const [args, jobs] of table) {
    await test.step(args.join(" "), async () => {
      const { stdout } = await list(args);
      assertEquals(stdout.split("\n").filter((line) => /^[^ ]/.test(line)), jobs);
    });
  }
});

Deno.test("--list shows no secret and nothing that drives a terminal", async () => {
  const { code, stdout } = await list([], {
    BASE: "a\x1b[31mb-hunter2hunter",
    KEY: "hunter2hunter",
  });
  assertEquals(code, 0);
  assertStringIncludes(stdout, "Test a␛[31mb-***");
});

Deno.test("--list of a file that cannot be loaded is an error like that of a run", async () => {
  const { code, stdout, stderr } = await withFiles(
    {},
    (cwd) => runMain(["--list", "no.yml"], { cwd }),
  );
  assertEquals([code, stdout], [1, ""]);
  assertEquals(stderr, "runner: error: workflow file 'no.yml' not found\n");
});

Deno.test("--list shows the tags of jobs, with those of their workflow", async () => {
  const workflow = `name: Tags
tags: [smoke]
jobs:
  - { name: one, id: one, steps: [{ uses: hello }] }
  - { name: two, id: two, needs: [one], tags: [slow], steps: [{ uses: hello }] }
`;
  const { stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["--list", "w.yml"], { cwd }),
  );
  assertEquals(stdout.match(/^\S.*$/gm), [
    "one  one  (tags smoke)",
    "two  two  (needs one; tags smoke, slow)",
  ]);
});
