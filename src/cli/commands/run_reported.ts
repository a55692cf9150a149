import type { Environment, Host } from "../../host/host.ts";
import type { FileReportHooks, FileReports, ReportTarget } from "../../report/files/open_files.ts";
import { openReport, type OpenReportOptions } from "../../report/open_report.ts";
import type { RunEvent, RunFinished } from "../../run/event.ts";
import { Cancellation } from "../../run/cancellation.ts";
import type { RunOptions } from "../../run/run_options.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError, RunnerError, UsageError } from "../../base/errors.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import type { LogLevel } from "../messages/warnings.ts";
import { inLocale, redraws, usesColour } from "../args/output_mode.ts";

/** The options for reporting a run, with its time limit. */
export interface Settings
  extends Pick<OpenReportOptions, "redraws" | "timing" | "quiet" | "colour"> {
  readonly level: LogLevel;
  readonly timeout: RunOptions["timeout"];
  /** The required percentage of the operations of APIs that must be called. */
  readonly minCoverage?: number;
  /** The reports to be written besides the one that is printed. */
  readonly targets: readonly ReportTarget[];
  /** The directory of the results of earlier runs. */
  readonly history?: string;
}

/** Reads how a run is to be reported. Throws UsageError. */
export async function readSettings(invocation: Invocation, host: Host): Promise<Settings> {
  const { switches, values } = invocation;
  return {
    redraws: await redraws(values.get("output"), host.env, host.stdout),
    level: await levelOf(invocation, host.env),
    timing: switches.has("timing"),
    quiet: switches.has("quiet"),
    colour: usesColour(switches.has("no-color"), host.env, host.stdout),
    timeout: runTimeout(host.env.get("RUNNER_TIMEOUT")),
    ...minCoverageOf(values.get("min-coverage")),
    targets: await targetsOf(invocation, host),
    ...historyOf(invocation),
  };
}

/** The options that distinguish a run. */
interface Runnable {
  /** Whether it is about several workflows. */
  readonly isSuite?: boolean;
  readonly run: (emit: (event: RunEvent) => void, options: ReportedOptions) => Promise<boolean>;
}

/** The settings of a run that depend on its reports. */
type ReportedOptions =
  & Required<Pick<RunOptions, "cancellation" | "detail">>
  & Pick<RunOptions, "timeout">;

