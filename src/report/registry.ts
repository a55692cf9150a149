import type { Reporter, ReportOptions } from "./reporter.ts";
import { textReport } from "./text_report.ts";

/** A form of the report that a person can choose with `--output`. */
export interface ReportFormat {
  readonly name: string;
  /** One line, for help and documents. */
  readonly summary: string;
  /** Whether what is under way is drawn below the report, on a terminal. */
  readonly live: boolean;
  /** Makes the reporter; one that a plain run does not need may bring its code only here. */
  make(options: ReportOptions): Reporter | Promise<Reporter>;
}

/** Every form of the report, in the order of the help. */
export const REPORT_FORMATS: readonly ReportFormat[] = [
  {
    name: "stream",
    summary: "writes each result as it completes",
    live: false,
    make: textReport,
  },
  {
    name: "spinner",
    summary: "redraws what is under way in place, below the results",
    live: true,
    make: textReport,
  },
];
