import { roundDuration } from "../../base/value/duration.ts";
import type { Clock } from "../../host/host.ts";
import type { Repeat } from "../../workflow/model.ts";
import { roundsOf } from "../count_steps.ts";
import type { JobState, RoundStats } from "../event.ts";
import { Round, type RoundStart, type Run } from "../run_state.ts";
import type { CompiledStep } from "./compiled_step.ts";
import { Flight, type FlightOwner } from "./flight.ts";
import type { Outputs } from "./outputs.ts";
import { RoundCounter } from "./round_stats.ts";
import { combineStates } from "./run_step.ts";

/** The number of rounds that start before responses to earlier ones are processed. */
const ROUNDS_A_TURN = 64;

/** The milliseconds after which rounds that wait for nothing give others their turn. */
const LONGEST_TURN = 50;

/** The number of rounds that wait for their action to have its turn, when no further one begins. */
const MAX_WAITING = 64;

/** Where rounds are tallied, the first one that passes is shown in full, unless so many failed. */
const MAX_DETAILED = 10;

/** Runs the rounds of a repeated job, one after the other or in parallel. */
export async function runRounds(
  start: RoundStart,
  steps: readonly CompiledStep[],
  repeat: Omit<Repeat, "interval"> & { readonly interval: number },
  onStats: (stats: RoundStats) => void,
): Promise<JobState> {
  const { run } = start;
  const { interval } = repeat;
  const { draining, deadlines, cancellation, host: { clock } } = run;
  const stats = new RoundCounter();
  const rounds = new Rounds(start, steps, stats);
  const began = clock.ticks();
  let turn = began;
  let isLate = false;
  const part = run.options.piece?.header.part;
  for (let index = (part?.index ?? 1) - 1; index < repeat.count; index += part?.of ?? 1) {
    // Rounds in parallel start at absolute times, so that late timers add up to nothing.
    const due = began + index * interval;
    let now = clock.ticks();
    const pause = repeat.async ? due - now : interval;
    if (index > 0 && pause > 0) {
      await draining.sleep(pause, deadlines);
      turn = now = clock.ticks();
    } else if (now - turn > LONGEST_TURN || rounds.begunInTurn >= ROUNDS_A_TURN) {
      await rounds.turn(clock);
      turn = now = clock.ticks();
      rounds.begunInTurn = 0;
    }
    // It begins when it can. Once one had to wait, all are measured from when they were due.
    isLate ||= rounds.isFull;
    while (rounds.isFull) await rounds.change();
    if (draining.reason !== undefined || rounds.error !== undefined) break;
    rounds.begin(index, isLate ? due : now);
    while (!repeat.async && rounds.isUnderWay) await rounds.change();
  }
  while (rounds.isUnderWay) await rounds.change();
  if (rounds.error !== undefined) throw rounds.error;
  const measured = stats.result();
  if (measured) onStats(measured);
  rounds.publishLatest();
  if (cancellation.reason !== undefined) return "failed";
  const isWhole = rounds.count === roundsOf(repeat.count, part);
  return combineStates(isWhole ? "passed" : "skipped", rounds.state);
}

/** The rounds of a job that are under way, and what is known of those that are over. */
class Rounds implements FlightOwner {
  readonly #start: RoundStart;
  /** The run as the rounds see it, and for those that nobody looks at closely. */
  readonly #run: Run;
  readonly #briefRun: Run;
  /** The number of rounds that are still to be shown in full. */
  #detailed = MAX_DETAILED;
  readonly #steps: readonly CompiledStep[];
  readonly #stats: RoundCounter;
  /** Of each step, the outputs of the latest round that has any. */
  readonly #latest = new Map<string, { readonly index: number; readonly outputs: Outputs }>();
  readonly #publishes: boolean;
  #waiting = 0;
  #wake: (() => void) | undefined;
  /** So few rounds under way are a change. */
  #few = 0;
  /** The number of rounds that have begun. */
  count = 0;
  underWay = 0;
  /** The number of rounds that have begun in this turn of the event loop and wait for something. */
  begunInTurn = 0;
  /** The combined state of those that are over. */
  state: JobState = "passed";
  error: unknown;

  constructor(start: RoundStart, steps: readonly CompiledStep[], stats: RoundCounter) {
    const { run } = start;
    this.#start = start;
    this.#steps = steps;
    this.#stats = stats;
    this.#publishes = steps.some(({ model }) => model.id !== undefined && model.outputs.length > 0);
    this.#run = run;
    this.#briefRun = run.options.everyRound === false
      ? this.#run.with({ detail: { ...run.detail, all: false } })
      : this.#run;
  }

  begin(index: number, due: number): void {
    const { outputs } = this.#run;
    this.count++;
    this.underWay++;
    const underWay = this.underWay;
    const round = new Round({
      ...this.#start,
      run: this.#detailed > 0 ? this.#run : this.#briefRun,
      index,
      due,
      outputs: this.#publishes ? outputs.fork() : outputs,
      pace: this,
    });
    new Flight(round, this.#steps, this).start();
    if (this.underWay === underWay) this.begunInTurn++;
  }

  onEnd({ run, job, index = 0, due = 0, outputs }: Round, state: JobState): void {
    const { clock } = run.host;
    const duration = roundDuration(clock.ticks() - due);
    this.underWay--;
    this.#detailed = state === "passed" ? 0 : this.#detailed - 1;
    this.state = combineStates(this.state, state);
    this.#stats.add(state, duration);
    if (this.#publishes) {
      for (const stepId of Object.keys(outputs.ofSteps())) {
        if (index >= (this.#latest.get(stepId)?.index ?? 0)) {
          this.#latest.set(stepId, { index, outputs });
        }
      }
    }
    const time = clock.now();
    this.#start.run.emit({
      type: "round_finished",
      time,
      job: job.id,
      round: index,
      state,
      duration,
    });
    if (this.underWay <= this.#few) this.#wakeUp();
  }

  onError(error: unknown): void {
    this.underWay--;
    this.error ??= error;
    this.#wakeUp();
  }

  /** The action of a round waits for its turn. */
  wait(): void {
    this.#waiting++;
  }

  /** It has its turn, or wants none any more. */
  go(): void {
    if (--this.#waiting < MAX_WAITING) this.#wakeUp();
  }

  /** Whether a further round would only wait. */
  get isFull(): boolean {
    return this.#waiting >= MAX_WAITING && this.error === undefined;
  }

  /** Whether any is not over, and nothing has gone wrong. */
  get isUnderWay(): boolean {
    return this.underWay > 0 && this.error === undefined;
  }

  /** Resolves when that or `isFull` may have changed. */
  change(): Promise<void> {
    return new Promise((resolve) => this.#wake = resolve);
  }

  /**
   * Lets the event loop take what has arrived: for a millisecond, so that a slow server gets many
   * rounds at once, and a fast one not more than it answers in that time.
   */
  async turn(clock: Clock): Promise<void> {
    this.#few = ROUNDS_A_TURN / 2;
    const stop = clock.after(0, () => this.#wakeUp());
    await this.change();
    stop();
    this.#few = 0;
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
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
