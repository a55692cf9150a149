/** A form of the report that a person can choose with `--output`: the same text in another way. */
export interface ReportFormat {
  readonly name: string;
  /** One line, for help and documents. */
  readonly summary: string;
  /** Whether what is under way is drawn below the report, on a terminal. */
  readonly live: boolean;
}

/** Every form of the report, in the order of the help. */
export const REPORT_FORMATS: readonly ReportFormat[] = [
  { name: "spinner", summary: "redraws progress in place", live: true },
  { name: "stream", summary: "prints each result as it completes", live: false },
];
