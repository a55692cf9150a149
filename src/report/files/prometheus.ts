import { type EncodedHistogram, Histogram } from "../../base/value/histogram.ts";
import type { LoadNumbers } from "../../run/event.ts";
import { type Case, suitesOf } from "./cases.ts";
import { causesOf, otherFailuresOf } from "../text/render_load.ts";
import { withDistinctNames } from "./cases.ts";
import { type JobRecord, type RunRecord, stateOf, type SuiteRecord } from "../record.ts";

/** Every metric with its type and its help, in the order of the file. */
const METRICS = {
  runner_suite_passed: ["gauge", "Whether the suite passed (1) or not (0)"],
  runner_suite_duration_seconds: ["gauge", "Duration of the suite"],
  runner_run_passed: ["gauge", "Whether the run passed (1) or not (0)"],
  runner_run_start_time_seconds: ["gauge", "Start of the run, in seconds since 1970"],
  runner_run_duration_seconds: ["gauge", "Duration of the run"],
  runner_jobs: ["gauge", "Jobs by state"],
  runner_steps: ["gauge", "Runs of steps by state"],
  runner_flaky_steps: ["gauge", "Steps that passed only after a failed attempt"],
  runner_assertions: ["gauge", "Assertions by state"],
  runner_job_passed: ["gauge", "Whether the job passed (1) or not (0); absent if it was skipped"],
  runner_job_duration_seconds: ["gauge", "Duration of the job"],
  runner_step_runs: ["gauge", "Runs of a step by state"],
  runner_step_duration_seconds: ["gauge", "Duration of a step, on average over its runs"],
  runner_load_duration_seconds: ["gauge", "Measured time of a load job, without its warm-up"],
  runner_load_rounds: ["gauge", "Rounds of a load job by state"],
  runner_load_rounds_per_second: ["gauge", "Rounds that ended in a second"],
  runner_load_asked_rounds_per_second: ["gauge", "Rounds that should have started in a second"],
  runner_load_users: ["gauge", "The most users there were"],
  runner_load_in_flight_rounds: ["gauge", "The most rounds that ran at once"],
  runner_load_dropped_rounds: ["gauge", "Rounds that did not start as too many were running"],
  runner_load_late_rounds: ["gauge", "Rounds that started more than 10 ms after they were due"],
  runner_load_late_max_seconds: [
    "gauge",
    "The longest time from when a round was due to its start",
  ],
  runner_load_busy_ratio: ["gauge", "Share of a processor used in the busiest second"],
  runner_load_round_seconds: ["histogram", "Times of rounds"],
  runner_load_round_quantile_seconds: ["summary", "Times of rounds, to 0.1 %"],
  runner_load_step_runs: ["gauge", "Runs of a step of a load job by state"],
  runner_load_step_seconds: ["histogram", "Times of a step of a load job"],
  runner_load_step_quantile_seconds: ["summary", "Times of a step of a load job, to 0.1 %"],
  runner_load_failures: ["gauge", "Failures of steps of a load job by cause"],
  runner_load_threshold_passed: ["gauge", "Whether the threshold is met (1) or not (0)"],
  runner_runs_total: ["counter", "Runs by state, since the program has started"],
  runner_streak: ["gauge", "Runs in a row that ended in the state of the last one"],
  runner_step_seconds: ["histogram", "Times of a step, of all runs since the program has started"],
} as const;

type MetricName = keyof typeof METRICS;
export type Labels = Readonly<Record<string, string>>;

/** Upper bounds of the buckets of histograms, in milliseconds. */
export const BOUNDS = [
  ...[1, 2.5, 5, 10, 25, 50, 75, 100, 150, 200, 300, 400, 500, 750],
  ...[1000, 1500, 2000, 3000, 5000, 7500, 10_000, 30_000, 60_000],
];

/**
 * The text format of Prometheus, for the textfile collector of its node exporter: the numbers of
 * the runs, and of load jobs.
 *
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function* renderPrometheus(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
  addOthers: (add: Add) => void = () => {},
): Iterable<string> {
  const samples = new Map<MetricName, string[]>();
  const add: Add = (name, labels, value, suffix = "") => {
    const all = samples.getOrInsertComputed(name, () => []);
    all.push(`${name}${suffix}{${labelText(labels)}} ${value}\n`);
  };
  if (suite?.end) {
    const labels = { suite: suite.start.name ?? "" };
    add("runner_suite_passed", labels, suite.end.state === "passed" ? 1 : 0);
    add("runner_suite_duration_seconds", labels, seconds(suite.end.duration));
  }
  // Workflows of a suite may have one name, and a series must be there once.
  for (const record of withDistinctNames(records)) addRun(record, add);
  addOthers(add);
  for (const [name, [type, help]] of Object.entries(METRICS)) {
    const lines = samples.get(name as MetricName);
    if (!lines) continue;
    yield `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n`;
    yield* lines;
  }
}

/** Adds a sample. */
export type Add = (name: MetricName, labels: Labels, value: number, suffix?: string) => void;

