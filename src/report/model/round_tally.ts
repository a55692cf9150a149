import type { JobState, StepResult, StepState } from "../../run/event.ts";
import { noSteps } from "../../run/count_steps.ts";
import { hasFailed, type StepTree } from "./steps.ts";

/**
 * A summary of the rounds of a repeated job: counts, times, the first echoes and the first
 * failure of each kind, so that ten thousand rounds need little more memory than a hundred.
 */
export interface RoundTally extends StepTallies {
  /** The number of rounds by outcome. */
  readonly rounds: Record<JobState, number>;
}

/** The results of the steps of one job. */
export interface StepTallies {
  /** By step and entry, as they first came up. */
  readonly steps: Map<string, StepTally>;
}

/** The results of one step in all rounds. */
export interface StepTally {
  readonly step: number;
  readonly entry: number;
  /** The name used by the rounds. */
  readonly name: CommonName;
  readonly count: Record<StepState, number>;
  /** Its echoes, by their text. */
  readonly echoes: Map<string, EchoKind>;
  echoesLeftOut: number;
  readonly kinds: Map<string, FailureKind>;
  /** Failures that were of yet another kind when there were enough kinds. */
  otherFailures: number;
  /** The number of times the action failed without a test, and its first message. */
  untestedFailures: number;
  untested?: string;
  /** In how many rounds it was good only after a failed attempt. */
  flaky: number;
  /** Why it was skipped first. */
  reason?: string;
  /** Of the action in each round in which it answered, in milliseconds; in the order of ends. */
  readonly responseTimes: number[];
  /** The steps of the job that it embeds. */
  readonly inside: StepTallies;
}

/** Echoes that are the same. */
interface EchoKind {
  readonly text: string;
  /** The first of its rounds, from 0. */
  round: number;
  count: number;
}

/** Failures that are alike. */
export interface FailureKind {
  /** The result in the first of its rounds. */
  first: StepResult;
  /** The first of its rounds, from 0. */
  round: number;
  count: number;
}

const MAX_ECHOES = 100;
const MAX_KINDS = 10;

/** A tally of no rounds. */
export function makeRoundTally(): RoundTally {
  return { steps: new Map(), rounds: { passed: 0, failed: 0, skipped: 0 } };
}

/** Counts one run of a step, and of those inside of it, in the round that it was a part of. */
export function addToTally(
  tally: StepTallies,
  { run, result, inside }: StepTree,
  round = run.round ?? 0,
): void {
  const step = stepTally(tally, run.step, run.entry ?? -1, result.name);
  addName(step.name, result.name);
  step.count[result.state]++;
  if (result.echo !== undefined && result.echo.trim() !== "") {
    addEcho(step, result.echo, round);
  }
  if (result.reason !== undefined) step.reason ??= result.reason;
  if (result.untested !== undefined) {
    step.untestedFailures++;
    step.untested ??= result.untested;
  }
  if (result.flaky) step.flaky++;
  if (result.responseTime !== undefined && !result.instant) {
    step.responseTimes.push(result.responseTime);
  }
  if (hasFailed(result)) addFailure(step, result, round);
  for (const inner of inside) addToTally(step.inside, inner, round);
}

function stepTally({ steps }: StepTallies, step: number, entry: number, name: string): StepTally {
  const key = `${step}.${entry}`;
  let found = steps.get(key);
  if (!found) {
    found = {
      step,
      entry,
      name: { first: name },
      count: noSteps(),
      echoes: new Map(),
      echoesLeftOut: 0,
      kinds: new Map(),
      otherFailures: 0,
      untestedFailures: 0,
      flaky: 0,
      responseTimes: [],
      inside: { steps: new Map() },
    };
    steps.set(key, found);
  }
  return found;
}

function addEcho(step: StepTally, text: string, round: number): void {
  const kind = step.echoes.get(text);
  if (kind) {
    kind.count++;
    kind.round = Math.min(kind.round, round);
  } else if (step.echoes.size < MAX_ECHOES) {
    step.echoes.set(text, { text, round, count: 1 });
  } else {
    step.echoesLeftOut++;
  }
}

function addFailure(step: StepTally, result: StepResult, round: number): void {
  const key = failureKind(result);
  const kind = step.kinds.get(key);
  if (kind) {
    kind.count++;
    // Parallel rounds end in any order.
    if (round < kind.round) Object.assign(kind, { first: result, round });
  } else if (step.kinds.size < MAX_KINDS) {
    step.kinds.set(key, { first: result, round, count: 1 });
  } else {
    step.otherFailures++;
  }
}

/**
 * Failures are alike when they say the same about the same spot and the results were the same,
 * whatever the values were. Numbers in what they say may be those of the rounds.
 */
export function failureKind({ failures, exchange }: StepResult): string {
  const reasons = failures.map(({ kind, field, message, place: location }) =>
    `${kind} ${field} ${location?.line}:${location?.column} ${message.replace(/\d+/g, "0")}`
  );
  return [...reasons, exchange?.brief ?? ""].join("\n");
}

/** The name of something that comes up again and again, each time perhaps by another name. */
export interface CommonName {
  readonly first: string;
  /** The common prefix and suffix of all names, as letters, numbers and separators. */
  ends?: { readonly head: readonly string[]; readonly tail: readonly string[] };
}

/** Takes a name into account. */
export function addName(common: CommonName, name: string): void {
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
export function renderCommonName({ first, ends }: CommonName): string {
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
