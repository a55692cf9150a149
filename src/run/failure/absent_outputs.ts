import type { Path } from "../../source/source.ts";
import type { Job, Step } from "../../workflow/model.ts";
import type { readOutputs } from "./output_reads.ts";

/** A step that publishes what is read, and its job. */
interface Publisher {
  readonly job: Job;
  readonly step: Step;
}

/** What a job itself reads is read before its steps run. */
const BEFORE_STEPS = -1;

/**
 * Says of outputs that are not there when a step reads them which step publishes them, and why
 * not before. The path is that of the reader; with `isNil` it is known that they are there, as nil.
 */
export function absentOutputsHint(
  jobs: readonly Job[],
  path: Path,
  reads: ReturnType<typeof readOutputs>,
  isNil: boolean,
): string | undefined {
  const reader = jobs[Number(path[1])];
  if (path[0] !== "jobs" || !reader) return undefined;
  const at = path[2] === "steps" ? Number(path[3]) : BEFORE_STEPS;
  for (const [first, second] of reads) {
    const all = publishersOf(jobs, first);
    const before = all.filter(({ job, step }) =>
      job === reader ? step.index < at : isNeeded(jobs, reader, job)
    );
    if (before.length > 0) {
      const [one, ...more] = before.filter(({ step }) => declares(step, second ?? first));
      // Of several under one flat name, who it was hangs on which of them ran.
      if (isNil && one && more.length === 0) return `${nameOf(one.step)} has published it as nil`;
      continue;
    }
    const own = all.find(({ job, step }) => job === reader && step.index > at);
    if (own) {
      const when = at === BEFORE_STEPS ? "all steps run after this" : "runs after this one";
      return `${nameOf(own.step)} publishes it, and ${when}`;
    }
    const other = all.find(({ job }) => job !== reader);
    if (!other) continue;
    return isNeeded(jobs, other.job, reader)
      ? `the job "${other.job.id}" publishes it, and runs after this one`
      : `the job "${other.job.id}" publishes it: add it to the needs of this job`;
  }
  return undefined;
}

/** By the jobs of a workflow, of which thousands may fail: who publishes, by ids and flat names. */
const indexes = new WeakMap<readonly Job[], ReadonlyMap<string, readonly Publisher[]>>();

/** The steps that publish under a name: by their id, or, where there are none, flat. */
function publishersOf(jobs: readonly Job[], name: string): readonly Publisher[] {
  let index = indexes.get(jobs);
  if (!index) indexes.set(jobs, index = indexPublishers(jobs));
  return index.get(name) ?? [];
}

function indexPublishers(jobs: readonly Job[]): ReadonlyMap<string, readonly Publisher[]> {
  const publishers = jobs.flatMap((job) => job.steps.map((step) => ({ job, step })))
    .filter(({ step }) => step.id !== undefined && step.outputs.length > 0);
  const byId = Map.groupBy(publishers, ({ step }) => step.id!);
  const flat = new Map<string, Publisher[]>();
  for (const publisher of publishers) {
    for (const { name } of publisher.step.outputs) {
      const all = flat.get(name);
      if (all) all.push(publisher);
      else flat.set(name, [publisher]);
    }
  }
  return new Map([...flat, ...byId]);
}

function declares({ outputs }: Step, name: string): boolean {
  return outputs.some((output) => output.name === name);
}

function nameOf({ id, name }: Step): string {
  return `the step "${name?.source ?? id}"`;
}

/** Whether a job waits for another one, by whatever way. */
function isNeeded(jobs: readonly Job[], job: Job, needed: Job): boolean {
  const seen = new Set<string>();
  const open = [...job.needs];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === needed.id) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    open.push(...jobs.find((job) => job.id === id)?.needs ?? []);
  }
  return false;
}
