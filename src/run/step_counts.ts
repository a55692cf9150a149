import { roundDuration } from "../base/value/duration.ts";
import { Histogram } from "../base/value/histogram.ts";
import { noSteps } from "./count_steps.ts";
import type {
  EchoTally,
  FailureTally,
  ResponseTimes,
  StepResult,
  StepState,
  StepTally,
  StepTree,
} from "./event.ts";
import { hasFailed } from "./step_trees.ts";

/** The counts of the steps of a job, by step and entry. */
export type StepCounts = Map<string, StepCount>;

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
  assertions?: { passed: number; failed: number };
  snapshots?: { -readonly [K in keyof NonNullable<StepTally["snapshots"]>]: number };
  /** By their text. */
  readonly echoes: Map<string, Mutable<EchoTally>>;
  otherEchoes: number;
  first?: StepTree;
  firstRound: number;
  /** By their kind. */
  readonly failures: Map<string, Mutable<FailureTally>>;
  otherFailures: number;
  /** The response time of each round in which the action answered. */
  readonly times: Histogram;
  readonly inside: StepCounts;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const MAX_ECHOES = 100;
const MAX_KINDS = 10;

/** The key of the counts of a step, or of an entry of its `iteration`. */
export function slotOf(step: number, entry: number | undefined): string {
  return `${step}.${entry}`;
}

function newCount(step: number, entry: number | undefined, name: string): StepCount {
  return {
    ...{ step, entry, name: { first: name }, latest: name, latestMasked: name },
    ...{ states: noSteps(), flaky: 0, duration: 0, firstRound: 0 },
    ...{ echoes: new Map(), otherEchoes: 0, failures: new Map(), otherFailures: 0 },
    ...{ times: new Histogram(), inside: new Map() },
  };
}

/** Counts a run of a step and of those inside of it; `name` is its name with secrets. */
export function addTree(all: StepCounts, tree: StepTree, round: number, name?: string): void {
  const { run: { step, entry }, result, inside } = tree;
  const slot = slotOf(step, entry);
  let counts = all.get(slot);
  if (!counts) all.set(slot, counts = newCount(step, entry, result.name));
  counts.latest = name ?? result.name;
  counts.latestMasked = result.name;
  addName(counts.name, result.name);
  addResult(counts, result, result.name, round);
  const { echo, reason } = result;
  if (echo !== undefined && echo.trim() !== "") addEcho(counts, echo, round);
  if (reason !== undefined) counts.reason ??= reason;
  if (hasFailed(result)) addFailure(counts, tree, round);
  else if (isFirst(counts, tree, round)) Object.assign(counts, { first: tree, firstRound: round });
  for (const inner of inside) addTree(counts.inside, inner, round);
}

/** Whether a run takes the place of the one that is kept as the first. */
function isFirst({ first, firstRound }: StepCount, { result }: StepTree, round: number): boolean {
  if (!first) return true;
  const [isSkipped, wasSkipped] = [result, first.result].map(({ state }) => state === "skipped");
  if (isSkipped !== wasSkipped) return !isSkipped!;
  // Parallel rounds end in any order, and later ones may have no details.
  return round < firstRound && (result.exchange !== undefined || !first.result.exchange);
}

/** Adds the name of a step in a round, and returns it without secrets. */
export function addMaskedName(
  counts: StepCount,
  name: string,
  mask: (name: string) => string,
): string {
  if (name !== counts.latest) {
    counts.latest = name;
    counts.latestMasked = mask(name);
    addName(counts.name, counts.latestMasked);
  }
  return counts.latestMasked;
}

/** Adds the numbers of a result. */
export function addResult(
  counts: StepCount,
  result: StepResult,
  name: string,
  round: number,
): void {
  const { state, duration, flaky, responseTime, instant, assertions, snapshot } = result;
  counts.states[state]++;
  counts.duration += duration;
  if (flaky) counts.flaky++;
  if (responseTime !== undefined && !instant) counts.times.add(responseTime);
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
  const { state } = tree.result;
  if (known) {
    known.count++;
    // Parallel rounds end in any order.
    if (round < known.round) Object.assign(known, { first: tree, round });
  } else if (countKinds(counts, state) < MAX_KINDS) {
    counts.failures.set(kind, { first: tree, round, count: 1 });
  } else {
    counts.otherFailures++;
  }
}

/** The number of kinds of failures with a state: those that are tolerated displace no others. */
function countKinds({ failures }: StepCount, state: StepState): number {
  return [...failures.values()].filter(({ first }) => first.result.state === state).length;
}

/**
 * Failures are alike when they say the same about the same spot and the results were the same,
 * whatever the values were. Numbers in what they say may be those of the rounds. One that is
 * tolerated is another kind than one that is not.
 */
function failureKind({ state, known, failures, exchange }: StepResult): string {
  const reasons = failures.map(({ kind, field, message, place: location }) =>
    `${kind} ${field} ${location?.line}:${location?.column} ${message.replace(/\d+/g, "0")}`
  );
  return [state, known, ...reasons, exchange?.brief ?? ""].join("\n");
}

/** The counts as reports have them, in the order of the file. */
export function talliesOf(all: StepCounts): StepTally[] {
  const sorted = [...all.values()].sort((a, b) =>
    a.step - b.step || (a.entry ?? -1) - (b.entry ?? -1)
  );
  return sorted.map((counts) => {
    const { latest: _, latestMasked: __, firstRound: ___, name, entry, slowest, ...tally } = counts;
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

function responseTimes(times: Histogram): ResponseTimes | undefined {
  const summary = times.summary();
  if (!summary) return undefined;
  const { p999: _, ...rest } = summary;
  return { ...rest, histogram: times.bars() };
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
