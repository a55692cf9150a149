import type { Host, Output } from "../host/host.ts";
import type { RunEvent } from "../run/event.ts";
import { loadStyle, type Reporter, type ReportOptions } from "./reporter.ts";
import { Terminal } from "./terminal.ts";
import { textReport } from "./text/text_report.ts";
import { warningReport } from "./text/details.ts";

/** The user's options for the report of a run. */
export interface OpenReportOptions {
  /** Whether progress is redrawn in place, on a terminal. */
  readonly redraws: boolean;
  readonly verbose: boolean;
  /** Whether to omit warnings as well. */
  readonly silent?: boolean;
  readonly timing: boolean;
  readonly colour: boolean;
  /** Whether it is about several workflows. */
  readonly isSuite?: boolean;
  /** Whether to print only failures and the footer. */
  readonly quiet?: boolean;
  /** Whether another report goes to standard output, so that only details are printed. */
  readonly isReplaced?: boolean;
  /** Folds what passed, see `ReportOptions`. */
  readonly fold?: ReportOptions["fold"];
}

/** A report that is being written. */
interface OpenReport {
  /** Takes an event of a run at once. */
  take(event: RunEvent): void;
  /** Leaves the terminal as it was, at once. */
  close(): void;
}

/** Connects the events of a run to the outputs: the report and other messages. */
export async function openReport(host: Host, options: OpenReportOptions): Promise<OpenReport> {
  const { clock, stdout, stderr } = host;
  const { redraws, verbose, timing, colour } = options;
  const { quiet = false, isReplaced = false, silent = false, isSuite = false } = options;
  // A file that standard error goes to gets no terminal colours.
  const style = await loadStyle(colour && (stderr.isTerminal || !stdout.isTerminal));
  // Details scroll continuously, so no live lines can stay below them.
  const live = redraws && !verbose && !quiet && !isReplaced && stdout.isTerminal;
  const make = isSuite ? makeSuiteReporter : makeReporter;
  const report = isReplaced ? NO_REPORT : await make(quiet ? "quiet" : live ? "live" : "text", {
    timing,
    style: await loadStyle(colour),
    ...columnsOf(stdout),
    ...options.fold ? { fold: options.fold } : {},
  });
  const terminal = new Terminal({
    clock,
    stdout,
    stderr,
    report,
    details: verbose
      ? (await import("./text/details.ts")).verboseReport({ style, ...columnsOf(stderr) })
      : silent
      ? NO_REPORT
      : warningReport({ style }),
    live,
  });
  return { take: (event) => terminal.emit(event), close: () => terminal.close() };
}

const NO_REPORT: Reporter = { report: () => "" };

function columnsOf(output: Output): Pick<ReportOptions, "columns"> {
  return output.isTerminal ? { columns: () => output.columns() } : {};
}

/** The reports for people: everything, with live progress, or only failures. */
export type ReporterName = "text" | "live" | "quiet";

/** Makes a reporter, which says in the end what took the time where that is asked. */
export async function makeReporter(name: ReporterName, options: ReportOptions): Promise<Reporter> {
  const reporter = await makeUntimed(name, options);
  if (!options.timing) return reporter;
  return (await import("./text/time_summary.ts")).timedReport(reporter, options);
}

/** The same about several workflows. */
async function makeSuiteReporter(name: ReporterName, options: ReportOptions): Promise<Reporter> {
  if (name === "live") return (await import("./live.ts")).liveSuite(options);
  return (await import("./text/suite_report.ts")).suiteReport(options, name === "quiet");
}

/** The text is what nearly every run prints; the others come when they are asked for. */
async function makeUntimed(name: ReporterName, options: ReportOptions): Promise<Reporter> {
  switch (name) {
    case "text":
      return textReport(options);
    case "live":
      return (await import("./live.ts")).liveReport(options);
    case "quiet":
      return (await import("./text/quiet_report.ts")).quietReport(options);
  }
}
