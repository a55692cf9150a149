import { LateCode } from "../../src/report/text/job_block.ts";
import { liveReport } from "../../src/report/live/live_report.ts";
import type { Reporter, ReportOptions } from "../../src/report/reporter.ts";
import { textReport } from "../../src/report/text/text_report.ts";

const code = new LateCode();
await code.bring("failures");
await code.bring("rounds");

/** The report that people read, prepared for every event. */
export function preparedText(options: ReportOptions): Reporter {
  return textReport(options, code);
}

/** The same with live lines. */
export function preparedLive(options: ReportOptions): Reporter {
  return liveReport(options, code);
}
