import type { Environment, Host } from "../host/host.ts";
import { makePlan } from "../plan/make_plan.ts";
import type { FileReports, ReportTarget } from "../report/files/open_files.ts";
import { openReport } from "../report/open_report.ts";
import type { RunEvent } from "../run/event.ts";
import { run, type RunOptions } from "../run/run.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import { UsageError } from "../source/errors.ts";
import { durationProblem, parseDuration } from "../value/duration.ts";
import { loadWorkflow } from "../workflow/load_workflow.ts";
import { usesColour } from "./colour.ts";
import type { ExitCode, Invocation, Program } from "./command.ts";
import type { LogLevel } from "./log_level.ts";
import { outputMode } from "./output_mode.ts";

/** Runs a workflow and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const { host, leave } = program;
  const { switches, values, operands } = invocation;
  const mode = outputMode(values.get("output"), host.env, host.stdout);
  const level = await levelOf(invocation, host.env);
  const noColor = switches.has("no-color");
  const colour = usesColour(noColor, host.env, host.stdout);
  const timeout = runTimeout(host.env.get("RUNNER_TIMEOUT"));
  const targets = await targetsOf(invocation, host.env);
  const preparation = isPrepared(invocation)
    ? await (await import("./prepare_run.ts")).prepareRun(invocation, program)
    : undefined;
  await warn(preparation?.warnings ?? [], level, program);
  const { workflow, warnings } = await loadWorkflow(operands[0]!, host);
  await warn(warnings, level, program);
  const { plan, text } = await preparation?.plan(workflow) ??
    { plan: await makePlan(workflow, host.env.all()) };
  await warn(plan.warnings, level, program);
  if (text !== undefined) {
    host.stdout.write(text);
    return 0;
  }
  const files = targets.length === 0 ? undefined : await openFiles(targets, host);
  const interruption = new AbortController();
  const verbose = level === "debug";
  const report = await openReport(host, {
    mode,
    verbose,
    silent: level === "error",
    timing: switches.has("timing"),
    quiet: switches.has("quiet"),
    colour,
    isReplaced: targets.some(({ path }) => path === "-"),
    onReaderGone: () => interruption.abort("stopped: nobody reads the report any more"),
  });
  const deaf = host.signals.listen((signal) => {
    if (interruption.signal.aborted) {
      report.close();
      files?.discard();
      leave(1);
    }
    interruption.abort(`interrupted by ${signal}`);
  });
  const take = (event: RunEvent) => {
    report.take(event);
    files?.take(event);
  };
  try {
    const passed = await run(plan, host, take, {
      ...preparation?.options,
      signal: interruption.signal,
      ...(timeout === undefined ? {} : { timeout }),
      detail: {
        ...(targets.some(({ format }) => format.detailed) ? { all: true, places: true } : {}),
        ...(verbose ? { all: true, debug: true, limit: Infinity } : {}),
      },
    });
    report.close();
    files?.finish();
    return passed ? 0 : 1;
  } finally {
    report.close();
    files?.discard();
    deaf();
  }
}

/** Options that make another run than that of a workflow as it stands. */
const PREPARING: readonly string[] = [
  ...["only", "skip", "no-needs", "var", "var-file", "env-file"],
  ...["fail-fast", "jobs", "list", "dry-run"],
];

function isPrepared({ switches, values, lists }: Invocation): boolean {
  return PREPARING.some((name) => switches.has(name) || values.has(name) || lists.has(name));
}

/** How much is told on standard error; most runs ask for nothing special. */
async function levelOf({ switches }: Invocation, env: Environment): Promise<LogLevel> {
  if (!switches.has("verbose") && !env.get("RUNNER_LOG_LEVEL")) return "info";
  return await (await import("./tell_warnings.ts")).logLevel(env, switches);
}

async function warn(
  warnings: readonly Diagnostic[],
  level: LogLevel,
  program: Program,
): Promise<void> {
  if (warnings.length === 0) return;
  await (await import("./tell_warnings.ts")).tellWarnings(warnings, level, program);
}

/** The reports to be written besides the one that is printed. */
async function targetsOf(
  invocation: Invocation,
  env: Environment,
): Promise<readonly ReportTarget[]> {
  const { lists, values } = invocation;
  const isAsked = lists.has("report") || values.has("report-dir");
  if (!isAsked && env.get("GITHUB_ACTIONS") !== "true") return [];
  return (await import("./report_targets.ts")).reportTargets(invocation, env);
}

async function openFiles(targets: readonly ReportTarget[], host: Host): Promise<FileReports> {
  const { openFileReports } = await import("../report/files/open_files.ts");
  const { VERSION } = await import("./version.ts");
  return await openFileReports(targets, host, { name: "runner", version: VERSION });
}

/** The bound of RUNNER_TIMEOUT; none where it is not set. */
function runTimeout(value: string | undefined): RunOptions["timeout"] {
  if (value === undefined || value === "") return undefined;
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) throw new UsageError(`RUNNER_TIMEOUT ${durationProblem(value)}`);
  if (milliseconds === 0) {
    throw new UsageError(
      `RUNNER_TIMEOUT must be more than nothing, not "${value}"`,
      "leave it empty for a run without bounds",
    );
  }
  return { milliseconds, reason: `RUNNER_TIMEOUT of ${value} is over` };
}
