import { assertEquals, assertStringIncludes } from "@std/assert";
import { type LibraryProgram, withProgram } from "../support/run/run_program.ts";

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
