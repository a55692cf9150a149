import type { Reporter, ReportOptions } from "./reporter.ts";

/** A form of the report that a person can choose with `--output`. */
export interface ReportFormat {
  readonly name: string;
  /** One line, for help and documents. */
  readonly summary: string;
  /** Whether what is under way is drawn below the report, on a terminal. */
  readonly live: boolean;
  /** Makes the reporter; its code comes only now, since the help needs this table too. */
  readonly make: (options: ReportOptions) => Promise<Reporter>;
}

/** Every form of the report, in the order of the help. */
export const REPORT_FORMATS: readonly ReportFormat[] = [
  {
    name: "spinner",
    summary: "redraws progress in place",
    live: true,
    make: makeTextReport,
  },
  {
    name: "stream",
    summary: "prints each result as it completes",
    live: false,
    make: makeTextReport,
  },
];

/** What `--quiet` puts in the place of any of them. */
export const QUIET: Pick<ReportFormat, "make"> = {
  make: async (options) => (await import("./quiet_report.ts")).quietReport(options),
};

/** Makes the reporter of a form, which says in the end what took the time where that is asked. */
export async function makeReporter(
  { make }: Pick<ReportFormat, "make">,
  options: ReportOptions,
): Promise<Reporter> {
  const report = await make(options);
  if (!options.timing) return report;
  return (await import("./timed_report.ts")).timedReport(report, options);
}

async function makeTextReport(options: ReportOptions): Promise<Reporter> {
  if (options.live) return (await import("./live_report.ts")).liveReport(options);
  return (await import("./text_report.ts")).textReport(options);
}
