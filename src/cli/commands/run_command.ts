import type { Environment, Host } from "../../host/host.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { Plan } from "../../plan/plan.ts";
import type { FileReportHooks, FileReports, ReportTarget } from "../../report/files/open_files.ts";
import { openReport, type OpenReportOptions } from "../../report/open_report.ts";
import type { RunEvent } from "../../run/event.ts";
import { Cancellation } from "../../run/cancellation.ts";
import { run, type RunOptions } from "../../run/run.ts";
import type { Diagnostic } from "../../source/diagnostic.ts";
import { LoadError, RunnerError, UsageError } from "../../source/errors.ts";
import { durationProblem, parseDuration } from "../../value/duration.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import type { LogLevel } from "../messages/warnings.ts";
import { inLocale, redraws, usesColour } from "../args/output_mode.ts";

/** Runs a workflow and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const settings = await readSettings(invocation, program.host);
  const prepared = await prepare(invocation, program, settings);
  if (prepared.text === undefined) return await runPrepared(prepared, settings, program);
  program.host.stdout.write(prepared.text);
  return 0;
}

/** How a run is reported, and how long it may take. */
interface Settings extends Pick<OpenReportOptions, "redraws" | "timing" | "quiet" | "colour"> {
  readonly level: LogLevel;
  readonly timeout: RunOptions["timeout"];
  /** The reports to be written besides the one that is printed. */
  readonly targets: readonly ReportTarget[];
}

async function readSettings(invocation: Invocation, host: Host): Promise<Settings> {
  const { switches, values } = invocation;
  return {
    redraws: await redraws(values.get("output"), host.env, host.stdout),
    level: await levelOf(invocation, host.env),
    timing: switches.has("timing"),
    quiet: switches.has("quiet"),
    colour: usesColour(switches.has("no-color"), host.env, host.stdout),
    timeout: runTimeout(host.env.get("RUNNER_TIMEOUT")),
    targets: await targetsOf(invocation, host),
  };
}

