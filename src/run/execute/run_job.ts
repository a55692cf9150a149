import { Resources } from "../../action/resource_scope.ts";
import type { Clock } from "../../host/host.ts";
import type { Scope } from "../../expr/expression.ts";
import type { PlannedJob } from "../../plan/plan.ts";
import { roundDuration } from "../../value/duration.ts";
import type { Dict } from "../../value/value.ts";
import type { Job, Repeat } from "../../workflow/model.ts";
import { evaluateDuration, FieldError, isTrue } from "./evaluate_field.ts";
import type { Failure, JobState } from "../event.ts";
import { failureOf } from "../failure/lazy_failures.ts";
import { RoundOutputs } from "./outputs.ts";
import { combineStates, tellFailure } from "./run_step.ts";
import { runSteps } from "./run_steps.ts";
import type { Session, Tally } from "../session.ts";
import { closeScope, type Round } from "./step_context.ts";

/** What became of a job. */
export interface JobOutcome {
  readonly state: JobState;
  readonly reason?: string;
  /** Skipped because of what happened elsewhere: those that need it cannot run either. */
  readonly blocked?: true;
}

/** Runs a job in all its rounds. */
export async function runJob(
  session: Session,
  planned: PlannedJob,
  needs: Dict = {},
): Promise<JobOutcome> {
  const { clock } = session.host;
  const ticks = clock.ticks();
  const { job, name, nameError, skip } = planned;
  const rounds = job.repeat ? { rounds: job.repeat.count } : {};
  session.emit({ type: "job_started", time: clock.now(), job: job.id, name, ...rounds });
  const failures: Failure[] = [];
  let outcome: JobOutcome = { state: "failed" };
  try {
    if (skip === undefined && nameError !== undefined) throw new FieldError(["name"], nameError);
    outcome = skip === undefined
      ? await runUnlessSkipped(session, job, needs)
      : { state: "skipped", reason: skip };
  } catch (error) {
    failures.push(await failureOf(session, { job }, error));
  }
  if (outcome.state === "failed") tellFailure(session, job.id);
  finishJob(session, planned, outcome, roundDuration(clock.ticks() - ticks), failures);
  return outcome;
}

/** A count of nothing. */
export function emptyTally(): Tally {
  return {
    jobs: { passed: 0, failed: 0, skipped: 0 },
    steps: { passed: 0, failed: 0, skipped: 0, untested: 0 },
    untestedFailures: 0,
    flaky: 0,
  };
}

/** Counts a job and reports its outcome. */
export function finishJob(
  session: Session,
  { job, name }: PlannedJob,
  outcome: JobOutcome,
  duration: number,
  failures: readonly Failure[] = [],
): void {
  session.tally.jobs[outcome.state]++;
  const time = session.host.clock.now();
  const { state, reason } = outcome;
  const why = reason === undefined ? {} : { reason };
  session.emit({
    type: "job_finished",
    time,
    job: job.id,
    name,
    state,
    duration,
    ...why,
    failures,
  });
}

async function runUnlessSkipped(session: Session, job: Job, needs: Dict): Promise<JobOutcome> {
  const { skipif, repeat } = job;
  const scope = {
    names: { vars: session.vars, outputs: session.outputs.view, needs },
    strict: true,
    addSecret: session.addSecretValue,
  };
  if (skipif && isTrue(skipif, scope, "skipif")) {
    return { state: "skipped", reason: `skipif is true: ${skipif.source.trim()}` };
  }
  const state = repeat
    ? await runRounds(session, job, repeat, scope)
    : await runInScope(session, { job, outputs: session.outputs, names: { needs } });
  if (state !== "skipped") return { state };
  return { state, reason: `stopped: ${session.draining.reason}`, blocked: true };
}

/** Runs a round with what its steps share. */
async function runInScope(
  session: Session,
  round: Pick<Round, "job" | "index" | "outputs" | "names">,
): Promise<JobState> {
  const resources = new Resources();
  try {
    return await runRound(session, makeRound({ ...round, scope: resources }));
  } finally {
    await closeScope(session, resources);
  }
}

/** A round before its first step. */
export function makeRound(
  round: Omit<Round, "count" | "upstreamFailures">,
): Round {
  return { ...round, count: { failed: 0 }, upstreamFailures: [] };
}

/** Runs the steps one after the other, and then always the cleanup steps. */
export async function runRound(session: Session, round: Round): Promise<JobState> {
  const state = await runSteps(session, round);
  if (!round.job.steps.at(-1)?.isCleanup) return state;
  const { runCleanup } = await import("./run_cleanup.ts");
  return combineStates(state, await runCleanup(session, round, state));
}

/**
 * So many rounds start before the answers to earlier ones are looked at. All start without waiting
 * for any to end, but ten thousand in one go would be in memory together before the first is over.
 */
const ROUNDS_A_TURN = 64;

function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(0, resolve));
}

async function runRounds(
  session: Session,
  job: Job,
  repeat: Repeat,
  scope: Scope,
): Promise<JobState> {
  const { expect, period } = repeat;
  const interval = period ??
    evaluateDuration(repeat.interval, scope, ["repeat", "interval"]);
  const statistics = expect && await import("./round_stats.ts");
  const stats = await statistics?.makeRoundStats();
  // Where the statistics decide, a round that fails does not end the run.
  const inner = expect ? { ...session, failFast: false } : session;
  const latest = new Map<string, { index: number; outputs: RoundOutputs }>();
  const runOne = async (index: number, due: number): Promise<JobState> => {
    const outputs = new RoundOutputs(session.outputs, session.stepIds);
    const names = { needs: scope.names.needs };
    const state = await runInScope(inner, { job, index, outputs, names });
    stats?.add(state, clock.ticks() - due);
    for (const stepId of outputs.published.keys()) {
      if (index >= (latest.get(stepId)?.index ?? 0)) latest.set(stepId, { index, outputs });
    }
    const time = session.host.clock.now();
    session.emit({ type: "round_finished", time, job: job.id, round: index, state });
    return state;
  };
  const running: Promise<JobState>[] = [];
  const { draining, deadlines, cancellation } = session;
  const { clock } = session.host;
  const began = clock.ticks();
  for (let index = 0; index < repeat.count; index++) {
    // Rounds in parallel start at absolute times, so that late timers add up to nothing.
    const pause = repeat.async ? began + index * interval - clock.ticks() : interval;
    if (index > 0) await draining.sleep(pause, deadlines);
    if (draining.reason !== undefined) break;
    const round = runOne(index, period === undefined ? clock.ticks() : began + index * period);
    running.push(round);
    // It is looked at when all have started, and must not count as unhandled until then.
    round.catch(() => {});
    if (!repeat.async) await round;
    else if (running.length % ROUNDS_A_TURN === 0) await nextTurn(clock);
  }
  const results = await Promise.all(running);
  // In the order of the steps, so that the owners of flat names do not depend on timing.
  for (const { id } of job.steps) {
    const published = id === undefined ? undefined : latest.get(id)?.outputs.published.get(id);
    if (id !== undefined && published) session.outputs.publish(id, published);
  }
  if (cancellation.reason !== undefined) return "failed";
  if (expect && stats && running.length === repeat.count) {
    statistics?.expectOf(expect, scope, stats);
    return "passed";
  }
  return results.reduce(combineStates, running.length < repeat.count ? "skipped" : "passed");
}
