import type { Note } from "../../run/event.ts";
import { printableLine } from "../../base/text/printable.ts";
import { printableEvent } from "../model/printable_event.ts";
import { StepNames } from "../model/step_names.ts";
import type { Reporter } from "../reporter.ts";
import type { Style } from "../style.ts";
import { indentLines } from "./text_lines.ts";

/** The warnings of a run, for standard error. */
export function warningReport({ style }: { readonly style: Style }): Reporter {
  const runs = new Map<string, StepNames>();
  return {
    report(event) {
      let names = runs.get(event.runId);
      if (!names) runs.set(event.runId, names = new StepNames());
      names.update(event);
      if (event.type === "run_finished") runs.delete(event.runId);
      if (event.type !== "note" || event.level !== "warning") return "";
      const safe = printableEvent(event);
      if (safe.type !== "note") return "";
      const about = printableLine(safe.run ? names.step(safe.run) : names.workflow);
      return noteLines(safe, about, style).map((line) => `${line}\n`).join("");
    },
  };
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
