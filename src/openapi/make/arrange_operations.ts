import type { Operation } from "../read/api.ts";
import { collectionOf, isBelow, lastParameter, pathKey } from "../read/paths.ts";

/**
 * Orders the operations of a job: create a resource, then read and change it, then the resources
 * below it; deletions are last, starting with the innermost.
 */
export function arrangeOperations(operations: readonly Operation[]): Operation[] {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const key = pathKey(collectionOf(operation.path));
    const group = groups.get(key);
    if (group) group.push(operation);
    else groups.set(key, [operation]);
  }
  const ordered = parentsFirst([...groups.keys()]).map((key) => groups.get(key)!);
  const others = ordered.flatMap((group) => group.filter(isNoDeletion).toSorted(byRank(group)));
  const deletions = ordered.toReversed().flatMap((group) =>
    group.filter(isDeletion).toSorted((a, b) => depthOf(b) - depthOf(a))
  );
  return [...others, ...deletions];
}

/** Whether an operation ends a thing. */
export function isDeletion({ method }: Operation): boolean {
  return method === "delete";
}

function isNoDeletion(operation: Operation): boolean {
  return !isDeletion(operation);
}

function depthOf({ path }: Operation): number {
  return path.split("/").length;
}

/** Keeps the order of paths, but puts each after its parents. */
function parentsFirst(keys: readonly string[]): string[] {
  const ordered: string[] = [];
  const known = new Set(keys);
  const placed = new Set<string>();
  const children = new Map<string | undefined, string[]>();
  for (const key of keys) {
    const parent = nearestParent(key, known);
    const siblings = children.get(parent);
    if (siblings) siblings.push(key);
    else children.set(parent, [key]);
  }
  const place = (key: string) => {
    if (placed.has(key)) return;
    placed.add(key);
    ordered.push(key);
    children.get(key)?.forEach(place);
  };
  children.get(undefined)?.forEach(place);
  return ordered;
}

function nearestParent(key: string, known: ReadonlySet<string>): string | undefined {
  for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
    const parent = key.slice(0, end);
    if (known.has(parent) && isBelow(key, parent)) return parent;
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
