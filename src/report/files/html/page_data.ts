import { shortenExcerpt } from "../../../base/source.ts";
import type {
  Attempt,
  Failure,
  FailureTally,
  JobState,
  LoadOutline,
  LoadSecond,
  LoadStageOutline,
  MessagesCame,
  StepResult,
  StepRun,
  StepTally,
} from "../../../run/event.ts";
import { roundsText } from "../details.ts";
import { criticalPath } from "../../text/time_summary.ts";
import { runLabel } from "../../failed_parts.ts";
import type { HistoryRun } from "../history.ts";
import {
  type JobRecord,
  type RoundStats,
  roundStats,
  type RunRecord,
  type StepRecord,
} from "../../record.ts";
import { type EncodedHistogram, Histogram } from "../../../base/value/histogram.ts";
import { hasFailed, runKey } from "../../../run/step_trees.ts";
import { countOf } from "../../../base/text/count_of.ts";
import { cutLine } from "../../../base/text/display_width.ts";
import { summarizeFailure } from "../../../run/failure/summarize_failure.ts";
import {
  causesOf,
  numberCells,
  otherFailuresOf,
  perSecond,
  renderOperand,
  renderRoundsLine,
  sumSeconds,
} from "../../text/render_load.ts";

/** The data of a run that the page shows; times are milliseconds since the run started. */
export interface PageData {
  readonly duration: number;
  readonly jobs: readonly PageJob[];
  readonly steps: readonly PageStep[];
}

/** A run of a history, and its steps where it has a count of them. */
export interface PageHistoryRun
  extends Pick<HistoryRun, "started" | "duration" | "state" | "isPartial" | "steps"> {
  /** The p95 of load jobs and their steps, in milliseconds. */
  readonly loads?: readonly (readonly [name: string, p95: number])[];
}

/** A workflow in the index of a suite. */
export interface IndexEntry {
  readonly state: JobState;
  /** The text to search, in lower case. */
  readonly text: string;
}

/** A job on the page. */
export interface PageJob extends
  Pick<
    JobRecord,
    "id" | "name" | "needs" | "reason" | "duration" | "allowFailure" | "failures"
  > {
  readonly state: JobState | "unfinished";
  readonly start?: number;
  /** Its position on the critical path, from 1, if there is more than one job. */
  readonly critical?: number;
  /** The number of its steps that never began. */
  readonly notRun?: number;
  /** The results of its steps in all rounds, as lines of text, if it ran more than once. */
  readonly rounds?: string;
  /** What it did as a load job. */
  readonly load?: PageLoad;
  /** The response times of its steps in all rounds. */
  readonly times?: readonly TimeDistribution[];
  /** The statistics of its rounds. */
  readonly stats?: RoundStats;
}

/** One run of one step, as far as its row shows it. */
export interface PageStep
  extends Pick<StepResult, "name" | "uses" | "state" | "allowFailure" | "flaky" | "duration"> {
  /** Index of its job. */
  readonly job: number;
  /** The number of runs that it is an example of. */
  readonly runs?: number;
  /** Unlike that of any other step beside it, and the same in other runs. */
  readonly key: string;
  /** Why it failed. */
  readonly message?: string;
  readonly start: number;
  /** The number of steps that contain it. */
  readonly depth: number;
  /** `api.yml:14`. */
  readonly position?: string;
  /** The phases of the action: names and milliseconds, in order. */
  readonly phases?: readonly (readonly [name: string, duration: number])[];
  /** If there was more than one. */
  readonly attempts?: readonly (readonly [
    start: number,
    duration: number,
    outcome: Attempt["outcome"],
  ])[];
  /** When messages came to it, where it stayed open. */
  readonly arrivals?: readonly number[];
}

/** The details of a step; they are most of the page, so each is parsed when it is shown. */
export type PageDetails = ReturnType<typeof pageDetails>;

/** The jobs of a run as the page shows them. */
export function pageJobs({ jobs, started, warnings }: RunRecord): PageJob[] {
  const critical = jobs.length < 2 ? [] : criticalPath(jobs);
  return jobs.map((job) => {
    const { id, name, needs, state = "unfinished", reason, duration, allowFailure } = job;
    const position = critical.indexOf(id);
    return {
      ...{ id, name, needs, state, reason, duration, allowFailure },
      start: job.started === undefined ? undefined : job.started - started,
      critical: position < 0 ? undefined : position + 1,
      notRun: countNotRun(job) || undefined,
      ...job.load ? { load: pageLoad(job, warnings) } : roundsOf(job),
      failures: job.failures.map(briefFailure),
    };
  });
}

