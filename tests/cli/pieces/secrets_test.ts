import { assertEquals, assertStringIncludes } from "@std/assert";
import { withRun } from "../../support/run/prepared_run.ts";
import { runHere } from "../../support/run/run_main.ts";
import { RUNNER_KEY } from "../../support/run/run_pieces.ts";

Deno.test("secret outputs need the key that all pieces have", async () => {
  await withRun(async ({ cwd, piece }) => {
    assertStringIncludes(
      await piece("first", "--only", "first"),
      "secret outputs cannot be written to a file as plain text: a.api_token\n  set RUNNER_KEY",
    );
    assertEquals([...Deno.readDirSync(`${cwd}/R/first`)].map(({ name }) => name), [
      "events.ndjson",
    ]);
  }, {} as { RUNNER_KEY: string });
  await withRun(async ({ cwd, piece }) => {
    await piece("first", "--only", "first", "--only", "load");
    const last = ["flow.yml", "--run", "R/run.json", "--only", "last", "--inputs", "R"];
    const said = async (env: Record<string, string>) => (await runHere(last, { cwd, env })).stderr;
    assertEquals(
      await said({}),
      "runner: error: 'R/first/outputs.json' has sealed values, and RUNNER_KEY is not set\n" +
        "  set it to the value that it had where the file was made\n",
    );
    assertStringIncludes(
      await said({ RUNNER_KEY: RUNNER_KEY.replace("0", "9") }),
      "the sealed values of 'R/first/outputs.json' cannot be opened",
    );
    assertStringIncludes(await said({ RUNNER_KEY: "short" }), "RUNNER_KEY is too short");
    // The values of one piece do not open as those of another.
    const text = Deno.readTextFileSync(`${cwd}/R/first/outputs.json`);
    Deno.writeTextFileSync(
      `${cwd}/R/first/outputs.json`,
      text.replace('"run": "r1",', '"run": "r1",\n "part": { "index": 1, "of": 1 },').replace(
        '"load":',
        '"other":',
      ),
    );
    assertStringIncludes(await said({ RUNNER_KEY }), "cannot be opened");
  });
});

Deno.test("values that only an expression marks as secret stay hidden in every piece", async () => {
  const flow = `name: Flow
vars: { plain: "{{secret('hunter2-value')}}" }
jobs:
  - name: "First {{vars.plain}}"
    id: first
    steps:
      - { id: a, name: a, uses: hello, outputs: { mark: "secret('other-value')", again: vars.plain } }
  - name: Second
    id: second
    needs: [first]
    steps:
      - { name: b, uses: echo, with: { message: "{{outputs.a.mark}} {{vars.plain}}" }, test: "false" }
`;
  await withRun(async ({ cwd, run, piece }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json");
    await piece("first", "--only", "first");
    await piece("last", "--only", "second");
    const events = Deno.readTextFileSync(`${cwd}/R/last/events.ndjson`);
    assertStringIncludes(events, "*** ***");
    for (const name of ["run.json", "first/outputs.json", "last/events.ndjson"]) {
      const text = Deno.readTextFileSync(`${cwd}/R/${name}`);
      assertEquals(/hunter2-value|other-value/.exec(text.replace(flow, "")), null, name);
    }
  });
});

Deno.test("an expect that is false when parts are merged shows no secret", async () => {
  const flow = `name: F
vars: { api_token: tok-abcdefgh, plain: "{{secret('hunter2-value')}}" }
jobs:
  - name: Load
    id: load
    repeat: { count: 2, async: true, expect: [vars.api_token == nil, vars.plain == nil] }
    steps: [{ uses: hello }]
`;
  await withRun(async ({ cwd, run, piece, merge }) => {
    Deno.writeTextFileSync(`${cwd}/flow.yml`, flow);
    await run("prepare", "flow.yml", "--out", "R/run.json", "--id", "r1");
    await piece("load1", "--only", "load", "--rounds", "1/2");
    await piece("load2", "--only", "load", "--rounds", "2/2");
    const merged = await merge();
    assertStringIncludes(merged, "expect is false: vars.api_token is ***");
    assertStringIncludes(merged, "expect is false: vars.plain is ***");
  });
});
