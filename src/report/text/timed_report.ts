import { printableEvent } from "../model/printable_event.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { roomOf } from "./text_lines.ts";
import { TimeSummary } from "./time_summary.ts";

/** A report that says in the end what took the time. */
export function timedReport(
  inner: Reporter,
  { style, columns }: Pick<ReportOptions, "style" | "columns">,
): Reporter {
  const summary = new TimeSummary();
  return {
    ...inner,
    report(event) {
      summary.update(printableEvent(event));
      const lines = event.type === "run_finished" ? summary.render(style, roomOf(columns?.())) : [];
      return lines.map((line) => `${line}\n`).join("") + inner.report(event);
    },
  };
}
