import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  excerptOf,
  ExpressionError,
  LoadError,
  loadWorkflow,
  makePlan,
  renderDiagnostic,
  renderTemplate,
  run,
  RunnerError,
} from "../../mod.ts";
import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import { withFiles } from "../support/temp_dir.ts";

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
