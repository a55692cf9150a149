import { roundDuration } from "../../base/value/duration.ts";
import { type Dict, mergeDicts } from "../../base/value/value.ts";
import type { Scope } from "../../expr/expression.ts";
import type { BareEvent, JobState, LoadSecondFields, StepRun } from "../event.ts";
import type { CompiledStep } from "../execute/compiled_step.ts";
import { evaluateDuration } from "../execute/evaluate_field.ts";
import type { LoadRounds } from "../run_options.ts";
import { nameOfJob, Round, type RoundStart, type Run } from "../run_state.ts";
import { Gate } from "./gate.ts";
import { LoadMeter } from "./load_meter.ts";
import { LoadSeconds } from "./load_seconds.ts";
import type { LoadPlan } from "./plan_load.ts";
import { RoundEngine, type RoundOwner } from "./round_engine.ts";

/** The most different warnings of its rounds that a load job passes on. */
const MAX_NOTES = 20;

/** What expressions see of a round. */
const NO_ROUND = { index: 0, user: 0 };

/** What is needed to run the rounds of a load job. */
export interface LoadRoundsOptions {
  readonly start: RoundStart;
  readonly steps: readonly CompiledStep[];
  readonly plan: LoadPlan;
  readonly rows: readonly Dict[] | undefined;
  /** The scope of the job. */
  readonly scope: Scope;
  /** The processor time that was used, in milliseconds. */
  readonly cpuTime: () => number;
  /** Takes each second; the result is why the job has to stop. */
  readonly onSecond: (second: Omit<LoadSecondFields, "job">) => string | undefined;
}

/** The rounds of a load job, and what they do in each second. */
export class MeasuredRounds implements RoundOwner, LoadRounds {
  readonly #options: LoadRoundsOptions;
  readonly #run: Run;
  /** The run as rounds see it that count for nothing. */
  readonly #warmUpRun: Run;
  readonly #meters: { readonly warmUp: LoadMeter; readonly measured: LoadMeter };
  readonly #seconds: LoadSeconds;
  readonly #engine: RoundEngine;
  readonly #publishes: boolean;
  readonly #notes = new Set<string>();
  /** What the cookies of each user belong to. */
  readonly #sessions = new Map<number, object>();
  /** The users that have had a first round. */
  readonly #past = new Set<number>();
  /** Where the first rounds of all users wait for each other. */
  readonly #gate: Gate | undefined;
  /** Whether a step failed that the statistics do not excuse. */
  hasFailed = false;

