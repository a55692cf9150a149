import type { Note, StepRun } from "../../run/event.ts";
import { printableLine } from "../../source/printable.ts";
import { printableEvent } from "../model/printable_event.ts";
import { suiteTitle } from "../model/step_names.ts";
import type { Reporter } from "../reporter.ts";
import type { Style } from "../style.ts";
import { indentLines } from "./text_lines.ts";

/** The warnings of a run, for standard error. They are rare: nothing is remembered for them. */
export function warningReport({ style }: { readonly style: Style }): Reporter {
  /** Of workflows that are some of several, by the ids of their runs. */
  const titles = new Map<string, string>();
  return {
    report(event) {
      if (event.type === "run_started" && event.suite) titles.set(event.runId, suiteTitle(event));
      if (event.type === "run_finished") titles.delete(event.runId);
      if (event.type !== "note" || event.level !== "warning") return "";
      const safe = printableEvent(event);
      if (safe.type !== "note") return "";
      const title = titles.get(safe.runId);
      const about = [
        ...title === undefined ? [] : [printableLine(title)],
        ...safe.run ? [stepNumber(safe.run)] : [],
      ].join(" › ");
      return noteLines(safe, about, style).map((line) => `${line}\n`).join("");
    },
  };
}

/** `build › step 2`. */
function stepNumber({ job, within, step }: StepRun): string {
  return `${within ? stepNumber(within) : job} › step ${step + 1}`;
}

/** A message of a run beside its results, with its subject. */
export function noteLines({ level, text }: Note, about: string, style: Style): string[] {
  const paint = level === "warning" ? style.yellow : style.dim;
  const [first = "", ...more] = text.trimEnd().split("\n");
  return [
    `${paint(`${level}:`)} ${about === "" ? "" : `${about}: `}${first}`,
    ...indentLines(more, 2),
  ];
}
