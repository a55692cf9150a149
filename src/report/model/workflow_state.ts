import type { JobState, RunFinished } from "../../run/event.ts";

/** What became of a workflow of a suite: one of which nothing was run was skipped. */
export function workflowState({ state, jobs, interrupted }: RunFinished): JobState {
  if (jobs.passed + jobs.failed > 0 || jobs.skipped === 0) return state;
  return interrupted?.startsWith("--strict") ? state : "skipped";
}
