import { assertEquals } from "@std/assert";
import { describeText, explainText } from "../../support/load_files.ts";

const JOBS = "\njobs: [{name: a, steps: [{uses: hello}]}]\n";

Deno.test("loadWorkflow() warns of a number that its leading zero makes another one", async () => {
  assertEquals(
    await explainText(`name: x\nvars:\n  zip: 01234 # in Massachusetts${JOBS}`),
    `flow.yml:3:8: warning: 01234 is read as 668
  3 |   zip: 01234 # in Massachusetts
    |        ^^^^^ put it in quotes for text, or leave out the zero`,
  );
});

Deno.test("loadWorkflow() finds leading zeros everywhere", async () => {
  const rows: [vars: string, reported: string[]][] = [
    ["{a: 010}", ["2:11: warning: 010 is read as 8"]],
    ["{a: [1,007]}", ["2:14: warning: 007 is read as 7"]],
    ["{a: [&b -010, *b]}", ["2:15: warning: -010 is read as -8"]],
    ["{a: 0o10}", []],
    ["{a: 0x10, b: 0, c: 10, d: 0.5, e: 1_0}", []],
    ["{a: '010', b: \"01234\", c: see 010 there}", []],
    ["{a: 09, b: 2024-01-02}", []],
  ];
  for (const [vars, reported] of rows) {
    assertEquals(await describeText(`name: x\nvars: ${vars}${JOBS}`), reported, vars);
  }
});
