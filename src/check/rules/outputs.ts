import { didYouMean } from "../../base/text/suggest.ts";
import { valueAt } from "../../base/value/value.ts";
import { type JobsBefore, jobsBefore } from "../../plan/plan.ts";
import { ALL, hasAll, isGeneratedId, titleOfJob } from "../../workflow/step_facts.ts";
import type { Problem } from "../../workflow/problem.ts";
import type { Check, CheckedJob, CheckedStep, CheckModel, Reading } from "../model.ts";
import { isGuarded, isInEntries, isOptional, keyProblem, severityOfNil } from "../readings.ts";

/** Outputs that no step publishes, or not surely before they are read. */
export const missingOutput: Check = {
  codes: [
    {
      code: "unpublished-output",
      severity: "error",
      summary: "Reads an output that no step publishes; a hint where it may be missing.",
    },
    {
      code: "output-order",
      severity: "error",
      summary: "Reads an output that is published later, or by a job that is not in `needs`.",
    },
    {
      code: "load-output",
      severity: "warning",
      summary: "Reads an output of another job with `load`, which publishes none.",
    },
    {
      code: "maybe-skipped-output",
      severity: "hint",
      summary: "Reads an output of a step or job that its `skipif` may skip.",
    },
  ],
  *find(model) {
    const momentOf = momentFinder();
    for (const reading of model.readings) {
      if (reading.root !== "outputs") continue;
      const source = findOutputSource(model, reading);
      const underLoad = source?.steps?.find(({ job }) => job.draft.load && job !== reading.job);
      if (underLoad) {
        const title = titleOfJob(underLoad.job.draft);
        yield keyProblem(reading, source!.index, {
          severity: "warning",
          code: "load-output",
          message: `this is nil: the job "${title}" runs under load, and publishes nothing`,
          hint: "publish it in a job of its own",
        });
      } else if (source?.steps) yield* orderProblems(source.steps, source.index, reading, momentOf);
      else if (source) yield unpublished(model, reading, source);
    }
  },
};

/** The possible sources of a value in `outputs`. */
interface OutputSource {
  /** The key that one of the steps defines, or else that is missing. */
  readonly index: number;
  /** The steps that publish it; undefined if none does. */
  readonly steps?: readonly CheckedStep[];
  /** The step that does not publish it, but is named. */
  readonly owner?: CheckedStep;
}

/** A name that more steps publish than this is not attributed to any of them. */
const MAX_PUBLISHERS = 100;

/**
 * Finds the steps whose outputs a reading sees; an id of a step goes before the name of an output.
 * Undefined where that cannot be known: all outputs are read, or a name that only the run knows.
 */
function findOutputSource(model: CheckModel, { keys, job }: Reading): OutputSource | undefined {
  const [first, second] = keys;
  if (!first || model.context.outputs?.has(first.name)) return undefined;
  // A part that was not read may define the name.
  const nothing = (name: string, source: OutputSource) =>
    model.definitions.has(name) ? undefined : source;
  const steps = model.stepsById.get(first.name);
  if (steps) {
    if (!second) return { steps, index: 0 };
    if (steps.some(({ published }) => published === undefined)) return undefined;
    const having = steps.filter((step) =>
      isOfOtherMatrix(step, job)
        ? second.name === ALL
        : step.published?.has(second.name) || second.name === ALL && hasAll(step.draft)
    );
    if (having.length > 0) return { steps: having, index: 0 };
    return nothing(second.name, { index: 1, owner: steps[0] });
  }
  const publishers = model.publishers.get(first.name);
  if (publishers && publishers.length > MAX_PUBLISHERS) return undefined;
  const seen = publishers?.filter((step) => !isOfOtherMatrix(step, job)) ?? [];
  if (seen.length > 0) return { steps: seen, index: 0 };
  if (publishers) return { index: 0, owner: publishers[0] };
  return nothing(first.name, { index: 0 });
}

