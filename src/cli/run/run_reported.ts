import type { Diagnostic } from "../../base/diagnostic.ts";
import { RunnerError } from "../../base/errors.ts";
import { longWork } from "../../base/long_work.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import type { Host } from "../../host/host.ts";
import type { History } from "../../report/files/history.ts";
import type { FileReports, ReportTarget } from "../../report/files/open_files.ts";
import { openReport } from "../../report/open_report.ts";
import type { Change } from "../../report/record.ts";
import { Recorder } from "../../report/recorder.ts";
import { loadStyle } from "../../report/reporter.ts";
import { LateTexts } from "../../report/text/late_texts.ts";
import { asText, roomOf } from "../../report/text/lines.ts";
import { renderSummary, type SummaryRow, textRow } from "../../report/text/summary.ts";
import { Cancellation } from "../../run/cancellation.ts";
import type { RunEvent, RunFinished, StepTally, StepTree } from "../../run/event.ts";
import { isInCi } from "../../run/run.ts";
import { type FailedJobs, readFailed, writeFailed } from "../../suite/failed_jobs.ts";
import type { SuiteRunOptions } from "../../suite/run_suite.ts";
import type { State } from "../../suite/state.ts";
import { type ExitCode, type Invocation, type Program, unwatchedHost } from "../command.ts";
import { inLocale } from "../output_mode.ts";
import { VERSION } from "../version.ts";
import { type ReportSettings, reportsToGithub } from "./report_settings.ts";

/** A run that is to be reported. */
interface Runnable {
  /** Whether it is about several workflows. */
  readonly isSuite?: boolean;
  /** Learns which jobs failed. */
  readonly failed?: FailedJobs;
  /** The command line, where another one may follow from the result. */
  readonly invocation?: Invocation;
  /** Whether its report may need the texts of failures, and of nothing else that is rare. */
  readonly isPlain?: boolean;
  /** Takes the options that depend on the reports. */
  readonly run: (
    emit: (event: RunEvent) => void,
    options: Omit<SuiteRunOptions, "makeSecrets">,
  ) => Promise<boolean>;
}

/** A run that was loaded, and may be shown instead. */
export interface LoadedRun extends Omit<Runnable, "invocation"> {
  /** The text for `--list` and `--dry-run`. */
  readonly show: () => Promise<string>;
}

/** Milliseconds within which one Ctrl-C comes twice: from the terminal, and from npm or npx. */
const FORWARDED = 200;

/** Milliseconds from which on what was loaded is large, and takes as long again to look through. */
const LONG_LOAD = 250;

