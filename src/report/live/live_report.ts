import { displayWidth } from "../../base/text/display_width.ts";
import { LiveJobs } from "./live_jobs.ts";
import { printableEvent } from "../model/printable_event.ts";
import { renderLive } from "./render_live.ts";
import type { LiveLine, Reporter, ReportOptions } from "../reporter.ts";
import { textReport } from "../text/text_report.ts";
import { writeInBlocks } from "../text/write_jobs.ts";

/** The report that people read, with a line below it for each job that is under way. */
export function liveReport(options: ReportOptions): Reporter {
  const text = textReport(options, writeInBlocks(options));
  const live = new LiveJobs();
  return {
    ...text,
    report(event) {
      live.update(printableEvent(event));
      return text.report(event);
    },
    live: (now, columns, rows) =>
      renderLive(live.inOrder(), live.progress, now, { columns, rows }, options.style).map(
        measureLine,
      ),
  };
}

// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[\d;]*m/g;

/** A line with the columns that it takes. */
export function measureLine(text: string): LiveLine {
  return { text, width: displayWidth(text.replace(COLOUR, "")) };
}
