import type { Failure, SpotInFile, StepResult, StepRun } from "../../run/event.ts";
import { oneLine } from "../text_lines.ts";
import type { JobRecord, RunRecord, StepRecord } from "./run_record.ts";

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

/** The cases of a job, by round, step and entry. */
export function casesOf(job: JobRecord, record: RunRecord): readonly Case[] {
  const cases: Case[] = [];
  if (job.failures.length > 0) {
    cases.push({
      name: `job ${oneLine(job.name)}`,
      outcome: "failed",
      failures: job.failures,
      flaky: false,
      ...placeOf(job.failures, undefined),
    });
  }
  for (const step of job.steps) addStep(cases, step, "");
  addStepsThatDidNotRun(cases, job, record);
  return withUniqueNames(cases);
}

function addStep(cases: Case[], step: StepRecord, prefix: string): void {
  const { run, result, place } = step;
  const { state, reason, failures, flaky = false } = result;
  const name = `${prefix}${oneLine(result.name)}`;
  const where = [
    ...run.entry === undefined ? [] : [`entry ${run.entry}`],
    ...run.round === undefined ? [] : [`round ${run.round}`],
  ];
  cases.push({
    name: where.length === 0 ? name : `${name} [${where.join(", ")}]`,
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

function addStepsThatDidNotRun(cases: Case[], job: JobRecord, { end }: RunRecord): void {
  const ran = new Set(job.steps.map(({ run }) => run.step));
  const reason = job.reason ?? end?.interrupted ?? "not run";
  job.outline.forEach(({ name, place }, index) => {
    if (ran.has(index)) return;
    const where = place ? { place } : {};
    cases.push({
      name: oneLine(name),
      outcome: "skipped",
      reason,
      failures: [],
      flaky: false,
      ...where,
    });
  });
}

function placeOf(
  failures: readonly Failure[],
  otherwise: SpotInFile | undefined,
): { readonly place?: SpotInFile } {
  const place = failures.find((failure) => failure.place)?.place ?? otherwise;
  return place ? { place } : {};
}

function withUniqueNames(cases: readonly Case[]): readonly Case[] {
  const taken = new Map<string, number>();
  return cases.map((one) => {
    const count = (taken.get(one.name) ?? 0) + 1;
    taken.set(one.name, count);
    return count === 1 ? one : { ...one, name: `${one.name} (${count})` };
  });
}
