import { jobsBefore } from "../../plan/jobs_before.ts";
import type { Plan } from "../../plan/plan.ts";
import type { NameRead } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { stepText } from "../../base/value/plain.ts";
import { isDict } from "../../base/value/value.ts";
import { ownVars } from "../../workflow/decode/own_vars.ts";
import type { Job, Step } from "../../workflow/model.ts";
import type { Session } from "../session.ts";
import type { Round, StepContext, UpstreamFailure } from "../execute/step_context.ts";

/** The reader of a nil value: a step in a round of its job, or a job. */
export interface Reader {
  /** The run that it belongs to; an embedded job has no plan. */
  readonly session: Pick<Session, "plan" | "scope">;
  readonly round?: Round;
  /** The key that reads it: `["jobs", 0, "steps", 2, "with"]`. */
  readonly path: Path;
}

/** A read value that is nil. */
type NilRead = Pick<NameRead, "root" | "keys">;

/**
 * Says why what was read is nil, if the cause is outside the expression: a step before it
 * failed, a job was not selected, a variable is not set, or a step publishes it later. `all` is
 * everything that the expression reads; with `isNil` the key is known to be there, as nil.
 */
export function explainNil(
  reader: Reader,
  reads: readonly NilRead[],
  { all = reads, isNil = false }: { all?: readonly NilRead[]; isNil?: boolean } = {},
): string | undefined {
  const { session: { plan, scope }, path, round } = reader;
  const upstream = round && failedUpstream(round, reads);
  if (upstream !== undefined || !plan) return upstream;
  const index = () => scope.resource("jobs and their outputs", () => indexJobs(plan.workflow.jobs));
  return notSelected(plan, index, all) ?? unsetVariable(plan, path, reads) ??
    notYetPublished(plan, index, path, reads, isNil);
}

/** A hint about parts of a result that the action failed to get, after what it got instead. */
export function withTrouble(
  { trouble }: Pick<Partial<StepContext>, "trouble">,
  reads: readonly NilRead[],
  hint: string | undefined,
): string | undefined {
  if (trouble === undefined || reads.every(({ root }) => root !== "res")) return hint;
  return hint === undefined ? trouble : `${trouble}; ${hint}`;
}

type OutputRead = readonly [first: string, second: string | undefined];

/** The outputs that are read: by the id of a step, or by a flat name without a second key. */
function outputsOf(reads: readonly NilRead[]): readonly OutputRead[] {
  return reads.flatMap(({ root, keys: [first, second] }) =>
    root === "outputs" && first ? [[first.name, second?.name] as const] : []
  );
}

function failedUpstream(round: Round, reads: readonly NilRead[]): string | undefined {
  if (round.upstreamFailures.length === 0) return undefined;
  for (const [first, second] of outputsOf(reads)) {
    const found = round.upstreamFailures.find(({ step }) => lacks(step, round, first, second));
    if (found) return upstreamReason(found);
  }
  return undefined;
}

/** Why the outputs of a step are missing. */
export function upstreamReason({ name, state }: UpstreamFailure): string {
  return `the step "${name}", which publishes it, ${state === "failed" ? "failed" : "was skipped"}`;
}

/** Whether a step should have published an output, by its id or flat, and there is none. */
function lacks(step: Step, { outputs: { view } }: Round, first: string, second?: string): boolean {
  if (first !== step.id) return declares(step, first) && (view[first] ?? null) === null;
  const published = view[first];
  if (!isDict(published)) return true;
  return second !== undefined && declares(step, second) && (published[second] ?? null) === null;
}

function notSelected(
  { workflow, jobs }: Plan,
  index: () => JobIndex,
  reads: readonly NilRead[],
): string | undefined {
  const isWhole = jobs.length === workflow.jobs.length &&
    jobs.every(({ skip }) => skip === undefined);
  const names = isWhole ? [] : outputsOf(reads).map(([name]) => name);
  if (names.length === 0) return undefined;
  const planned = new Map(jobs.map((planned) => [planned.job, planned]));
  for (const job of workflow.jobs) {
    const choice = planned.get(job);
    if (choice && choice.skip === undefined) continue;
    const name = names.find((name) => publishersOf(index(), name).some((p) => p.job === job));
    if (name === undefined) continue;
    const why = choice ? `was skipped because of ${choice.skip}` : "was not selected to run";
    return `outputs.${name} comes from the job "${job.id}", which ${why}`;
  }
  return undefined;
}

/** A value of workflow `vars` that is one variable of the environment, as it is. */
export const VARIABLE = /^\s*\{\{\s*(\w+)\s*\}\}\s*$/;

