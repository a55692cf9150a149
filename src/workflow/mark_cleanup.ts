import type { Job, Step } from "./model.ts";

/**
 * The name of a step as reports and drawings show it: one of the `finally` of a job is marked. The
 * `finally` of a workflow is a job by itself, whose name says so.
 */
export function markCleanup(
  { isCleanup: isMarked }: Pick<Job, "isCleanup">,
  { isCleanup }: Pick<Step, "isCleanup">,
  name: string,
): string {
  return isCleanup && !isMarked ? `cleanup: ${name}` : name;
}
