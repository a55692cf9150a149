import type { JobState, RunFinished } from "../../run/event.ts";

/** The state of a workflow of a suite: skipped if nothing of it was run. */
export function workflowState({ state, jobs, interrupted }: RunFinished): JobState {
  if (jobs.passed + jobs.failed > 0 || jobs.skipped === 0) return state;
  return interrupted?.startsWith("--strict") ? state : "skipped";
}
