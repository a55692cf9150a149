import { oneLine } from "../../base/text/printable.ts";
import { noSteps } from "../../run/count_steps.ts";
import type { AssertionCount, Failure, StepOutline, StepState } from "../../run/event.ts";
import type { Position } from "../../base/source.ts";
import { hasFailed } from "../model/round_tally.ts";
import {
  type JobRecord,
  loneRecord,
  type RunRecord,
  stateOf,
  type StepRecord,
  type SuiteRecord,
} from "./run_record.ts";

/** A job as a report counts it. */
export interface CaseSuite {
  readonly record: RunRecord;
  readonly job: JobRecord;
  /** Unique in the report: behind the name of the workflow where there are several. */
  readonly name: string;
  /** What the name begins with where there are several workflows. */
  readonly prefix: string;
  readonly cases: readonly Case[];
}

/**
 * One result that a report counts: one run of one step, a step that did not run, or what failed
 * in a job or a run outside its steps. The steps of an embedded job are details of the step that
 * embeds it, but for `withInside`.
 */
export interface Case {
  /** Unique in its job. */
  readonly name: string;
  readonly outcome: StepState;
  /** Why it was skipped. */
  readonly reason: string | undefined;
  readonly failures: readonly Failure[];
  readonly flaky: boolean;
  /** It is what failed outside of steps. */
  readonly isJob?: true;
  /** The name of the case of the step that embeds the job of this one. */
  readonly within?: string;
  /** Undefined where it did not run. */
  readonly step: StepRecord | undefined;
  /** Where it failed, or where the step begins. */
  readonly place: Position | undefined;
}

/** Every job of every run with its cases, these by round, step and entry. */
export function suitesOf(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): readonly CaseSuite[] {
  const ofRuns = records.flatMap(suitesOfRun);
  if (loneRecord(records)) return ofRuns;
  const suites = suite?.end?.state === "failed"
    ? withFailure(ofRuns, "suite", interruptionOf(suite))
    : ofRuns;
  const prefixes = suites.map(({ record }) => `${oneLine(record.name)} › `);
  const names = distinct(suites.map(({ name }, index) => prefixes[index]! + name));
  return suites.map((suite, index) => {
    return { ...suite, name: names[index]!, prefix: prefixes[index]! };
  });
}

/** Several reports of one run count the same. */
const KNOWN = new WeakMap<RunRecord, readonly CaseSuite[]>();

function suitesOfRun(record: RunRecord): readonly CaseSuite[] {
  let suites = KNOWN.get(record);
  if (!suites) {
    const names = distinct(record.jobs.map(({ name }) => oneLine(name)));
    suites = withFailureOfRun(
      record,
      record.jobs.map((job, index) => {
        return { record, job, name: names[index]!, prefix: "", cases: casesOf(job, record) };
      }),
    );
    KNOWN.set(record, suites);
  }
  return suites;
}

/** A run may fail although no step does: it was interrupted between two, or `--strict` failed it. */
function withFailureOfRun(record: RunRecord, suites: readonly CaseSuite[]): readonly CaseSuite[] {
  if (stateOf(record) !== "failed") return suites;
  return withFailure(suites, `workflow ${oneLine(record.name)}`, interruptionOf(record));
}

/** The same cases, one of which is this failure if none of them failed. */
function withFailure(
  suites: readonly CaseSuite[],
  name: string,
  failure: Failure,
): readonly CaseSuite[] {
  const last = suites.at(-1);
  if (!last || suites.some(({ cases }) => cases.some(isFailed))) return suites;
  const failed = outsideOfSteps(name, [failure]);
  return [...suites.slice(0, -1), { ...last, cases: [...last.cases, failed] }];
}

function isFailed({ outcome }: Case): boolean {
  return outcome === "failed";
}

function interruptionOf({ end }: RunRecord | SuiteRecord): Failure {
  const message = end ? end.interrupted ?? "interrupted" : "the run was cut off";
  return { kind: "interrupted", field: "", message };
}

function outsideOfSteps(name: string, failures: readonly Failure[]): Case {
  return {
    name,
    isJob: true,
    outcome: "failed",
    reason: undefined,
    failures,
    flaky: false,
    step: undefined,
    place: positionOf(failures, undefined),
  };
}

/** The number of cases by outcome, which every report of cases contains. */
export function countCases(cases: readonly Case[]): Readonly<Record<StepState, number>> {
  const counts = noSteps();
  for (const { outcome } of cases) counts[outcome]++;
  return counts;
}