function unpublished(
  { jobs, stepsById, publishers }: CheckModel,
  reading: Reading,
  { index, owner }: OutputSource,
): Problem {
  const { name } = reading.keys[index]!;
  const guarded = isOptional(reading, index);
  const isInMatrix = owner !== undefined && isOfOtherMatrix(owner, reading.job);
  const message = isInMatrix
    ? `"${name}" is published by each job of the matrix of "${owner.job.draft.id}"`
    : owner
    ? `the step "${owner.draft.id}" publishes no "${name}"`
    : `no step publishes "${name}"`;
  const near = didYouMean(
    name,
    owner ? owner.published ?? [] : [...stepsById.keys(), ...publishers.keys()],
  );
  return keyProblem(reading, index, {
    severity: guarded ? "hint" : "error",
    code: "unpublished-output",
    message: guarded ? `${message}: this is always nil` : message,
    hint: isInMatrix ? `outputs.${owner.draft.id}.all is the list of their outputs` : near ??
      (owner
        ? listOutputs(owner)
        : jobs.some(({ draft }) => draft.id === name)
        ? `"${name}" is a job: outputs are read by the id of a step`
        : undefined),
  });
}

/** Whether the outputs of a step are those of several jobs, seen from another job. */
function isOfOtherMatrix({ job }: CheckedStep, reader: CheckedJob): boolean {
  return job !== reader && job.draft.matrix !== undefined;
}

function listOutputs({ published = new Set() }: CheckedStep): string {
  return published.size === 0
    ? "it has no outputs"
    : `it publishes ${[...published].slice(0, 5).join(", ")}`;
}

function* orderProblems(
  steps: readonly CheckedStep[],
  index: number,
  reading: Reading,
  momentOf: (step: CheckedStep, reading: Reading) => Moment,
): Iterable<Problem> {
  const moments = steps.map((step) => momentOf(step, reading));
  // A guard is for the first entry; here it would hide that all of them are the first.
  if (isGuarded(reading, index) && !moments.every((moment) => moment === "at once")) return;
  if (moments.includes("unknown")) return;
  const earlier = steps.filter((_, at) => moments[at] === "before");
  if (earlier.length === 0) {
    const moment = moments[0]!;
    yield keyProblem(reading, index, {
      // A job that runs at the same time may be quicker.
      severity: moment === "at once"
        ? "error"
        : moment === "any time"
        ? "warning"
        : severityOfNil(reading, index),
      code: "output-order",
      ...describeOrder(steps[0]!, moment, reading),
    });
  } else if (earlier.every((step) => maySkip(step, reading))) {
    yield skipProblem(earlier[0]!, reading, index);
  }
}

/** When a step has run, seen from a place that reads its outputs. */
type Moment = "before" | "own" | "all" | "at once" | "after" | "any time" | "unknown";

/** Whether it is in the sign-in that a step has from the defaults of its job. */
function inheritsAuth({ path, step }: Reading): boolean {
  return path.includes("auth") && valueAt(step?.raw, ["with", "auth"]) === undefined;
}

function describeOrder(
  { draft: { id }, job }: CheckedStep,
  moment: Moment,
  reading: Reading,
): { readonly message: string; readonly hint?: string } {
  switch (moment) {
    case "own":
      return {
        message: "a step has no outputs of its own before it has run",
        ...inheritsAuth(reading) && {
          hint: 'its "auth" is that of the defaults: a step that signs in has auth: none',
        },
      };
    case "all":
      return { message: `outputs.${id}.all is known once all entries of the step have run` };
    case "at once":
      return {
        message: "entries that run in parallel do not see outputs of each other",
        hint: `leave parallel out; a later step reads all of them in outputs.${id}.all`,
      };
    case "any time":
      return {
        message: `the job "${
          titleOfJob(job.draft)
        }" with the step "${id}" may not have run before this`,
        hint: isGeneratedId(job.draft.id)
          ? "give that job an id, and add the id to the needs of this one"
          : `add it to the needs of this job: needs: [${job.draft.id}]`,
      };
    default: {
      const where = job === reading.job ? "" : ` of the job "${titleOfJob(job.draft)}"`;
      return { message: `the step "${id}"${where} runs after this` };
    }
  }
}

/**
 * Finds out when a step has run as seen from a reading. It remembers the jobs before the job it was
 * asked about last, since readings come job by job.
 */
