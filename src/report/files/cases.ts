import type { Failure, SpotInFile, StepOutline, StepResult, StepRun } from "../../run/event.ts";
import { oneLine } from "../text_lines.ts";
import type { JobRecord, RunRecord, StepRecord } from "./run_record.ts";

/** A job as a report counts it. */
export interface Suite {
  readonly job: JobRecord;
  /** Unique in the run. */
  readonly name: string;
  readonly cases: readonly Case[];
}

/**
 * One result that a report counts: one run of one step, a step that did not run, or what failed
 * in a job outside its steps.
 */
export interface Case {
  /** Unique in its job. */
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it was skipped. */
  readonly reason?: string;
  readonly failures: readonly Failure[];
  readonly flaky: boolean;
  /** Absent where the step did not run. */
  readonly run?: StepRun;
  readonly result?: StepResult;
  /** Where it failed, or where the step begins. */
  readonly place?: SpotInFile;
}

/** Several reports of one run count the same. */
const KNOWN = new WeakMap<RunRecord, readonly Suite[]>();

/** Every job with its cases, these by round, step and entry. */
export function suitesOf(record: RunRecord): readonly Suite[] {
  let suites = KNOWN.get(record);
  if (!suites) {
    const names = distinct(record.jobs.map(({ name }) => oneLine(name)));
    suites = record.jobs.map((job, index) => {
      return { job, name: names[index]!, cases: casesOf(job, record) };
    });
    KNOWN.set(record, suites);
  }
  return suites;
}

/** How many cases there are of an outcome. */
export function countCases(cases: readonly Case[], outcome: Case["outcome"]): number {
  return cases.reduce((count, one) => one.outcome === outcome ? count + 1 : count, 0);
}

function casesOf(job: JobRecord, record: RunRecord): readonly Case[] {
  const cases: Case[] = [];
  if (job.failures.length > 0) {
    const name = `job ${oneLine(job.name)}`;
    const place = placeOf(job.failures, undefined);
    cases.push({ name, outcome: "failed", failures: job.failures, flaky: false, ...place });
  }
  const ran = Map.groupBy(job.steps, ({ run }) => slotOf(run.round, run.step));
  const reason = whyNotRun(job, record);
  const rounds = new Set(job.steps.map(({ run }) => run.round));
  for (const round of rounds) {
    for (const [index, step] of job.outline.entries()) {
      const runs = ran.get(slotOf(round, index)) ?? [];
      for (const one of runs) addStep(cases, one, "");
      const entries = new Set(runs.map(({ run }) => run.entry));
      for (const entry of entriesOf(step)) {
        if (entries.has(entry)) continue;
        cases.push(notRun(step, labelOf(entry, round), reason));
      }
    }
  }
  addRoundsThatDidNotRun(cases, job, rounds, reason);
  const names = distinct(cases.map(({ name }) => name));
  return cases.map((one, index) =>
    one.name === names[index] ? one : { ...one, name: names[index]! }
  );
}

function slotOf(round: number | undefined, step: number): string {
  return `${round}.${step}`;
}

/** What the runs of a step are told apart by in each round. */
function entriesOf({ entries }: StepOutline): readonly (number | undefined)[] {
  return entries === undefined ? [undefined] : Array.from({ length: entries }, (_, index) => index);
}

function addStep(cases: Case[], step: StepRecord, prefix: string): void {
  const { run, result, place = result.place } = step;
  const { state, reason, failures, flaky = false } = result;
  const name = `${prefix}${oneLine(result.name)}${labelOf(run.entry, run.round)}`;
  cases.push({
    name,
    outcome: state === "untested" ? "passed" : state,
    ...reason === undefined ? {} : { reason },
    failures,
    flaky,
    run,
    result,
    ...placeOf(failures, place),
  });
  for (const inner of step.inside) addStep(cases, inner, `${name} › `);
}

/** Rounds that were not begun are told together: there may be thousands of them. */
function addRoundsThatDidNotRun(
  cases: Case[],
  { outline, rounds }: JobRecord,
  ran: ReadonlySet<number | undefined>,
  reason: string,
): void {
  const labels = rounds ? gapsIn(ran, rounds).map(labelOfRounds) : ran.size > 0 ? [] : [""];
  for (const label of labels) {
    for (const step of outline) cases.push(notRun(step, label, reason));
  }
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

function labelOfRounds([first, last]: readonly [number, number]): string {
  return first === last ? ` [round ${first}]` : ` [rounds ${first} to ${last}]`;
}

function notRun({ name, place }: StepOutline, label: string, reason: string): Case {
  return {
    name: oneLine(name) + label,
    outcome: "skipped",
    reason,
    failures: [],
    flaky: false,
    ...place ? { place } : {},
  };
}

function whyNotRun({ reason, rounds, failures }: JobRecord, { end }: RunRecord): string {
  if (reason !== undefined) return reason;
  if (rounds === 0) return "repeat.count is 0";
  if (failures.length > 0) return "the job failed before its steps";
  return end?.interrupted ?? "not run";
}

function labelOf(entry: number | undefined, round: number | undefined): string {
  const parts = [
    ...entry === undefined ? [] : [`entry ${entry}`],
    ...round === undefined ? [] : [`round ${round}`],
  ];
  return parts.length === 0 ? "" : ` [${parts.join(", ")}]`;
}

function placeOf(
  failures: readonly Failure[],
  otherwise: SpotInFile | undefined,
): { readonly place?: SpotInFile } {
  const place = failures.find((failure) => failure.place)?.place ?? otherwise;
  return place ? { place } : {};
}

/** The same names, with a number behind those that are taken already. */
function distinct(names: readonly string[]): readonly string[] {
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