async function runPrepared(
  { plan, options }: Prepared,
  { level, timeout, targets, ...looks }: Settings,
  program: Program,
): Promise<ExitCode> {
  const { host, exit } = program;
  const { clock } = host;
  const began = clock.ticks();
  const cancellation = new Cancellation();
  let isStopping = false;
  const stop = (why: string) => {
    isStopping = true;
    cancellation.cancel(why);
  };
  let lost: unknown;
  const onOutputClosed = (error?: unknown) => {
    lost ??= error;
    const why = error === undefined
      ? "nobody reads the report any more"
      : "the report cannot be written";
    stop(`stopped: ${why}`);
  };
  // What waits to be written may fail while the run waits for something else.
  host.stdout.onClosed(onOutputClosed);
  const verbose = level === "debug";
  const report = await openReport(await reportHost(targets, host), {
    ...looks,
    verbose,
    silent: level === "error",
    isReplaced: targets.some(({ path }) => path === "-"),
    onOutputClosed,
  });
  let files: FileReports | undefined;
  const stopListening = host.signals.listen((signal) => {
    if (isStopping) {
      report.close();
      files?.discard();
      exit(1);
    }
    stop(`interrupted by ${signal}`);
  }, timeout);
  const take = (event: RunEvent) => {
    // What a file report prints surrounds the text and is not part of it.
    const isFirst = event.type === "run_started";
    if (isFirst) files?.take(event);
    report.take(event);
    if (!isFirst) files?.take(event);
  };
  try {
    if (targets.length > 0) {
      const hooks = {
        onOutputClosed,
        onStop: (act: (reason: string) => void) => onStop(cancellation, act),
      };
      files = await openFiles(targets, program, level, hooks);
    }
    const passed = await run(plan, host, take, {
      ...options,
      cancellation,
      ...(timeout === undefined ? {} : { timeout }),
      detail: {
        ...(targets.some(({ format }) => format.detailed) ? { all: true, places: true } : {}),
        ...(verbose ? { all: true, debug: true, limit: Infinity } : {}),
      },
    });
    await report.finish();
    const timeLeft = () => timeout && timeout.milliseconds - (clock.ticks() - began);
    // A report that goes to a file that is open already comes after what is in it.
    const isShared = targets.some(({ path }) => /^\/(?:dev|proc)\//.test(path ?? ""));
    if (isShared) await flushReport(host, cancellation, timeLeft());
    await files?.finish();
    if (lost !== undefined) throw lost;
    return await flushReport(host, cancellation, timeLeft()) && passed ? 0 : 1;
  } finally {
    report.close();
    files?.discard();
    stopListening();
  }
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

interface Prepared {
  readonly plan: Plan;
  /** What to print instead of running the plan, where that is asked for. */
  readonly text?: string;
  readonly options?: RunOptions;
}

/** Reads and plans the workflow, and reports its warnings. */
async function prepare(
  invocation: Invocation,
  program: Program,
  { level, targets }: Settings,
): Promise<Prepared> {
  const { host } = program;
  const file = invocation.operands[0]!;
  try {
    const preparation = isPrepared(invocation)
      ? await (await import("../inputs/prepare_run.ts")).prepareRun(invocation, program)
      : undefined;
    const isStrict = invocation.switches.has("strict");
    const warn = (found: readonly Diagnostic[]) =>
      isStrict ? refuseWarnings(file, found) : printAll(found, level, program);
    await warn(preparation?.warnings ?? []);
    const permissions = preparation?.options.permissions;
    const { workflow, warnings, hints } = await loadWorkflow(file, host, permissions);
    await warn(warnings);
    if (level === "debug") await printAll(hints, level, program);
    const prepared = await preparation?.plan(workflow) ??
      { plan: await makePlan(workflow, host.env.all()) };
    await warn(prepared.plan.warnings);
    return preparation ? { ...prepared, options: preparation.options } : prepared;
  } catch (error) {
    if (error instanceof LoadError && tellsGithub(targets)) {
      const { annotateRefusal } = await import("../messages/annotate_refusal.ts");
      host.stderr.write(annotateRefusal(file, error, program));
    }
    throw error;
  }
}

/** Options that change the run of a workflow. */
const PREPARING: readonly string[] = [
  ...["only", "skip", "no-needs", "var", "var-file", "env-file"],
  ...["fail-fast", "strict", "jobs", "cleanup-timeout", "list", "dry-run"],
  ...["allow-net", "allow-run", "allow-read", "allow-write", "no-shell"],
];

function isPrepared({ switches, values, lists }: Invocation): boolean {
  return PREPARING.some((name) => switches.has(name) || values.has(name) || lists.has(name));
}

/** How much is printed to standard error; most runs have no option for it. */
async function levelOf({ switches }: Invocation, env: Environment): Promise<LogLevel> {
  if (!switches.has("verbose") && !env.get("RUNNER_LOG_LEVEL")) return "info";
  return await (await import("../messages/warnings.ts")).logLevel(env, switches);
}

/** With `--strict` a warning is an error: nothing is run. Throws LoadError. */
function refuseWarnings(file: string, warnings: readonly Diagnostic[]): void {
  if (warnings.length === 0) return;
  const count = warnings.length === 1 ? "1 warning" : `${warnings.length} warnings`;
  const errors = warnings.map((warning) => ({ ...warning, severity: "error" as const }));
  throw new LoadError(`'${file}' has ${count}, which --strict makes errors`, errors);
}

async function printAll(
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

function tellsGithub(targets: readonly ReportTarget[]): boolean {
  return targets.some(({ format }) => format.name === "github");
}

/** The host of the report that is printed: its other output must not be taken for commands by GitHub. */
async function reportHost(targets: readonly ReportTarget[], host: Host): Promise<Host> {
  const local = await inLocale(host);
  if (!tellsGithub(targets)) return local;
  const { withoutCommands } = await import("../../report/files/github.ts");
  return { ...local, stderr: withoutCommands(local.stderr) };
}

/** Has something done when a run is interrupted, or at once where it is. */
function onStop(cancellation: Cancellation, act: (reason: string) => void): () => void {
  if (cancellation.reason !== undefined) act(cancellation.reason);
  const link = cancellation.add({ stop: ({ message }) => act(message) });
  return () => link.remove();
}

async function openFiles(
  targets: readonly ReportTarget[],
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
  });
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
