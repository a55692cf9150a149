import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Given, type RunEvent, RunnerError } from "../../mod.ts";
import {
  loadWorkflow,
  makePlan,
  makeReport,
  mergeEvents,
  prepareRun,
  readEvents,
  run,
} from "../../mod.ts";
import { runHere } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const FLOW = `name: Flow
vars: { api_token: abcdefghij }
jobs:
  - { name: First, id: first, steps: [{ name: a, uses: hello, test: true }] }
  - { name: Second, id: second, needs: [first], steps: [{ name: b, uses: hello, test: true }] }
`;

const KEY = "0123456789abcdef0123456789abcdef";

Deno.test("prepareRun() and mergeEvents() are the two ends of a run on several machines", async () => {
  await withFiles({ "flow.yml": FLOW }, async (cwd) => {
    const plan = await makePlan(await loadWorkflow(`${cwd}/flow.yml`), { environment: {} });
    await assertRejects(
      () => prepareRun(plan),
      RunnerError,
      "secret vars cannot be written to a file as plain text: api_token",
    );
    const runFile = await prepareRun(plan, { id: "r1", key: KEY });
    assertEquals(runFile.includes("abcdefghij"), false);
    await Deno.writeTextFile(`${cwd}/run.json`, runFile);
    const { code, stderr } = await runHere([
      ...["flow.yml", "--run", "run.json", "--only", "first"],
      ...["--report", "ndjson=first.ndjson"],
    ], { cwd, env: { RUNNER_KEY: KEY } });
    assertEquals([code, stderr], [0, ""]);
    const first = await readEvents(await Deno.readTextFile(`${cwd}/first.ndjson`));
    const report = await makeReport("text");
    const text = (await mergeEvents([first], runFile)).map((event) => report(event)).join("");
    assertStringIncludes(text, "no piece of this job came back");
    assertStringIncludes(text, "1 job failed");
  });
});

Deno.test("run() with a run file runs one of several processes", async () => {
  const flow = `name: Flow
vars: { mark: "{{random_str(8)}}" }
jobs:
  - name: First
    id: first
    steps:
      - { id: a, name: a, uses: echo, with: { message: "{{vars.mark}}" }, outputs: { token: res.message } }
  - name: Second
    id: second
    needs: [first]
    steps: [{ name: b, uses: hello, test: outputs.a.token == vars.mark }]
finally:
  - { name: ends, uses: echo, with: { message: "{{run.state}}" }, test: res.message == "passed" }
`;
  await withFiles({ "flow.yml": flow }, async (cwd) => {
    const load = async () =>
      await makePlan(await loadWorkflow(`${cwd}/flow.yml`), { environment: {} });
    const runFile = await prepareRun(await load(), { key: KEY });
    const inputs: string[] = [];
    const parts: RunEvent[][] = [];
    for (const choice of [{ only: ["first"] }, { only: ["second"] }, { finally: true }]) {
      const events: RunEvent[] = [];
      const outputs: string[] = [];
      // Each process makes a plan of its own, with other random values.
      const running = run(await load(), {
        given: { ...choice, runFile, key: KEY, inputs, onOutputs: (text) => outputs.push(text) },
        onEvent: (event) => events.push(event),
      });
      assertEquals(await running.passed, true);
      inputs.push(...outputs);
      parts.push(events);
    }
    assertEquals(JSON.parse(inputs[0]!).outputs.a, { token: null });
    const end = (await mergeEvents(parts, runFile)).at(-1);
    assertEquals(end?.type === "run_finished" && end.state, "passed");
    const refused: readonly (readonly [Given, string])[] = [
      [{ runFile, key: KEY }, "given.only names no job"],
      [{ runFile, key: KEY, only: ["second"] }, 'no --inputs say what became of the job "first"'],
      [{ runFile, only: ["second"], inputs }, "RUNNER_KEY is not set"],
      [{ runFile: "{}", only: ["second"] }, "'the run file' is not a valid run file"],
    ];
    for (const [given, message] of refused) {
      await assertRejects(
        () => load().then((plan) => run(plan, { given }).passed),
        RunnerError,
        message,
      );
    }
  });
});
