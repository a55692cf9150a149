import type { ActionContext, Dict, JobResult } from "../../action/action.ts";
import { positionsOf } from "../../base/yaml/positions.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { addSecretsOf } from "../../secrets/find_secrets.ts";
import { Cancellation, drainedBy, endAfter } from "../cancellation.ts";
import { RunTotals, sumOf } from "../count_steps.ts";
import type { JobState } from "../event.ts";
import { locateEmbeddedSteps } from "../outline_plan.ts";
import { CLEANUP_TIMEOUT, namesIn, Round, type StepExecution } from "../run_state.ts";
import { compiledSteps } from "./compiled_step.ts";
import { EmbeddedError, isTrue } from "./evaluate_field.ts";
import { Outputs, stepIdsOf } from "./outputs.ts";
import { runRound } from "./flight.ts";
import { skipStep } from "./run_step.ts";

/**
 * Runs the job of a file in an attempt of the step that embeds it: with vars and outputs of its
 * own, and with the end of the attempt as its own end.
 */
export async function runJobFile(
  step: StepExecution,
  attempt: ActionContext,
  vars: Dict,
): Promise<JobResult> {
  const { run: outer, id: within, attempt: trace } = step;
  const { document, job } = step.model.embedded!;
  addSecretsOf(vars, outer.secrets);
  const cancellation = new Cancellation();
  const draining = drainedBy(cancellation);
  const { cleanupTimeout = CLEANUP_TIMEOUT } = outer.options;
  const cleanup = endAfter(cancellation, cleanupTimeout, outer.deadlines);
  const totals = new RunTotals(within);
  const run = outer.with({
    document,
    positionOf: outer.detail.places ? locateEmbeddedSteps(outer, positionsOf(document)) : undefined,
    vars,
    outputs: new Outputs(stepIdsOf(job.steps)),
    keepsAll: true,
    cancellation,
    draining,
    mistakes: { count: 0 },
    cleanup: cleanup.end,
    emit(event) {
      totals.take(event);
      outer.emit(event);
    },
  });
  // The job ends with the attempt, and begins nothing new once the run is closed.
  const links = [draining.follow(outer.draining), cleanup.end.follow(outer.cleanup)];
  let stopped: StepError | undefined;
  const forget = onAbort(attempt.signal, (reason) => {
    stopped = reason;
    const isTimeout = outer.cancellation.reason === undefined;
    const time = formatDuration(attempt.deadline.timeout);
    cancellation.cancel(isTimeout ? `the step around it timed out after ${time}` : reason.message);
  });
  try {
    const { outputs } = run;
    const resources = attempt.scope.job;
    const names = namesIn(run, { needs: {} });
    const state = await runUnlessSkipped(
      new Round({ run, job, outputs, within, trace, shared: resources, names }),
    );
    if (stopped) throw stopped;
    step.hasMistake ||= run.mistakes.count > 0;
    if (state === "skipped") throw new EmbeddedError(`stopped: ${draining.reason}`);
    const { steps, allowedByStep } = totals;
    return {
      file: document.name,
      outputs: outputs.view,
      steps: sumOf(steps),
      passed: steps.passed,
      failed: steps.failed + steps.allowed - allowedByStep,
    };
  } finally {
    for (const link of links) link.remove();
    forget();
    cleanup.release();
  }
}

/** Runs the steps, or reports each as skipped; an invalid `skipif` is thrown. */
async function runUnlessSkipped(round: Round): Promise<JobState> {
  const { run, job } = round;
  const steps = compiledSteps(run.resources, job);
  if (!await isSkipped(round)) return await runRound(round, steps);
  const reason = `skipif of the job is true: ${job.skipif!.source.trim()}`;
  for (const step of steps) skipStep(round, step, undefined, reason);
  return "passed";
}

async function isSkipped({ run, job }: Round): Promise<boolean> {
  const names = { vars: run.vars, outputs: run.outputs.view };
  const scope = run.makeScope(names, { label: `skipif of ${job.id}` });
  try {
    return job.skipif !== undefined && isTrue(job.skipif, scope, "skipif");
  } catch (error) {
    const failure = await run.failureOf({ run, job }, error);
    throw new EmbeddedError(failure.message, failure);
  }
}
