import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { LoadError, loadWorkflow, makePlan, type PlanOptions, run, UsageError } from "../../mod.ts";
import { withFiles } from "../support/temp_dir.ts";

const WORKFLOW = `
name: Release
vars: { stage: "{{STAGE ?? 'dev'}}", db: { host: local, port: 1 }, mark: "{{API_TOKEN ?? ''}}" }
jobs:
  - name: build
    id: build
    steps:
      - { uses: hello }
  - name: deploy
    id: deploy
    needs: [build]
    steps:
      - uses: echo
        with: { message: "{{vars.stage}} {{vars.db.host}}:{{vars.db.port}} {{vars.mark}}" }
        test: res.message == ""
  - name: clean up
    id: clean
    needs: [deploy]
    steps:
      - { uses: hello }
`;

function plan(options: PlanOptions) {
  return withFiles({ "w.yml": WORKFLOW }, async (directory) => {
    return await makePlan(await loadWorkflow(`${directory}/w.yml`), {
      environment: {},
      ...options,
    });
  });
}

Deno.test("loadWorkflow() and makePlan() describe what will run", async () => {
  const { workflow, vars, jobs, warnings } = await plan({ environment: { STAGE: "hi" } });
  assertEquals([workflow.name, workflow.warnings, warnings], ["Release", [], []]);
  assertEquals(vars, { stage: "hi", db: { host: "local", port: 1 }, mark: "" });
  assertEquals(jobs.map(({ id, needs }) => [id, needs]), [
    ["build", []],
    ["deploy", ["build"]],
    ["clean", ["deploy"]],
  ]);
  assertEquals(jobs[0]!.steps[0]!.place?.line, 8);
});

Deno.test("makePlan() selects jobs like the command line", async () => {
  const ids = async (options: PlanOptions) => (await plan(options)).jobs.map(({ id }) => id);
  assertEquals(await ids({ only: ["deploy"] }), ["build", "deploy"]);
  assertEquals(await ids({ only: ["deploy"], noNeeds: true }), ["deploy"]);
  assertEquals(await ids({ only: ["clean *"], noNeeds: true }), ["clean"]);
  const last = (await Array.fromAsync(run(await plan({ skip: ["deploy"] })))).at(-1);
  assert(last?.type === "run_finished");
  assertEquals(last.jobs, { passed: 2, failed: 0, skipped: 1 });
});

Deno.test("makePlan() refuses a selection without jobs, or of unknown jobs", async () => {
  const refused = (options: PlanOptions) => assertRejects(() => plan(options), UsageError);
  const misspelt = await refused({ skip: ["biuld"] });
  assertEquals(misspelt.message, 'skip: unknown job "biuld"');
  assertEquals(misspelt.hint, 'did you mean "build"?');
  assertEquals((await refused({ only: [] })).message, "only names no job");
  assertEquals((await refused({ noNeeds: true })).message, "noNeeds goes with only");
});

Deno.test("makePlan() sets vars, and copies them", async () => {
  const db = { host: "far" };
  const { vars } = await plan({ vars: { stage: "{{nothing", db } });
  db.host = "changed";
  assertEquals(vars, { stage: "{{nothing", db: { host: "far", port: 1 }, mark: "" });
});

Deno.test("makePlan() reports every var that the workflow does not define", async () => {
  const vars = { stgae: "prod", db: { hots: "x" } };
  const error = await assertRejects(() => plan({ vars }), LoadError);
  assertEquals(error.diagnostics.map(({ message }) => message), [
    'unknown variable "stgae"',
    'unknown variable "db.hots"',
  ]);
  assertStringIncludes(error.message, 'did you mean "stage"?');
});

Deno.test("secrets of a plan's environment are in no event", async () => {
  const environment = { API_TOKEN: "k9-quite-secret-k9" };
  const events = await Array.fromAsync(run(await plan({ environment }), { detailed: true }));
  const text = JSON.stringify(events);
  assert(!text.includes("quite-secret"), text);
  assertStringIncludes(text, "dev local:1 ***");
});
