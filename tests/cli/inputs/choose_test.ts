import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runAt } from "../../support/run/run_at.ts";

/** A job that asks for the page of its id. */
const job = (id: string, needs = "", name = id) =>
  `  - name: ${name}\n    id: ${id}\n    needs: [${needs}]\n    steps:\n` +
  `      - {uses: http, with: {get: "{url}/${id}"}, test: res.code == 200}\n`;

const FLOW = "name: n\nvars: {env: prod}\njobs:\n" + job("build", "", "Build it") +
  job("unit", "build") + job("deploy-eu", "unit", "Deploy to {{vars.env}} (EU)") +
  job("deploy-us", "unit") + job("alone");

Deno.test("--only runs the selected jobs and their needs", async (test) => {
  const table: [args: string[], seen: string[]][] = [
    [["--only", "unit"], ["/build", "/unit"]],
    [["--only", "Build it"], ["/build"]],
    [["--only=Deploy to prod (EU)"], ["/build", "/unit", "/deploy-eu"]],
    [["--only", "Deploy to {{vars.env}} (EU)"], ["/build", "/unit", "/deploy-eu"]],
    [["--only", "deploy-*"], ["/build", "/unit", "/deploy-eu", "/deploy-us"]],
    [["--only", "deploy-?s"], ["/build", "/unit", "/deploy-us"]],
    [["--only", "deploy-[!u]*"], ["/build", "/unit", "/deploy-eu"]],
    [["--only", "Build*"], ["/build"]],
    [["--only", "alone", "--only", "build"], ["/alone", "/build"]],
    [["--only", "deploy-eu", "--no-needs"], ["/deploy-eu"]],
    [["--only", "deploy-eu", "--only", "build", "--no-needs"], ["/build", "/deploy-eu"]],
    [["--only", "unit", "--skip", "build"], ["/unit"]],
    [["--skip", "unit", "--skip", "alone"], ["/build", "/deploy-eu", "/deploy-us"]],
  ];
  for (const [args, seen] of table) {
    await test.step(args.join(" "), async () => {
      const run = await runAt(FLOW, args);
      assertEquals([run.code, [...run.seen].sort()], [0, [...seen].sort()], run.stderr);
    });
  }
});

Deno.test("jobs that are left out are in no line of the report but the last", async () => {
  const { stdout } = await runAt(FLOW, ["--only", "unit"]);
  for (const text of ["● Build it", "● unit"]) assertStringIncludes(stdout, text);
  for (const text of ["Deploy", "alone"]) assert(!stdout.includes(text), stdout);
  assertStringIncludes(stdout, "✓ All jobs succeeded (2 steps passed; 2 of 5 jobs selected)");
  const whole = await runAt(FLOW);
  assert(!whole.stdout.includes("chosen"));
});

Deno.test("a skipped job is reported as skipped, and the jobs that need it run", async () => {
  const { code, stdout, seen } = await runAt(FLOW, ["--skip", "un*"]);
  assertEquals([code, seen.includes("/unit"), seen.includes("/deploy-us")], [0, false, true]);
  assertStringIncludes(stdout, "- unit (skipped: --skip)");
  assertStringIncludes(stdout, "1 job skipped");
});

Deno.test("needs of a job run before it, also if jobs between them were left out", async () => {
  const get = (path: string) => `{uses: http, with: {get: "{url}/${path}"}, test: res.code == 200}`;
  const flow = `name: n
jobs:
  - {name: a, id: a, steps: [{uses: http, id: first, with: {get: "{url}/a"}, outputs: {code: res.code}}]}
  - {name: b, id: b, needs: [a], steps: [${get("b")}]}
  - {name: c, id: c, needs: [b, a], steps: [${get("c")}]}
  - {name: d, id: d, needs: [c, b], skipif: outputs.first.code != 200, steps: [${get("d")}]}
`;
  const { code, stdout, seen } = await runAt(flow, ["--only", "a", "--only", "d", "--no-needs"]);
  assertEquals([code, seen], [0, ["/a", "/d"]], stdout);
  const plan = await runAt(flow, ["--list", "--only", "a", "--only", "d", "--no-needs"]);
  assertEquals(plan.stdout, "a  a\n  first  http\nd  d  (needs a)\n  -  http\n");
});

