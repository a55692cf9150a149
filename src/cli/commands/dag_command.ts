import { renderAscii } from "../../dag/ascii_drawing.ts";
import type { Dag, DagOfMany, SuiteDag } from "../../dag/dag.ts";
import { makeDagJson } from "../../dag/dag_json.ts";
import { makeDag } from "../../dag/make_dag.ts";
import type { Host } from "../../host/host.ts";
import { evaluateKnownVars } from "../../plan/evaluate_vars.ts";
import { makePlan } from "../../plan/make_plan.ts";
import { makeMasker } from "../../secrets/add_secrets.ts";
import type { SuiteFile } from "../../suite/suite.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { printableLine } from "../../base/text/printable.ts";
import { UsageError } from "../../base/errors.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import { usesAscii } from "../args/output_mode.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { makeNameMask } from "../messages/name_mask.ts";
import { logLevel, printWarnings } from "../messages/warnings.ts";

/** Prints the graph of a workflow's jobs, and runs nothing. */
export async function dagCommand(
  { switches, values, operands }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  if (switches.has("mermaid") && switches.has("json")) {
    throw new UsageError("options --mermaid and --json cannot be combined", "leave one out");
  }
  const columns = drawingColumns(values.get("width"), host);
  const level = await logLevel(host.env, switches);
  const warn = (found: readonly Diagnostic[]) => printWarnings(found, level, program);
  const { isSuiteOf } = await import("../../suite/open_suite.ts");
  if (await isSuiteOf(operands, host)) {
    const { suite, code } = await readSuiteDag(operands, program, warn, switches);
    host.stdout.write(await renderSuiteAs(switches, suite, columns, usesAscii(host.env)));
    return code;
  }
  const { workflow, warnings } = await loadWorkflow(operands[0]!, host);
  await warn(warnings);
  const plan = await makePlan(workflow, host.env.all(), evaluateKnownVars);
  await warn(plan.warnings);
  const dag = makeDag(plan, makeNameMask(plan, makeMasker([host.env.all()])));
  const json = switches.has("json") ? await makeDagJson(dag, plan) : undefined;
  const text = json && JSON.stringify(json, null, 2) + "\n";
  host.stdout.write(text ?? await renderAs(switches, dag, columns, usesAscii(host.env)));
  return 0;
}

/** The graphs of several workflows; 1 where one of them cannot be loaded. */
async function readSuiteDag(
  operands: readonly string[],
  program: Program,
  warn: (found: readonly Diagnostic[]) => Promise<void>,
  switches: ReadonlySet<string>,
): Promise<{ suite: SuiteDag; code: ExitCode }> {
  const { openSuite } = await import("../../suite/open_suite.ts");
  const { planMembers } = await import("../../suite/plan_suite.ts");
  const { readInputs } = await import("../inputs/read_inputs.ts");
  const { explainError } = await import("../messages/explain_error.ts");
  const { host } = program;
  const open = await openSuite(operands, host);
  await warn(open.warnings);
  const lists = new Map([["env-file", open.envFiles]]);
  const { environment } = await readInputs({ lists }, program);
  const { name, setup, workflows, teardown } = await open.findFiles(environment);
  let code: ExitCode = 0;
  const dagsOf = async (
    files: readonly SuiteFile[],
    role?: DagOfMany["role"],
  ): Promise<DagOfMany[]> => {
    const members = await planMembers(files, host, {
      plan: (workflow) => makePlan(workflow, environment, evaluateKnownVars),
    });
    const dags: DagOfMany[] = [];
    for (const member of members) {
      if (member.kind === "refused") {
        host.stderr.write(explainError(member.refusal, host, program.secrets));
        code = 1;
        continue;
      }
      const { plan, path, warnings } = member;
      await warn(warnings);
      const dag = makeDag(plan, makeNameMask(plan, makeMasker([environment, ...program.secrets])));
      const shown = switches.has("json") ? await makeDagJson(dag, plan) as Dag : dag;
      dags.push({ file: path, ...role === undefined ? {} : { role }, ...shown });
    }
    return dags;
  };
  const dags = [
    ...await dagsOf(setup, "setup"),
    ...await dagsOf(workflows),
    ...await dagsOf(teardown, "teardown"),
  ];
  return { suite: { ...name === undefined ? {} : { name }, workflows: dags }, code };
}

async function renderSuiteAs(
  switches: ReadonlySet<string>,
  suite: SuiteDag,
  columns: number,
  isAscii: boolean,
): Promise<string> {
  if (switches.has("json")) return JSON.stringify(suite, null, 2) + "\n";
  const { renderMermaidSuite, dagTitle } = await import("../../dag/mermaid.ts");
  if (switches.has("mermaid")) return renderMermaidSuite(suite);
  const drawings = suite.workflows.map((dag) => {
    const title = printableLine(`${dagTitle(dag)}  ${dag.file}`);
    return `${title}\n${renderAscii(dag, columns)}`;
  });
  const text = drawings.join("\n");
  return isAscii ? (await import("../../base/text/ascii.ts")).toAscii(text) : text;
}

async function renderAs(
  switches: ReadonlySet<string>,
  dag: Dag,
  columns: number,
  isAscii: boolean,
): Promise<string> {
  if (!switches.has("mermaid")) {
    const drawing = renderAscii(dag, columns);
    return isAscii ? (await import("../../base/text/ascii.ts")).toAscii(drawing) : drawing;
  }
  const { renderMermaid } = await import("../../dag/mermaid.ts");
  return renderMermaid(dag);
}

/** The requested width, else that of the terminal; a pipe has no width. */
function drawingColumns(asked: string | undefined, { stdout, env }: Host): number {
  if (asked !== undefined) {
    if (!/^[1-9]\d{0,5}$/.test(asked)) {
      throw new UsageError(
        `option --width must be a number of columns, not "${asked}"`,
        "a whole number from 1 to 999999, like 80",
      );
    }
    return Number(asked);
  }
  if (stdout.isTerminal) return stdout.columns();
  const set = env.get("COLUMNS") ?? "";
  return /^[1-9]\d{0,5}$/.test(set) ? Number(set) : Infinity;
}
