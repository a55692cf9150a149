import { oneLine } from "../../base/text/printable.ts";
import { noSteps, sumOf } from "../../run/count_steps.ts";
import type {
  AssertionCount,
  Failure,
  FailureTally,
  LoadThreshold,
  StepOutline,
  StepState,
  StepTally,
  StepTree,
} from "../../run/event.ts";
import type { Position } from "../../base/source.ts";
import { hasFailed } from "../../run/step_trees.ts";
import { countOf } from "../../base/text/count_of.ts";
import { describeKind, isAllowedFailure, runLabel } from "../failed_parts.ts";
import {
  CUT_OFF,
  type JobRecord,
  loneRecord,
  type RunRecord,
  stateOf,
  type StepRecord,
  type SuiteRecord,
} from "../record.ts";

/** A job as a report counts it. */
export interface CaseSuite {
  readonly record: RunRecord;
  readonly job: JobRecord;
  /** Unique in the report; it begins with `prefix`. */
  readonly name: string;
  /** The name of the workflow, if there are several. */
  readonly prefix: string;
  readonly cases: readonly Case[];
}

/**
 * One result that a report counts: one run of one step or all of its runs in a repeated job, a step
 * that did not run, or a failure of a job or a run outside its steps. The steps of an embedded job
 * are details of the step that embeds it.
 */
export interface Case {
  /** Unique in its job. */
  readonly name: string;
  readonly outcome: StepState;
  /** Why it was skipped. */
  readonly reason?: string;
  readonly failures: readonly Failure[];
  readonly flaky: boolean;
  /** It failed, which `allow_failure` expects; the outcome is `allowed`. */
  readonly allowFailure?: true;
  /** It is a failure outside of steps. */
  readonly isJob?: true;
  /** It is one of the thresholds of a load job, and no run of a step. */
  readonly threshold?: LoadThreshold;
  /** Absent where it did not run; of several rounds the first that failed, or else passed. */
  readonly step?: StepRecord;
  /** The results of its rounds, if its job has several. */
  readonly rounds?: RoundsOfCase;
  /** Where it failed, or where the step begins. */
  readonly position?: Position;
}

/** All rounds of a step. */
export interface RoundsOfCase {
  /** Absent where it ran in none of them. */
  readonly tally?: StepTally;
  /** The number of its runs by outcome; those that never began were skipped. */
  readonly states: Readonly<Record<StepState, number>>;
  /** The rounds that its job should run. */
  readonly of: number;
}

/** Every job of every run with its cases, these by step and entry. */
export function suitesOf(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): readonly CaseSuite[] {
  const ofRuns = records.flatMap(suitesOfRun);
  if (loneRecord(records)) return ofRuns;
  const suites = suite?.end?.state === "failed" ? withFailure(ofRuns, "suite", suite) : ofRuns;
  return withDistinctNames(suites.map((each) => {
    const prefix = `${oneLine(each.record.name)} › `;
    return { ...each, name: prefix + each.name, prefix };
  }));
}

function suitesOfRun(record: RunRecord): readonly CaseSuite[] {
  const suites = withDistinctNames(record.jobs.map((job) => {
    return { record, job, name: oneLine(job.name), prefix: "", cases: casesOf(job, record) };
  }));
  // Interrupted between two steps, or failed by --strict.
  if (stateOf(record) !== "failed") return suites;
  return withFailure(suites, `workflow ${oneLine(record.name)}`, record);
}

/** Adds a case for a run that failed although none of its cases did. */
function withFailure(
  suites: readonly CaseSuite[],
  name: string,
  run: RunRecord | SuiteRecord,
): readonly CaseSuite[] {
  const last = suites.at(-1);
  if (!last || suites.some(({ cases }) => cases.some(isFailed))) return suites;
  const cases = [...last.cases, outsideOfSteps(name, [interruptionOf(run)])];
  return [...suites.slice(0, -1), { ...last, cases }];
}

function isFailed({ outcome }: Case): boolean {
  return outcome === "failed";
}

function interruptionOf({ end }: RunRecord | SuiteRecord): Failure {
  const message = end ? end.interrupted ?? "interrupted" : CUT_OFF;
  return { kind: "interrupted", field: "", message };
}

function outsideOfSteps(name: string, failures: readonly Failure[]): Case {
  const position = positionOf(failures);
  return { name, isJob: true, outcome: "failed", failures, flaky: false, position };
}

/** The number of cases by outcome, which every report of cases contains. */
export function countCases(cases: readonly Case[]): Readonly<Record<StepState, number>> {
  const counts = noSteps();
  for (const { outcome } of cases) counts[outcome]++;
  return counts;
}

