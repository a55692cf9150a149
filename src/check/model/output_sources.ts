import { type JobsBefore, jobsBefore } from "../../plan/plan.ts";
import { ALL, hasAll } from "../../workflow/step_facts.ts";
import type { CheckedJob, CheckedStep, CheckModel, Reading } from "./check_model.ts";

/** The possible sources of a value in `outputs`. */
export type OutputSource =
  /** Not to be known: the whole of it is read, or a name that only the run knows. */
  | { readonly kind: "unknown" }
  /** Nothing of the name at that index of the keys; `step` is the one whose output it should be. */
  | { readonly kind: "nothing"; readonly index: number; readonly step?: CheckedStep }
  /** Published by one of these steps; otherwise the key at that index is missing. */
  | { readonly kind: "steps"; readonly steps: readonly CheckedStep[]; readonly index: number };

/** A name that more steps publish than this says nothing about which of them is meant. */
const MOST_PUBLISHERS = 100;

const UNKNOWN: OutputSource = { kind: "unknown" };

/** Finds the steps whose outputs a reading sees. An id of a step goes before the name of an output. */
export function findOutputSource(model: CheckModel, { keys }: Reading): OutputSource {
  const [first, second] = keys;
  if (!first || model.context.outputs?.has(first.name)) return UNKNOWN;
  const steps = model.stepsById.get(first.name);
  if (steps) {
    if (!second) return { kind: "steps", steps, index: 0 };
    if (steps.some(({ published }) => published === undefined)) return UNKNOWN;
    const having = steps.filter((step) => publishes(step, second.name));
    if (having.length > 0) return { kind: "steps", steps: having, index: 0 };
    return nothing(model, second.name, { index: 1, step: steps[0]! });
  }
  const publishers = model.publishers.get(first.name);
  if (publishers && publishers.length > MOST_PUBLISHERS) return UNKNOWN;
  if (publishers) return { kind: "steps", steps: publishers, index: 0 };
  return model.knowsPublishers ? nothing(model, first.name, { index: 0 }) : UNKNOWN;
}

function publishes({ published, draft }: CheckedStep, name: string): boolean {
  return published?.has(name) || name === ALL && hasAll(draft);
}

/** Unknown if a part that was not read may define the name. */
function nothing(
  { mentions }: CheckModel,
  name: string,
  rest: { readonly index: number; readonly step?: CheckedStep },
): OutputSource {
  return mentions.has(name) ? UNKNOWN : { kind: "nothing", ...rest };
}

/** When a step has run, seen from a place that reads its outputs. */
export type Moment = "before" | "own" | "all" | "at once" | "after" | "any time" | "unknown";

/** The keys of a step that are evaluated once its outputs are published. */
const AFTERWARDS: ReadonlySet<string> = new Set([
  ...["test", "snapshot", "echo", "retry.interval", "retry.until", "retry.stop"],
  ...["iteration.until", "iteration.interval"],
]);

/**
 * Finds out when a step has run as seen from a reading. It remembers the jobs before the job it was
 * asked about last, since readings come job by job, and all of them would be too many.
 */
export function momentFinder(): (step: CheckedStep, reading: Reading) => Moment {
  let known: { readonly job: CheckedJob; readonly before: JobsBefore<CheckedJob> } | undefined;
  return (step, reading) => {
    const { job, step: reader, field } = reading;
    if (step === reader) {
      if (readsAll(step, reading)) return "all";
      if (AFTERWARDS.has(field) || isLaterEntry(reading)) return "before";
      if (!hasLaterEntries(step, field)) return "own";
      return hasParallelEntries(step) ? "at once" : "unknown";
    }
    if (step.job === job) {
      return reader && step.draft.index < reader.draft.index ? "before" : "after";
    }
    if (known?.job !== job) known = { job, before: jobsBefore(job, needsOf) };
    if (known.before.jobs.has(step.job)) return "before";
    if (!known.before.isSure) return "unknown";
    const { jobs, isSure } = jobsBefore(step.job, needsOf);
    return jobs.has(job) ? "after" : isSure ? "any time" : "unknown";
  };
}

/** Whether it reads what is known once all entries of a step have run. */
export function readsAll(step: CheckedStep, { keys: [, second] }: Reading): boolean {
  return second?.name === ALL && hasAll(step.draft);
}

/** Whether it is in an entry of an iteration after the first, which sees what those before gave. */
function isLaterEntry({ field, path }: Reading): boolean {
  return field === "iteration" &&
    Number(path.slice(path.indexOf("iteration")).find((part) => typeof part === "number")) > 0;
}

/** Whether what every entry of an iteration reads was published by those before, but for the first. */
function hasLaterEntries({ draft: { iteration } }: CheckedStep, field: string): boolean {
  if (field.startsWith("iteration") || !iteration) return false;
  return iteration.kind === "list" ? iteration.entries.length > 1 : true;
}

/** Whether entries run at once, and see no outputs of each other. */
function hasParallelEntries({ draft: { iteration } }: CheckedStep): boolean {
  return iteration !== undefined && iteration.kind !== "loop" && iteration.parallel > 1;
}

function needsOf({ needs }: CheckedJob): readonly CheckedJob[] | undefined {
  return needs;
}
