import { Resources } from "../../action/resource_scope.ts";
import { roundDuration } from "../../base/value/duration.ts";
import { Trace } from "../../base/trace.ts";
import { type Dict, mergeDicts } from "../../base/value/value.ts";
import type { Scope } from "../../expr/expression.ts";
import type { Clock } from "../../host/host.ts";
import type { BareEvent, JobState, LoadSecondFields, StepFinished, StepRun } from "../event.ts";
import type { CompiledStep } from "../execute/compiled_step.ts";
import { evaluateDuration } from "../execute/evaluate_field.ts";
import { runRound } from "../execute/flight.ts";
import type { Outputs } from "../execute/outputs.ts";
import {
  type LoadRounds,
  nameOfJob,
  Round,
  type RoundGate,
  type RoundStart,
  type RunExecution,
} from "../run_state.ts";
import type { LoadPlan } from "./plan_load.ts";
import { Tally } from "../tally.ts";
import { RoundEngine, type RoundOwner } from "./round_engine.ts";

/** The most different warnings of its rounds that a load job passes on. */
const MAX_NOTES = 20;

/** Milliseconds after which the start of a round is late. */
const LATE = 10;

/** One in so many rounds has a trace that is recorded. */
const SAMPLED = 100;

/** What expressions see of a round. */
const NO_ROUND = { index: 0, user: 0 };

/** What is needed to run the rounds of a load job. */
interface LoadRoundsOptions {
  readonly start: RoundStart;
  readonly steps: readonly CompiledStep[];
  readonly plan: LoadPlan;
  readonly rows: readonly Dict[] | undefined;
  readonly scope: Scope;
  /** The processor time that was used, in milliseconds. */
  readonly cpuTime: () => number;
  /** Takes each second; the result is why the job has to stop. */
  readonly onSecond: (second: Omit<LoadSecondFields, "job">) => string | undefined;
}

/** The rounds of a load job, and what they do in each second. */
export class MeasuredRounds implements RoundOwner, LoadRounds {
  readonly #options: LoadRoundsOptions;
  readonly #run: RunExecution;
  /** The run as the setup of users sees it. */
  readonly #setupRun: RunExecution;
  /** The run as rounds see it that count for nothing. */
  readonly #warmUpRun: RunExecution;
  /** What was counted in the second under way. */
  readonly #tallies: { readonly warmUp: Tally; readonly measured: Tally };
  readonly #engine: RoundEngine;
  readonly #publishes: boolean;
  readonly #notes = new Set<string>();
  /** What each user keeps from round to round. */
  readonly #users = new Map<number, User>();
  readonly #setupSteps: readonly CompiledStep[];
  /** The users that have had a first round. */
  readonly #past = new Set<number>();
  /** Where the first rounds of all users wait for each other. */
  readonly #gate: Gate | undefined;
  /** When the second under way began, and when it is over. */
  #from = 0;
  nextAdvance: number;
  /** The processor time that was used before it. */
  #cpu: number;
  #started = 0;
  #dropped = 0;
  #late = 0;
  #lateMax = 0;
  #setup = { passed: 0, failed: 0 };
  /** The rounds under way whose traces are recorded, by the ids of these. */
  readonly #sampled = new Map<string, SampledRound>();
  /** Whether a step failed that the statistics do not allow. */
  hasFailed = false;

