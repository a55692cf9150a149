import type {
  JobState,
  PiecePart,
  RunFinished,
  StepState,
  SuiteFinished,
  SuitePart,
} from "./event.ts";

/** A count of no steps. */
export function noSteps(): Record<StepState, number> {
  return { passed: 0, failed: 0, skipped: 0, untested: 0, tolerated: 0 };
}

/** The number of counted steps. */
export function sumOf(steps: Readonly<Record<StepState, number>>): number {
  return Object.values(steps).reduce((sum, count) => sum + count, 0);
}

/** A workflow of a suite that has ended. */
export interface EndedWorkflow {
  readonly role: SuitePart["role"];
  readonly state: JobState;
  readonly steps: RunFinished["steps"];
}

/** The workflows of a suite and their steps, by state; setup and teardown count if they failed. */
export function countWorkflows(
  ended: readonly EndedWorkflow[],
): Pick<SuiteFinished, "workflows" | "steps"> {
  const workflows: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  const steps = noSteps();
  for (const { role, state, steps: counted } of ended) {
    if (role !== undefined && state !== "failed") continue;
    workflows[state]++;
    for (const name of Object.keys(steps) as StepState[]) steps[name] += counted[name] ?? 0;
  }
  return { workflows, steps };
}

/** The number of rounds in a part of a repeated job. */
export function roundsOf(rounds: number, { index, of }: PiecePart = { index: 1, of: 1 }): number {
  return Math.ceil((rounds - index + 1) / of);
}

/** The state of a workflow of a suite: skipped if nothing of it was run. */
export function workflowState({ state, jobs, interrupted }: RunFinished): JobState {
  if (jobs.passed + jobs.failed > 0 || jobs.skipped === 0) return state;
  return interrupted?.startsWith("--strict") ? state : "skipped";
}
