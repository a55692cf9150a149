import { isDict } from "../value/value.ts";

/**
 * The names of actions that a workflow, or one job in a file of its own, uses or gives defaults
 * to, whatever else is in it.
 */
export function usedActions(root: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  for (const job of [...listIn(root, "jobs"), root]) {
    if (isDict(job) && isDict(job.defaults)) {
      for (const name of Object.keys(job.defaults)) names.add(name);
    }
    for (const step of listIn(job, "steps")) {
      if (isDict(step) && typeof step.uses === "string") names.add(step.uses);
    }
  }
  return names;
}

function listIn(map: unknown, key: string): readonly unknown[] {
  const list = isDict(map) ? map[key] : undefined;
  return Array.isArray(list) ? list : [];
}
