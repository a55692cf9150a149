import { oneLine } from "../base/text/printable.ts";
import type { Failure, FailureTally, StepRun, StepTally, StepTree } from "../run/event.ts";
import type { JobRecord } from "./record.ts";

/** What failed: a job outside its steps, a run of a step, or its rounds that failed in one way. */
export interface FailedPart {
  /** `Build › compile`: the names of the job, of the steps around it, and its own. */
  readonly title: string;
  readonly failures: readonly Failure[];
  /** It failed, which `allow_failure` expects. */
  readonly allowFailure?: boolean;
  /** The run of the step, of several rounds the first; absent for a job. */
  readonly step?: StepTree;
  /** The rounds in which the step failed so. */
  readonly kind?: FailureTally;
  /** The failures of rounds of which nothing is known but their number. */
  readonly others?: number;
  /** The number of runs that it is an example of, itself among them. */
  readonly count: number;
  /** What failed in the job that the step embeds. */
  readonly inside: readonly FailedPart[];
}

/** What failed in a job that is over. */
export function failedParts(
  { name, steps, tally, failures, allowFailure }: JobRecord,
): FailedPart[] {
  const ofSteps = tally
    ? tally.steps.flatMap((step) => failedRounds(step, name))
    : steps.flatMap((step) => failedRun(step, name));
  return failures.length === 0
    ? ofSteps
    : [...ofSteps, { title: name, failures, allowFailure, count: 1, inside: [] }];
}

/** A step that failed; `around` is the title of what contains it. */
export function failedRun(
  step: StepTree & { readonly runs?: number },
  around: string,
): FailedPart[] {
  const { result: { name, state, failures, allowFailure }, inside, runs = 1 } = step;
  if (state !== "failed" && !allowFailure) return [];
  const title = `${around} › ${name}`;
  const inner = allowFailure ? [] : inside.flatMap((one) => failedRun(one, title));
  return [{ title, failures, allowFailure, step, count: runs, inside: inner }];
}

/** The kinds of failures of a step in several rounds; the first has what failed inside of it. */
function failedRounds(
  { name, failures, otherFailures, inside }: StepTally,
  around: string,
): FailedPart[] {
  const title = `${around} › ${name}`;
  return failures.filter(({ state }) => state === "failed").map((kind, index, kinds) => {
    const { first: step, count } = kind;
    const others = index === kinds.length - 1 ? otherFailures : 0;
    const inner = index === 0 ? inside.flatMap((one) => failedRounds(one, title)) : [];
    const all = { title, failures: step.result.failures, step, kind };
    return { ...all, others, count: count + others, inside: inner };
  });
}

/** All parts that did not fail only because of others inside of them, these first. */
export function failedByThemselves(parts: readonly FailedPart[]): FailedPart[] {
  return parts.flatMap((part) => {
    const inner = failedByThemselves(part.inside);
    return inner.length > 0 && isOnlyEmbedded(part) ? inner : [...inner, part];
  });
}

/** Whether a step failed only because of steps of the job that it embeds. */
export function isOnlyEmbedded({ failures }: Pick<FailedPart, "failures">): boolean {
  return failures.every(({ kind }) => kind === "embedded");
}

/** Whether a step failed in some rounds, and `allow_failure` expects that of each of them. */
export function isAllowedFailure({ states, failures }: StepTally): boolean {
  return states.failed === 0 && failures.length > 0 &&
    failures.every(({ first }) => first.result.allowFailure === true);
}

/** `failed 7 times, first at repeat_index 3`: the number by which expressions know a round. */
export function describeKind({ count, round }: FailureTally): string {
  return count === 1
    ? `failed once, at repeat_index ${round}`
    : `failed ${count} times, first at repeat_index ${round}`;
}

/** ` (repeat_index 2, entry 1)`, which follows the name of a run of a step. */
export function runLabel({ round, entry }: Pick<StepRun, "round" | "entry">): string {
  const parts = [
    ...round === undefined ? [] : [`repeat_index ${round}`],
    ...entry === undefined ? [] : [`entry ${entry + 1}`],
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** `Build › compile (entry 1)`, or `Build › compile: failed 7 times, first at repeat_index 3`. */
export function fullTitle({ title, step, kind }: FailedPart): string {
  let label = kind ? `: ${describeKind(kind)}` : "";
  for (let run = kind ? undefined : step?.run; run; run = run.within) label = runLabel(run) + label;
  return oneLine(title) + label;
}
