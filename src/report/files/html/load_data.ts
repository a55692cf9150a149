import { type EncodedHistogram, Histogram } from "../../../base/value/histogram.ts";
import type {
  FailureTally,
  LoadOutline,
  LoadSecond,
  LoadStageOutline,
  StepRun,
} from "../../../run/event.ts";
import { hasFailed } from "../../../run/step_trees.ts";
import { countOf } from "../../../base/text/count_of.ts";
import { cutLine } from "../../../base/text/display_width.ts";
import { summarizeFailure } from "../../text/render_failure.ts";
import {
  causesOf,
  numberCells,
  otherFailuresOf,
  perSecond,
  renderOperand,
  renderRoundsLine,
  sumSeconds,
} from "../../text/render_load.ts";
import type { JobRecord, RunRecord } from "../../record.ts";

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
export function pageLoad(
  { id, outline: steps, started = 0, load, tally = NO_ROUNDS }: JobRecord,
  warnings: RunRecord["warnings"],
  keyOf: (run: StepRun) => string,
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
  return [first, ...all].filter(({ from, to }) => from < to);
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
export function distributionOf(
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