/** Runs what it is given, and writes the reports; 0 when all of it passed. */
export async function runReported(
  { isSuite = false, run }: Runnable,
  { level, timeout, targets, history, minCoverage, ...looks }: Settings,
  program: Program,
): Promise<ExitCode> {
  const { host, exit } = program;
  const { clock } = host;
  const began = clock.ticks();
  const cancellation = new Cancellation();
  // Pending output may fail while the run waits for something else.
  host.stdout.onClosed((problem) => {
    const why = problem ? "the report cannot be written" : "nobody reads the report any more";
    cancellation.cancel(`stopped: ${why}`);
  });
  const verbose = level === "debug";
  const isReplaced = targets.some(({ path }) => path === "-");
  const report = await openReport(await reportHost(targets, host), {
    ...looks,
    ...reportsToGithub(targets) ? { fold: (await github()).foldInLog } : {},
    verbose,
    silent: level === "error",
    isSuite,
    isReplaced,
  });
  let files: FileReports | undefined;
  let isStopping = false;
  const stopListening = host.signals.listen((signal) => {
    // A terminal that goes away may send several of them, which nobody has asked for.
    if (isStopping && signal !== "SIGHUP") {
      report.close();
      files?.discard();
      exit(1);
    }
    isStopping = true;
    cancellation.cancel(`interrupted by ${signal}`);
  }, timeout);
  const ends: RunFinished[] = [];
  const snapshots = { written: 0, updated: 0, passed: 0, failed: 0 };
  const take = (given: RunEvent) => {
    const event = given.type === "run_finished" && given.coverage && minCoverage !== undefined
      ? { ...given, minCoverage }
      : given;
    // Messages of file reports are printed around the text, not in it.
    if (event.type === "run_finished" && event.coverage) ends.push(event);
    if (event.type === "step_finished" && event.result.snapshot) {
      snapshots[event.result.snapshot.state]++;
    }
    const isFirst = event.type === (isSuite ? "suite_started" : "run_started");
    if (isFirst) files?.take(event);
    report.take(event);
    if (!isFirst) files?.take(event);
  };
  try {
    if (targets.length > 0 || history !== undefined) {
      const hooks = { onStop: (act: (reason: string) => void) => onStop(cancellation, act) };
      files = await openFiles(targets, history, program, level, hooks);
    }
    const passed = await run(take, {
      cancellation,
      ...(timeout === undefined ? {} : { timeout }),
      detail: {
        ...(targets.some(({ format }) => format.detailed) ? { all: true, places: true } : {}),
        ...(verbose ? { all: true, debug: true, limit: Infinity } : {}),
      },
    });
    report.close();
    if (level !== "error") (isReplaced ? host.stderr : host.stdout).write(newSnapshots(snapshots));
    const isCovered = ends.length === 0 && minCoverage === undefined ||
      await (await import("./report_coverage.ts")).reportCoverage(ends, {
        minimum: minCoverage,
        isVerbose: verbose,
        colour: looks.colour,
        stdout: isReplaced || looks.quiet || level === "error" ? undefined : host.stdout,
        stderr: host.stderr,
      });
    const flush = () =>
      flushReport(host, cancellation, timeout && timeout.milliseconds - (clock.ticks() - began));
    // A report that goes to a file that is open already comes after what is in it.
    const isShared = targets.some(({ path }) => /^\/(?:dev|proc)\//.test(path ?? ""));
    // The other reports are written although this one is lost, which the last line reports.
    if (isShared) await flush().catch(() => {});
    await files?.finish();
    const isWhole = await flush();
    if (!isWhole && isReplaced) {
      throw new RunnerError(
        "the report on standard output is incomplete: its reader has closed the pipe (EPIPE)",
      );
    }
    return isWhole && passed && isCovered ? 0 : 1;
  } finally {
    report.close();
    files?.discard();
    stopListening();
  }
}

/** The number of files that a run has written, most of which belong to no line that it printed. */
function newSnapshots({ written, updated }: { written: number; updated: number }): string {
  const parts = [
    ...written > 0 ? [`${written} written`] : [],
    ...updated > 0 ? [`${updated} updated`] : [],
  ];
  return parts.length === 0 ? "" : `Snapshots: ${parts.join(", ")}\n`;
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

/** The percentage that `--min-coverage` gives. Throws UsageError. */
function minCoverageOf(text: string | undefined): Pick<Settings, "minCoverage"> {
  if (text === undefined) return {};
  const percent = Number(text.replace(/%$/, "") || NaN);
  if (percent >= 0 && percent <= 100) return { minCoverage: percent };
  throw new UsageError(
    `option --min-coverage must be a percentage, not "${text}"`,
    "write --min-coverage 80",
  );
}

/** The log level for standard error, which most runs do not set. */
async function levelOf({ switches }: Invocation, env: Environment): Promise<LogLevel> {
  if (!switches.has("verbose") && !env.get("RUNNER_LOG_LEVEL")) return "info";
  return await (await import("../messages/warnings.ts")).logLevel(env, switches);
}

/** Prints warnings, where they are not switched off. */
export async function printAll(
  warnings: readonly Diagnostic[],
  level: LogLevel,
  program: Program,
): Promise<void> {
  if (warnings.length === 0) return;
  await (await import("../messages/warnings.ts")).printWarnings(warnings, level, program);
}

async function targetsOf(invocation: Invocation, host: Host): Promise<readonly ReportTarget[]> {
  const { lists, values } = invocation;
  const isAsked = lists.has("report") || values.has("report-dir");
  if (!isAsked && host.env.get("GITHUB_ACTIONS") !== "true") return [];
  return await (await import("../args/report_targets.ts")).reportTargets(invocation, host);
}

/** The directory that `--history` names. Throws UsageError. */
function historyOf({ values, switches }: Invocation): Pick<Settings, "history"> {
  const history = values.get("history");
  if (history === undefined) return {};
  if (history === "") throw new UsageError("option --history needs a directory");
  const name = ["dry-run", "list"].find((one) => switches.has(one));
  if (name !== undefined) {
    throw new UsageError(`--${name} runs nothing, so there is nothing to keep in a history`);
  }
  return { history };
}

/** Whether failures become annotations. */
export function reportsToGithub(targets: readonly ReportTarget[]): boolean {
  return targets.some(({ format }) => format.name === "github");
}

/** The host of the report that is printed: its other output must not be taken for commands by GitHub. */
async function reportHost(targets: readonly ReportTarget[], host: Host): Promise<Host> {
  const local = await inLocale(host);
  if (!reportsToGithub(targets)) return local;
  return { ...local, stderr: (await github()).withoutCommands(local.stderr) };
}

/** What concerns the log of GitHub. */
function github() {
  return import("../../report/files/github.ts");
}

/** Has something done when a run is interrupted, or at once where it is. */
function onStop(cancellation: Cancellation, act: (reason: string) => void): () => void {
  if (cancellation.reason !== undefined) act(cancellation.reason);
  const link = cancellation.add({ stop: ({ message }) => act(message) });
  return () => link.remove();
}

async function openFiles(
  targets: readonly ReportTarget[],
  history: string | undefined,
  program: Program,
  level: LogLevel,
  hooks: Omit<FileReportHooks, "onLeftOut">,
): Promise<FileReports> {
  const { openFileReports } = await import("../../report/files/open_files.ts");
  const { VERSION } = await import("../version.ts");
  const tool = { name: "runner", version: VERSION };
  const leftOut: Diagnostic[] = [];
  const files = await openFileReports(targets, program.host, tool, {
    ...hooks,
    onLeftOut: ({ message }) => void leftOut.push({ severity: "warning", code: "report", message }),
  }, history);
  await printAll(leftOut, level, program);
  return files;
}

/** The bound of RUNNER_TIMEOUT; none where it is not set. */
function runTimeout(value: string | undefined): RunOptions["timeout"] {
  if (value === undefined || value === "") return undefined;
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) throw new UsageError(`RUNNER_TIMEOUT ${durationProblem(value)}`);
  if (milliseconds === 0) {
    throw new UsageError(
      `RUNNER_TIMEOUT must be greater than 0, not "${value}"`,
      "leave it empty for a run without bounds",
    );
  }
  return { milliseconds, reason: `RUNNER_TIMEOUT of ${value} is over` };
}

/** With `--strict` a warning is an error: nothing is run. Throws LoadError. */
export function refuseWarnings(file: string, warnings: readonly Diagnostic[]): void {
  if (warnings.length === 0) return;
  const count = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  const errors = warnings.map((warning) => ({ ...warning, severity: "error" as const }));
  throw new LoadError(`'${file}' has ${count}, which --strict makes errors`, errors);
}