  constructor(options: LoadRoundsOptions) {
    this.#options = options;
    const { start: { run }, steps, plan: { load, schedule }, rows, scope } = options;
    const part = run.options.piece?.header.part ?? { index: 1, of: 1 };
    const { count = Infinity, maxInFlight, takesRowsOnce } = load;
    this.#setupSteps = steps.filter(({ model }) => model.isSetup);
    if (this.#setupSteps.length > 0) this.setUp = (user) => this.#setUp(user);
    const engine = new RoundEngine(run, steps.filter(({ model }) => !model.isSetup), {
      ...{ schedule, part, count, maxInFlight, endsWithLast: false },
      rows: takesRowsOnce ? rows?.length ?? 0 : Infinity,
      thinkTime: () => evaluateDuration(load.thinkTime, scope, ["load", "think_time"]),
    }, this);
    this.#engine = engine;
    this.#gate = load.together ? this.#openGate(engine.processes) : undefined;
    this.#publishes = steps.some(({ publishes }) => publishes);
    const isBrief = true;
    const mask = (text: string) => run.secrets.mask(text);
    const [warmUp, measured] = [new Tally({ isBrief, mask }), new Tally({ isBrief, mask })];
    this.#tallies = { warmUp, measured };
    this.#run = this.#runFor(measured, load.expect !== undefined);
    this.#warmUpRun = this.#runFor(warmUp, load.expect !== undefined);
    this.#setupRun = this.#runFor(measured, load.allowsSetupFailures);
    this.#cpu = this.#cpuTime();
    this.nextAdvance = this.#nextEnd();
  }

  setUp: RoundOwner["setUp"];

  async run(): Promise<void> {
    const { run } = this.#options.start;
    try {
      await this.#engine.run();
    } finally {
      await Promise.all([...this.#users.values()].map(({ resources }) => run.close(resources)));
    }
  }

  get stopped(): string | undefined {
    return this.#engine.stopped;
  }

  open(index: number, due: number, user: number, isWarmUp: boolean): Round {
    const { start, rows, plan: { load } } = this.#options;
    const { vars } = start.run;
    const keeper = this.setUp || load.keepsCookies ? this.#userOf(user) : undefined;
    const outputs = keeper?.outputs ?? start.run.outputs;
    // Who was set up with a row keeps it.
    const row = rows?.[(this.setUp && !load.takesRowsOnce ? user : index) % rows.length];
    // A trace for each of them, of which those who record it need only see some.
    const trace = start.trace && Trace.begin(index % SAMPLED === 0);
    if (trace?.sampled) this.#sampled.set(trace.id, new SampledRound(start.run.host.clock));
    return new Round(start, {
      run: isWarmUp ? this.#warmUpRun : this.#run,
      trace,
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
      session: keeper,
    });
  }

  /** Runs the setup of a user; false if it failed. */
  async #setUp(number: number): Promise<boolean> {
    const { start, rows, plan: { load } } = this.#options;
    const user = this.#userOf(number);
    const row = rows?.[number % rows.length];
    const round = new Round(start, {
      ...{ run: this.#setupRun, index: number, user: number, outputs: user.outputs },
      names: {
        ...start.names,
        ...row ? { vars: mergeDicts(start.run.vars, row) } : {},
        round: { ...NO_ROUND, user: number },
      },
      session: user,
      shared: user.resources,
      trace: start.trace && Trace.begin(false),
    });
    const passed = await runRound(round, this.#setupSteps) === "passed";
    this.#setup[passed ? "passed" : "failed"]++;
    if (!passed && !load.allowsSetupFailures) this.hasFailed = true;
    return passed;
  }

  onStart(late: number): void {
    this.#started++;
    if (late <= LATE) return;
    this.#late++;
    if (late > this.#lateMax) this.#lateMax = late;
  }

  onDrop(): void {
    this.#dropped++;
  }

  onEnd(round: Round, state: JobState, now: number): void {
    const { run, due = 0 } = round;
    const isWarmUp = run === this.#warmUpRun;
    this.advance(now);
    round.gate?.leave?.();
    const isCut = run.cancellation.reason !== undefined;
    const { warmUp, measured } = this.#tallies;
    (isWarmUp ? warmUp : measured).addRound(isCut ? "skipped" : state, roundDuration(now - due));
    if (!isWarmUp && state === "failed" && !this.#options.plan.load.expect) this.hasFailed = true;
    if (round.trace?.sampled) this.#endSampled(round.trace, round, isCut ? "skipped" : state);
  }

  /** Reports a round whose trace is recorded. */
  #endSampled(trace: Trace, { index = 0, job: { id: job } }: Round, state: JobState): void {
    const { emit, host: { clock } } = this.#options.start.run;
    const { started, ticks, steps } = this.#sampled.get(trace.id)!;
    this.#sampled.delete(trace.id);
    const duration = roundDuration(clock.ticks() - ticks);
    const round = { job, round: index, state, started, duration, trace, steps };
    emit({ type: "round_traced", time: clock.now(), ...round });
  }

  /** Passes on the seconds that are over. */
  advance(now: number): void {
    while (this.nextAdvance <= now) this.#pass(this.nextAdvance);
  }

  onEnding(time: number): void {
    this.advance(time);
    if (time > this.#from) this.#pass(time);
  }

  onOver(now: number): void {
    this.advance(now);
    // Each second has its own start, so that only the last one may take no time.
    const isEmpty = this.#started === 0 && this.#tallies.measured.isEmpty;
    if (now > this.#from || !isEmpty) this.#pass(now);
  }

  /** Seconds count from the end of the warm-up, and from that of the last stage. */
  #nextEnd(): number {
    const { warmUp, end } = this.#options.plan.schedule;
    const from = this.#from;
    const next = from + 1000;
    return from < warmUp && warmUp < next ? warmUp : from < end && end < next ? end : next;
  }

  /** Idle turns leave the processor to others. */
  #cpuTime(): number {
    return this.#options.cpuTime() - this.#engine.idle;
  }

  /** Ends the second under way. */
  #pass(to: number): void {
    const { plan: { schedule }, onSecond } = this.#options;
    const { users, isEnding, processes } = this.#engine;
    const from = this.#from;
    const length = to - from;
    const isWarmUp = from < schedule.warmUp;
    const hasEnded = isEnding || from >= schedule.end;
    const cpu = this.#cpuTime();
    const busy = Math.min(1, Math.max(0, (cpu - this.#cpu) / Math.max(length, 1)));
    const asked = hasEnded || length === 0
      ? 0
      : schedule.roundsBetween(from, to) * 1000 / length / processes;
    const second: Omit<LoadSecondFields, "job"> = {
      from: roundDuration(from),
      length: roundDuration(length),
      phase: isWarmUp ? "warm_up" : hasEnded ? "ending" : undefined,
      stage: schedule.stageAt(from),
      asked: schedule.isOpen ? roundDuration(asked) : undefined,
      users: schedule.isOpen ? undefined : users,
      started: this.#started,
      dropped: this.#dropped || undefined,
      late: this.#late || undefined,
      lateMax: this.#late > 0 ? roundDuration(this.#lateMax) : undefined,
      inFlight: this.#engine.takePeak(),
      busy: roundDuration(busy),
      setup: this.setUp && { ...this.#setup },
      ...(isWarmUp ? this.#tallies.warmUp : this.#tallies.measured).take(),
    };
    this.#from = to;
    this.nextAdvance = this.#nextEnd();
    this.#cpu = cpu;
    this.#setup.passed = this.#setup.failed = 0;
    this.#started =
      this.#dropped =
      this.#late =
      this.#lateMax =
        0;
    const reason = onSecond(second);
    if (reason !== undefined) this.#engine.stop(reason);
  }

  /** The run for rounds that a tally counts. They go on when the run is interrupted. */
  #runFor(tally: Tally, statisticsDecide = false): RunExecution {
    const { start: { run } } = this.#options;
    const { cleanup } = run;
    return run.with({
      cancellation: cleanup,
      draining: cleanup,
      failFast: false,
      statisticsDecide,
      detail: { ...run.detail, all: false, debug: false },
      options: { ...run.options, onFailedStep: undefined, everyRound: false },
      emit: (event) => this.#take(event, tally),
      onTraffic: (step: StepRun, traffic) => tally.addTraffic(step, traffic),
    });
  }

  #take(event: BareEvent, tally: Tally): void {
    const { start: { run }, plan: { load } } = this.#options;
    switch (event.type) {
      case "step_finished": {
        if (run.cleanup.reason !== undefined) return;
        const { state, trace } = event.result;
        if (trace?.sampled) {
          this.#sampled.get(trace.id)?.steps.push({ run: event.run, result: event.result });
        }
        if (load.expect && state === "failed" && !event.run.within) this.hasFailed = true;
        return tally.addStep(event);
      }
      case "step_retried":
        return tally.retry(event.run);
      case "note":
        if (this.#notes.has(event.text) || this.#notes.size >= MAX_NOTES) return;
        this.#notes.add(event.text);
        return run.emit(event);
      case "messages_came":
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

  #userOf(user: number): User {
    const { outputs } = this.#options.start.run;
    return this.#users.getOrInsertComputed(user, () => new User(outputs.fork()));
  }
}

/** A round under way whose trace is recorded. */
class SampledRound {
  readonly started: number;
  readonly ticks: number;
  readonly steps: Pick<StepFinished, "run" | "result">[] = [];

  constructor(clock: Clock) {
    this.started = clock.now();
    this.ticks = clock.ticks();
  }
}

/** What a user keeps from round to round; his cookies belong to the user himself. */
class User {
  readonly resources = new Resources();

  constructor(readonly outputs: Outputs) {}
}

/**
 * Holds the first requests of several rounds back until all of them have a connection, or until
 * those without one wait for those that are held back.
 */
class Gate {
  #missing: number;
  /** The missing ones that only other rounds let go on. */
  #waiting = 0;
  #held: (() => void)[] = [];
  #isOpen = false;
  readonly #onStuck: (held: number) => void;

  /** `onStuck` takes the number of rounds that were held back where others could not join them. */
  constructor(rounds: number, onStuck: (held: number) => void) {
    this.#missing = rounds;
    this.#onStuck = onStuck;
  }

  /** The place of a round. */
  join(): RoundGate {
    let [isMissing, isWaiting] = [true, false];
    const wait = (waits: boolean) => {
      if (isWaiting === waits || !isMissing) return;
      isWaiting = waits;
      this.#waiting += waits ? 1 : -1;
      this.#openIfComplete();
    };
    const arrive = (go?: () => void) => {
      wait(false);
      if (go) this.#held.push(go);
      if (isMissing) this.#missing--;
      isMissing = false;
      this.#openIfComplete();
    };
    let hold: RoundGate["hold"] = arrive;
    return {
      get hold() {
        const first = hold;
        hold = undefined;
        return first;
      },
      leave: () => arrive(),
      wait,
    };
  }

  #openIfComplete(): void {
    if (!this.#isOpen && this.#waiting < this.#missing) return;
    const held = this.#held.splice(0);
    if (!this.#isOpen && this.#missing > 0) this.#onStuck(held.length);
    this.#isOpen = true;
    for (const each of held) each();
  }
}
