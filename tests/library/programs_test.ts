import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import {
  loadWorkflow,
  makePlan,
  makeReport,
  type ReportName,
  type ReportOptions,
  run,
  type RunOptions,
} from "../../mod.ts";
import { FILE_FORMATS } from "../../src/report/files/registry.ts";
import { runMain } from "../support/run/run_main.ts";
import { type LibraryProgram, withProgram } from "../support/run/run_program.ts";
import { withFiles } from "../support/temp_dir.ts";

const FLOW = `
name: Shop
vars: { stage: "{{STAGE ?? 'dev'}}" }
jobs:
  - name: build
    id: build
    steps:
      - { name: make, uses: shell, with: { cmd: "echo made" }, test: res.code == 0 }
  - name: deploy
    id: deploy
    needs: [build]
    steps:
      - { name: say, uses: echo, with: { message: "{{vars.stage}}" }, test: 'res.message == "prod"' }
`;

const JUNIT = `
import { loadWorkflow, makePlan, makeReport, run } from "@runner/runner";

const plan = await makePlan(await loadWorkflow("flow.yml"), { environment: { STAGE: "test" } });
const report = await makeReport("junit");
let xml = "";
const running = run(plan, { detailed: true, onEvent: (event) => xml += report(event) });
Deno.exitCode = await running.passed ? 0 : 1;
await Deno.writeTextFile("junit.xml", xml);
`;

const GRAPH = `
import { LoadError, loadWorkflow, makePlan } from "@runner/runner";

try {
  const plan = await makePlan(await loadWorkflow(Deno.args[0] ?? "flow.yml"));
  for (const { id, needs } of plan.jobs) console.log(id, "<-", needs.join(" "));
} catch (error) {
  if (!(error instanceof LoadError)) throw error;
  console.log(error.message);
}
`;

const EXPRESSIONS = `
import { evaluateExpression, ExpressionError, renderTemplate } from "@runner/runner";

const names = { prices: [4.5, 12], limit: 5, who: "ann" };
console.log(evaluateExpression("filter(prices, # > limit)", names));
console.log(evaluateExpression('who matches "^a"', names), renderTemplate("hi {{who}}", names));
for (const wrong of ["1 +", "nobody.name", "who.toUpperCase()"]) {
  try {
    evaluateExpression(wrong, names, { strict: true });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, hint = "", start, end } = error;
    console.log([message, hint, wrong.slice(start, end)].join(" | "));
  }
}
`;

/** Programs that use only what the documentation describes. */
function programTest(
  name: string,
  program: LibraryProgram,
  code: number,
  output: string,
  look: (directory: string) => Promise<void> = () => Promise.resolve(),
): void {
  Deno.test(name, () =>
    withProgram(program, async (end, directory) => {
      assertEquals([end.stderr, end.stdout, end.code], ["", output, code]);
      await look(directory);
    }));
}

programTest(
  "a program runs a workflow and writes JUnit",
  { program: JUNIT, files: { "flow.yml": FLOW } },
  1,
  "",
  async (directory) => {
    const xml = await Deno.readTextFile(`${directory}/junit.xml`);
    assertStringIncludes(xml, '<testsuites name="Shop" tests="2" failures="1"');
  },
);

programTest(
  "a program prints the graph of a plan, and may do no more than read",
  {
    program: GRAPH,
    files: { "flow.yml": FLOW },
    options: ["--allow-read", "--allow-env", "--no-prompt"],
  },
  0,
  "build <- \ndeploy <- build\n",
);

programTest(
  "a program prints what is wrong with a workflow",
  { program: GRAPH, files: { "flow.yml": FLOW.replace("[build]", "[biuld]") } },
  0,
  `workflow file 'flow.yml' has 1 error
flow.yml:11:13: error: unknown job "biuld" in needs of "deploy"
  11 |     needs: [biuld]
     |             ^^^^^ did you mean "build"?
`,
);

programTest(
  "a program evaluates expressions without any permission",
  { program: EXPRESSIONS, options: ["--no-prompt"] },
  0,
  `[ 12 ]
true hi ann
unexpected end of the expression, expected a value |  | 
unknown name "nobody" | there is "prices", "limit", "who" | nobody
values have no methods | use upper(text) | toUpperCase()
`,
);

const WORKFLOW = `
name: Library
jobs:
  - name: say
    id: say
    steps:
      - { uses: echo, with: { message: hello }, test: res.message == "hello" }
      - { name: wrong, uses: hello, test: status == 1 }
  - name: after
    needs: [say]
    steps:
      - { uses: hello }
`;

