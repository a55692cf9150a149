import type { Host } from "../host/host.ts";
import { loadStyle, PLAIN, type Reporter, type ReportOptions } from "./reporter.ts";
import { Terminal } from "./terminal.ts";
import { LateTexts, type TextOptions } from "./text/late_texts.ts";
import { quietReport, textReport } from "./text/text_report.ts";
import { warningReport } from "./text/warning_report.ts";
import { writeInBlocks } from "./text/write_jobs.ts";

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
  /** Is loaded before what needs it is reported; without it, all texts are loaded at once. */
  readonly late?: LateTexts;
}

const NO_REPORT: Reporter = { report: () => "" };

/** Connects the events of a run to the outputs: the report and other messages. */
export async function openReport(
  host: Pick<Host, "clock" | "stdout" | "stderr">,
  options: OpenReportOptions,
): Promise<Terminal> {
  const { clock, stdout, stderr } = host;
  const { verbose, quiet, isReplaced, silent, isSuite, timing, colour, fold, late } = options;
  // Details scroll continuously, so no live lines can stay below them.
  const form = options.redraws && !verbose ? stdout.isTerminal ? "live" : "blocks" : "text";
  const look: ReportOptions = {
    timing,
    verbose,
    style: await loadStyle(colour),
    columns: stdout.isTerminal ? () => stdout.columns() : undefined,
    fold,
  };
  const details: ReportOptions = {
    timing,
    // A file that standard error goes to gets no terminal colours.
    style: stderr.isTerminal || !stdout.isTerminal ? look.style : PLAIN,
    columns: stderr.isTerminal ? () => stderr.columns() : undefined,
  };
  return new Terminal({
    clock,
    stdout,
    stderr,
    report: isReplaced
      ? NO_REPORT
      : await makeReporter(quiet ? "quiet" : form, look, isSuite, late),
    details: !verbose && silent
      ? NO_REPORT
      : await makeReporter(verbose ? "verbose" : "warnings", details),
  });
}

/** The reports for people: everything, with live progress, only failures, and what is beside them. */
type ReporterName = "text" | "blocks" | "live" | "quiet" | "verbose" | "warnings";

/** Makes a reporter of a run, or of a suite. */
export async function makeReporter(
  name: ReporterName,
  look: ReportOptions,
  isSuite = false,
  late?: LateTexts,
): Promise<Reporter> {
  if (name === "warnings") return warningReport(look);
  if (name === "verbose") return (await import("./text/verbose_report.ts")).verboseReport(look);
  const options: TextOptions = { ...look, late: late ?? new LateTexts() };
  if (!late || isSuite || look.timing) await options.late.load();
  if (name === "live") {
    const blocks = await makeReporter("blocks", look, isSuite, options.late);
    return (await import("./live.ts")).withLiveLines(blocks, look.style, isSuite, options.late);
  }
  if (isSuite) {
    return (await import("./text/suite_report.ts")).suiteReport(options, name === "quiet");
  }
  return name === "quiet"
    ? quietReport(options)
    : textReport(options, name === "blocks" ? writeInBlocks(options) : undefined);
}
