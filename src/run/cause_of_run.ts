import type { StepRun } from "./event.ts";

/** The `cause` of failures that the failure of a step leads to. */
export function causeOfRun({ job, within, step, round, entry }: StepRun): string {
  const parts = [within ? causeOfRun(within) : `job ${job}`, `step ${step + 1}`];
  if (round !== undefined) parts.push(`repeat_index ${round}`);
  if (entry !== undefined) parts.push(`entry ${entry + 1}`);
  return parts.join(", ");
}
