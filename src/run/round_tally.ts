import { roundDuration } from "../base/value/duration.ts";
import { noSteps } from "./count_steps.ts";
import type {
  BareEvent,
  EchoTally,
  Emit,
  FailureTally,
  JobState,
  ResponseTimes,
  RoundsTallied,
  RunEvent,
  StepFinished,
  StepResult,
  StepRun,
  StepState,
  StepTally,
  StepTree,
} from "./event.ts";
import { hasFailed, StepTrees } from "./step_trees.ts";

/** What takes the events of a run, and how much of it. */
interface Sink {
  /** Whether the events of every round are emitted, not only of some, which show the progress. */
  readonly reportsAll: boolean;
  /** Completes an event, and takes secrets out of it. */
  readonly mask: (event: BareEvent) => RunEvent;
  readonly emit: Emit;
}

/**
 * Counts the rounds of repeated jobs: the one tally that all reports read. Every event of a run
 * passes here; those of rounds go on only if somebody takes them, and `rounds_tallied` is added
 * before the end of each repeated job. What it keeps does not grow with the number of rounds, but
 * for their response times.
 */
export class RoundTallies {
  readonly #sink: Sink;
  /** Of the jobs under way that repeat, by id. */
  readonly #jobs = new Map<string, JobTally>();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  take(event: BareEvent): void {
    const { mask, emit } = this.#sink;
    switch (event.type) {
      case "job_started":
        // A job that runs once is like one without `repeat`.
        if ((event.rounds ?? 1) !== 1) this.#jobs.set(event.job, new JobTally(this.#sink));
        break;
      case "step_started":
      case "step_waiting":
      case "step_retried":
      case "step_finished": {
        const tally = this.#jobs.get(event.run.job);
        if (tally) return tally.takeStep(event);
        break;
      }
      case "round_finished": {
        const tally = this.#jobs.get(event.job);
        if (tally) return tally.takeRound(event);
        break;
      }
      case "job_finished": {
        const tally = this.#jobs.get(event.job);
        this.#jobs.delete(event.job);
        const masked = mask(event);
        if (tally) emit(tally.finish(event.job, masked));
        return emit(masked);
      }
      case "rounds_tallied":
        // It was of a part of the rounds, and is made anew.
        return;
    }
    emit(mask(event));
  }
}

/** The events of one or more runs, with the tallies of repeated jobs made anew. */
export function* tallyRounds(events: Iterable<RunEvent>): Iterable<RunEvent> {
  const tallied: RunEvent[] = [];
  const sink = {
    reportsAll: true,
    mask: (event: BareEvent) => event as RunEvent,
    emit: (event: RunEvent) => void tallied.push(event),
  };
  const runs = new Map<string, RoundTallies>();
  for (const event of events) {
    runs.getOrInsertComputed(event.runId, () => new RoundTallies(sink)).take(event);
    yield* tallied.splice(0);
  }
}

type OfType<Type> = Extract<BareEvent, { readonly type: Type }>;
type StepEvent = OfType<"step_started" | "step_waiting" | "step_retried" | "step_finished">;

/** Between two rounds whose events are emitted to show the progress, in milliseconds. */
const SAMPLE_PAUSE = 200;

