import { Resources } from "../../action/resource_scope.ts";
import type { Clock } from "../../host/host.ts";
import type { Scope } from "../../expr/expression.ts";
import type { PlannedJob } from "../../plan/plan.ts";
import { roundDuration } from "../../base/value/duration.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Assertion, Job, Repeat } from "../../workflow/model.ts";
import { evaluateDuration, FieldError, FieldErrors, isTrue } from "./evaluate_field.ts";
import type { Failure, JobFinished, JobState, RoundStats } from "../event.ts";
import { failureOf } from "../failure/lazy_failures.ts";
import type { Outputs } from "./outputs.ts";
import { cancelIfFailFast, combineStates } from "./run_step.ts";
import { runSteps } from "./run_steps.ts";
import { noSteps, roundsOf } from "../count_steps.ts";
import type { Session, Tally } from "../session.ts";
import { closeScope, type Round } from "./step_context.ts";

/** The outcome of a job. */
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
  session.emit({
    type: "job_started",
    time: clock.now(),
    job: job.id,
    name,
    ...job.repeat ? { rounds: roundsOf(job.repeat.count, session.part) } : {},
    ...job.repeat?.expect ? { expect: sourceOf(job.repeat.expect) } : {},
  });
  const failures: Failure[] = [];
  let outcome: JobOutcome = { state: "failed" };
  let stats: RoundStats | undefined;
  try {
    if (skip === undefined && nameError !== undefined) throw new FieldError(["name"], nameError);
    outcome = skip === undefined
      ? await runUnlessSkipped(session, job, needs, (rounds) => stats = rounds)
      : { state: "skipped", reason: skip };
  } catch (error) {
    for (const one of error instanceof FieldErrors ? error.errors : [error]) {
      failures.push(await failureOf(session, { job }, one));
    }
  }
  if (outcome.state === "failed") cancelIfFailFast(session, job.id);
  const duration = roundDuration(clock.ticks() - ticks);
  finishJob(session, planned, outcome, duration, { failures, ...stats ? { stats } : {} });
  return outcome;
}

function sourceOf(expect: readonly Assertion[]): string {
  return expect.map(({ expression }) => expression.source.trim()).join(", ");
}

/** A count of nothing. */
export function emptyTally(): Tally {
  return {
    jobs: { passed: 0, failed: 0, skipped: 0 },
    steps: noSteps(),
    untestedFailures: 0,
    flaky: 0,
    assertions: { passed: 0, failed: 0 },
  };
}

/** Counts a job and reports its outcome. */
export function finishJob(
  session: Session,
  { job, name }: PlannedJob,
  outcome: JobOutcome,
  duration: number,
  more: Partial<Pick<JobFinished, "failures" | "stats">> = {},
): void {
  session.tally.jobs[outcome.state]++;
  const time = session.host.clock.now();
  const { state, reason, blocked } = outcome;
  const why = { ...reason === undefined ? {} : { reason }, ...blocked ? { blocked } : {} };
  session.emit({
    type: "job_finished",
    time,
    job: job.id,
    name,
    state,
    duration,
    ...why,
    failures: [],
    ...more,
  });
}

async function runUnlessSkipped(
  session: Session,
  job: Job,
  needs: Dict,
  onStats: (stats: RoundStats) => void,
): Promise<JobOutcome> {
  const { skipif, repeat } = job;
  const scope = {
    names: { vars: session.vars, outputs: session.outputs.view, needs },
    strict: true,
    addSecret: session.addSecretValue,
    random: session.draws.at(() => `${session.document.name} skipif of ${job.id}`),
  };
  if (skipif && isTrue(skipif, scope, "skipif")) {
    return { state: "skipped", reason: `skipif is true: ${skipif.source.trim()}` };
  }
  const state = repeat
    ? await runRounds(session, job, repeat, scope, onStats)
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
  onStats: (stats: RoundStats) => void,
): Promise<JobState> {
  const { expect, period } = repeat;
  const interval = period ??
    evaluateDuration(repeat.interval, scope, ["repeat", "interval"]);
  const statistics = await import("./round_stats.ts");
  const stats = await statistics.makeRoundStats(expect !== undefined);
  let hasFailedCleanup = false;
  const emit: Session["emit"] = (event) => {
    hasFailedCleanup ||= event.type === "step_finished" && event.result.state === "failed";
    session.emit(event);
  };
  // Where the statistics decide, a round that fails does not end the run, and only failed cleanup
  // steps are not tolerated.
  const inner = expect ? { ...session, failFast: false, toleratesFailures: true, emit } : session;
  const latest = new Map<string, { index: number; outputs: Outputs }>();
  const runOne = async (index: number, due: number): Promise<JobState> => {
    const outputs = session.outputs.fork();
    const names = { needs: scope.names.needs };
    const state = await runInScope(inner, { job, index, outputs, names });
    const duration = roundDuration(clock.ticks() - due);
    stats.add(state, duration);
    for (const stepId of Object.keys(outputs.ofSteps())) {
      if (index >= (latest.get(stepId)?.index ?? 0)) latest.set(stepId, { index, outputs });
    }
    const time = session.host.clock.now();
    session.emit({ type: "round_finished", time, job: job.id, round: index, state, duration });
    return state;
  };
  const running: Promise<JobState>[] = [];
  const { draining, deadlines, cancellation } = session;
  const { clock } = session.host;
  const began = clock.ticks();
  const { index: part, of } = session.part ?? { index: 1, of: 1 };
  for (let index = part - 1; index < repeat.count; index += of) {
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
  const measured = stats.result();
  if (measured) onStats(measured);
  // In the order of the steps, so that the owners of flat names do not depend on timing.
  for (const { id } of job.steps) {
    const published = id === undefined ? undefined : latest.get(id)?.outputs.ofSteps()[id];
    if (id !== undefined && published) {
      session.outputs.publish(id, published, latest.get(id)?.index);
    }
  }
  if (cancellation.reason !== undefined) return "failed";
  const isWhole = running.length === roundsOf(repeat.count, session.part);
  if (expect && isWhole) {
    // The statistics of a part are not those of all rounds.
    if (!session.part) statistics.expectOf(expect, scope, measured);
    return hasFailedCleanup ? "failed" : "passed";
  }
  return results.reduce(combineStates, isWhole ? "passed" : "skipped");
}
