import type { CheckedJob, CheckedStep, CheckModel, Reading } from "./model.ts";

/** What a reading of `outputs` can find there. */
export type OutputSource =
  /** Not to be known: the whole of it is read, or a name that only the run knows. */
  | { readonly kind: "unknown" }
  /** Nothing of the name at that index of the keys; `step` is the one whose output it should be. */
  | { readonly kind: "nothing"; readonly index: number; readonly step?: CheckedStep }
  /** What one of these steps has published; without it, the key at that index is missing. */
  | { readonly kind: "steps"; readonly steps: readonly CheckedStep[]; readonly index: number };

const UNKNOWN: OutputSource = { kind: "unknown" };

/** Finds the steps whose outputs a reading sees. An id of a step goes before the name of an output. */
export function findOutputSource(model: CheckModel, { keys }: Reading): OutputSource {
  const [first, second] = keys;
  if (!first) return UNKNOWN;
  const steps = model.stepsById.get(first.name);
  if (steps) {
    if (!second) return { kind: "steps", steps, index: 0 };
    if (steps.some(({ published }) => published === undefined)) return UNKNOWN;
    const having = steps.filter(({ published }) => published?.has(second.name));
    if (having.length > 0) return { kind: "steps", steps: having, index: 0 };
    return nothing(model, second.name, { index: 1, step: steps[0]! });
  }
  const publishers = model.publishers.get(first.name);
  if (publishers) return { kind: "steps", steps: publishers, index: 0 };
  return model.knowsPublishers ? nothing(model, first.name, { index: 0 }) : UNKNOWN;
}

/** What was not read may well give it. */
function nothing(
  { mentions }: CheckModel,
  name: string,
  rest: { readonly index: number; readonly step?: CheckedStep },
): OutputSource {
  return mentions.has(name) ? UNKNOWN : { kind: "nothing", ...rest };
}

/** When a step has run, seen from a place that reads its outputs. */
export type Moment = "before" | "own" | "after" | "any time" | "unknown";

/** The keys of a step that are evaluated once its outputs are published. */
const AFTERWARDS: ReadonlySet<string> = new Set(["test", "echo", "retry.interval"]);

/** When a step has run as seen from a reading. */
export function momentOf(step: CheckedStep, reading: Reading): Moment {
  const { job, step: reader, field } = reading;
  if (step === reader) return AFTERWARDS.has(field) || isLaterEntry(reading) ? "before" : "own";
  if (step.job === job) {
    return reader && step.draft.index < reader.draft.index ? "before" : "after";
  }
  const before = comesBefore(step.job, job);
  if (before !== false) return before === undefined ? "unknown" : "before";
  const after = comesBefore(job, step.job);
  if (after !== false) return after === undefined ? "unknown" : "after";
  return "any time";
}

/** Whether it is in an entry of an iteration after the first, which sees what those before gave. */
function isLaterEntry({ field, path }: Reading): boolean {
  return field === "iteration" && Number(path[path.indexOf("iteration") + 1]) > 0;
}

/** Whether a job is done before another starts; undefined where the needs on the way are in doubt. */
function comesBefore(earlier: CheckedJob, later: CheckedJob): boolean | undefined {
  const seen = new Set<CheckedJob>([later]);
  let isSure = true;
  // The set grows while it is walked through.
  for (const job of seen) {
    if (!job.needs) isSure = false;
    for (const need of job.needs ?? []) {
      if (need === earlier) return true;
      seen.add(need);
    }
  }
  return isSure ? false : undefined;
}
