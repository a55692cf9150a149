import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  loadWorkflow,
  makePlan,
  makeReport,
  mergeEvents,
  type PieceOptions,
  prepareRun,
  readEvents,
  run,
  type RunEvent,
  RunnerError,
} from "../../mod.ts";
import { runHere } from "../support/run/run_main.ts";
import { withProgram } from "../support/run/run_program.ts";
import { withFiles } from "../support/temp_dir.ts";

const flow = (name: string, test: string) =>
  `name: ${name}\njobs: [{ name: Job, tags: [${name}], steps: [{ uses: hello, test: ${test} }] }]\n`;
const FILES = {
  "f/a.yml": flow("a", "1 == 1"),
  "f/b.yml": flow("b", "1 == 2"),
  "f/c.yml": flow("c", "1 == 2"),
  "broken.yml": "name: [",
};

Deno.test("loadSuite() and runSuite() run the workflows of a directory", () =>
  withProgram({
    files: FILES,
    program: `
      import { loadSuite, makeReport, runSuite } from "@runner/runner";
      const suite = await loadSuite("f");
      console.log(suite.workflows.map(({ name }) => name).join(" "));
      const junit = await makeReport("junit");
      let xml = "";
      const running = runSuite(suite, { workers: 1 });
      for await (const event of running) {
        xml += junit(event);
        if (event.type === "suite_finished") console.log(JSON.stringify(event.workflows));
      }
      console.log(await running.passed, xml.match(/<testsuite /g)?.length);
      await loadSuite(["f", "broken.yml"]).catch((error) => console.log(error.name));
      const some = runSuite(await loadSuite(["f/a.yml", "f/b.yml"], { tags: "a" }));
      console.log(await some.passed);
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout.split("\n")], [0, "", [
      "a b c",
      '{"passed":1,"failed":2,"skipped":0}',
      "false 3",
      "LoadError",
      "true",
      "",
    ]]);
  }));

Deno.test("loadSuite() reads the env files of a suite file", () =>
  withProgram({
    files: {
      "a.yml": flow("a", "vars.x == '1 of file and 2 given'").replace("jobs:", "vars: {}\njobs:"),
      "suite.yml":
        'workflows: [a.yml]\nenv_file: .vars\nvars: { x: "{{ONE}} of file and {{TWO}} given" }\n',
      ".vars": "ONE=1\nTWO=1\n",
    },
    program: `
      import { loadSuite, runSuite } from "@runner/runner";
      const suite = await loadSuite("suite.yml", { environment: { TWO: "2" } });
      console.log(await runSuite(suite).passed);
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout], [0, "", "true\n"]);
  }));

Deno.test("runSuite() holds snapshots as run() does", () =>
  withProgram({
    files: {
      "a.yml": flow("a", "1 == 1").replace("test: 1 == 1", "id: s, snapshot: { of: vars.x }")
        .replace("jobs:", "vars: { x: 1 }\njobs:"),
    },
    env: { CI: "" },
    program: `
      import { loadSuite, runSuite } from "@runner/runner";
      const suite = await loadSuite("a.yml");
      console.log(await runSuite(suite, { snapshots: "check" }).passed);
      console.log(await runSuite(suite, { snapshots: "write" }).passed);
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout], [0, "", "false\ntrue\n"]);
  }));

Deno.test("readEvents() and mergeEvents() make one run of the shards", () =>
  withProgram({
    files: FILES,
    program: `
      import { loadSuite, makeReport, mergeEvents, readEvents, runSuite } from "@runner/runner";
      const shard = async (index: number) => {
        const report = await makeReport("ndjson");
        let text = "";
        const suite = await loadSuite("f", { shard: { index, of: 2 } });
        for await (const event of runSuite(suite)) text += report(event);
        return await readEvents(text);
      };
      const events = await mergeEvents([await shard(2), await shard(1)]);
      const last = events.at(-1);
      if (last?.type === "suite_finished") console.log(JSON.stringify(last.workflows));
      await mergeEvents([await shard(1)]).catch((error) => console.log(error.message));
    `,
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr, stdout], [
      0,
      "",
      '{"passed":1,"failed":2,"skipped":0}\nshard 2 of 2 is missing\n',
    ]);
  }));

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
    assertStringIncludes(text, "1 failed");
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
        piece: { ...choice, runFile, key: KEY, inputs, onOutputs: (text) => outputs.push(text) },
        onEvent: (event) => events.push(event),
      });
      assertEquals(await running.passed, true);
      inputs.push(...outputs);
      parts.push(events);
    }
    assertEquals(JSON.parse(inputs[0]!).outputs.a, { token: null });
    const end = (await mergeEvents(parts, runFile)).at(-1);
    assertEquals(end?.type === "run_finished" && end.state, "passed");
    const refused: readonly (readonly [PieceOptions, string])[] = [
      [{ runFile, key: KEY }, "piece.only names no job"],
      [{ runFile, key: KEY, only: ["second"] }, 'no --inputs say what became of the job "first"'],
      [{ runFile, only: ["second"], inputs }, "RUNNER_KEY is not set"],
      [{ runFile: "{}", only: ["second"] }, "'the run file' is not a valid run file"],
    ];
    for (const [options, message] of refused) {
      await assertRejects(
        () => load().then((plan) => run(plan, { piece: options }).passed),
        RunnerError,
        message,
      );
    }
  });
});
