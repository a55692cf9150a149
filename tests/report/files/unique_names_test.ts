import { assert, assertEquals } from "@std/assert";
import { readReports } from "../../support/programs/read_reports.ts";
import { runReports } from "../../support/run/run_reports.ts";

/** Names that are alike, or nothing at all, without what some formats have no place for. */
const STRANGE = [
  "a",
  "a\0",
  "a\x01",
  "a (2)",
  "b\ud800",
  "b\udc00",
  "b\ufffd",
  "c\ufffe",
  "c",
  "\x01",
  "\x02",
  "\uffff",
];

interface Element {
  readonly name: string;
  readonly classname: string;
  readonly testcase: readonly Element[];
}

Deno.test("names that differ only in characters XML forbids stay distinct and are never empty", async () => {
  const names = STRANGE.map((_, index) => `{{vars.names[${index}]}}`);
  const steps = names.map((name) => ({ name, uses: "hello", test: "true" }));
  const jobs = names.map((name) => ({ name, steps }));
  const { reports } = await runReports({
    "w.yml": JSON.stringify({ name: "n", vars: { names: STRANGE }, jobs })
      .replace(/[\ufffe\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`),
  });
  const { junit, tap } = await readReports({
    junit: [reports["junit.xml"]!],
    tap: [reports["report.tap"]!],
  });
  const [{ testsuite: suites }] = junit as [{ testsuite: readonly Element[] }];
  const inJunit = suites.flatMap(({ testcase }) => testcase);
  assertEquals(new Set(suites.map(({ name }) => name)).size, STRANGE.length);
  const whole = inJunit.map(({ classname, name }) => `${classname} › ${name}`);
  assertEquals(new Set(whole).size, STRANGE.length ** 2);
  // deno-lint-ignore no-explicit-any
  const inTap = (tap as any)[0].tests as readonly { name: string }[];
  for (const { name } of [...suites, ...inJunit, ...inTap]) assert(name.trim() !== "");
});

Deno.test("a name that comes out empty is the id of the job, and the action of the step", async () => {
  const { stdout, reports } = await runReports({
    "w.yml": `name: n
vars: { empty: "", blank: " " }
jobs:
  - { name: "{{vars.empty}}", steps: [{ name: "{{vars.empty}}", uses: hello }] }
  - { name: "{{vars.blank}}", id: second, steps: [{ name: "{{vars.blank}}", uses: hello }] }
`,
  });
  assertEquals(
    JSON.parse(reports["ctrf.json"]!).results.tests.map(({ name }: { name: string }) => name),
    ["job_0 › hello", "second › hello"],
  );
  assert(stdout.includes(" job_0 › hello\n"), stdout);
});
