import { UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import type { Files, Host } from "../../host/host.ts";
import type { ReportTarget } from "../../report/files/open_files.ts";
import { FILE_FORMATS, GITHUB_SUMMARY, OTLP, REPORT_FORMATS } from "../../report/files/registry.ts";
import type { OpenReportOptions } from "../../report/open_report.ts";
import type { RunOptions } from "../../run/run_state.ts";
import type { Invocation } from "../command.ts";
import { type LogLevel, logLevel, redraws, usesColour } from "../output_mode.ts";

/** The options for reporting a run, with its time limit. */
export interface ReportSettings
  extends Pick<OpenReportOptions, "redraws" | "timing" | "quiet" | "colour"> {
  /** The words of the command line. */
  readonly args: readonly string[];
  readonly level: LogLevel;
  /** The time that the run has, from `began` on, in ticks of the clock. */
  readonly timeout: RunOptions["timeout"];
  readonly began: number;
  /** The required percentage of the operations of APIs that must be called. */
  readonly minCoverage?: number;
  /** The reports to be written besides the one that is printed. */
  readonly targets: readonly ReportTarget[];
  /** The directory of the results of earlier runs. */
  readonly history?: string;
  /** The file in which runs remember the one before. */
  readonly state?: string;
  /** Whether to ask how to go on after a step that has failed. */
  readonly pauses: boolean;
}

/** Reads how a run is to be reported. Throws UsageError. */
export async function readReportSettings(
  invocation: Invocation,
  host: Host,
  began = host.clock.ticks(),
): Promise<ReportSettings> {
  const { args, switches, values, settings } = invocation;
  const history = values.get("history");
  if (history !== undefined) refuseWithoutRun(switches, "keep in a history");
  const state = values.get("state");
  if (state !== undefined) refuseWithoutRun(switches, "remember");
  const pauses = switches.has("pause-on-failure");
  if (pauses && !(host.stdin.isTerminal && host.stderr.isTerminal)) {
    throw new UsageError(
      "--pause-on-failure requires a terminal",
      "standard input and standard error must not lead to files or pipes",
    );
  }
  return {
    args,
    began,
    // Questions need a screen that nothing else draws on.
    redraws: !pauses && redraws(values.get("output"), host.env, host.stdout),
    level: logLevel(host.env, switches),
    timing: switches.has("timing"),
    quiet: switches.has("quiet"),
    colour: usesColour(switches.has("no-color"), host.env, host.stdout),
    timeout: readTimeout(host.env),
    minCoverage: settings.minCoverage,
    targets: await reportTargets(invocation, host),
    history,
    state,
    pauses,
  };
}

/** The bound of RUNNER_TIMEOUT; none where it is not set. */
export function readTimeout(env: Host["env"]): RunOptions["timeout"] {
  const value = env.get("RUNNER_TIMEOUT");
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

/** The reports that `--report`, `--report-dir` and the environment select. Throws `UsageError`. */
async function reportTargets(
  invocation: Invocation,
  { env, files }: Host,
): Promise<ReportTarget[]> {
  const { lists, values, switches } = invocation;
  const texts = (lists.get("report") ?? []).flatMap(splitList);
  // Once is as good as twice.
  const requested = [...new Set(texts)].map(readTarget);
  const directory = values.get("report-dir");
  const targets = [...requested, ...directory === undefined ? [] : targetsIn(directory)];
  if (targets.length > 0) refuseWithoutRun(switches, "report");
  const isRequested = targets.some(({ format }) => format === GITHUB);
  if (switches.has("no-github")) {
    if (isRequested) {
      throw new UsageError("options --report github and --no-github cannot be combined");
    }
  } else if (isRequested || env.get("GITHUB_ACTIONS") === "true") {
    if (!isRequested) targets.push({ format: GITHUB });
    const path = env.get("GITHUB_STEP_SUMMARY");
    if (path) {
      // Unless it was requested, the run goes on if it cannot be written.
      const isOptional = isRequested ? undefined : true;
      targets.push({ format: GITHUB_SUMMARY, path, appends: true, isOptional });
    }
  }
  // What an option sends goes there alone.
  const isSent = targets.some(({ format }) => format === OTLP);
  if (!isSent && OTLP_ADDRESSES.some((name) => env.get(name))) targets.push({ format: OTLP });
  await checkDistinct(targets, files);
  return targets;
}

const GITHUB = FILE_FORMATS.find(({ name }) => name === "github")!;

const OTLP_ADDRESSES = ["ENDPOINT", "TRACES_ENDPOINT", "METRICS_ENDPOINT"].map((name) =>
  `OTEL_EXPORTER_OTLP_${name}`
);

/** Refuses options that run nothing. */
function refuseWithoutRun(switches: ReadonlySet<string>, consequence: string): void {
  for (const name of ["dry-run", "list"]) {
    if (!switches.has(name)) continue;
    throw new UsageError(`--${name} runs nothing, so there is nothing to ${consequence}`);
  }
}

function targetsIn(directory: string): ReportTarget[] {
  const path = directory.replace(/\/+$/, "");
  return FILE_FORMATS.flatMap((format) =>
    format.file === undefined || format.isOnlyByName
      ? []
      : [{ format, path: `${path}/${format.file}` }]
  );
}

/** Splits at the commas that another report follows; paths may contain commas. */
function splitList(text: string): string[] {
  const targets: string[] = [];
  for (const part of text.split(",")) {
    const isTarget = /^[A-Za-z]+=/.test(part) || REPORT_FORMATS.some(({ name }) => name === part);
    if (targets.length === 0 || isTarget || !targets.at(-1)!.includes("=")) targets.push(part);
    else targets.push(`${targets.pop()},${part}`);
  }
  return targets;
}

function readTarget(text: string): ReportTarget {
  const end = text.indexOf("=");
  const name = end < 0 ? text : text.slice(0, end);
  const format = findFormat(name);
  const path = end < 0 ? "" : text.slice(end + 1);
  if (format.kind === "export") {
    if (/^https?:$/.test(URL.parse(path)?.protocol ?? "")) return { format, url: path };
    throw new UsageError(
      "--report otlp needs the address of a collector",
      "--report otlp=http://localhost:4318",
    );
  }
  const { file } = format;
  if (file === undefined) {
    if (end < 0) return { format };
    throw new UsageError(`--report ${name} takes no path`, "it prints to the log of the build");
  }
  if (path === "") {
    throw new UsageError(
      `--report ${name} needs a path`,
      `--report ${name}=${file}, or ${name}=- for standard output`,
    );
  }
  return { format, path: STDOUT.test(path) ? "-" : path };
}

/**
 * Other names of standard output. If that is redirected to a file, staging a file of that name
 * would replace it, and the text of the run would be lost.
 */
const STDOUT = /^\/(?:dev\/stdout|dev\/fd\/1|proc\/self\/fd\/1)$/;

function findFormat(name: string): ReportTarget["format"] {
  const format = REPORT_FORMATS.find((one) => one.name === name);
  if (format) return format;
  const names = REPORT_FORMATS.map((one) => one.name);
  throw new UsageError(
    `unknown report format "${name}"`,
    didYouMean(name, names) ?? `the formats are ${names.join(", ")}`,
  );
}

async function checkDistinct(targets: readonly ReportTarget[], files: Files): Promise<void> {
  const taken = new Map<string, string>();
  for (const { path, format: { name } } of targets) {
    if (path === undefined) continue;
    // An invalid path is reported when it is opened.
    const location = path === "-" ? path : await files.realPath(path).catch(() => path);
    const other = taken.get(location);
    if (other !== undefined) {
      const where = path === "-" ? "standard output" : `'${path}'`;
      throw new UsageError(`two reports go to ${where}: ${other} and ${name}`);
    }
    taken.set(location, name);
  }
}

/** Whether failures become annotations. */
export function reportsToGithub(targets: readonly ReportTarget[]): boolean {
  return targets.some(({ format }) => format === GITHUB);
}