/** The number of assertions of all cases by outcome. */
export function countAssertions(cases: readonly Case[]): AssertionCount {
  const counts = cases.flatMap(({ step }) => step?.result.assertions ?? []);
  const sum = (key: keyof AssertionCount) => counts.reduce((all, count) => all + count[key], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

function casesOf(job: JobRecord, record: RunRecord): readonly Case[] {
  const cases: Case[] = [];
  const jobName = `job ${oneLine(job.name)}`;
  if (job.failures.length > 0) cases.push(outsideOfSteps(jobName, job.failures));
  const { steps, outline } = job;
  const reason = whyNotRun(job, record);
  const rounds = new Set(steps.map(({ run }) => run.round));
  let at = 0;
  for (const round of rounds) {
    for (const [index, step] of outline.entries()) {
      const first = at;
      for (
        let entry = 0;
        entry < (step.entries ?? 0) || isRunOf(steps[at], round, index);
        entry++
      ) {
        const next = steps[at];
        if (isRunOf(next, round, index) && (next.run.entry ?? 0) <= entry) {
          cases.push(caseOf(next));
          at++;
        } else {
          cases.push(notRun(step, labelOf(entry, round), reason));
        }
      }
      if (step.entries === undefined && at === first) {
        cases.push(notRun(step, labelOf(undefined, round), reason));
      }
    }
  }
  addRoundsThatDidNotRun(cases, job, rounds, reason);
  if (job.state === "failed" && !cases.some(isFailed)) {
    cases.push(outsideOfSteps(jobName, [interruptionOf(record)]));
  }
  const given = cases.map(({ name }) => name);
  const names = distinct(given);
  return names === given ? cases : cases.map((one, index) => ({ ...one, name: names[index]! }));
}

function isRunOf(
  record: StepRecord | undefined,
  round: number | undefined,
  step: number,
): record is StepRecord {
  return record?.run.step === step && record.run.round === round;
}

export function caseOf(step: StepRecord): Case {
  const { run, result, place = result.place } = step;
  const { state, reason, flaky = false } = result;
  const failures = failuresOf(step);
  return {
    name: oneLine(result.name) + labelOf(run.entry, run.round),
    outcome: state,
    reason,
    failures,
    flaky,
    step,
    place: positionOf(failures, place),
  };
}

/** The failures of a step; if it embeds a job, those of the steps in that job, with their names. */
function failuresOf({ result, inside }: StepRecord): readonly Failure[] {
  if (!hasFailed(result)) return [];
  const inner = inside.flatMap((step) =>
    failuresOf(step).map((failure) => ({
      ...failure,
      message: `${oneLine(step.result.name)}${
        labelOf(step.run.entry, step.run.round)
      }: ${failure.message}`,
    }))
  );
  if (inner.length === 0) return result.failures;
  return [...inner, ...result.failures.filter(({ kind }) => kind !== "embedded")];
}

/**
 * A case with those of the steps inside of it, which take the place of one that has no test and no
 * failure of its own.
 */
export function withInside(one: Case): readonly Case[] {
  const { step, flaky, name } = one;
  if (!step || step.inside.length === 0) return [one];
  const { assertions, snapshot, failures } = step.result;
  const own = failures.filter(({ kind }) => kind !== "embedded");
  const inner = step.inside.flatMap((each) => withInside(caseOf(each)))
    .map((each) => ({ ...each, name: `${name} › ${each.name}`, within: name }));
  return assertions || snapshot || flaky || own.length > 0
    ? [{ ...one, failures: own, step: { ...step, inside: [] } }, ...inner]
    : inner;
}

/** Rounds that did not start are reported together: there may be thousands of them. */
function addRoundsThatDidNotRun(
  cases: Case[],
  { outline, rounds }: JobRecord,
  ran: ReadonlySet<number | undefined>,
  reason: string,
): void {
  if (ran.size >= Math.max(rounds ?? 1, 1)) return;
  const gaps = rounds === undefined ? [] : gapsIn(ran, rounds);
  const label = gaps.length === 0 ? "" : labelOfRounds(gaps);
  for (const step of outline) cases.push(notRun(step, label, reason));
}

/** The numbers below `end` that are missing, as first and last of those in a row. */
function gapsIn(numbers: ReadonlySet<number | undefined>, end: number): [number, number][] {
  const gaps: [number, number][] = [];
  for (let number = 0; number < end; number++) {
    if (numbers.has(number)) continue;
    const gap = gaps.at(-1);
    if (gap?.[1] === number - 1) gap[1] = number;
    else gaps.push([number, number]);
  }
  return gaps;
}

/** ` [rounds 3, 5 to 9]`. */
function labelOfRounds(gaps: readonly (readonly [first: number, last: number])[]): string {
  const parts = gaps.map(([first, last]) => first === last ? `${first}` : `${first} to ${last}`);
  return ` [${/^\d+$/.test(parts.join()) ? "round" : "rounds"} ${parts.join(", ")}]`;
}

function notRun({ name, place }: StepOutline, label: string, reason: string): Case {
  return {
    name: oneLine(name) + label,
    outcome: "skipped",
    reason,
    failures: [],
    flaky: false,
    step: undefined,
    place,
  };
}

function whyNotRun({ reason, rounds, failures }: JobRecord, { end }: RunRecord): string {
  if (reason !== undefined) return reason;
  if (rounds === 0) return "repeat.count is 0";
  if (failures.length > 0) return "the job failed before its steps";
  return end?.interrupted ?? "not run";
}

/** ` [repeat_index 1, entry 2]` behind the name of a step, where there are such. */
export function labelOf(entry: number | undefined, round: number | undefined): string {
  if (entry === undefined && round === undefined) return "";
  const parts = [
    ...round === undefined ? [] : [`repeat_index ${round}`],
    ...entry === undefined ? [] : [`entry ${entry + 1}`],
  ];
  return ` [${parts.join(", ")}]`;
}

function positionOf(
  failures: readonly Failure[],
  otherwise: Position | undefined,
): Position | undefined {
  return failures.find((failure) => failure.place)?.place ?? otherwise;
}

/** The same names, with a number behind those that are taken already. */
export function distinct(names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  if (taken.size === names.length) return names;
  const seen = new Map<string, number>();
  return names.map((name) => {
    let number = (seen.get(name) ?? 0) + 1;
    let unique = name;
    if (number > 1) {
      while (taken.has(unique = `${name} (${number})`)) number++;
      taken.add(unique);
    }
    seen.set(name, number);
    return unique;
  });
}
