import { renderAscii } from "../../dag/ascii.ts";
import type { Dag } from "../../dag/dag.ts";
import { makeDag } from "../../dag/make_dag.ts";
import type { Host } from "../../host/host.ts";
import { evaluateKnownVars } from "../../plan/evaluate_known.ts";
import { makePlan } from "../../plan/make_plan.ts";
import { makeMasker } from "../../run/mask/secrets.ts";
import { UsageError } from "../../source/errors.ts";
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
  const { workflow, warnings } = await loadWorkflow(operands[0]!, host);
  await printWarnings(warnings, level, program);
  const plan = await makePlan(workflow, host.env.all(), evaluateKnownVars);
  await printWarnings(plan.warnings, level, program);
  const dag = makeDag(plan, makeNameMask(plan, makeMasker([host.env.all()])));
  host.stdout.write(await renderAs(switches, dag, columns, usesAscii(host.env)));
  return 0;
}

async function renderAs(
  switches: ReadonlySet<string>,
  dag: Dag,
  columns: number,
  isAscii: boolean,
): Promise<string> {
  if (switches.has("json")) return JSON.stringify(dag, null, 2) + "\n";
  if (!switches.has("mermaid")) {
    const drawing = renderAscii(dag, columns);
    return isAscii ? (await import("../../source/ascii.ts")).toAscii(drawing) : drawing;
  }
  const { renderMermaid } = await import("../../dag/mermaid.ts");
  return renderMermaid(dag);
}

/** What was asked for, else the width of the terminal; a pipe has no bounds of its own. */
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
