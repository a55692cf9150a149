import { arrangeOperations, isDeletion } from "./arrange_operations.ts";
import type { ApiLink, Links } from "../read/links.ts";
import type { Operation } from "../read/api.ts";
import { snakeCase, UniqueNames } from "../read/names.ts";
import { lastParameter } from "../read/paths.ts";

/** Operations that run in order. */
export interface JobPlan {
  readonly id: string;
  readonly name: string;
  readonly needs: readonly string[];
  readonly operations: readonly Operation[];
}

/** Jobs, and the links between operations that they can use. */
export interface JobPlans {
  readonly jobs: readonly JobPlan[];
  readonly links: Links;
}

interface Draft {
  readonly id: string;
  readonly name: string;
  readonly needs: Set<Draft>;
  operations: Operation[];
}

/**
 * Makes a job for each tag. A job needs the jobs that create what it uses; resources that other
 * jobs still use are deleted in a separate job afterwards.
 */
export function planJobs(operations: readonly Operation[], found: Links): JobPlans {
  const ids = new UniqueNames();
  const jobs = new Map<string, Draft>();
  const jobOf = new Map<Operation, Draft>();
  for (const operation of operations) {
    const { tag } = operation;
    let job = jobs.get(tag);
    if (!job) {
      const id = ids.take(snakeCase(tag) ?? "job");
      jobs.set(tag, job = { id, name: tag, needs: new Set(), operations: [] });
    }
    job.operations.push(operation);
    jobOf.set(operation, job);
  }
  const links = followLinks(found, jobOf);
  const drafts = [...jobs.values()];
  for (const job of drafts) job.operations = arrangeOperations(job.operations);
  const all = [...drafts, ...splitDeletions(drafts, links, ids)];
  return {
    links,
    jobs: all.filter((job) => job.operations.length > 0).map((job) => ({
      id: job.id,
      name: job.name,
      needs: [...job.needs].filter((need) => need.operations.length > 0).map(({ id }) => id),
      operations: job.operations,
    })),
  };
}

/** Adds needs between jobs for links, and drops the links that would cause a dependency cycle. */
function followLinks(found: Links, jobOf: ReadonlyMap<Operation, Draft>): Links {
  const links = new Map<Operation, Map<string, ApiLink>>();
  for (const [operation, own] of found) {
    const job = jobOf.get(operation)!;
    const kept = [...own].filter(([, { creator }]) => need(job, jobOf.get(creator)!));
    links.set(operation, new Map(kept));
  }
  return links;
}

/** Adds a need; false if it would cause a dependency cycle. */
function need(job: Draft, other: Draft): boolean {
  if (job === other || job.needs.has(other)) return true;
  if (reaches(other, job, new Set())) return false;
  job.needs.add(other);
  return true;
}

function reaches(from: Draft, to: Draft, seen: Set<Draft>): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...from.needs].some((next) => reaches(next, to, seen));
}

/** Moves deletions of resources that other jobs use into later jobs. */
function splitDeletions(jobs: readonly Draft[], links: Links, ids: UniqueNames): Draft[] {
  const users = new Map<Operation, Set<Draft>>();
  for (const job of jobs) {
    for (const { creator } of job.operations.flatMap((operation) => linksOf(operation, links))) {
      users.set(creator, (users.get(creator) ?? new Set()).add(job));
    }
  }
  const later: Draft[] = [];
  for (const job of jobs) {
    const isLate = (operation: Operation) => {
      const creator = isDeletion(operation) ? deletedBy(operation, links) : undefined;
      return creator !== undefined && [...users.get(creator) ?? []].some((user) => user !== job);
    };
    const late = job.operations.filter(isLate);
    if (late.length === 0) continue;
    job.operations = job.operations.filter((operation) => !late.includes(operation));
    const id = ids.take(`${job.id}_cleanup`);
    later.push({ id, name: `${job.name}: clean up`, needs: new Set([job]), operations: late });
  }
  for (const job of later) {
    const deleted = job.operations.flatMap((operation) => deletedBy(operation, links) ?? []);
    for (const other of [...jobs, ...later]) {
      const uses = other.operations.flatMap((operation) => linksOf(operation, links));
      if (other !== job && uses.some(({ creator }) => deleted.includes(creator))) need(job, other);
    }
  }
  return later;
}

/** The operation that created the resource that this one deletes, if known. */
function deletedBy(operation: Operation, links: Links): Operation | undefined {
  const name = lastParameter(operation.path);
  return name === undefined ? undefined : links.get(operation)?.get(name)?.creator;
}

function linksOf(operation: Operation, links: Links): ApiLink[] {
  return [...links.get(operation)?.values() ?? []];
}
