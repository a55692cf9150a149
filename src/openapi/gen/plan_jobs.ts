import type { Operation } from "./api.ts";
import { snakeCase, UniqueNames } from "../../draft/draft.ts";
import { type ApiLink, collectionOf, lastParameter, type Links, pathKey } from "./links.ts";

/** Operations that run in order. */
export interface JobPlan {
  readonly id: string;
  readonly name: string;
  readonly needs: readonly string[];
  readonly operations: readonly Operation[];
}

/** Jobs, and the links between operations that they can use. */
interface JobPlans {
  readonly jobs: readonly JobPlan[];
  readonly links: Links;
}

interface JobDraft {
  readonly id: string;
  readonly name: string;
  readonly needs: Set<JobDraft>;
  operations: Operation[];
}

/**
 * Makes a job for each tag. A job needs the jobs that create what it uses; resources that other
 * jobs still use are deleted in a separate job afterwards.
 */
export function planJobs(operations: readonly Operation[], found: Links): JobPlans {
  const ids = new UniqueNames();
  const drafts = [...Map.groupBy(operations, ({ tag }) => tag)].map((
    [name, operations],
  ): JobDraft => ({
    id: ids.take(snakeCase(name) ?? "job"),
    name,
    needs: new Set(),
    operations: arrangeOperations(operations),
  }));
  const jobOf = new Map(
    drafts.flatMap((job) => job.operations.map((operation) => [operation, job])),
  );
  const links = followLinks(found, jobOf);
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
function followLinks(found: Links, jobOf: ReadonlyMap<Operation, JobDraft>): Links {
  const links = new Map<Operation, Map<string, ApiLink>>();
  for (const [operation, all] of found) {
    const job = jobOf.get(operation)!;
    const kept = [...all].filter(([, { creator }]) => need(job, jobOf.get(creator)!));
    links.set(operation, new Map(kept));
  }
  return links;
}

/** Adds a need; false if it would cause a dependency cycle. */
function need(job: JobDraft, other: JobDraft): boolean {
  if (job === other || job.needs.has(other)) return true;
  if (reaches(other, job, new Set())) return false;
  job.needs.add(other);
  return true;
}

function reaches(from: JobDraft, to: JobDraft, seen: Set<JobDraft>): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...from.needs].some((next) => reaches(next, to, seen));
}

/** Moves deletions of resources that other jobs use into later jobs. */
function splitDeletions(jobs: readonly JobDraft[], links: Links, ids: UniqueNames): JobDraft[] {
  const users = new Map<Operation, Set<JobDraft>>();
  for (const job of jobs) {
    for (const { creator } of job.operations.flatMap((operation) => linksOf(operation, links))) {
      users.getOrInsertComputed(creator, () => new Set()).add(job);
    }
  }
  const later: JobDraft[] = [];
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

/**
 * Orders the operations of a job: create a resource, then read and change it, then the resources
 * below it; deletions are last, starting with the innermost.
 */
function arrangeOperations(operations: readonly Operation[]): Operation[] {
  const groups = Map.groupBy(operations, ({ path }) => pathKey(collectionOf(path)));
  const ordered = parentsFirst([...groups.keys()]).map((key) => groups.get(key)!);
  const others = ordered.flatMap((group) =>
    group.filter((operation) => !isDeletion(operation)).toSorted(byRank(group))
  );
  const deletions = ordered.toReversed().flatMap((group) =>
    group.filter(isDeletion).toSorted((a, b) => depthOf(b) - depthOf(a))
  );
  return [...others, ...deletions];
}

/** Whether an operation ends a thing. */
function isDeletion({ method }: Operation): boolean {
  return method === "delete";
}

function depthOf({ path }: Operation): number {
  return path.split("/").length;
}

/** Keeps the order of paths, but puts each after its parents. */
function parentsFirst(keys: readonly string[]): string[] {
  const known = new Set(keys);
  const children = Map.groupBy(keys, (key) => nearestParent(key, known));
  const withChildren = (key: string): string[] => [
    key,
    ...(children.get(key) ?? []).flatMap(withChildren),
  ];
  return (children.get(undefined) ?? []).flatMap(withChildren);
}

function nearestParent(key: string, known: ReadonlySet<string>): string | undefined {
  for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
    const parent = key.slice(0, end);
    if (known.has(parent)) return parent;
  }
  return undefined;
}

/** Creating, listing, reading, replacing, changing, and then everything else. */
function byRank(group: readonly Operation[]): (a: Operation, b: Operation) => number {
  const hasPost = group.some((operation) => rankOf(operation, false) === 0);
  return (a, b) => rankOf(a, !hasPost) - rankOf(b, !hasPost);
}

function rankOf({ method, path, success }: Operation, putCreates: boolean): number {
  const isItem = lastParameter(path) !== undefined;
  const is201 = success.kind === "codes" && success.codes.includes(201);
  switch (method) {
    case "post":
      return isItem ? 6 : 0;
    case "put":
      return putCreates && is201 ? 0 : 3;
    case "get":
    case "head":
    case "options":
      return isItem ? 2 : 1;
    case "patch":
      return 4;
    default:
      return 5;
  }
}