function roundsOf({ tally, rounds = 1 }: JobRecord): Partial<PageJob> {
  if (!tally) return {};
  return {
    stats: roundStats(tally),
    rounds: roundsText(tally.steps, rounds),
    times: timesIn(tally.steps),
  };
}

/** The response times of steps and of those inside of them, if there are several. */
function timesIn(steps: readonly StepTally[]): NonNullable<PageJob["times"]> {
  return steps.flatMap(({ name, times, instant, inside }) => [
    ...instant ? [] : distributionOf(name, times).filter(({ count }) => count > 1),
    ...timesIn(inside),
  ]);
}

/** The steps that never began, or their entries where others did, as the run counts them. */
function countNotRun({ outline, steps, tally, rounds = 1 }: JobRecord): number {
  if (steps.length === 0) return outline.length;
  if (tally) {
    // A row is about the runs of a step that were not skipped, if there are any.
    const skipped = tally.steps.filter(({ first }) => first?.result.state !== "skipped")
      .reduce((sum, { states }) => sum + states.skipped, 0);
    return skipped + (tally.begun < rounds ? outline.length : 0);
  }
  return outline.reduce((sum, { entries }, index) => {
    const ran = steps.filter(({ run }) => run.step === index);
    const last = ran.reduce((last, { run: { entry = 0 } }) => Math.max(last, entry + 1), 0);
    return sum + Math.max(entries ?? (ran.length === 0 ? 1 : 0), last) - ran.length;
  }, 0);
}

/** The time that a run took, up to its last event: milliseconds. */
export function pageDuration({ end, jobs, started }: RunRecord): number {
  if (end) return end.duration;
  const times = jobs.flatMap((job) => [
    (job.started ?? started) + job.duration,
    ...job.steps.map(({ result }) => result.started + result.duration),
  ]);
  return times.reduce((last, time) => Math.max(last, time), started) - started;
}

/** A step and the number of steps that contain it. */
interface NestedStep {
  readonly step: StepRecord;
  readonly depth: number;
}

/** The runs of the steps of a job, each followed by those inside of it. */
export function* flatSteps(steps: readonly StepRecord[], depth = 0): Iterable<NestedStep> {
  for (const step of steps) {
    yield { step, depth };
    yield* flatSteps(step.inside, depth + 1);
  }
}

/** The data of the row of a step of a run; `job` is the index of its job. */
export function pageStep(
  { step: { run, runs, result, position = result.place }, depth }: NestedStep,
  job: number,
  { jobs, started, messages }: RunRecord,
): PageStep {
  const { name, uses, state, allowFailure, flaky, duration, phases, attempts } = result;
  return {
    job,
    runs,
    key: keyOf(run),
    name: name +
      (jobs[job]!.load && run.round !== undefined ? ` (round ${run.round + 1})` : runLabel(run)),
    message: result.failures[0] && cutLine(summarizeFailure(result.failures[0]), WIDEST),
    ...{ uses, state, allowFailure, flaky },
    start: result.started - started,
    duration,
    depth,
    position: position && `${position.file}:${position.line}`,
    phases: phases && Object.entries(phases),
    attempts: attempts.length < 2
      ? undefined
      : attempts.map((one) => [one.started - started, one.duration, one.outcome] as const),
    arrivals: messages.get(runKey(run))?.messages.map(({ time }) => time - started),
  };
}

/** The id of a step or its number, with its round and entry: `login`, `3`, `login.r2.e1`. */
export function keyOf({ id, step, round, entry }: StepRun): string {
  return encodeURIComponent(id ?? String(step + 1)) +
    (round === undefined ? "" : `.r${round}`) + (entry === undefined ? "" : `.e${entry + 1}`);
}

/** The details of a step that its row does not show. */
export function pageDetails({ run, result }: StepRecord, { messages }: RunRecord) {
  const { responseTime, echo, outputs, tests, assertions, trace } = result;
  const { maxAttempts, retryTime, resent, wait, reason, exchange } = result;
  return {
    ...{ responseTime, echo, outputs, tests, assertions },
    ...{ maxAttempts, retryTime, resent, wait, reason },
    failures: result.failures.map(briefFailure),
    attempts: result.attempts.length < 2 ? undefined : result.attempts.map(briefAttempt),
    exchange,
    trace: trace && { id: trace.id, url: trace.url },
    came: briefMessages(messages.get(runKey(run))),
  };
}

