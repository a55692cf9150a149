import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../support/assert_no_trace.ts";
import type { CliResult } from "../support/run/run_cli.ts";
import { runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";
import { assertPassed } from "../support/assert_passed.ts";

const JOBS = "jobs: [{name: a, steps: [{uses: hello}]}]\n";

/** A step that prints the peak memory of the program, in kilobytes. */
const PEAK = `
  - name: peak
    id: peak
    uses: shell
    with:
      cmd: awk '/VmHWM/ {print $2}' /proc/$PPID/status
    outputs: {kilobytes: int(trim(res.stdout))}
    echo: "peak {{ outputs.kilobytes }} kB"
`;

async function run(yaml: string): Promise<CliResult> {
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runCli(["w.yml"], { cwd }));
  assertNoTrace(result);
  return result;
}

/** Runs a job with these steps; on Linux it must not have taken more than so many megabytes. */
async function runWithin(megabytes: number, steps: string): Promise<CliResult> {
  const isLinux = Deno.build.os === "linux";
  const result = await run(`name: n\njobs:\n- name: j\n  steps:\n${steps}${isLinux ? PEAK : ""}`);
  if (!isLinux) return result;
  const peak = Number(/peak (\d+) kB/.exec(result.stdout)?.[1]);
  assert(peak > 0 && peak < megabytes * 1024, `${peak} kB at most`);
  return result;
}

async function refuse(yaml: string, shown: string): Promise<void> {
  const { code, stdout, stderr } = await run(yaml);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, shown);
}

Deno.test("values that are nested 20,000 levels deep are refused", async () => {
  const shown = "error: the values are nested too deeply";
  await refuse(`name: n\nvars: {a: ${"[".repeat(20_000)}${"]".repeat(20_000)}}\n${JOBS}`, shown);
  await refuse(`name: n\nvars: ${"{a: ".repeat(20_000)}1${"}".repeat(20_000)}\n${JOBS}`, shown);
  await refuse(`name: n\nvars:\n  ${"- ".repeat(20_000)}1\n${JOBS}`, shown);
});

Deno.test("a file of 50 MB is read, and its mistakes are found", async () => {
  const text = `vars:\n  text: "${"word ".repeat(10_000_000)}"\n`;
  const { code, stdout } = await run(`name: n\n${text}${JOBS}`);
  assertEquals(code, 0);
  assertPassed(stdout);
  await refuse(
    `name: n\n${text}jobs:\n\t- name: a\n`,
    "w.yml:5:1: error: a tab in the indentation",
  );
});

Deno.test("expressions that would take forever or all memory fail their steps alone", async () => {
  const text = "this makes a text longer than 1000000 characters";
  const list = "this makes a list of more than 1000000 items";
  const work = "evaluation limit exceeded (10000000 steps)";
  const cases: readonly (readonly [test: string, shown?: string])[] = [
    ['!(repeat("a", 100000) + "b" matches "^(a+)+$")'],
    ['!(repeat("a", 100000) + "b" matches vars.pattern)'],
    ["len(1..1e12) > 0", list],
    ["any(1..10000, any(1..10000, # == -1))", work],
    ['len(repeat("x", 1000000000000)) > 0', text],
    ['len(repeat(repeat("x", 100000), 100000)) > 0', text],
    ['replace(repeat("a", 100000), "a", repeat("b", 100000)) == ""', text],
    ['len(join(map(1..100000, repeat("x", 10000)), "")) > 0'],
    ["len(toJSON(map(1..100000, 1..100))) > 0"],
  ];
  const steps = cases.map(([test]) =>
    `  - uses: hello\n    vars: {pattern: "^(a+)+$"}\n    test: |\n      ${test}\n`
  );
  const long = `  - uses: hello\n    with: {a: '{{ repeat("x", 1000000000) }}'}\n`;
  const { code, stdout } = await runWithin(600, steps.join("") + long);
  assertEquals(code, 1);
  const states = [...stdout.matchAll(/^ +\d+\. ([✓✗○])/gm)].map(([, state]) => state).join("");
  assertEquals(states.slice(0, 2) + states.slice(-1), "✓✓○");
  assertEquals(states.slice(2, -1), "✗".repeat(cases.length - 2 + 1));
  for (const shown of [text, list, work]) {
    const wanted = cases.filter(([, message]) => message === shown).length;
    assert(stdout.split(shown).length - 1 >= wanted, `${shown} is reported too seldom`);
  }
});

Deno.test("commands that print without end, fork or do not listen leave nothing behind", async () => {
  const { code, stdout } = await runWithin(
    300,
    `  - name: loud
    uses: shell
    with: {cmd: "head -c 100000000 /dev/zero | tr '\\\\0' x"}
    test: res.code == 0 && res.stdout_bytes == 100000000 && res.truncated
  - name: endless
    uses: shell
    timeout: 500ms
    with: {cmd: "yes"}
  - name: stubborn
    uses: shell
    timeout: 300ms
    with: {cmd: "trap '' TERM; while :; do sleep 1; done"}
  - name: fork
    uses: shell
    with: {cmd: "sleep 1000 & echo $!"}
    test: int(trim(res.stdout)) > 0
  - name: next
    uses: hello
    test: "true"
`,
  );
  assertEquals(code, 1);
  const line = (name: string) =>
    stdout.split("\n").find((line) => / [✓✗] /.test(line) && line.includes(` ${name}`))
      ?.replace(/ \(.*/, "");
  assertEquals(
    ["loud", "endless", "stubborn", "fork", "next"].map((name) => line(name)?.trim()),
    ["1. ✓ loud", "2. ✗ endless", "3. ✗ stubborn", "4. ✓ fork", "5. ✓ next"],
  );
  assertStringIncludes(stdout, "timed out after 500ms");
  assertStringIncludes(stdout, "timed out after 300ms");
});