/** The number of runs of steps by outcome, which is that of the text: each round counts. */
export function countRuns(cases: readonly Case[]): Readonly<Record<StepState, number>> {
  const counts = noSteps();
  for (const { outcome, rounds, threshold } of cases) {
    if (threshold) continue;
    if (!rounds) counts[outcome]++;
    else for (const state of STATES) counts[state] += rounds.states[state];
  }
  return counts;
}

/** From the worst to the best. */
const STATES = ["failed", "allowed", "untested", "passed", "skipped"] as const;

/** The milliseconds that a case took, those of all rounds together. */
export function durationOf({ step, rounds }: Case): number {
  return rounds?.tally?.times?.sum ?? step?.result.duration ?? 0;
}

/** The number of assertions of a case by outcome, if there were any. */
export function assertionsOf({ step, rounds }: Case): AssertionCount | undefined {
  return rounds ? rounds.tally?.assertions : step?.result.assertions;
}

/** The number of assertions of all cases by outcome. */
export function countAssertions(cases: readonly Case[]): AssertionCount {
  const counts = cases.flatMap((one) => assertionsOf(one) ?? []);
  const sum = (key: keyof AssertionCount) => counts.reduce((all, count) => all + count[key], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

function casesOf(job: JobRecord, record: RunRecord): readonly Case[] {
  const { outline, steps, failures, tally, rounds = 1 } = job;
  const jobName = `job ${oneLine(job.name)}`;
  const reason = reasonNotRun(job, record);
  const { allowFailure } = job;
  const thresholds = thresholdCases(job);
  const others = thresholds.length === 0
    ? failures
    : failures.filter(({ field }) => !isOfThreshold(field));
  const ofJob = outsideOfSteps(jobName, others);
  const cases: Case[] = [
    ...thresholds,
    ...others.length === 0 ? [] : [ofJob],
  ].map((one) =>
    allowFailure && isFailed(one) ? { ...one, outcome: "allowed", allowFailure } : one
  );
  const begun = tally?.begun ?? (steps.length > 0 ? 1 : 0);
  if (tally && begun > 0) {
    const tallies = Map.groupBy(tally.steps, ({ step }) => step);
    for (const [index, step] of outline.entries()) {
      const ofStep = tallies.get(index) ?? [];
      cases.push(...roundsOfStep(step, ofStep, { begun, of: rounds, reason }));
    }
  } else if (begun > 0) {
    const runs = Map.groupBy(steps, ({ run }) => run.step);
    const round = steps[0]!.run.round;
    for (const [index, step] of outline.entries()) {
      cases.push(...casesOfStep(step, runs.get(index) ?? [], round, reason));
    }
  }
  if (begun < Math.max(rounds, 1)) {
    // Rounds that did not start are reported together: there may be thousands of them.
    const label = rounds > 1 ? ` (${countOf(rounds - begun, "round")})` : "";
    for (const step of outline) cases.push(notRun(step, label, reason));
  }
  if (job.state === "failed" && !cases.some(isFailed)) {
    cases.push(outsideOfSteps(jobName, [interruptionOf(record)]));
  }
  return withDistinctNames(cases);
}

/** A case for each threshold of a load job. */
function thresholdCases({ load, failures }: JobRecord): readonly Case[] {
  const thresholds = load?.end?.thresholds ?? [];
  return thresholds.map((threshold, index): Case => {
    const { expression, says, passed, problem = "expect is false" } = threshold;
    const key = `load.expect.${index}`;
    // A list has an index, and an interrupted job has not failed because of them.
    const known = failures.filter(({ field }) =>
      `${field}.`.startsWith(`${key}.`) || thresholds.length === 1 && isOfThreshold(field)
    );
    const none = { kind: "test", field: key, message: problem } as const;
    const shown = passed ? [] : known.length > 0 ? known : [none];
    return {
      name: oneLine(says ?? expression),
      ...{ isJob: true, threshold, outcome: passed ? "passed" : "failed", flaky: false },
      failures: shown,
      position: positionOf(shown),
    };
  });
}

/** The keys of failures that are about thresholds. */
export function isOfThreshold(field: string): boolean {
  return /^load\.expect\b/.test(field);
}

/** The runs of a step in one round, one for each of its entries. */
function casesOfStep(
  step: StepOutline,
  runs: readonly StepRecord[],
  round: number | undefined,
  reason: string,
): readonly Case[] {
  if (step.entries === undefined && runs.length === 0) {
    return [notRun(step, runLabel({ round }), reason)];
  }
  const byEntry = new Map(runs.map((one) => [one.run.entry ?? 0, one]));
  const count = Math.max(step.entries ?? 0, (runs.at(-1)?.run.entry ?? -1) + 1, byEntry.size);
  return Array.from({ length: count }, (_, entry) => {
    const run = byEntry.get(entry);
    return run ? caseOf(run) : notRun(step, runLabel({ entry, round }), reason);
  });
}

/** The circumstances of the rounds of a job. */
interface Rounds {
  readonly begun: number;
  readonly of: number;
  /** Why steps did not run. */
  readonly reason: string;
}

/** A case for each entry of a step of a repeated job, or for the step. */
function roundsOfStep(
  step: StepOutline,
  tallies: readonly StepTally[],
  { begun, of, reason }: Rounds,
): readonly Case[] {
  const ran = new Map<number, number>();
  for (const { entry = 0, states } of tallies) {
    ran.set(entry, (ran.get(entry) ?? 0) + sumOf(states));
  }
  // In a round without any entry, an unknown number of entries counts as one run.
  const known = step.entries ?? 1;
  const missing = (entry: number) => entry < known ? begun - (ran.get(entry) ?? 0) : 0;
  const seen = new Set<number>();
  const cases = tallies.map((tally): Case => {
    const { entry = 0, states } = tally;
    const never = seen.has(entry) ? 0 : missing(entry);
    seen.add(entry);
    const all = { ...states, skipped: states.skipped + never };
    return caseOfRounds(tally, { tally, states: all, of }, step.place);
  });
  for (let entry = 0; entry < known; entry++) {
    if (seen.has(entry)) continue;
    const label = runLabel({ entry: step.entries === undefined ? undefined : entry });
    const states = { ...noSteps(), skipped: missing(entry) };
    cases.push({ ...notRun(step, label, reason), rounds: { states, of } });
  }
  return cases;
}

function caseOfRounds(tally: StepTally, rounds: RoundsOfCase, place: StepOutline["place"]): Case {
  const { entry, name, reason, flaky, first } = tally;
  const outcome = STATES.find((state) => rounds.states[state] > 0)!;
  const isOutcome = ({ first: { result } }: FailureTally) => result.state === outcome;
  // Failures of the case come before those that its job allows.
  const kinds = [
    ...tally.failures.filter(isOutcome),
    ...tally.failures.filter((kind) => !isOutcome(kind)),
  ];
  const step = kinds[0]?.first ?? first!;
  const position = place ?? step.result.place;
  const failures = kinds.flatMap((kind) => inRounds(kind, failuresOf(kind.first)));
  return {
    name: oneLine(name) + runLabel({ entry }),
    outcome,
    reason,
    failures,
    flaky: flaky > 0,
    allowFailure: isAllowedFailure(tally) || undefined,
    step: { ...step, position },
    rounds,
    position: positionOf(failures) ?? position,
  };
}

/** The same failures, with how often they came up. */
function inRounds(kind: FailureTally, failures: readonly Failure[]): readonly Failure[] {
  return failures.map((one) => ({ ...one, message: `${describeKind(kind)}: ${one.message}` }));
}

function caseOf(step: StepRecord): Case {
  const { run, result, position = result.place } = step;
  const { state, reason, flaky = false, allowFailure } = result;
  const failures = failuresOf(step);
  return {
    name: oneLine(result.name) + runLabel(run),
    outcome: state,
    reason,
    failures,
    flaky,
    allowFailure,
    step,
    position: positionOf(failures) ?? position,
  };
}

/** The failures of a step; if it embeds a job, those of the steps in that job, with their names. */
function failuresOf({ result, inside }: StepTree): readonly Failure[] {
  if (!hasFailed(result)) return [];
  const inner = inside.flatMap((step) => {
    const name = oneLine(step.result.name) + runLabel(step.run);
    return failuresOf(step).map((one) => ({ ...one, message: `${name}: ${one.message}` }));
  });
  if (inner.length === 0) return result.failures;
  return [...inner, ...result.failures.filter(({ kind }) => kind !== "embedded")];
}

function notRun({ name, place: position }: StepOutline, label: string, reason: string): Case {
  return {
    name: oneLine(name) + label,
    outcome: "skipped",
    reason,
    failures: [],
    flaky: false,
    position,
  };
}

function reasonNotRun({ reason, rounds, failures }: JobRecord, { end }: RunRecord): string {
  if (reason !== undefined) return reason;
  if (rounds === 0) return "repeat.count is 0";
  if (failures.length > 0) return "the job failed before its steps";
  return end?.interrupted ?? "not run";
}

function positionOf(failures: readonly Failure[]): Position | undefined {
  return failures.find((failure) => failure.place)?.place;
}

/** The same items, with a number after names that are already taken. */
export function withDistinctNames<T extends { readonly name: string }>(items: readonly T[]): T[] {
  const taken = new Set(items.map(({ name }) => name));
  const seen = new Map<string, number>();
  return items.map((item) => {
    const { name } = item;
    let number = (seen.get(name) ?? 0) + 1;
    let unique = name;
    if (number > 1) {
      while (taken.has(unique = `${name} (${number})`)) number++;
      taken.add(unique);
    }
    seen.set(name, number);
    return unique === name ? item : { ...item, name: unique };
  });
}
