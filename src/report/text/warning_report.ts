import { oneLine } from "../../base/text/printable.ts";
import type { Note, StepRun } from "../../run/event.ts";
import { runKey } from "../../run/step_trees.ts";
import { runLabel } from "../failed_parts.ts";
import type { RunRecord } from "../record.ts";
import type { Reporter, ReportOptions, Style } from "../reporter.ts";
import { suiteTitle } from "./layout.ts";
import { asText, indentLines } from "./lines.ts";

/** The options of the reports for standard error. */
export type DetailOptions = Pick<ReportOptions, "style" | "columns">;

/** The warnings of a run, for standard error. */
export function warningReport({ style }: DetailOptions): Reporter {
  return {
    report({ event, run }) {
      if (event.type !== "note" || event.level !== "warning" || !run) return "";
      const about = event.run ? stepName(run, event.run, event.name) : workflowName(run);
      return asText(noteLines(event, about, style));
    },
  };
}

/** A message of a run beside its results, with its subject. */
export function noteLines({ level, text }: Note, about: string, style: Style): string[] {
  const paint = level === "warning" ? style.yellow : style.dim;
  const [first = "", ...rest] = text.trimEnd().split("\n");
  return [
    `${paint(`${level}:`)} ${about === "" ? "" : `${about}: `}${first}`,
    ...indentLines(rest, 2),
  ];
}

/** The workflow if it is one of several; otherwise empty. */
function workflowName(run: RunRecord): string {
  return run.suite ? suiteTitle(run) : "";
}

/** `Build`. */
export function jobName(run: RunRecord, id: string): string {
  const name = oneLine(run.jobs.find((job) => job.id === id)?.name ?? id);
  return run.suite ? `${workflowName(run)} › ${name}` : name;
}

/** `Build › compile (repeat_index 2)`; steps of an embedded job follow the one that embeds it. */
export function stepName(
  run: RunRecord,
  step: StepRun,
  name = run.running.get(runKey(step))?.name ?? `step ${step.step + 1}`,
): string {
  const around = step.within ? stepName(run, step.within) : jobName(run, step.job);
  return `${around} › ${oneLine(name)}${runLabel(step)}`;
}
