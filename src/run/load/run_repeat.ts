import { roundDuration } from "../../base/value/duration.ts";
import type { Scope } from "../../expr/expression.ts";
import type { Repeat } from "../../workflow/model.ts";
import { roundsOf } from "../count_steps.ts";
import type { JobState } from "../event.ts";
import type { CompiledStep } from "../execute/compiled_step.ts";
import { evaluateDuration } from "../execute/evaluate_field.ts";
import type { Outputs } from "../execute/outputs.ts";
import { combineStates } from "../execute/run_step.ts";
import { Round, type RoundStart, type RunExecution } from "../run_state.ts";
import { RoundEngine, type RoundOwner } from "./round_engine.ts";
import { Schedule } from "./schedule.ts";

/** The number of failed rounds after which none is kept in full any more, if none has passed. */
const MAX_DETAILED = 10;

/** Runs the rounds of a repeated job, one after the other or in parallel. */
export async function runRepeat(
  start: RoundStart,
  steps: readonly CompiledStep[],
  { count, interval, async: isAsync }: Repeat,
  scope: Scope,
): Promise<JobState> {
  const { run } = start;
  const part = run.options.piece?.header.part ?? { index: 1, of: 1 };
  const pause = evaluateDuration(interval, scope, ["repeat", "interval"]);
  // One user runs one round after the other; rounds in parallel start at a rate.
  const stage = isAsync ? { rate: 1000 / pause } : { users: part.of };
  const rounds = new RepeatedRounds(start, steps);
  const engine = new RoundEngine(run, steps, {
    ...{ schedule: new Schedule([stage]), part, count, maxInFlight: Infinity, endsWithLast: true },
    thinkTime: () => pause,
  }, rounds);
  rounds.engine = engine;
  await engine.run();
  rounds.publishLatest();
  if (run.cancellation.reason !== undefined) return "failed";
  const isWhole = engine.started === roundsOf(count, part);
  return combineStates(isWhole ? "passed" : "skipped", rounds.state);
}

/** The rounds of a repeated job, and the latest outputs of its steps. */
class RepeatedRounds implements RoundOwner {
  readonly #start: RoundStart;
  /** The run for rounds that nobody looks at closely. */
  readonly #briefRun: RunExecution;
  /** The number of rounds that are still to be shown in full. */
  #detailed = MAX_DETAILED;
  /** Of each step, the outputs of the latest round that has any. */
  readonly #latest = new Map<string, { readonly index: number; readonly outputs: Outputs }>();
  readonly #publishes: boolean;
  /** The combined state of the rounds that have ended. */
  state: JobState = "passed";
  engine: RoundEngine | undefined;

  constructor(start: RoundStart, steps: readonly CompiledStep[]) {
    const { run } = start;
    this.#start = start;
    this.#publishes = steps.some(({ model }) => model.id !== undefined && model.outputs.length > 0);
    this.#briefRun = run.options.everyRound === false
      ? run.with({ detail: { ...run.detail, all: false } })
      : run;
  }

  open(index: number, due: number, user: number): Round {
    const { run } = this.#start;
    return new Round(this.#start, {
      run: this.#detailed > 0 ? run : this.#briefRun,
      index,
      due,
      user,
      outputs: this.#publishes ? run.outputs.fork() : run.outputs,
      gate: this.engine,
    });
  }

  onEnd({ run, job, index = 0, due = 0, outputs }: Round, state: JobState, now: number): void {
    const duration = roundDuration(now - due);
    this.#detailed = state === "passed" ? 0 : this.#detailed - 1;
    this.state = combineStates(this.state, state);
    if (this.#publishes) {
      for (const stepId of Object.keys(outputs.ofSteps())) {
        if (index >= (this.#latest.get(stepId)?.index ?? 0)) {
          this.#latest.set(stepId, { index, outputs });
        }
      }
    }
    const time = run.host.clock.now();
    const round = { job: job.id, round: index, state, duration };
    this.#start.run.emit({ type: "round_finished", time, ...round });
  }

  /** In the order of the steps, so that the owners of flat names do not depend on timing. */
  publishLatest(): void {
    const { run, job } = this.#start;
    for (const { id } of job.steps) {
      const last = id === undefined ? undefined : this.#latest.get(id);
      if (last) run.outputs.publish(id!, last.outputs.ofSteps()[id!]!, last.index);
    }
  }
}
