import { printableLine, toAscii } from "../../base/text/printable.ts";
import { UsageError } from "../../base/errors.ts";
import { renderAscii } from "../../dag/ascii_drawing.ts";
import { type Dag, type DagOfMany, makeDag, makeDagJson } from "../../dag/dag.ts";
import { dagTitle, renderMermaid, renderMermaidSuite } from "../../dag/mermaid.ts";
import type { Host } from "../../host/host.ts";
import { foldMatrices } from "../../plan/expand_matrices.ts";
import type { Plan } from "../../plan/plan.ts";
import { makeMasker } from "../../secrets/find_secrets.ts";
import { loadPlan, type PlanOptions } from "../../suite/load_plan.ts";
import { loadSuite } from "../../suite/load_suite.ts";
import { openOperands } from "../../suite/open_suite.ts";
import type { OpenSuite, SuiteMember } from "../../suite/suite.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { printWarnings } from "../messages.ts";
import { logLevel, usesAscii } from "../output_mode.ts";
import { makeNameMask } from "../run/render_plan.ts";
import { readVars } from "../run/read_vars.ts";

/** Prints the graph of the jobs of workflows, and runs nothing. */
export async function dagCommand(
  { switches, values, operands }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const columns = drawingColumns(values.get("width"), host);
  const level = logLevel(host.env, switches);
  const options: PlanOptions = {
    environment: host.env.all(),
    isOutline: true,
    warn: (found) => printWarnings(found, level, program),
  };
  const form = switches.has("json") ? "json" : switches.has("mermaid") ? "mermaid" : "drawing";
  const shownText = (text: string) =>
    usesAscii(host.env) && form === "drawing" ? toAscii(text) : text;
  const opened = await openOperands(operands, host);
  if ("suite" in opened) {
    await options.warn?.(opened.suite.warnings, "");
    const { name, workflows } = await readDags(
      opened.suite,
      options,
      program,
      form === "json",
    );
    const text = form === "json"
      ? jsonText({ name, workflows })
      : form === "mermaid"
      ? renderMermaidSuite({ workflows })
      : workflows.map((dag) => {
        const title = printableLine(`${dagTitle(dag)}  ${dag.file}`);
        return `${title}\n${renderAscii(dag, columns)}`;
      }).join("\n");
    host.stdout.write(shownText(text));
    return 0;
  }
  const plan = await loadPlan(opened.workflow, host, options);
  const dag = dagOf(plan, [options.environment], form === "json");
  const text = form === "json"
    ? jsonText(dag)
    : form === "mermaid"
    ? renderMermaid(dag)
    : renderAscii(dag, columns);
  host.stdout.write(shownText(text));
  return 0;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2) + "\n";
}

function dagOf(
  plan: Plan,
  secrets: readonly Readonly<Record<string, unknown>>[],
  isJson: boolean,
): Dag {
  const shown = isJson ? plan : foldMatrices(plan);
  const dag = makeDag(shown, makeNameMask(plan, makeMasker(secrets)));
  return isJson ? makeDagJson(dag, plan) as Dag : dag;
}

/** The graphs of several workflows. */
async function readDags(
  open: OpenSuite,
  options: PlanOptions,
  program: Program,
  isJson: boolean,
): Promise<{ name?: string; workflows: readonly DagOfMany[] }> {
  const { host, secrets } = program;
  const { environment } = await readVars({ lists: new Map() }, program, open.envFiles);
  const { suite } = await loadSuite(open, host, { ...options, environment });
  const workflows: DagOfMany[] = [];
  const add = (members: readonly SuiteMember[], role?: DagOfMany["role"]) => {
    for (const member of members) {
      const dag = dagOf(member.plan, [environment, ...secrets], isJson);
      workflows.push({ file: member.path, role, ...dag });
    }
  };
  add(suite.setup, "setup");
  add(suite.workflows);
  add(suite.teardown, "teardown");
  return { name: suite.name, workflows };
}

/** The requested width, else that of the terminal; a pipe has no width. */
function drawingColumns(width: string | undefined, { stdout, env }: Host): number {
  if (width !== undefined) {
    if (!/^[1-9]\d{0,5}$/.test(width)) {
      throw new UsageError(
        `option --width must be a number of columns, not "${width}"`,
        "a whole number from 1 to 999999, like 80",
      );
    }
    return Number(width);
  }
  if (stdout.isTerminal) return stdout.columns();
  const set = env.get("COLUMNS") ?? "";
  return /^[1-9]\d{0,5}$/.test(set) ? Number(set) : Infinity;
}