/** The text of a report of the workflow. */
function reportAs(name: ReportName, look: ReportOptions = {}, how: RunOptions = {}) {
  return withFiles({ "w.yml": WORKFLOW }, async (directory) => {
    const plan = await makePlan(await loadWorkflow(`${directory}/w.yml`), { environment: {} });
    const add = await makeReport(name, look);
    let text = "";
    for await (const event of run(plan, how)) text += add(event);
    return text.replaceAll(`${directory}/`, "");
  });
}

/** Returns the output of the command line for the same run. */
async function printed(...options: string[]) {
  return await withFiles({ "w.yml": WORKFLOW }, (directory) => {
    return runMain(["--no-color", ...options, "w.yml"], { cwd: directory });
  });
}

/** Without what is another in each run: times, also of slow steps, and lines in an order of times. */
function steady(text: string): string[] {
  const timeless = text.replace(/\d+(\.\d+)?(s|ms|µs)\b|\d+:\d\d:\d\d(\.\d+)?/g, "0");
  return timeless.replaceAll(" (0)", "").replace(/[ \t]+/g, " ").split("\n").sort();
}

const FORMS: readonly {
  readonly name: ReportName;
  readonly look?: ReportOptions;
  readonly how?: RunOptions;
  readonly options: readonly string[];
}[] = [
  { name: "text", options: [] },
  { name: "text", look: { timing: true }, options: ["--timing"] },
  { name: "quiet", options: ["--quiet"] },
  { name: "quiet", look: { timing: true }, options: ["--quiet", "--timing"] },
  { name: "verbose", how: { debug: true }, options: ["--verbose"] },
];

for (const { name, look, how, options } of FORMS) {
  const title = [name, ...Object.keys(look ?? {})].join(" and ");
  Deno.test(`the report ${title} is that of the command line`, async () => {
    const { stdout, stderr } = await printed(...options);
    const wanted = name === "verbose" ? stderr : stdout;
    assertStringIncludes(wanted, "wrong");
    assertEquals(steady(await reportAs(name, look, how)), steady(wanted));
  });
}

const BEGINNINGS: Readonly<Partial<Record<ReportName, string>>> = {
  junit: "<?xml",
  tap: "TAP version 14",
  json: '{\n  "',
  ndjson: '{"type":"run_started"',
  ctrf: '{"reportFormat":"CTRF"',
  markdown: "## ❌ ",
  html: "<!doctype html>",
  prometheus: "# HELP runner_run_passed ",
  github: "::stop-commands::",
  "github-summary": "## ❌ ",
  warnings: "",
  coverage: '{\n  "schema": "runner-coverage/1"',
};

for (
  const name of [...FILE_FORMATS.map(({ name }) => name), "github-summary", "warnings"] as const
) {
  Deno.test(`makeReport() makes the report ${name}`, async () => {
    const text = await reportAs(name, {}, { detailed: true });
    const beginning = BEGINNINGS[name];
    assert(beginning !== undefined);
    assertEquals(text.slice(0, beginning.length), beginning);
    assertEquals(text.includes("wrong"), name !== "warnings" && name !== "coverage");
  });
}

Deno.test("a report of an unknown name is refused", async () => {
  const name = "xml" as ReportName;
  await assertRejects(() => makeReport(name), TypeError, 'there is no report "xml"');
});

Deno.test("a report has colours and a width on request", async () => {
  assertStringIncludes(await reportAs("text", { colour: true }), "\x1b[");
  const narrow = await reportAs("quiet", { columns: 40 });
  for (const line of narrow.split("\n").slice(0, -2)) assert(line.length <= 40, line);
});

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier?: string };
    readonly isDynamic?: boolean;
  }[];
}

/** Returns the modules that are loaded when a program imports the library, by path. */
async function loadedAtOnce(): Promise<string[]> {
  const root = new URL("../../", import.meta.url).href;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "mod.ts"],
    cwd: fromFileUrl(root),
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: Module[] };
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const loaded = new Set([`${root}mod.ts`]);
  // A set that grows is walked to its end.
  for (const specifier of loaded) {
    for (const { code, isDynamic } of known.get(specifier)?.dependencies ?? []) {
      if (code?.specifier !== undefined && !isDynamic) loaded.add(code.specifier);
    }
  }
  return [...loaded].map((specifier) => specifier.replace(root, ""));
}

Deno.test("a program that only evaluates expressions does not load the code that runs workflows", async () => {
  const loaded = await loadedAtOnce();
  assert(loaded.includes("src/expr/evaluate_expression.ts"), loaded.join("\n"));
  // `action()`, which plugins are made with, is exported.
  const layers = /^src\/(host|actions|workflow|plan|run|report|cli)\//;
  assertEquals(loaded.filter((path) => layers.test(path)), []);
});
