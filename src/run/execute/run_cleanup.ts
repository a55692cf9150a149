import type { JobState } from "../event.ts";
import type { RunProgress, Session } from "../session.ts";
import { combineStates } from "./run_step.ts";
import { runStep } from "./run_steps.ts";
import type { Round } from "./step_context.ts";

/** The session of steps that clean up, which nothing stops but the end of their own time. */
export function cleanupSession(session: Session): Session {
  const { cleanup } = session;
  return {
    ...session,
    cancellation: cleanup,
    draining: cleanup,
    failFast: false,
    toleratesFailures: false,
  };
}

/** Runs the steps of a round that clean up after the others, which came to `state`. */
export async function runCleanup(
  session: Session,
  round: Round,
  state: JobState,
): Promise<JobState> {
  const inner = cleanupSession(session);
  const { reason } = session.cancellation;
  const job: RunProgress = {
    state: reason !== undefined ? "interrupted" : state === "failed" ? "failed" : "passed",
    failed: round.count.failed,
  };
  const own = round.job.isCleanup ? {} : { job };
  const names = { ...round.names, run: session.progress(), ...own };
  let result: JobState = "passed";
  for (const step of round.job.steps) {
    if (!step.isCleanup) continue;
    result = combineStates(result, await runStep(inner, { ...round, names }, step));
  }
  return result;
}