function briefMessages(came: MessagesCame | undefined) {
  if (!came) return undefined;
  return { count: came.count, texts: came.messages.map(describeMessage) };
}

function describeMessage({ text, trace }: MessagesCame["messages"][number]): string {
  return trace ? `${text} from span ${trace.parent} of trace ${trace.id}` : text;
}

function briefAttempt({ detail, ...attempt }: Attempt): Attempt {
  if (!detail) return attempt;
  return { ...attempt, detail: { ...detail, failures: detail.failures.map(briefFailure) } };
}

const LONGEST_LINE = 1000;

/** A file may be one line of megabytes, and each failure in it would contain all of that. */
export function briefFailure(failure: Failure): Failure {
  const { place: location } = failure;
  return location ? { ...failure, place: shortenExcerpt(location, LONGEST_LINE) } : failure;
}

/** The most points of a curve. */
const MAX_POINTS = 600;

/** Milliseconds whose rate says nothing. */
const SHORT = 250;

/** The most bars of a distribution, and the widest message of a cause. */
const [MAX_BARS, WIDEST] = [40, 200];

/** A load job on the page; times are milliseconds since the job started. */
export interface PageLoad {
  /** The result in a line. */
  readonly summary?: string;
  readonly warnings: readonly string[];
  readonly stopped?: string;
  readonly thresholds: readonly {
    readonly text: string;
    readonly passed: boolean;
    readonly value: string;
  }[];
  /** The cells of the rounds and of each step, as people read them. */
  readonly numbers: readonly (readonly string[])[];
  readonly causes: readonly PageCause[];
  readonly otherFailures?: number;
  readonly stages: readonly PageStage[];
  readonly curves: LoadCurves;
  readonly distributions: readonly TimeDistribution[];
}

/** Failures that have the same cause. */
interface PageCause extends Pick<FailureTally, "count" | "from" | "to"> {
  readonly step: string;
  readonly message: string;
  /** The key of the row of the first of them. */
  readonly row: string;
}

interface PageStage {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly isIdle?: true;
}

/** The columns of a table with a row for each point; the last ones are absent where all are 0. */
export interface LoadCurves {
  /** The middle of the time that a point is about. */
  readonly at: readonly number[];
  readonly end: number;
  readonly asked?: Column;
  readonly rate: Column;
  readonly p50: Column;
  readonly p95: Column;
  readonly p99: Column;
  readonly users?: Column;
  readonly inFlight: Column;
  readonly failed?: Column;
  readonly dropped?: Column;
  readonly late?: Column;
}

type Column = readonly (number | null)[];

/** How many times are in equal parts between the logarithms of the shortest and the longest. */
export interface TimeDistribution {
  readonly name: string;
  readonly count: number;
  readonly min: number;
  readonly max: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly counts: readonly number[];
}

/** What the page shows of a load job, which does not grow with the time that it took. */
function pageLoad(
  { id, outline: steps, started = 0, load, tally = NO_ROUNDS }: JobRecord,
  warnings: RunRecord["warnings"],
): PageLoad | undefined {
  if (!load) return undefined;
  const { outline, seconds, end } = load;
  const { stats, thresholds = [], stopped } = end ?? {};
  const curves = curvesOf(seconds);
  const nameOf = (step: number) => outline.steps[step] ?? steps[step]?.name ?? "";
  return {
    summary: stats && renderRoundsLine(stats, " · ").replace(" %", "\u00a0%"),
    warnings: warnings.flatMap(({ text }) =>
      text.startsWith(`${id}: `) ? text.slice(id.length + 2) : []
    ),
    stopped,
    thresholds: thresholds.map(({ expression, says, passed, operands, problem }) => ({
      text: says ?? expression,
      passed,
      value: problem ?? operands.map(renderOperand).join(", "),
    })),
    numbers: stats
      ? [
        ["all rounds", ...numberCells(stats)],
        ...stats.steps.map((step) => [step.key, ...numberCells(step)]),
      ]
      : [],
    causes: causesOf(tally).map(({ step, count, from, to, first }) => {
      const failed = first.inside.find(({ result }) => hasFailed(result)) ?? first;
      const [failure] = failed.result.failures;
      return {
        ...{ count, from: from - started, to: to - started, step: nameOf(step.step) },
        message: failure ? cutLine(summarizeFailure(failure), WIDEST) : "failed",
        row: keyOf(first.run),
      };
    }),
    otherFailures: otherFailuresOf(tally) || undefined,
    stages: stagesOf(outline, curves.end),
    curves,
    distributions: [
      ...distributionOf("All rounds", tally.times),
      ...tally.steps.flatMap(({ step, times }) => distributionOf(nameOf(step), times)),
    ],
  };
}