function momentFinder(): (step: CheckedStep, reading: Reading) => Moment {
  let known: { readonly job: CheckedJob; readonly before: JobsBefore<CheckedJob> } | undefined;
  return (step, reading) => {
    const { job, step: reader, isAfterwards } = reading;
    if (step === reader) {
      if (readsAll(step, reading)) return "all";
      if (isAfterwards || isLaterEntry(reading)) return "before";
      if (!hasLaterEntries(step, reading)) return "own";
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

function needsOf({ needs }: CheckedJob): readonly CheckedJob[] | undefined {
  return needs;
}

/** Whether it reads what is known once all entries of a step have run. */
function readsAll({ draft }: CheckedStep, { keys: [, second] }: Reading): boolean {
  return second?.name === ALL && hasAll(draft);
}

/** Whether it is in an entry of an iteration after the first, which sees the outputs of those before. */
function isLaterEntry(reading: Reading): boolean {
  const { path } = reading;
  return isInEntries(reading) &&
    Number(path.slice(path.indexOf("iteration")).find((part) => typeof part === "number")) > 0;
}

/** Whether each entry of an iteration but the first sees the outputs of those before. */
function hasLaterEntries({ draft: { iteration } }: CheckedStep, { key }: Reading): boolean {
  if (key === "iteration" || !iteration) return false;
  return iteration.kind === "list" ? iteration.entries.length > 1 : true;
}

/** Whether entries run at once, and see no outputs of each other. */
function hasParallelEntries({ draft: { iteration } }: CheckedStep): boolean {
  return iteration !== undefined && iteration.kind !== "loop" && iteration.parallel > 1;
}

/** Whether a step may be skipped when a reader runs that has no condition of its own. */
function maySkip(step: CheckedStep, reading: Reading): boolean {
  // The list of the outputs of a matrix may be empty, but is always there.
  if (step === reading.step || isOfOtherMatrix(step, reading.job)) return false;
  if (reading.step?.draft.skipif || reading.job.draft.skipif) return false;
  if (runsAfterFailure(step, reading)) return true;
  const { skipif, iteration } = step.draft;
  // One that is skipped in some of its rounds has run in others.
  if (skipif && !iteration && !skipif.source.includes("repeat_index")) return true;
  const { draft } = step.job;
  return step.job !== reading.job && (draft.skipif !== undefined || draft.repeat?.count === 0);
}

/** Whether a reader also runs where the step that it reads from failed. */
function runsAfterFailure(step: CheckedStep, { step: reader, job }: Reading): boolean {
  if (reader?.draft.isCleanup && !step.draft.isCleanup) return true;
  return job.draft.when !== undefined && step.job !== job;
}

function skipProblem(step: CheckedStep, reading: Reading, index: number): Problem {
  const { name } = reading.keys[index]!;
  const what = step.draft.skipif
    ? `the step "${step.draft.id}"`
    : `the job "${titleOfJob(step.job.draft)}"`;
  const isLast = index === reading.keys.length - 1 && !reading.isOpen;
  return keyProblem(reading, index, {
    severity: "hint",
    code: "maybe-skipped-output",
    message: runsAfterFailure(step, reading)
      ? `the step "${step.draft.id}" may have failed or not have run; then there is no "${name}"`
      : `${what} may be skipped; then there is no "${name}"`,
    hint: isLast ? "add ?? and a default" : "read from it with ?.",
  });
}

/** Outputs that nothing reads. */
export const unusedOutput: Check = {
  codes: [
    { code: "unused-output", severity: "hint", summary: "An output is published, but never read." },
  ],
  *find(model) {
    // A step that embeds a job file sees all of its outputs.
    const used = model.vars && findUsed(model);
    if (!used) return;
    for (const [id, steps] of model.stepsById) {
      for (const { draft, published } of steps) {
        for (const name of published ?? []) {
          if ([`${id}.`, name, `${id}.${name}`].some((one) => used.has(one))) continue;
          yield {
            severity: "hint",
            code: "unused-output",
            path: [...draft.path, "outputs", name],
            part: "key",
            message: `nothing reads the output "${name}"`,
          };
        }
      }
    }
  },
};

/** What is read: all of a step (`id.`), an output of a step (`id.name`), or an output by its name. */
function findUsed(model: CheckModel): ReadonlySet<string> | undefined {
  const used = new Set(model.usedWords);
  for (const reading of model.readings) {
    const { root, job, keys: [first, second] } = reading;
    if (root !== "outputs") continue;
    if (!first) return undefined;
    const owners = model.stepsById.get(first.name);
    const isPart = owners && second &&
      !owners.some((step) => isOfOtherMatrix(step, job) || readsAll(step, reading));
    if (isPart) used.add(`${first.name}.${second.name}`);
    else used.add(owners ? `${first.name}.` : first.name);
  }
  return used;
}
