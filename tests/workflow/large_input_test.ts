import { assertEquals } from "@std/assert";
import { describeText, explainText, loadText } from "../support/load_files.ts";

const JOB = "name: x\njobs: [{name: a, steps: [{uses: hello}]}]\n";

Deno.test("loadWorkflow() refuses aliases that make a small file a huge value", async () => {
  const lines = Array.from(
    { length: 30 },
    (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}]`,
  );
  const [reported, ...more] = await describeText(
    `a0: &a0 [x]\n${lines.join("\n")}\n${JOB}vars: {x: *a30}`,
  );
  assertEquals(more, []);
  assertEquals(reported?.replace(/^\d+:\d+/, ""), ": error: aliases make the document too large");
});

Deno.test("loadWorkflow() accepts an alias that is used many thousand times", async () => {
  const { workflow } = await loadText(`x: &x {a: [1, 2, 3], b: {c: 1}}
${JOB}vars: {list: [${"*x, ".repeat(20_000)}]}
`);
  assertEquals(workflow.name, "x");
});

Deno.test("loadWorkflow() refuses an alias that refers to itself", async () => {
  for (const value of ["&v {a: *v}", "&v {a: [{b: *v}]}", "\n  a: &v\n    b: [*v]"]) {
    const [reported] = await describeText(`${JOB}vars: ${value}`);
    assertEquals(reported?.replace(/^\d+:\d+/, ""), ": error: an alias refers to itself");
  }
});

Deno.test("loadWorkflow() refuses aliases that nest without end", async () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, index) => `a${index + 1}: &a${index + 1} [*a${index}]`,
  );
  const [reported] = await describeText(`a0: &a0 [x]\n${lines.join("\n")}\n${JOB}`);
  assertEquals(reported?.replace(/^\d+:\d+/, ""), ": error: the values are nested too deeply");
});

Deno.test("loadWorkflow() reads values that are nested a few hundred levels deep", async () => {
  const nested = "[".repeat(400) + "]".repeat(400);
  assertEquals(await explainText(`${JOB}vars: {a: ${nested}}`), "");
});

function chain(length: number, last: string): string {
  const jobs = Array.from({ length }, (_, index) => {
    const need = index + 1 < length ? `j${index + 1}` : last;
    return `- {name: j, id: j${index}, needs: [${need}], steps: [{uses: hello}]}`;
  });
  return `name: x\njobs:\n${jobs.join("\n")}\n`;
}

Deno.test("loadWorkflow() follows a chain of 10,000 jobs", async () => {
  const { workflow } = await loadText(chain(10_000, ""));
  assertEquals(workflow.jobs.length, 10_000);
});

Deno.test("loadWorkflow() reports a dependency cycle of 10,000 jobs briefly", async () => {
  assertEquals(await describeText(chain(10_000, "j0")), [
    "3:29: error: dependency cycle: " +
    "j0 → j1 → j2 → j3 → j4 → j5 → … → j9994 → j9995 → j9996 → j9997 → j9998 → j9999 → j0",
  ]);
});

Deno.test("loadWorkflow() reports the first of many thousand errors, in order", async () => {
  const steps = Array.from(
    { length: 5_000 },
    (_, index) => `  - uses: hello\n    test: foo${index} == 1\n`,
  );
  const text = await explainText(`name: x\njobs:\n- name: a\n  steps:\n${steps.join("")}`);
  const reported = text.split("\n").filter((line) => line.includes(": error: "));
  assertEquals(reported.length, 300);
  assertEquals(reported[299], 'flow.yml:604:11: error: unknown name "foo299" in a step');
  assertEquals(text.split("\n").at(-1), "error: at least 4700 more problems are not shown");
  assertEquals(text.split("\n")[0], "workflow file 'flow.yml' has 5000 errors");
});

Deno.test("loadWorkflow() is not misled by names of Object.prototype", async () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
  for (const name of names) {
    const yaml = `name: x
vars: {${name}: 1, deep: {${name}: {a: 1}}}
${name}: 1
jobs:
- name: a
  id: ${name}
  ${name}: 1
  defaults: {hello: {${name}: {b: 1}}}
  steps:
  - uses: hello
    ${name}: 1
    with: {${name}: {c: 1}}
  - uses: ${name}
- name: b
  needs: [${name}]
  steps: [{uses: hello, test: ${name} == 1}]
`;
    assertEquals(await describeText(yaml), [
      `3:1: warning: unknown key "${name}" in the workflow`,
      `7:3: warning: unknown key "${name}" in a job`,
      `11:5: warning: unknown key "${name}" in a step`,
      `13:11: error: unknown action "${name}"`,
      `16:31: error: unknown name "${name}" in a step`,
    ]);
  }
  assertEquals(({} as Record<string, unknown>).a, undefined);
});
