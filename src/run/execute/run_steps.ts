import type { Step } from "../../workflow/model.ts";
import type { JobState } from "../event.ts";
import { combineStates, runOnce, skipStep } from "./run_step.ts";
import type { Session } from "../session.ts";
import type { Round } from "./step_context.ts";

/** A failed step does not stop those after it, unless the job says so. */
export async function runSteps(session: Session, round: Round): Promise<JobState> {
  const { cancellation, draining } = session;
  let state: JobState = "passed";
  for (const step of round.job.steps) {
    if (step.isCleanup) break;
    if (cancellation.reason !== undefined) break;
    if (state === "failed" && round.job.stopsAtFailure) {
      skipStep(
        session,
        round,
        step,
        undefined,
        "on_failure is stop, and a step before failed",
      );
    } else if (draining.reason === undefined) {
      state = combineStates(state, await runStep(session, round, step));
    } else {
      skipStep(session, round, step);
      state = combineStates(state, "skipped");
    }
  }
  return cancellation.reason === undefined ? state : "failed";
}

/**
 * Runs a step, once for each entry of its `iteration`: failed when any of it failed, skipped when
 * the run was closed before all of it was begun.
 */
export async function runStep(session: Session, round: Round, step: Step): Promise<JobState> {
  const { iteration } = step;
  if (!iteration) return await runOnce(session, round, step);
  // Most steps of most runs run once.
  const { runEntries } = await import("./run_entries.ts");
  return await runEntries(session, round, step, iteration);
}