const NO_ROUNDS = { begun: 0, rounds: { passed: 0, failed: 0, skipped: 0 }, steps: [] };

/** The warm-up and the stages as far as the job came. */
function stagesOf({ warmUp = 0, stages }: LoadOutline, end: number): readonly PageStage[] {
  let from = warmUp;
  const all = stages.map((stage) => {
    const to = from + (stage.duration ?? Infinity);
    const band = { from, to: Math.min(to, end), label: labelOfStage(stage) };
    from = to;
    return band;
  });
  const first = { from: 0, to: Math.min(warmUp, end), label: "warm-up", isIdle: true } as const;
  const shown = [first, ...all].filter(({ from, to }) => from < to);
  // The summary says what a single one asks for.
  return shown.length > 1 ? shown : [];
}

function labelOfStage({ rate, users = 0, ramp }: LoadStageOutline): string {
  const pace = rate === undefined ? countOf(users, "user") : `${perSecond(rate)}/s`;
  return ramp ? `to ${pace}` : pace;
}

function curvesOf(seconds: readonly LoadSecond[]): LoadCurves {
  const end = seconds.reduce((end, { from, length }) => Math.max(end, from + length), 0);
  const width = Math.max(1, Math.ceil(end / 1000 / MAX_POINTS)) * 1000;
  /** Neighbouring seconds of which each list is a point. */
  const spans: LoadSecond[][] = [];
  for (const second of seconds) {
    const { from, length, phase } = second;
    const last = spans.at(-1);
    const [first] = last ?? [];
    const isSame = first !== undefined &&
      (first.phase === phase && Math.floor(from / width) === Math.floor(first.from / width) ||
        first.phase !== "warm_up" && length < SHORT);
    if (isSame) last!.push(second);
    else spans.push([second]);
  }
  const points = spans.map(pointOf);
  const column = (name: Exclude<keyof LoadCurves, "end">) =>
    points.map((point) => {
      const value = point[name];
      return value === undefined ? null : Number(value.toPrecision(4));
    });
  const unlessNone = (name: Exclude<keyof LoadCurves, "end">) => {
    const values = column(name);
    return values.some(Boolean) ? { [name]: values } : {};
  };
  return {
    at: points.map(({ at }) => Math.round(at)),
    end,
    ...unlessNone("asked"),
    rate: column("rate"),
    ...{ p50: column("p50"), p95: column("p95"), p99: column("p99") },
    ...unlessNone("users"),
    inFlight: column("inFlight"),
    ...unlessNone("failed"),
    ...unlessNone("dropped"),
    ...unlessNone("late"),
  };
}

type Point = Partial<Record<Exclude<keyof LoadCurves, "end">, number>> & { readonly at: number };

function pointOf(seconds: readonly LoadSecond[]): Point {
  const [{ from, phase }] = seconds as [LoadSecond];
  const length = seconds.reduce((sum, one) => sum + one.length, 0);
  const stats = sumSeconds(seconds);
  const { rate, p50, p95, p99, users = 0, inFlight, asked, failed, dropped, late } = stats;
  const perSecond = (count: number) => length === 0 ? 0 : count * 1000 / length;
  return {
    at: from + length / 2,
    asked: phase === "ending" ? undefined : asked ?? 0,
    rate,
    ...stats.count === 0 ? {} : { p50, p95, p99 },
    ...{ users, inFlight },
    failed: perSecond(failed),
    dropped: perSecond(dropped),
    late: perSecond(late),
  };
}

/** The distribution of times; empty without times. */
function distributionOf(
  name: string,
  encoded: EncodedHistogram | undefined,
): TimeDistribution[] {
  const times = encoded && Histogram.decode(encoded);
  const summary = times?.summary();
  if (!summary) return [];
  const { count, min, max, p50, p95, p99 } = summary;
  const counts = times!.bars(MAX_BARS, (time) => Math.log(Math.max(time, SHORTEST)));
  return [{ name, count, min, max, p50, p95, p99, counts }];
}

/** A logarithm of nothing would be infinite: a microsecond. */
const SHORTEST = 0.001;