  constructor(options: LoadRoundsOptions) {
    this.#options = options;
    const { start: { run }, steps, plan: { load, outline, schedule }, rows, scope } = options;
    const part = run.options.piece?.header.part ?? { index: 1, of: 1 };
    const { count = Infinity, maxInFlight, takesRowsOnce } = load;
    const engine = new RoundEngine(run, steps, {
      ...{ schedule, part, count, maxInFlight, endsWithLast: false },
      rows: takesRowsOnce ? rows?.length ?? 0 : Infinity,
      thinkTime: () => evaluateDuration(load.thinkTime, scope, ["load", "think_time"]),
    }, this);
    this.#engine = engine;
    this.#gate = load.together ? this.#openGate(engine.processes) : undefined;
    this.#publishes = steps.some(({ publishes }) => publishes);
    const maskText = (text: string) => run.secrets.mask(text);
    const meters = {
      warmUp: new LoadMeter(outline.steps, maskText),
      measured: new LoadMeter(outline.steps, maskText),
    };
    this.#meters = meters;
    this.#run = this.#runFor(meters.measured);
    this.#warmUpRun = this.#runFor(meters.warmUp);
    this.#seconds = new LoadSeconds({
      ...{ schedule, meters, of: engine.processes },
      // Idle turns leave the processor to others.
      cpuTime: () => options.cpuTime() - engine.idle,
      now: () => {
        const { users, isEnding } = engine;
        return { users, inFlight: engine.takePeak(), isEnding };
      },
      emit: (second) => {
        const reason = options.onSecond(second);
        if (reason !== undefined) engine.stop(reason);
      },
    });
  }

  run(): Promise<void> {
    return this.#engine.run();
  }

  get stopped(): string | undefined {
    return this.#engine.stopped;
  }

  open(index: number, due: number, user: number, isWarmUp: boolean): Round {
    const { start, rows, plan: { load } } = this.#options;
    const { outputs, vars } = start.run;
    const row = rows?.[index % rows.length];
    return new Round({
      ...start,
      run: isWarmUp ? this.#warmUpRun : this.#run,
      index,
      due,
      user,
      outputs: this.#publishes ? outputs.fork() : outputs,
      names: {
        ...start.names,
        ...row ? { vars: mergeDicts(vars, row) } : {},
        round: { ...NO_ROUND, index, user },
      },
      gate: this.#gate && !this.#isPast(user) ? this.#gate.join() : undefined,
      session: load.keepsCookies ? this.#sessionOf(user) : undefined,
    });
  }

  onStart(late: number): void {
    this.#seconds.addStart(late);
  }

  onDrop(): void {
    this.#seconds.addDropped();
  }

  onEnd(round: Round, state: JobState, now: number): void {
    const { run, due = 0 } = round;
    const isWarmUp = run === this.#warmUpRun;
    this.#seconds.advance(now);
    round.gate?.leave();
    const isCut = run.cancellation.reason !== undefined;
    const { warmUp, measured } = this.#meters;
    (isWarmUp ? warmUp : measured).addRound(isCut ? "skipped" : state, roundDuration(now - due));
    if (!isWarmUp && state === "failed" && !this.#options.plan.load.expect) this.hasFailed = true;
  }

  advance(now: number): void {
    this.#seconds.advance(now);
  }

  get nextAdvance(): number {
    return this.#seconds.end;
  }

  onEnding(time: number): void {
    this.#seconds.cut(time);
  }

  onOver(now: number): void {
    this.#seconds.cut(now, true);
  }

  /** The run for rounds that a meter counts. They go on when the run is interrupted. */
  #runFor(meter: LoadMeter): Run {
    const { start: { run }, plan: { load } } = this.#options;
    const { cleanup } = run;
    return run.with({
      cancellation: cleanup,
      draining: cleanup,
      failFast: false,
      toleratesFailures: load.expect !== undefined,
      detail: { ...run.detail, all: false, debug: false },
      options: { ...run.options, onFailedStep: undefined, everyRound: false },
      emit: (event) => this.#take(event, meter),
      onTraffic: (step: StepRun, traffic) => meter.addTraffic(step, traffic),
    });
  }

  #take(event: BareEvent, meter: LoadMeter): void {
    const { start: { run }, plan: { load } } = this.#options;
    switch (event.type) {
      case "step_finished": {
        if (run.cleanup.reason !== undefined) return;
        const { state } = event.result;
        if (load.expect && state === "failed" && !event.run.within) this.hasFailed = true;
        return meter.addStep(event);
      }
      case "step_retried":
        return meter.retry(event.run);
      case "note":
        if (this.#notes.has(event.text) || this.#notes.size >= MAX_NOTES) return;
        this.#notes.add(event.text);
        return run.emit(event);
    }
  }

  #openGate(processes: number): Gate {
    const { start: { run, job }, plan: { load: { stages, count = Infinity } } } = this.#options;
    const { index } = run.options.piece?.header.part ?? { index: 1 };
    const partOf = (all: number) => Math.ceil((all - index + 1) / processes);
    const users = Math.min(partOf(count), partOf(stages[0]!.users ?? 0));
    return new Gate(users, (held) => {
      const text =
        `only ${held} of ${users} users begin together: the others wait for a connection`;
      run.note("warning", `${nameOfJob(run, job.id)}: ${text}`);
    });
  }

  /** Whether a user has had a first round. */
  #isPast(user: number): boolean {
    const isPast = this.#past.has(user);
    this.#past.add(user);
    return isPast;
  }

  #sessionOf(user: number): object {
    return this.#sessions.getOrInsertComputed(user, () => ({}));
  }
}