/** The rounds of a job under way. */
class JobTally {
  readonly #sink: Sink;
  readonly #trees = new StepTrees();
  readonly #steps: StepCounts = new Map();
  readonly #rounds: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  /** The rounds under way in which a step has ended. */
  readonly #open = new Set<number>();
  #begun = 0;
  /** The round whose events are emitted, and the time of the latest that were. */
  #sample: number | undefined;
  #sampled = -Infinity;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  takeStep(event: StepEvent): void {
    const { mask, emit } = this.#sink;
    const isReported = this.#reports(event);
    if (event.type === "step_retried") this.#trees.retry(event.run);
    if (event.type === "step_finished") {
      this.#begin(event.run);
      if (!isReported && this.#countUsual(event)) return;
      const finished = mask(event) as StepFinished;
      const tree = this.#trees.finish(finished);
      if (tree) addTree(this.#steps, tree, tree.run.round ?? 0, event.result.name);
      if (isReported) emit(finished);
    } else if (isReported) emit(mask(event));
  }

  takeRound(event: OfType<"round_finished">): void {
    const { reportsAll, mask, emit } = this.#sink;
    const { round, state, time } = event;
    this.#rounds[state]++;
    this.#open.delete(round);
    if (reportsAll) return emit(mask(event));
    const isSample = round === this.#sample;
    if (isSample) this.#sample = undefined;
    else if (time - this.#sampled < SAMPLE_PAUSE) return;
    this.#sampled = time;
    const { passed, failed, skipped } = this.#rounds;
    emit(mask({ ...event, ended: passed + failed + skipped }));
  }

  finish(job: string, { runId, time }: RunEvent): RoundsTallied {
    return {
      type: "rounds_tallied",
      ...{ runId, time, job, begun: this.#begun, rounds: this.#rounds },
      steps: talliesOf(this.#steps),
    };
  }

  #reports({ type, time, run }: StepEvent): boolean {
    if (this.#sink.reportsAll) return true;
    const round = roundOf(run);
    if (type === "step_started" && this.#sample === undefined) {
      if (time - this.#sampled < SAMPLE_PAUSE) return false;
      this.#sample = round;
      this.#sampled = time;
    }
    return round === this.#sample;
  }

  #begin({ within, round = 0 }: StepRun): void {
    if (within || this.#open.has(round)) return;
    this.#open.add(round);
    this.#begun++;
  }

  /** Counts a step that did what it did before, for which no text has to be masked. */
  #countUsual({ run: { within, step, entry, round = 0 }, result }: OfType<"step_finished">) {
    const { name, state, echo, untested, reason } = result;
    if (within || !this.#trees.isEmpty || hasFailed(result)) return false;
    if (echo !== undefined || untested !== undefined) return false;
    const counts = this.#steps.get(slotOf(step, entry));
    if (!counts || counts.first?.result.state !== state || counts.latest !== name) return false;
    if (reason !== undefined && counts.reason === undefined) return false;
    addResult(counts, result, counts.latestMasked, round);
    return true;
  }
}

function roundOf({ within, round = 0 }: StepRun): number {
  return within ? roundOf(within) : round;
}

/** The counts of the steps of a job, by step and entry. */
type StepCounts = Map<string, StepCount>;

/** The counts of a step so far. */
interface StepCount extends Pick<StepTally, "step" | "entry"> {
  readonly name: CommonName;
  /** Its name in the latest round, as it was and without secrets. */
  latest: string;
  latestMasked: string;
  readonly states: Record<StepState, number>;
  flaky: number;
  duration: number;
  slowest?: StepTally["slowest"];
  reason?: string;
  untested?: { count: number; readonly first: string };
  assertions?: { passed: number; failed: number };
  snapshots?: { -readonly [K in keyof NonNullable<StepTally["snapshots"]>]: number };
  /** By their text. */
  readonly echoes: Map<string, Mutable<EchoTally>>;
  otherEchoes: number;
  first?: StepTree;
  /** By their kind. */
  readonly failures: Map<string, Mutable<FailureTally>>;
  otherFailures: number;
  /** The response time of each round in which the action answered. */
  readonly times: number[];
  readonly inside: StepCounts;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const MAX_ECHOES = 100;
const MAX_KINDS = 10;

function slotOf(step: number, entry: number | undefined): string {
  return `${step}.${entry}`;
}

function newCount(step: number, entry: number | undefined, name: string): StepCount {
  return {
    ...{ step, entry, name: { first: name }, latest: name, latestMasked: name },
    ...{ states: noSteps(), flaky: 0, duration: 0 },
    ...{ echoes: new Map(), otherEchoes: 0, failures: new Map(), otherFailures: 0 },
    ...{ times: [], inside: new Map() },
  };
}

/** Counts a run of a step and of those inside of it; `name` is its name with secrets. */
function addTree(all: StepCounts, tree: StepTree, round: number, name?: string): void {
  const { run: { step, entry }, result, inside } = tree;
  const slot = slotOf(step, entry);
  let counts = all.get(slot);
  if (!counts) all.set(slot, counts = newCount(step, entry, result.name));
  counts.latest = name ?? result.name;
  counts.latestMasked = result.name;
  addName(counts.name, result.name);
  addResult(counts, result, result.name, round);
  const { echo, untested, reason } = result;
  if (echo !== undefined && echo.trim() !== "") addEcho(counts, echo, round);
  if (reason !== undefined) counts.reason ??= reason;
  if (untested !== undefined) {
    counts.untested ??= { count: 0, first: untested };
    counts.untested.count++;
  }
  if (hasFailed(result)) addFailure(counts, tree, round);
  else if (!counts.first || counts.first.result.state === "skipped" && result.state !== "skipped") {
    counts.first = tree;
  }
  for (const inner of inside) addTree(counts.inside, inner, round);
}

/** Adds the numbers of a result. */
function addResult(counts: StepCount, result: StepResult, name: string, round: number): void {
  const { state, duration, flaky, responseTime, instant, assertions, snapshot } = result;
  counts.states[state]++;
  counts.duration += duration;
  if (flaky) counts.flaky++;
  if (responseTime !== undefined && !instant) counts.times.push(responseTime);
  if (state !== "skipped" && !(duration <= (counts.slowest?.duration ?? -1))) {
    counts.slowest = { round, name, duration };
  }
  if (assertions) {
    counts.assertions ??= { passed: 0, failed: 0 };
    counts.assertions.passed += assertions.passed;
    counts.assertions.failed += assertions.failed;
  }
  if (snapshot) {
    const snapshots = counts.snapshots ??= {};
    snapshots[snapshot.state] = (snapshots[snapshot.state] ?? 0) + 1;
  }
}

function addEcho(counts: StepCount, text: string, round: number): void {
  const known = counts.echoes.get(text);
  if (known) {
    known.count++;
    known.round = Math.min(known.round, round);
  } else if (counts.echoes.size < MAX_ECHOES) {
    counts.echoes.set(text, { text, round, count: 1 });
  } else {
    counts.otherEchoes++;
  }
}

function addFailure(counts: StepCount, tree: StepTree, round: number): void {
  const kind = failureKind(tree.result);
  const known = counts.failures.get(kind);
  if (known) {
    known.count++;
    // Parallel rounds end in any order.
    if (round < known.round) Object.assign(known, { first: tree, round });
  } else if (counts.failures.size < MAX_KINDS) {
    counts.failures.set(kind, { first: tree, round, count: 1 });
  } else {
    counts.otherFailures++;
  }
}

/**
 * Failures are alike when they say the same about the same spot and the results were the same,
 * whatever the values were. Numbers in what they say may be those of the rounds.
 */
function failureKind({ failures, exchange }: StepResult): string {
  const reasons = failures.map(({ kind, field, message, place: location }) =>
    `${kind} ${field} ${location?.line}:${location?.column} ${message.replace(/\d+/g, "0")}`
  );
  return [...reasons, exchange?.brief ?? ""].join("\n");
}

function talliesOf(all: StepCounts): StepTally[] {
  const sorted = [...all.values()].sort((a, b) =>
    a.step - b.step || (a.entry ?? -1) - (b.entry ?? -1)
  );
  return sorted.map((counts) => {
    const { latest: _, latestMasked: __, name, entry, slowest, ...tally } = counts;
    return {
      ...tally,
      ...entry === undefined ? {} : { entry },
      name: renderCommonName(name),
      duration: roundDuration(tally.duration),
      ...slowest ? { slowest } : {},
      echoes: [...tally.echoes.values()].sort((a, b) => a.round - b.round),
      failures: [...tally.failures.values()],
      times: responseTimes(tally.times),
      inside: talliesOf(tally.inside),
    };
  });
}

const MAX_BARS = 24;

function responseTimes(times: readonly number[]): ResponseTimes | undefined {
  if (times.length === 0) return undefined;
  const sorted = Float64Array.from(times).sort();
  const count = sorted.length;
  const [min, max] = [sorted[0]!, sorted[count - 1]!];
  // The nearest rank: a time that was measured.
  const at = (percent: number) => sorted[Math.max(0, Math.ceil(percent / 100 * count) - 1)]!;
  const histogram = new Array<number>(Math.min(MAX_BARS, Math.ceil(Math.sqrt(count)))).fill(0);
  const width = (max - min) / histogram.length;
  for (const time of sorted) {
    histogram[Math.min(histogram.length - 1, Math.floor((time - min) / width) || 0)]!++;
  }
  return {
    ...{ count, min, mean: roundDuration(sorted.reduce((sum, time) => sum + time, 0) / count) },
    ...{ p50: at(50), p90: at(90), p95: at(95), p99: at(99), max, histogram },
  };
}

/** The name of something that comes up again and again, each time perhaps by another name. */
interface CommonName {
  readonly first: string;
  /** The common prefix and suffix of all names, as letters, numbers and separators. */
  ends?: { readonly head: readonly string[]; readonly tail: readonly string[] };
}

/** Takes a name into account. */
function addName(common: CommonName, name: string): void {
  const { first, ends } = common;
  if (!ends && name === first) return;
  const parts = partsOf(name);
  const { head, tail } = ends ?? { head: partsOf(first), tail: partsOf(first) };
  const begin = countSame(head, parts);
  // A part of the common prefix cannot be part of the suffix, too.
  const room = Math.min(parts.length, ends ? Infinity : head.length) - begin;
  const end = Math.min(room, countSame(tail.toReversed(), parts.toReversed()));
  common.ends = { head: head.slice(0, begin), tail: tail.slice(tail.length - end) };
}

/** `request …` where the names were `request 1` and `request 2`. */
function renderCommonName({ first, ends }: CommonName): string {
  if (!ends) return first;
  const [head, tail] = [ends.head.join(""), ends.tail.join("")];
  return /[\p{L}\p{N}]/u.test(head + tail) ? `${head}…${tail}` : `${first}, …`;
}

function partsOf(name: string): string[] {
  return name.match(/\p{L}+|\p{N}+|[^\p{L}\p{N}]/gu) ?? [];
}

function countSame(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((part, index) => part !== other[index]);
  return end < 0 ? one.length : end;
}
