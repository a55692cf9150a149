import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { fromFileUrl } from "@std/path/from-file-url";
import {
  evaluateExpression,
  excerptOf,
  ExpressionError,
  LoadError,
  loadWorkflow,
  makePlan,
  type Permissions,
  type PlanOptions,
  renderDiagnostic,
  renderTemplate,
  run,
  RunnerError,
  UsageError,
} from "../../mod.ts";
import { withRig } from "../support/run/rig.ts";
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

const BROKEN = `name: Broken
jobs:
  - name: one
    needs: [tow]
    steps:
      - { uses: htttp }
`;

Deno.test("a LoadError has every mistake as data with its position, and as text", async () => {
  await withFiles({ "w.yml": BROKEN }, async (directory) => {
    const error = await assertRejects(() => loadWorkflow(`${directory}/w.yml`), LoadError);
    assert(error instanceof RunnerError && error instanceof Error);
    const places = error.diagnostics.map(({ span, severity }) => {
      const { line, column } = excerptOf(span!);
      return [severity, line, column];
    });
    assertEquals(places, [["error", 4, 13], ["error", 6, 17]]);
    const [, second] = error.diagnostics;
    assertEquals(
      error.message.replaceAll(`${directory}/`, ""),
      [
        "workflow file 'w.yml' has 2 errors",
        `w.yml:4:13: error: unknown job "tow" in needs of "one"
  4 |     needs: [tow]
    |             ^^^`,
        renderDiagnostic(second!).replaceAll(`${directory}/`, ""),
      ].join("\n"),
    );
    await assertRejects(() => loadWorkflow(`${directory}/none.yml`), LoadError, "not found");
  });
});

Deno.test("the message of a LoadError contains no secret that was given to a plan", async () => {
  const workflow = `name: x
vars: { address: "{{upper(MISSING)}} hunter-two-hunter" }
jobs: [{ name: x, steps: [{ uses: hello }] }]
`;
  await withFiles({ "w.yml": workflow }, async (directory) => {
    const loaded = await loadWorkflow(`${directory}/w.yml`);
    const environment = { DB_PASSWORD: "hunter-two-hunter" };
    const error = await assertRejects(
      () => makePlan(loaded, { environment }),
      LoadError,
      "w.yml:2:",
    );
    assert(error.message.includes("***"), error.message);
    assert(!error.message.includes("hunter"), error.message);
  });
});

Deno.test("the message of a LoadError contains no secret of the lines it shows", async () => {
  const workflow = `name: x
jobs:
  - name: x
    steps:
      - { uses: nope, with: { password: "swordfish-2719" } }
      - { uses: http, with: { get: "http://user:trout4711@x.test/", nope: 1 } }
`;
  await withFiles({ "w.yml": workflow }, async (directory) => {
    const { message } = await assertRejects(() => loadWorkflow(`${directory}/w.yml`), LoadError);
    assert(message.includes('{ password: "***" }'), message);
    assert(message.includes("http://user:***@x.test/"), message);
  });
});

Deno.test("loadWorkflow() takes the URL of a file", async () => {
  const yaml = "name: x\njobs: [{ name: x, steps: [{ uses: hello }] }]\n";
  await withFiles({ "a b.yml": yaml }, async (directory) => {
    const url = new URL("a%20b.yml", toFileUrl(`${directory}/`));
    assertEquals((await loadWorkflow(url)).file, fromFileUrl(url));
  });
  const page = new URL("https://example.com/flow.yml");
  await assertRejects(() => loadWorkflow(page), TypeError, "file");
});

Deno.test("an ExpressionError has its position in the text", () => {
  const text = "res.code == 20O";
  const error = assertThrows(() => evaluateExpression(text, {}), ExpressionError);
  assert(error instanceof RunnerError && error instanceof Error);
  const { message, start, end } = error;
  const span = { source: { name: "test", text }, start, end };
  const shown = renderDiagnostic({ severity: "error", code: "expression", message, span });
  assertEquals(shown.split("\n")[0], `test:1:${start + 1}: error: ${message}`);
  assertThrows(() => renderTemplate("{{ a + }}", {}), ExpressionError);
  assertThrows(() => renderTemplate("{{ a }}", {}, { strict: true }), ExpressionError);
});

Deno.test("objects that the library did not make are refused", async () => {
  const workflow = { name: "made up", file: "", warnings: [] };
  await assertRejects(() => makePlan(workflow), TypeError, "loadWorkflow()");
  const plan = { workflow, vars: {}, jobs: [], warnings: [] };
  assertThrows(() => run(plan), TypeError, "makePlan()");
});

const JOB = "name: inner\nsteps: [{ uses: hello }]\n";

/** Returns the states of the steps of a workflow that sends a request and runs a command. */
async function outcome(url: string, permissions: Permissions): Promise<string[]> {
  const workflow = `
name: Reaching
jobs:
  - name: reach
    steps:
      - { uses: http, with: { get: "${url}/page" } }
      - { uses: shell, with: { cmd: "exit 0" } }
`;
  return await withFiles({ "w.yml": workflow }, async (directory) => {
    const plan = await makePlan(await loadWorkflow(`${directory}/w.yml`, { permissions }));
    const reported: string[] = [];
    for await (const event of run(plan)) {
      if (event.type === "step_finished") {
        reported.push(event.result.failures[0]?.message.replace(/.*: /, "") ?? "carried out");
      }
    }
    return reported;
  });
}

Deno.test("permissions of a workflow restrict the actions of its runs", async () => {
  await withRig(async (rig) => {
    const { host, port } = new URL(rig.url);
    const refusedHost = `--allow-net does not name 127.0.0.1 port ${port}`;
    const refusedShell = '--allow-run does not name shell "/bin/sh"';
    assertEquals(await outcome(rig.url, { net: [host] }), ["carried out", refusedShell]);
    assertEquals(await outcome(rig.url, { net: [], run: ["/bin/sh"] }), [
      refusedHost,
      "carried out",
    ]);
    assertEquals(await outcome(rig.url, { run: ["/bin/sh"], noShell: true }), [
      "carried out",
      "--no-shell forbids it",
    ]);
    assertEquals(await outcome(rig.url, { noShell: false }), ["carried out", "carried out"]);
    assertEquals(rig.seen.length, 3);
  });
});

Deno.test("permissions restrict what is read while a workflow is loaded", async () => {
  const workflow = `
name: Embedding
jobs:
  - name: outer
    steps:
      - { uses: embedded, with: { path: "other/job.yml" } }
`;
  const files = { "in/w.yml": workflow, "in/other/job.yml": JOB };
  await withFiles(files, async (directory) => {
    const load = (read: readonly string[]) =>
      loadWorkflow(`${directory}/in/w.yml`, { permissions: { read } });
    const plan = await makePlan(await load([`${directory}/in`]));
    assertEquals(await run(plan).passed, true);
    await assertRejects(() => load([]), LoadError, "--allow-read does not name");
  });
});

Deno.test("loadWorkflow() refuses invalid permissions", async () => {
  const refused = (permissions: Permissions) =>
    assertRejects(() => loadWorkflow("none.yml", { permissions }), UsageError);
  const url = await refused({ net: ["https://example.com/"] });
  assertEquals(url.message, 'invalid value "https://example.com/" for permissions.net');
  assertEquals(url.hint, "write the host alone: example.com");
  assertEquals((await refused({ read: [""] })).message, 'invalid value "" for permissions.read');
});