function addRun(record: RunRecord, add: Add): void {
  const { name: workflow, file, started, end } = record;
  const labels = { workflow, file };
  add("runner_run_passed", labels, stateOf(record) === "failed" ? 0 : 1);
  add("runner_run_start_time_seconds", labels, seconds(started));
  if (end) {
    add("runner_run_duration_seconds", labels, seconds(end.duration));
    addStates("runner_jobs", labels, end.jobs, add);
    addStates("runner_steps", labels, end.steps, add);
    add("runner_flaky_steps", labels, end.flaky);
    if (end.assertions) addStates("runner_assertions", labels, { ...end.assertions }, add);
  }
  for (const { job, name, cases } of suitesOf([{ ...record, suite: undefined }])) {
    // `job` is the label by which Prometheus itself calls what it reads.
    const ofJob = { ...labels, job_name: name };
    if (job.started !== undefined) {
      if (job.state !== "skipped") {
        add("runner_job_passed", ofJob, job.state === "passed" ? 1 : 0);
      }
      add("runner_job_duration_seconds", ofJob, seconds(job.duration));
    }
    if (job.load) addLoad(job, ofJob, add);
    else for (const one of cases) if (!one.isJob) addStep(one, ofJob, add);
  }
}

function addStep({ name: step, outcome, rounds, step: record }: Case, job: Labels, add: Add): void {
  const labels = { ...job, step };
  addStates(
    "runner_step_runs",
    labels,
    rounds?.states ?? { passed: 0, failed: 0, [outcome]: 1 },
    add,
  );
  if (!record) return;
  const { passed, failed, untested, allowed } = rounds?.states ?? {} as Record<string, number>;
  const runs = rounds ? passed! + failed! + untested! + allowed! : 1;
  const all = rounds ? rounds.tally?.times?.sum : record.result.duration;
  if (all !== undefined && runs > 0) {
    add("runner_step_duration_seconds", labels, seconds(all / runs));
  }
}

function addLoad({ load, tally }: JobRecord, labels: Labels, add: Add): void {
  if (!load?.end || !tally) return;
  const { stats, thresholds } = load.end;
  const { passed, failed, asked, users } = stats;
  add("runner_load_duration_seconds", labels, seconds(stats.elapsed));
  addStates("runner_load_rounds", labels, { passed, failed }, add);
  add("runner_load_rounds_per_second", labels, stats.rate);
  if (asked !== undefined) add("runner_load_asked_rounds_per_second", labels, asked);
  if (users !== undefined) add("runner_load_users", labels, users);
  add("runner_load_in_flight_rounds", labels, stats.inFlight);
  add("runner_load_dropped_rounds", labels, stats.dropped);
  add("runner_load_late_rounds", labels, stats.late);
  add("runner_load_late_max_seconds", labels, seconds(stats.lateMax));
  add("runner_load_busy_ratio", labels, stats.busy);
  addTimes("runner_load_round", labels, tally.times, stats, add);
  const times = new Map(tally.steps.map(({ step, times }) => [step, times]));
  for (const one of stats.steps) {
    const ofStep = { ...labels, step: one.key };
    addStates("runner_load_step_runs", ofStep, { passed: one.passed, failed: one.failed }, add);
    addTimes("runner_load_step", ofStep, times.get(one.step), one, add);
  }
  const keys = new Map(stats.steps.map(({ step, key }) => [step, key]));
  for (const { step: { step }, cause, count } of causesOf(tally)) {
    add("runner_load_failures", { ...labels, cause: `${keys.get(step)}: ${cause}` }, count);
  }
  const otherFailures = otherFailuresOf(tally);
  if (otherFailures > 0) add("runner_load_failures", { ...labels, cause: "other" }, otherFailures);
  const named = thresholds.map((one) => ({ ...one, name: one.says ?? one.expression }));
  for (const { name: threshold, passed } of withDistinctNames(named)) {
    add("runner_load_threshold_passed", { ...labels, threshold }, passed ? 1 : 0);
  }
}

/** A histogram, and the quantiles that it cannot give exactly. */
function addTimes(
  name: "runner_load_round" | "runner_load_step",
  labels: Labels,
  encoded: EncodedHistogram | undefined,
  numbers: LoadNumbers,
  add: Add,
): void {
  if (!encoded) return;
  addHistogram(`${name}_seconds`, labels, Histogram.decode(encoded), add);
  const { p50, p90, p95, p99, p999 } = numbers;
  const quantiles = { "0.5": p50, "0.9": p90, "0.95": p95, "0.99": p99, "0.999": p999 };
  for (const [quantile, time] of Object.entries(quantiles)) {
    add(`${name}_quantile_seconds`, { ...labels, quantile }, seconds(time));
  }
}

/** A histogram with cumulative buckets. */
export function addHistogram(name: MetricName, labels: Labels, times: Histogram, add: Add): void {
  const { count, sum } = times;
  for (const [index, below] of times.countsUpTo(BOUNDS).entries()) {
    add(name, { ...labels, le: String(seconds(BOUNDS[index]!)) }, below, "_bucket");
  }
  add(name, { ...labels, le: "+Inf" }, count, "_bucket");
  add(name, labels, seconds(sum), "_sum");
  add(name, labels, count, "_count");
}

/** Adds a sample for each state. */
export function addStates(
  name: MetricName,
  labels: Labels,
  states: Readonly<Record<string, number>>,
  add: Add,
): void {
  for (const [state, count] of Object.entries(states)) add(name, { ...labels, state }, count);
}

function labelText(labels: Labels): string {
  return Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`).join(",");
}

function escape(value: string): string {
  return value.toWellFormed().replaceAll("\\", "\\\\").replaceAll('"', '\\"')
    .replaceAll("\n", "\\n");
}

/** Seconds, to the microsecond. */
export function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1e6;
}