function unsetVariable(
  { workflow, vars }: Plan,
  path: Path,
  reads: readonly NilRead[],
): string | undefined {
  const { step } = placeOf(workflow.jobs, path);
  const field = step && path[step.path.length];
  // The vars of a step see those of the workflow alone.
  const own = step && field !== "vars" ? ownVars(step) : undefined;
  for (const { root, keys } of reads) {
    if (root !== "vars" || keys[0] && own?.has(keys[0].name)) continue;
    let written = fieldOf(workflow.document.value, "vars");
    let value: unknown = vars;
    let read = "vars";
    for (const { name } of keys) {
      [written, value] = [fieldOf(written, name), fieldOf(value, name)];
      read += stepText(name);
      const [, variable] = typeof written === "string" ? VARIABLE.exec(written) ?? [] : [];
      if (variable === undefined || value !== null) continue;
      return `${read} reads the environment variable ${variable}, which is not set`;
    }
  }
  return undefined;
}

/** The job and the step that a path leads to. */
function placeOf(
  jobs: readonly Job[],
  path: Path,
): { readonly job?: Job | undefined; readonly step?: Step | undefined } {
  const job = path[0] === "jobs"
    ? jobs[Number(path[1])]
    : path[0] === "finally"
    ? jobs.at(-1)
    : undefined;
  if (!job) return {};
  const [list, index] = job.isCleanup ? path : path.slice(job.path.length);
  const first = list === "finally" ? job.steps.findIndex(({ isCleanup }) => isCleanup) : 0;
  return {
    job,
    step: list === "steps" || list === "finally" ? job.steps[first + Number(index)] : undefined,
  };
}

/** A job reads its own fields before its steps run. */
const BEFORE_STEPS = -1;

/** Finds the step that publishes a value that is missing, and the reason why it is late. */
function notYetPublished(
  { workflow: { jobs } }: Plan,
  index: () => JobIndex,
  path: Path,
  reads: readonly NilRead[],
  isNil: boolean,
): string | undefined {
  const { job: reader, step: stepAt } = placeOf(jobs, path);
  if (!reader) return undefined;
  const at = stepAt?.index ?? BEFORE_STEPS;
  for (const [first, second] of outputsOf(reads)) {
    const all = publishersOf(index(), first);
    if (all.length === 0) continue;
    const earlier = earlierThan(index(), reader);
    const before = all.filter(({ job, step }) =>
      job === reader ? step.index < at : earlier.has(job)
    );
    if (before.length > 0) {
      const [one, ...more] = before.filter(({ step }) => declares(step, second ?? first));
      // Of several under one flat name, who it was depends on which of them ran.
      if (isNil && one && more.length === 0) return `${nameOf(one.step)} published it as nil`;
      continue;
    }
    const own = all.find(({ job, step }) => job === reader && step.index > at);
    if (own) {
      const when = at === BEFORE_STEPS
        ? "this is read before its steps run"
        : "runs after this one";
      return `${nameOf(own.step)} publishes it, but ${when}`;
    }
    const other = all.find(({ job }) => job !== reader);
    if (!other) continue;
    return earlierThan(index(), other.job).has(reader)
      ? `the job "${other.job.id}" publishes it, but runs after this one`
      : `the job "${other.job.id}" publishes it: add it to the needs of this job`;
  }
  return undefined;
}

/** A step that publishes outputs, and its job. */
interface Publisher {
  readonly job: Job;
  readonly step: Step;
}

/** An index of the jobs of a workflow, of which thousands may fail. */
interface JobIndex {
  readonly byId: ReadonlyMap<string, Job>;
  /** The publishers, by ids of steps and flat names. */
  readonly publishers: ReadonlyMap<string, readonly Publisher[]>;
  /** The jobs that run before a job. */
  readonly earlier: Map<Job, ReadonlySet<Job>>;
}

function indexJobs(jobs: readonly Job[]): JobIndex {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return { byId, publishers: indexPublishers(jobs), earlier: new Map() };
}

/** The steps that publish under a name: by their id, or, where there are none, flat. */
function publishersOf({ publishers }: JobIndex, name: string): readonly Publisher[] {
  return publishers.get(name) ?? [];
}

function indexPublishers(jobs: readonly Job[]): ReadonlyMap<string, readonly Publisher[]> {
  const all = jobs.flatMap((job) => job.steps.map((step) => ({ job, step })))
    .filter(({ step }) => step.id !== undefined && step.outputs.length > 0);
  const byId = Map.groupBy(all, ({ step }) => step.id!);
  const flat = new Map<string, Publisher[]>();
  for (const publisher of all) {
    for (const { name } of publisher.step.outputs) {
      const known = flat.get(name);
      if (known) known.push(publisher);
      else flat.set(name, [publisher]);
    }
  }
  return new Map([...flat, ...byId]);
}

function earlierThan({ byId, earlier }: JobIndex, job: Job): ReadonlySet<Job> {
  let found = earlier.get(job);
  if (!found) {
    found = jobsBefore(job, ({ needs }) => needs.flatMap((id) => byId.get(id) ?? [])).jobs;
    // One at a time: all of them could be as many as the square of the jobs.
    earlier.clear();
    earlier.set(job, found);
  }
  return found;
}

function declares({ outputs }: Step, name: string): boolean {
  return outputs.some((output) => output.name === name);
}

function nameOf({ id, name }: Step): string {
  return `the step "${name?.source ?? id}"`;
}

/** The value under a key, if the value is a map. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