/** Runs a workflow or a suite and writes the reports; 0 when everything passed. */
export async function runReported(
  { isSuite = false, isPlain = false, failed, invocation, run }: Runnable,
  settings: ReportSettings,
  program: Program,
): Promise<ExitCode> {
  const { level, targets, minCoverage } = settings;
  const { host, exit, repeating } = program;
  const { clock } = host;
  const elapsed = clock.ticks() - settings.began;
  const timeLeft = () =>
    settings.timeout && settings.timeout.milliseconds - (clock.ticks() - settings.began);
  const timeout = settings.timeout && {
    ...settings.timeout,
    milliseconds: Math.max(1, settings.timeout.milliseconds - elapsed),
  };
  const cancellation = new Cancellation();
  // Pending output may fail while the run waits for something else.
  let isUnread = false;
  host.stdout.onClosed((problem) => {
    isUnread = true;
    const why = problem ? "the report cannot be written" : "nobody reads the report any more";
    cancellation.cancel(`stopped: ${why}`);
  });
  const verbose = level === "debug";
  const isReplaced = targets.some(({ path }) => path === "-");
  const github = reportsToGithub(targets)
    ? await import("../../report/files/github.ts")
    : undefined;
  const local = inLocale(host);
  // Other output must not be taken for commands by GitHub.
  const stderr = github ? github.withoutCommands(local.stderr) : local.stderr;
  const late = isPlain ? new LateTexts() : undefined;
  const report = await openReport({ ...local, stderr }, {
    ...settings,
    fold: github?.foldInLog ?? await gitlabFold(host),
    verbose,
    silent: level === "error",
    isSuite,
    isReplaced,
    late,
  });
  let files: FileReports | undefined;
  let state: State | undefined;
  let stopped: number | undefined;
  const stopListening = host.signals.listen(
    (signal) => {
      const now = clock.ticks();
      if (stopped === undefined) {
        stopped = now;
        cancellation.cancel(`interrupted by ${signal}`);
        return;
      }
      // A terminal that goes away may send several of them.
      if (signal === "SIGHUP" || now - stopped < FORWARDED) return;
      report.close();
      files?.discard();
      exit(1);
    },
    timeout,
    (begins) => {
      longWork.begins = begins;
      if (elapsed > LONG_LOAD) begins();
    },
  );
  const ends: RunFinished[] = [];
  const isWritten = settings.history !== undefined ||
    targets.some(({ format }) => format.kind === "document");
  const recorder = new Recorder({
    keeps: isWritten ? "everything" : "outcomes",
    tool: { name: "runner", version: VERSION },
  });
  const closing = new ClosingRows();
  const leftOut: Diagnostic[] = [];
  const warn = async () => {
    if (leftOut.length === 0) return;
    (await import("../messages.ts")).printWarnings(leftOut.splice(0), level, program);
  };
  const take = (event: RunEvent) => {
    const hasCoverage = event.type === "run_finished" && event.coverage !== undefined;
    const reported = hasCoverage && minCoverage !== undefined ? { ...event, minCoverage } : event;
    if (hasCoverage) ends.push(event);
    const change = recorder.take(reported);
    failed?.take(change);
    repeating?.take(reported);
    closing.take(change);
    // Messages of file reports are printed around the text, not in it.
    const isFirst = event.type === (isSuite ? "suite_started" : "run_started");
    if (isFirst) files?.take(change);
    report.take(reported);
    if (!isFirst) files?.take(change);
  };
  try {
    state = repeating?.state ??
      (settings.state === undefined ? undefined : await openState(settings.state, host));
    files = await openFiles(settings, program, recorder, cancellation, leftOut);
    await warn();
    const isDetailed = repeating?.isDetailed || targets.some(({ format }) => format.detailed);
    const passed = await run(take, {
      cancellation,
      timeout,
      memoryOf: state && ((subject) => state!.of(subject)),
      beforeFailure: late && (() => late.load()),
      onFailedStep: settings.pauses
        ? (await import("./ask_after_failure.ts")).makeAsker(local, cancellation, settings.colour)
        : undefined,
      origin: isDetailed
        ? await (await import("./run_origin.ts")).readOrigin(settings.args, host)
        : undefined,
      everyRound: report.takesRounds || targets.some(({ format }) => format.takesRounds),
      detail: {
        all: verbose || isDetailed,
        places: isDetailed,
        ...verbose ? { debug: true, limit: Infinity } : {},
      },
    });
    // An interrupted run says nothing about what it tests, unless it took too long.
    const isCutShort = ![undefined, timeout?.reason].includes(cancellation.reason);
    if (isCutShort) state?.forget();
    else await state?.save();
    // A signal that came while the program was busy is heard now, or never.
    if (clock.ticks() - settings.began > 1000) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const wasHeardLate = passed && cancellation.reason !== undefined;
    // A reader that has left, such as head, needs no words.
    if (wasHeardLate && !isUnread) {
      stderr.write(`runner: error: ${cancellation.reason} at the end of the run\n`);
    }
    if (failed) program.watching?.noteFailed(failed);
    const memory = unwatchedHost(program);
    const isKept = failed !== undefined &&
      await writeFailed(failed.after(await readFailed(memory)), memory) && failed.any;
    report.close();
    const isCovered = await reportCoverage(ends, settings, host, isReplaced);
    const flush = () => flushReport(host, cancellation, timeLeft());
    // A report that goes to a file that is open already comes after what is in it.
    const isShared = targets.some(({ path }) => /^\/(?:dev|proc)\//.test(path ?? ""));
    // The other reports are written although this one is lost, which the last line reports.
    if (isShared) await flush().catch(() => {});
    const history = await files?.finish();
    await warn();
    if (level !== "error") {
      const output = isReplaced ? stderr : local.stdout;
      // With --watch the next run follows by itself.
      const repeatable = isReplaced || settings.quiet || program.watching ? undefined : invocation;
      const rows = [
        ...closing.snapshots(),
        ...history ? await slowerRows(history) : [],
        ...isReplaced || settings.quiet ? [] : reportRows(targets),
        ...repeatable ? await closing.next(repeatable, program, isKept && !isInCi(host)) : [],
      ];
      output.write(await closingText(rows, output, settings.colour && !isReplaced));
    }
    const isWhole = await flush();
    if (!isWhole && isReplaced) {
      throw new RunnerError(
        "the report on standard output is incomplete: its reader has closed the pipe (EPIPE)",
      );
    }
    return isWhole && passed && !wasHeardLate && isCovered ? 0 : 1;
  } finally {
    report.close();
    files?.discard();
    if (!repeating) state?.close();
    stopListening();
  }
}

async function openState(path: string, host: Host): Promise<State> {
  return await (await import("../../suite/state.ts")).State.open(path, host);
}

/** Folds parts of the log, where that is one of GitLab CI. */
async function gitlabFold({ env, clock }: Host) {
  if (env.get("GITLAB_CI") !== "true") return undefined;
  return (await import("../../report/text/fold_in_gitlab.ts")).makeGitlabFold(clock);
}

/** Prints which operations of APIs were called; false if fewer than required. */
async function reportCoverage(
  ends: readonly RunFinished[],
  { minCoverage, level, quiet, colour }: ReportSettings,
  { stdout, stderr }: Host,
  isReplaced: boolean,
): Promise<boolean> {
  if (ends.length === 0 && minCoverage === undefined) return true;
  const { coverageShares, coverageVerdict, mergeCoverage, renderCoverageSummary } = await import(
    "../../report/coverage.ts"
  );
  const apis = mergeCoverage(ends);
  if (minCoverage !== undefined && apis.length === 0) {
    stderr.write(
      "runner: error: --min-coverage: no request was compared with an OpenAPI description\n" +
        '  name one in "defaults: { http: { openapi: api.yml } }", or by --openapi\n',
    );
    return false;
  }
  const verdict = coverageVerdict(coverageShares(apis), minCoverage);
  const isShown = !isReplaced && !quiet && level !== "error";
  if (isShown) {
    const style = await loadStyle(colour);
    stdout.write(renderCoverageSummary(apis, { isVerbose: level === "debug", verdict, style }));
  }
  if (!verdict || verdict.isEnough) return true;
  if (!isShown) stderr.write(`runner: error: ${verdict.text}\n`);
  return false;
}

/** Milliseconds that a reader has to take the report once the run should be over. */
const LAST_WRITE = 2000;

/**
 * Waits until the report is written; false if its reader has gone away. A reader may also not read:
 * a signal or the timeout of the run ends the wait then. Throws RunnerError.
 */
async function flushReport(
  { clock, stdout, stderr }: Host,
  cancellation: Cancellation,
  timeLeft: number | undefined,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const giveUp = () => resolve(undefined);
  const bound = cancellation.reason === undefined ? timeLeft : LAST_WRITE;
  const cancels = bound === undefined ? [] : [clock.after(Math.max(bound, LAST_WRITE), giveUp)];
  const stopWaiting = onStop(cancellation, () => cancels.push(clock.after(LAST_WRITE, giveUp)));
  const written = Promise.all([stdout.flush(), stderr.flush()]).then(([isOpen]) => isOpen);
  try {
    const result = await Promise.race([written, promise]);
    if (result !== undefined) return result;
    throw new RunnerError("the report could not be written: nobody reads it");
  } finally {
    stopWaiting();
    for (const cancel of cancels) cancel();
  }
}

/** Calls a function when a run is interrupted, or at once if it already was. */
function onStop(cancellation: Cancellation, callback: (reason: string) => void): () => void {
  if (cancellation.reason !== undefined) callback(cancellation.reason);
  const link = cancellation.add({ stop: ({ message }) => callback(message) });
  return () => link.remove();
}

async function openFiles(
  { targets, history }: ReportSettings,
  program: Program,
  recorder: Recorder,
  cancellation: Cancellation,
  leftOut: Diagnostic[],
): Promise<FileReports | undefined> {
  if (targets.length === 0 && history === undefined) return undefined;
  const { openFileReports } = await import("../../report/files/open_files.ts");
  return await openFileReports(targets, program.host, recorder, {
    onStop: (stop) => onStop(cancellation, stop),
    onLeftOut: ({ message, hint }) =>
      void leftOut.push({ severity: "warning", code: "report", message, hint }),
  }, history);
}

/** Counts what the rows of the summary say that are known when reports are written. */
class ClosingRows {
  readonly #snapshots = { written: 0, updated: 0, passed: 0, failed: 0 };
  #failures = 0;

  take({ event, step }: Change): void {
    if (step) this.#addStep(step);
    else if (event.type === "rounds_tallied") event.steps.forEach((step) => this.#addRounds(step));
    else if (event.type === "run_finished" && event.state === "failed") this.#failures++;
  }

  /** The number of new snapshots; nothing if there are none. */
  snapshots(): SummaryRow[] {
    const { written, updated } = this.#snapshots;
    const parts = [
      ...written > 0 ? [`${written} written`] : [],
      ...updated > 0 ? [`${updated} updated`] : [],
    ];
    return parts.length === 0 ? [] : [textRow("Snapshots", parts.join(" · "))];
  }

  /** The command that runs again what failed. */
  async next({ args }: Invocation, program: Program, isKept: boolean): Promise<SummaryRow[]> {
    if (this.#failures === 0 || !isKept) return [];
    const { lineWith } = await import("./run_origin.ts");
    // In one line, as it is to be copied.
    const text = lineWith("--rerun-failed", args, program);
    return [{ label: "Next", parts: [{ text }], isRemark: true }];
  }

  #addStep({ result: { snapshot }, inside }: StepTree): void {
    if (snapshot) this.#snapshots[snapshot.state]++;
    inside.forEach((step) => this.#addStep(step));
  }

  #addRounds({ snapshots = {}, inside }: StepTally): void {
    this.#snapshots.written += snapshots.written ?? 0;
    this.#snapshots.updated += snapshots.updated ?? 0;
    inside.forEach((step) => this.#addRounds(step));
  }
}

/** The load jobs that are slower than in earlier runs. */
async function slowerRows(history: History): Promise<SummaryRow[]> {
  if (!history.at(-1)?.load) return [];
  const { slowerLoads } = await import("../../report/files/history.ts");
  return slowerLoads(history).map(({ name, p95, median, runs }, index) => {
    const change = Math.round((p95 / median - 1) * 100);
    const text = `${name}: p95 ${formatElapsed(p95)}, +${change} % against the median of the last`;
    return textRow(index === 0 ? "Slower" : "", `${text} ${runs} runs`);
  });
}

/** The reports that were written to files. */
function reportRows(targets: readonly ReportTarget[]): SummaryRow[] {
  const paths = targets.flatMap(({ path, appends }) =>
    path === undefined || path === "-" || appends ? [] : [path]
  );
  return paths.length === 0 ? [] : [textRow("Reports", paths.join(" · "))];
}

/** The rows as text for an output. */
async function closingText(
  rows: readonly SummaryRow[],
  { isTerminal, columns }: Host["stdout"],
  isColoured: boolean,
): Promise<string> {
  if (rows.length === 0) return "";
  const room = roomOf(isTerminal ? columns() : undefined);
  return asText(renderSummary(rows, await loadStyle(isColoured), room));
}
