import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { LoadError, loadWorkflow, makePlan, makeReport, run, type RunEvent } from "../../mod.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withRig } from "../support/rig.ts";

const WORKFLOW = `
name: Library
vars: { greeting: "{{GREETING ?? 'hello'}}" }
jobs:
  - name: "say {{vars.greeting}}"
    id: say
    steps:
      - uses: echo
        with: { message: "{{vars.greeting}}" }
        test: res.message == "hello"
  - name: after
    needs: [say]
    steps:
      - uses: hello
`;

Deno.test("loadWorkflow() and makePlan() tell what is going to run", async () => {
  await withFiles({ "w.yml": WORKFLOW }, async (folder) => {
    const workflow = await loadWorkflow(`${folder}/w.yml`);
    assertEquals([workflow.name, workflow.warnings], ["Library", []]);
    const plan = await makePlan(workflow, { environment: { GREETING: "hi" } });
    assertEquals(plan.vars, { greeting: "hi" });
    assertEquals(plan.jobs.map(({ name, needs }) => [name, needs]), [
      ["say hi", []],
      ["after", ["say"]],
    ]);
    assertEquals(plan.jobs[0]!.steps[0]!.place?.line, 8);
  });
});

Deno.test("run() gives its events to a loop and to a function alike", async () => {
  await withFiles({ "w.yml": WORKFLOW }, async (folder) => {
    const plan = await makePlan(await loadWorkflow(`${folder}/w.yml`), { environment: {} });
    const heard: RunEvent[] = [];
    const running = run(plan, { onEvent: (event) => heard.push(event) });
    const read = await Array.fromAsync(running);
    assertEquals(await running.passed, true);
    assertEquals(read, heard);
    assertEquals([read[0]?.type, read.at(-1)?.type], ["run_started", "run_finished"]);
  });
});

Deno.test("run() tells that a test failed, and can be interrupted", async () => {
  await withRig(async (rig) => {
    const hanging = `
name: Hanging
jobs:
  - name: wait
    steps:
      - uses: http
        with: { get: "${rig.url}/hang" }
`;
    await withFiles({ "w.yml": WORKFLOW, "h.yml": hanging }, async (folder) => {
      const failing = await makePlan(await loadWorkflow(`${folder}/w.yml`), {
        environment: { GREETING: "hi" },
      });
      assertEquals(await run(failing).passed, false);
      const stop = new AbortController();
      const plan = await makePlan(await loadWorkflow(`${folder}/h.yml`));
      const running = run(plan, { signal: stop.signal });
      await rig.untilSeen("/hang");
      stop.abort("enough");
      assertEquals(await running.passed, false);
      const [last] = (await Array.fromAsync(running)).slice(-1);
      assertEquals(last?.type === "run_finished" && last.interrupted, "enough");
    });
  });
});

Deno.test("makeReport() makes every report of a run", async () => {
  await withFiles({ "w.yml": WORKFLOW }, async (folder) => {
    const plan = await makePlan(await loadWorkflow(`${folder}/w.yml`), { environment: {} });
    const names = [
      "text",
      "junit",
      "tap",
      "json",
      "ndjson",
      "ctrf",
      "markdown",
      "html",
      "github",
    ] as const;
    const reports = await Promise.all(names.map((name) => makeReport(name)));
    const texts = names.map(() => "");
    for await (const event of run(plan, { detailed: true })) {
      reports.forEach((report, at) => texts[at] += report(event));
    }
    const beginnings = texts.map((text) => text.slice(0, 5));
    assertEquals(beginnings, [
      "Libra",
      "<?xml",
      "TAP v",
      '{\n  "',
      '{"typ',
      '{"rep',
      "## ✅ ",
      "<!doc",
      "::sto",
    ]);
    assertEquals(JSON.parse(texts[3]!).state, "passed");
  });
});

Deno.test("the library refuses what is no good", async () => {
  await withFiles({ "w.yml": "name: x\njobs: {}\n" }, async (folder) => {
    const error = await assertRejects(() => loadWorkflow(`${folder}/w.yml`), LoadError);
    assertEquals(error.diagnostics[0]?.code, "type");
    await assertRejects(() => loadWorkflow(`${folder}/none.yml`), LoadError, "not found");
  });
  const workflow = { name: "made up", file: "", warnings: [] };
  await assertRejects(() => makePlan(workflow), TypeError, "loadWorkflow()");
  assertThrows(() => run({ workflow, vars: {}, jobs: [] }), TypeError, "makePlan()");
});
