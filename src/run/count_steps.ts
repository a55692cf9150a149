import type {
  BareEvent,
  JobState,
  PiecePart,
  RunFinished,
  RunStarted,
  StepRun,
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
  for (const { role, state, steps: own } of ended) {
    if (role !== undefined && state !== "failed") continue;
    workflows[state]++;
    for (const name of Object.keys(steps) as StepState[]) steps[name] += own[name] ?? 0;
  }
  return { workflows, steps };
}

/**
 * Counts the runs of steps that never began. All rounds of a job that did not begin count as one,
 * since there may be thousands of them.
 */
export class UnbegunSteps {
  count = 0;
  readonly #jobs = new Map<string, FollowedJob>();

  /** Takes an event of a run into account. */
  take(event: BareEvent): void {
    switch (event.type) {
      case "run_started":
        for (const job of event.jobs) this.#jobs.set(job.id, { job, begun: 0, open: new Map() });
        return;
      case "job_started": {
        const followed = this.#jobs.get(event.job);
        if (followed && event.rounds !== undefined) followed.rounds = event.rounds;
        return;
      }
      case "step_finished": {
        const { run } = event;
        const followed = run.within ? undefined : this.#jobs.get(run.job);
        if (followed) see(followed, run);
        return;
      }
      case "round_finished": {
        const followed = this.#jobs.get(event.job);
        if (followed) this.#endRound(followed, event.round);
        return;
      }
      case "job_finished": {
        const followed = this.#jobs.get(event.job);
        if (!followed) return;
        for (const round of followed.open.keys()) this.#endRound(followed, round);
        const { job: { steps }, rounds, begun } = followed;
        if (begun < Math.max(rounds ?? 1, 1)) this.count += steps.length;
        this.#jobs.delete(event.job);
        return;
      }
    }
  }

  #endRound({ job: { steps }, open }: FollowedJob, round: number | undefined): void {
    const seen = open.get(round);
    if (!seen) return;
    open.delete(round);
    for (const [index, { entries }] of steps.entries()) {
      const { count, last } = seen.get(index) ?? { count: 0, last: -1 };
      // A step whose entries are not known is one run as long as none of them ran.
      this.count += Math.max(entries ?? 0, last + 1, count === 0 && entries === undefined ? 1 : 0) -
        count;
    }
  }
}

/** The number of the rounds in a part of them. */
export function roundsOf(rounds: number, { index, of }: PiecePart = { index: 1, of: 1 }): number {
  return Math.ceil((rounds - index + 1) / of);
}

interface FollowedJob {
  readonly job: RunStarted["jobs"][number];
  rounds?: number;
  /** The number of rounds that have a step. */
  begun: number;
  /** The number of entries of each step that ran, and the last of them, in an unfinished round. */
  readonly open: Map<number | undefined, Map<number, { count: number; last: number }>>;
}

function see(
  followed: FollowedJob,
  { round, step, entry = 0 }: StepRun,
): void {
  let steps = followed.open.get(round);
  if (!steps) {
    followed.open.set(round, steps = new Map());
    followed.begun++;
  }
  const seen = steps.get(step);
  if (!seen) {
    steps.set(step, { count: 1, last: entry });
    return;
  }
  seen.count++;
  seen.last = Math.max(seen.last, entry);
}

/** The state of a workflow of a suite: skipped if nothing of it was run. */
export function workflowState({ state, jobs, interrupted }: RunFinished): JobState {
  if (jobs.passed + jobs.failed > 0 || jobs.skipped === 0) return state;
  return interrupted?.startsWith("--strict") ? state : "skipped";
}
