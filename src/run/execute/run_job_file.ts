import type { ActionContext, Dict, JobResult } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { Expression } from "../../expr/expression.ts";
import type { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { Job, JobFile } from "../../workflow/model.ts";
import { EmbeddedError, isTrue } from "./evaluate_field.ts";
import type { JobState, StepRun } from "../event.ts";
import { failureOf } from "../failure/lazy_failures.ts";
import { Cancellation, endAfter } from "../cancellation.ts";
import { Outputs, stepIdsOf } from "./outputs.ts";
import { emptyTally, makeRound, runRound } from "./run_job.ts";
import { sumOf } from "../count_steps.ts";
import { addSecretsOf } from "../../secrets/add_secrets.ts";
import { skipStep } from "./run_step.ts";
import type { Session } from "../session.ts";
import type { Round } from "./step_context.ts";
import { jobFileSpots } from "./step_spots.ts";

/**
 * Runs the job of a file in an attempt of the step that embeds it: with vars and outputs of its
 * own, and with the end of the attempt as its own end.
 */
export async function runJobFile(
  session: Session,
  attempt: ActionContext,
  within: StepRun,
  { document, job }: JobFile,
  vars: Dict,
): Promise<JobResult> {
  addSecretsOf(vars, session.secrets);
  const { plan: _, spotOf: __, ...shared } = session;
  const cancellation = new Cancellation();
  const cleanup = endAfter(cancellation, session.cleanupTimeout, session.deadlines);
  const inner: Session = {
    ...shared,
    document,
    ...session.detail.places ? { spotOf: await jobFileSpots(session, document) } : {},
    vars,
    outputs: new Outputs(stepIdsOf(job.steps)),
    keepsAll: true,
    cancellation,
    draining: new Cancellation(),
    cleanup: cleanup.end,
    tally: emptyTally(),
  };
  const { throwIfStopped, release } = tie(session, inner, attempt);
  try {
    const names = { needs: {} };
    const round = { job, outputs: inner.outputs, within, scope: attempt.scope.job, names };
    const state = await runUnlessSkipped(inner, makeRound(round));
    throwIfStopped();
    const { steps, untestedFailures: untested } = inner.tally;
    if (state === "skipped") throw new EmbeddedError(`stopped: ${inner.draining.reason}`);
    return {
      file: document.name,
      outputs: inner.outputs.view,
      steps: sumOf(steps),
      passed: steps.passed,
      failed: steps.failed + steps.tolerated,
      untested,
    };
  } finally {
    release();
    cleanup.release();
  }
}

/**
 * Has the job end with the attempt, and begin nothing new once the run is closed, until it is
 * released. `throwIfStopped` throws the reason of an attempt that has ended.
 */
function tie(
  session: Session,
  { cancellation, draining, cleanup }: Session,
  attempt: ActionContext,
): { readonly throwIfStopped: () => void; readonly release: () => void } {
  let reason: StepError | undefined;
  const close = { stop: ({ message }: StepError) => draining.cancel(message) };
  cancellation.add(close);
  const link = session.draining.add(close);
  const end = session.cleanup.add({ stop: ({ message }) => cleanup.cancel(message) });
  if (session.draining.reason !== undefined) draining.cancel(session.draining.reason);
  const forget = onAbort(attempt.signal, (stop) => {
    reason = stop;
    const isTimeout = session.cancellation.reason === undefined;
    const time = formatDuration(attempt.deadline.timeout);
    cancellation.cancel(isTimeout ? `the step around it timed out after ${time}` : stop.message);
  });
  return {
    throwIfStopped() {
      if (reason) throw reason;
    },
    release() {
      link.remove();
      end.remove();
      forget();
    },
  };
}

/** Runs the steps, or reports each as skipped; an invalid `skipif` is thrown. */
async function runUnlessSkipped(session: Session, round: Round): Promise<JobState> {
  const { skipif, steps } = round.job;
  if (!skipif || !await isTrueAt(session, round.job, skipif)) return await runRound(session, round);
  const reason = `skipif of the job is true: ${skipif.source.trim()}`;
  for (const step of steps) skipStep(session, round, step, undefined, reason);
  return "passed";
}

async function isTrueAt(session: Session, job: Job, skipif: Expression): Promise<boolean> {
  const scope = {
    names: { vars: session.vars, outputs: session.outputs.view },
    strict: true,
    addSecret: session.addSecretValue,
    random: session.draws.at(() => `${session.document.name} skipif of ${job.id}`),
  };
  try {
    return isTrue(skipif, scope, "skipif");
  } catch (error) {
    const failure = await failureOf(session, { job }, error);
    throw new EmbeddedError(failure.message, failure);
  }
}
