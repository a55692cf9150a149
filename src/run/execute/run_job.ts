import { Resources } from "../../action/resource_scope.ts";
import { roundDuration } from "../../base/value/duration.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Scope } from "../../expr/expression.ts";
import type { PlannedJob } from "../../plan/plan.ts";
import type { Assertion, Job, Repeat, Step } from "../../workflow/model.ts";
import { roundsOf } from "../count_steps.ts";
import type { Failure, JobFinished, JobState, RoundStats } from "../event.ts";
import type { JobOutcome } from "../run_options.ts";
import type { Round, RoundStart, Run } from "../run_state.ts";
import { evaluateDuration, FieldError, FieldErrors, isTrue } from "./evaluate_field.ts";
import { cancelIfFailFast, combineStates, runOnce, skipStep } from "./run_step.ts";

/** Runs a job in all its rounds. */
export async function runJob(
  run: Run,
  planned: PlannedJob,
  needs: Dict = {},
): Promise<JobOutcome> {
  const { clock } = run.host;
  const ticks = clock.ticks();
  const { job, name, nameError, skip } = planned;
  run.emit({
    type: "job_started",
    time: clock.now(),
    job: job.id,
    name,
    rounds: job.repeat && roundsOf(job.repeat.count, run.options.piece?.header.part),
    expect: job.repeat?.expect && sourceOf(job.repeat.expect),
  });
  const failures: Failure[] = [];
  let outcome: JobOutcome = { state: "failed" };
  let stats: RoundStats | undefined;
  try {
    if (skip === undefined && nameError !== undefined) throw new FieldError(["name"], nameError);
    outcome = skip === undefined
      ? await runUnlessSkipped(run, job, needs, (rounds) => stats = rounds)
      : { state: "skipped", reason: skip };
  } catch (error) {
    for (const one of error instanceof FieldErrors ? error.errors : [error]) {
      failures.push(await run.failureOf({ run, job }, one));
    }
  }
  if (outcome.state === "failed") cancelIfFailFast(run, job.id);
  const duration = roundDuration(clock.ticks() - ticks);
  finishJob(run, planned, outcome, { duration, failures, stats });
  return outcome;
}

function sourceOf(expect: readonly Assertion[]): string {
  return expect.map(({ expression }) => expression.source.trim()).join(", ");
}

/** Reports the outcome of a job. */
export function finishJob(
  run: Run,
  { job, name }: PlannedJob,
  { state, reason, blocked }: JobOutcome,
  { duration, failures, stats }: Pick<JobFinished, "duration" | "failures" | "stats">,
): void {
  const time = run.host.clock.now();
  run.emit({
    type: "job_finished",
    time,
    job: job.id,
    name,
    state,
    duration,
    reason,
    blocked,
    failures,
    stats,
  });
}

async function runUnlessSkipped(
  run: Run,
  job: Job,
  needs: Dict,
  onStats: (stats: RoundStats) => void,
): Promise<JobOutcome> {
  const { skipif, repeat } = job;
  const names = { vars: run.vars, outputs: run.outputs.view, needs };
  const scope = run.makeScope(names, () => `skipif of ${job.id}`);
  if (skipif && isTrue(skipif, scope, "skipif")) {
    return { state: "skipped", reason: `skipif is true: ${skipif.source.trim()}` };
  }
  const round = { run, job, outputs: run.outputs, names: { needs } };
  const state = repeat ? await runRepeated(round, repeat, scope, onStats) : await runInScope(round);
  if (state !== "skipped") return { state };
  return { state, reason: `stopped: ${run.draining.reason}`, blocked: true };
}

async function runRepeated(
  round: RoundStart,
  repeat: Repeat,
  scope: Scope,
  onStats: (stats: RoundStats) => void,
): Promise<JobState> {
  const interval = repeat.period ??
    evaluateDuration(repeat.interval, scope, ["repeat", "interval"]);
  const { runRounds } = await import("./run_rounds.ts");
  return await runRounds(round, { ...repeat, interval }, scope, runInScope, onStats);
}

/** Runs a round with resources that its steps share. */
async function runInScope(
  round: RoundStart,
): Promise<JobState> {
  const resources = new Resources();
  try {
    return await runRound(makeRound({ ...round, resources }));
  } finally {
    await round.run.close(resources);
  }
}

/** A round before its first step. */
export function makeRound(
  round: RoundStart & Pick<Round, "within" | "resources">,
): Round {
  return { ...round, count: { failed: 0 }, upstreamFailures: [] };
}

/** Runs the steps one after the other, and then always the cleanup steps. */
export async function runRound(round: Round): Promise<JobState> {
  const state = await runSteps(round);
  const { job, run } = round;
  if (!job.steps.at(-1)?.isCleanup) return state;
  const progress = {
    state: run.cancellation.reason !== undefined
      ? "interrupted"
      : state === "failed"
      ? "failed"
      : "passed",
    failed: round.count.failed,
  };
  const names = {
    ...round.names,
    run: run.progress(),
    ...job.isCleanup ? {} : { job: progress },
  };
  const cleanup = { ...round, run: run.forCleanup(), names };
  let result = state;
  for (const step of job.steps) {
    if (step.isCleanup) result = combineStates(result, await runStep(cleanup, step));
  }
  return result;
}

/** A failed step does not stop those after it, unless the job says so. */
async function runSteps(round: Round): Promise<JobState> {
  const { job, run: { cancellation, draining } } = round;
  let state: JobState = "passed";
  for (const step of job.steps) {
    if (step.isCleanup || cancellation.reason !== undefined) break;
    if (state === "failed" && job.stopsAtFailure) {
      skipStep(round, step, undefined, "on_failure is stop, and a step before failed");
    } else if (draining.reason === undefined) {
      state = combineStates(state, await runStep(round, step));
    } else {
      skipStep(round, step);
      state = combineStates(state, "skipped");
    }
  }
  return cancellation.reason === undefined ? state : "failed";
}

/**
 * Runs a step, once for each entry of its `iteration`: failed when any of it failed, skipped when
 * the run was closed before all of it was begun.
 */
async function runStep(round: Round, step: Step): Promise<JobState> {
  if (!step.iteration) return await runOnce(round, step);
  const { runEntries } = await import("./run_entries.ts");
  return await runEntries(round, step, step.iteration);
}
