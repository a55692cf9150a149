import { noteLines } from "./note_lines.ts";
import { printableEvent } from "./printable_event.ts";
import type { Reporter } from "./reporter.ts";
import { StepNames } from "./step_names.ts";
import type { Style } from "./style.ts";

/** The warnings of a run, for standard error. */
export function warningReport({ style }: { readonly style: Style }): Reporter {
  const names = new StepNames();
  return {
    report(event) {
      const safe = printableEvent(event);
      names.update(safe);
      if (safe.type !== "note" || safe.level !== "warning") return "";
      const about = safe.run ? names.step(safe.run) : "";
      return noteLines(safe, about, style).map((line) => `${line}\n`).join("");
    },
  };
}