Deno.test("a name that fits no job is an error, and nothing runs", async (test) => {
  const table: [args: string[], message: string, hint: string][] = [
    [["--only", "biuld"], 'option --only: unknown job "biuld"', 'did you mean "build"?'],
    [["--skip", "Build-it"], 'option --skip: unknown job "Build-it"', '"Build it"?'],
    [["--only", "zzz*"], 'option --only: unknown job "zzz*"', "the jobs are build, unit, dep"],
    [["--only", "[z-a]"], 'option --only: unknown job "[z-a]"', "the jobs are build"],
    [["--only", "build", "--skip", "nope"], 'option --skip: unknown job "nope"', "the jobs"],
    [["--skip", "*"], "option --skip leaves no job to run", "name fewer jobs"],
    [["--only", "unit", "--skip", "u*"], "options --only and --skip leave no job to run", "--skip"],
    [["--no-needs"], "option --no-needs requires --only", "name the jobs"],
    [["--skip", "unit", "--no-needs"], "option --no-needs requires --only", "name the jobs"],
    [["--only="], "option --only needs a value", "try runner --help"],
    [
      ["--only", "build,Build it"],
      'option --only: unknown job "build,Build it"',
      'give the option once for each: --only "build" --only "Build it"',
    ],
    [["--skip", "unit, nope"], 'option --skip: unknown job "unit, nope"', "the jobs are"],
  ];
  for (const [args, message, hint] of table) {
    await test.step(args.join(" "), async () => {
      const { code, stdout, stderr, seen } = await runAt(FLOW, args);
      assertEquals([code, stdout, seen], [1, "", []]);
      assertEquals(stderr.split("\n")[0], `runner: error: ${message}`);
      assertStringIncludes(stderr, hint);
    });
  }
});

Deno.test("an id is meant before a pattern that it also is", async () => {
  const flow = "name: n\njobs:\n" + job("a", "", '"x[1]"') + job("b", "", "x1");
  assertEquals((await runAt(flow, ["--only", "x[1]"])).seen, ["/a"]);
  assertEquals((await runAt(flow, ["--only", "x[12]"])).seen, ["/b"]);
});

const READS = `
name: n
jobs:
  - name: build
    id: build
    steps:
      - {uses: hello, id: made, outputs: {num: "'5'", unit-no: "'7'"}}
  - name: use
    id: use
    needs: [build]
    steps:
      - {uses: hello, test: outputs.made.num == "5"}
      - {uses: hello, test: outputs.num == "5"}
      - {uses: hello, with: {a: "v{{outputs['unit-no']}}"}}
      - {uses: hello, skipif: outputs.num}
      - {uses: hello, test: outputs.made?.other == "5"}
`;

Deno.test("a failure caused by a job that was not selected names the job", async () => {
  const { code, stdout } = await runAt(READS, ["--no-check", "--only", "use", "--no-needs"]);
  assertEquals(code, 1);
  const why = (name: string) =>
    `outputs.${name} comes from the job "build", which was not selected to run`;
  assertEquals(
    stdout.split("Failures\n")[0]!.split("\n").flatMap((line) =>
      /outputs\.\S+ comes from .*/.exec(line)?.[0] ?? []
    ),
    [why("made"), why("num"), why("unit-no"), why("num"), why("made")],
  );
  const skipped = await runAt(READS, ["--no-check", "--skip", "build"]);
  assertStringIncludes(
    skipped.stdout,
    'comes from the job "build", which was skipped because of --skip',
  );
  // An output that no job publishes is unrelated to the selection.
  const whole = await runAt(READS, ["--no-check"]);
  assertEquals([whole.code, whole.stdout.includes("comes from")], [1, false]);
});
