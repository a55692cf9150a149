import { roundDuration } from "../../base/value/duration.ts";
import type { Scope } from "../../expr/expression.ts";
import type { Clock } from "../../host/host.ts";
import type { Repeat } from "../../workflow/model.ts";
import { roundsOf } from "../count_steps.ts";
import type { JobState, RoundStats } from "../event.ts";
import type { RoundStart, Run } from "../run_state.ts";
import type { Outputs } from "./outputs.ts";
import { expectOf, makeRoundStats } from "./round_stats.ts";
import { combineStates } from "./run_step.ts";

/**
 * The number of rounds that start before responses to earlier ones are processed. No round waits for
 * another to end, but ten thousand at once would all be in memory before the first one ends.
 */
const ROUNDS_A_TURN = 64;

/** Where rounds are tallied, the first one that passes is shown in full, unless so many failed. */
const MAX_DETAILED = 10;

/** Runs the rounds of a repeated job, one after the other or in parallel. */
export async function runRounds(
  start: RoundStart,
  repeat: Omit<Repeat, "interval"> & { readonly interval: number },
  scope: Scope,
  runRound: (round: RoundStart) => Promise<JobState>,
  onStats: (stats: RoundStats) => void,
): Promise<JobState> {
  const { run, job } = start;
  const { expect, period, interval } = repeat;
  const stats = await makeRoundStats(expect !== undefined);
  let hasFailedCleanup = false;
  // Where the statistics decide, a round that fails does not end the run, and only failed cleanup
  // steps are not tolerated.
  const emit: Run["emit"] = (event) => {
    hasFailedCleanup ||= event.type === "step_finished" && event.result.state === "failed";
    run.emit(event);
  };
  const inner = expect ? run.with({ failFast: false, toleratesFailures: true, emit }) : run;
  const brief = run.options.everyRound === false
    ? inner.with({ detail: { ...run.detail, all: false } })
    : inner;
  let detailed = MAX_DETAILED;
  const latest = new Map<string, { index: number; outputs: Outputs }>();
  const runOne = async (index: number, due: number): Promise<JobState> => {
    const outputs = run.outputs.fork();
    const state = await runRound({ ...start, run: detailed > 0 ? inner : brief, index, outputs });
    detailed = state === "passed" ? 0 : detailed - 1;
    const duration = roundDuration(clock.ticks() - due);
    stats.add(state, duration);
    for (const stepId of Object.keys(outputs.ofSteps())) {
      if (index >= (latest.get(stepId)?.index ?? 0)) latest.set(stepId, { index, outputs });
    }
    const time = clock.now();
    run.emit({ type: "round_finished", time, job: job.id, round: index, state, duration });
    return state;
  };
  const running: Promise<JobState>[] = [];
  const { draining, deadlines, cancellation, host: { clock } } = run;
  const began = clock.ticks();
  const part = run.options.piece?.header.part;
  for (let index = (part?.index ?? 1) - 1; index < repeat.count; index += part?.of ?? 1) {
    // Rounds in parallel start at absolute times, so that late timers add up to nothing.
    const pause = repeat.async ? began + index * interval - clock.ticks() : interval;
    if (index > 0) await draining.sleep(pause, deadlines);
    if (draining.reason !== undefined) break;
    const round = runOne(index, period === undefined ? clock.ticks() : began + index * period);
    running.push(round);
    // It is awaited when all have started, and must not count as unhandled until then.
    round.catch(() => {});
    if (!repeat.async) await round;
    else if (running.length % ROUNDS_A_TURN === 0) await nextTurn(clock);
  }
  const results = await Promise.all(running);
  const measured = stats.result();
  if (measured) onStats(measured);
  // In the order of the steps, so that the owners of flat names do not depend on timing.
  for (const { id } of job.steps) {
    const last = id === undefined ? undefined : latest.get(id);
    if (last) run.outputs.publish(id!, last.outputs.ofSteps()[id!]!, last.index);
  }
  if (cancellation.reason !== undefined) return "failed";
  const isWhole = running.length === roundsOf(repeat.count, part);
  if (expect && isWhole) {
    // The statistics of a part are not those of all rounds.
    if (!part) expectOf(expect, scope, measured);
    return hasFailedCleanup ? "failed" : "passed";
  }
  return results.reduce(combineStates, isWhole ? "passed" : "skipped");
}

function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.after(0, resolve));
}
