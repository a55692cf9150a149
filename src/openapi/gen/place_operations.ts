import { isDict } from "../../base/value/value.ts";
import type { Operation } from "./api.ts";
import type { Existing } from "./existing.ts";
import type { ApiLink, Links } from "./links.ts";
import { accessTo } from "./make_step.ts";
import type { JobPlan } from "./plan_jobs.ts";

/** Where the step of a new operation comes: in a job that is there, or in a new one. */
export interface Place {
  readonly operation: Operation;
  /** The index of the job that is there; undefined if the job is new. */
  readonly job: number | undefined;
  /** The index of the step after which it comes. */
  readonly after: number;
}

/** New operations in an existing workflow. */
export interface Placed {
  /** In the order in which they come in their jobs. */
  readonly places: readonly Place[];
  /** Jobs that have new operations only. */
  readonly jobs: readonly JobPlan[];
  /** The links that steps of new operations can use. */
  readonly links: Links;
  /** The outputs that existing steps publish, as far as links read them. */
  readonly outputs: ReadonlyMap<Operation, ReadonlyMap<string, readonly string[]>>;
}

/**
 * Finds places for the operations that an existing workflow lacks: each comes after the step of the
 * operation that is before it in a new workflow, or last in that job, or in a new job. Existing
 * steps stay as they are, so only links to what they publish remain.
 */
export function placeOperations(
  plans: readonly JobPlan[],
  found: Links,
  existing: Existing,
): Placed {
  const targets = new Map(plans.map((plan) => [plan, targetOf(plan, existing)]));
  const places = plans.flatMap((plan) => {
    const job = targets.get(plan);
    let after = job === undefined ? -1 : stepCount(existing, job) - 1;
    return plan.operations.flatMap((operation): Place[] => {
      const step = existing.stepOf(operation);
      if (step && step.job === job) after = step.index;
      return step ? [] : [{ operation, job, after }];
    });
  });
  const keys = new Map(plans.map((plan) => {
    const job = targets.get(plan);
    return [plan.id, job === undefined ? plan.id : existing.keyOf(job)] as const;
  }));
  const jobs = plans.filter((plan) => targets.get(plan) === undefined).map((plan) => ({
    ...plan,
    needs: [...new Set(plan.needs.map((id) => keys.get(id)!))].filter((key) => !/^#/.test(key)),
  }));
  const jobOf = new Map(jobs.flatMap((job) => job.operations.map((one) => [one, job.id] as const)));
  const needs = new Map([
    ...existing.jobs.map((_, at) => [existing.keyOf(at), existing.needsOf(at)] as const),
    ...jobs.map((job) => [job.id, job.needs] as const),
  ]);
  /** The key of the job of an operation, and its position there. */
  const positionOf = (operation: Operation) => {
    const step = existing.stepOf(operation);
    if (step) return { key: existing.keyOf(step.job), index: step.index, order: -1 };
    const order = places.findIndex((place) => place.operation === operation);
    const { job, after } = places[order]!;
    const key = job === undefined ? jobOf.get(operation)! : existing.keyOf(job);
    return { key, index: after, order };
  };
  const isBefore = (creator: Operation, user: Operation) => {
    const [first, second] = [positionOf(creator), positionOf(user)];
    if (first.key !== second.key) return reaches(second.key, first.key, needs);
    return first.index < second.index ||
      first.index === second.index && first.order < second.order;
  };
  const outputs = new Map<Operation, Map<string, readonly string[]>>();
  const isPublished = ({ creator, field }: ApiLink) => {
    const step = existing.stepOf(creator);
    if (!step) return true;
    const { data: { outputs: published = null }, id } = step;
    const [name] = isDict(published)
      ? Object.entries(published).find(([, value]) => value === accessTo("res.body", field)) ?? []
      : [];
    if (name === undefined || id === undefined) return false;
    outputs.getOrInsertComputed(creator, () => new Map()).set(name, field);
    return true;
  };
  const links = new Map([...found].map(([operation, all]) => {
    const isNew = existing.stepOf(operation) === undefined;
    const kept = [...all].filter(([, link]) =>
      isNew && isPublished(link) && isBefore(link.creator, operation)
    );
    return [operation, new Map(kept)] as const;
  }));
  return { places, jobs, links, outputs };
}

/** The job that has the other operations of a plan, or its id. */
function targetOf({ id, operations }: JobPlan, existing: Existing): number | undefined {
  const [sibling] = operations.flatMap((operation) => existing.stepOf(operation) ?? []);
  if (sibling) return sibling.job;
  const index = existing.jobs.findIndex((_, at) => existing.keyOf(at) === id);
  return index < 0 || stepCount(existing, index) === 0 ? undefined : index;
}

function stepCount({ jobs }: Existing, job: number): number {
  const steps = jobs[job]?.steps;
  return Array.isArray(steps) ? steps.length : 0;
}

function reaches(
  from: string,
  to: string,
  needs: ReadonlyMap<string, readonly string[]>,
  seen = new Set<string>(),
): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  return (needs.get(from) ?? []).some((key) => key === to || reaches(key, to, needs, seen));
}
