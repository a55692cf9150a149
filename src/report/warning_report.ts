import { namedReport } from "./named_report.ts";
import { noteLines } from "./note_lines.ts";
import type { Reporter } from "./reporter.ts";
import type { Style } from "./style.ts";

/** The warnings of a run, for standard error. */
export function warningReport({ style }: { readonly style: Style }): Reporter {
  return namedReport((event, names) => {
    if (event.type !== "note" || event.level !== "warning") return [];
    return noteLines(event, event.run ? names.step(event.run) : "", style);
  });
}
