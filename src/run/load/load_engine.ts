import { roundDuration } from "../../base/value/duration.ts";
import { type Dict, mergeDicts } from "../../base/value/value.ts";
import type { Deadline } from "../../host/deadlines.ts";
import type { CompiledStep } from "../execute/compiled_step.ts";
import { Flight, type FlightOwner } from "../execute/flight.ts";
import { evaluateDuration } from "../execute/evaluate_field.ts";
import type { Scope } from "../../expr/expression.ts";
import type { BareEvent, JobState, LoadSecondFields, StepRun } from "../event.ts";
import type { LoadRounds } from "../run_options.ts";
import { nameOfJob, Round, type RoundStart, type Run } from "../run_state.ts";
import { Alarm } from "./alarm.ts";
import { Gate } from "./gate.ts";
import { LoadMeter } from "./load_meter.ts";
import { LoadSeconds } from "./load_seconds.ts";
import type { LoadPlan } from "./plan_load.ts";
import type { Due } from "./schedule.ts";

/**
 * After a pause of the program, so many rounds at most start at once, or as many as are due in so
 * many milliseconds: the answers to a burst of all of them would wait for its end.
 */
const BURST = { rounds: 16, milliseconds: 5 } as const;

/** Each round that ends starts so many that are due. */
const SUCCESSORS = 2;

/** Milliseconds after which users whose rounds wait for nothing give others their turn. */
const LONGEST_TURN = 50;

/** The most different warnings of its rounds that a load job passes on. */
const MAX_NOTES = 20;

/** What expressions see of a round. */
const NO_ROUND = { index: 0, user: 0 };

/** What the engine is given. */
export interface LoadEngineOptions {
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

/**
 * Starts the rounds of a load job: at times that one clock sets, or for users one after another.
 * One timer serves them all.
 */
export class LoadEngine implements FlightOwner, LoadRounds {
  readonly #options: LoadEngineOptions;
  readonly #run: Run;
  /** The run as rounds see it that count for nothing. */
  readonly #warmUpRun: Run;
  readonly #meters: { readonly warmUp: LoadMeter; readonly measured: LoadMeter };
  readonly #seconds: LoadSeconds;
  readonly #publishes: boolean;
  readonly #part: { readonly index: number; readonly of: number };
  /** The rounds that this process measures, at most. */
  readonly #most: number;
  /** The rows of data, where each is taken once. */
  readonly #rows: number;
  /** Whether this process has no share of the rounds. */
  readonly #isIdle: boolean;
  readonly #maxInFlight: number;
  readonly #notes = new Set<string>();
  /** What the cookies of each user belong to. */
  readonly #sessions = new Map<number, object>();
  readonly #past = new Set<number>();
  /** Where the first rounds of all users wait for each other. */
  readonly #gate: Gate | undefined;
  readonly #done = Promise.withResolvers<void>();
  readonly #alarm: Alarm;
  #began = 0;
  /** Of the rounds that start at a rate, the next one. */
  #due: Due | undefined;
  #dueTimes: Iterator<Due, undefined> | undefined;
  #isStarting = false;
  /** When the last burst was, and how many rounds may still be a part of it. */
  #burst = -Infinity;
  #left = 0;
  /** The numbers of users whose rounds are over, where rounds start at a rate. */
  readonly #free: number[] = [];
  #lastUser = -1;
  readonly #active = new Set<number>();
  #ready: number[] = [];
  readonly #thinking = new Map<number, Deadline>();
  #isPumping = false;
  /** When the event loop had its turn. */
  #turn = 0;
  #index: number;
  #measured = 0;
  #inFlight = 0;
  /** The most rounds in flight in this second. */
  #peak = 0;
  #isEnding = false;
  #isOver = false;
  #error: unknown;
  /** Whether a step failed that the statistics do not excuse. */
  hasFailed = false;
  /** Why it ended before its time. */
  stopped: string | undefined;

  constructor(options: LoadEngineOptions) {
    this.#options = options;
    const { start: { run }, steps, plan: { load, outline, schedule }, rows } = options;
    const part = run.options.piece?.header.part ?? { index: 1, of: 1 };
    const { index } = part;
    // No more processes have a share of the rounds than there are users, or rounds under way.
    const of = Math.min(part.of, schedule.isOpen ? load.maxInFlight : schedule.mostUsers);
    this.#part = { index, of };
    this.#index = index - 1;
    this.#rows = load.takesRowsOnce ? rows?.length ?? 0 : Infinity;
    const { count = Infinity } = load;
    this.#most = count === Infinity ? count : Math.ceil((count - index + 1) / of);
    this.#isIdle = index > of || this.#most <= 0 || this.#index >= this.#rows;
    this.#maxInFlight = Math.ceil((load.maxInFlight - index + 1) / of);
    if (load.together) {
      const users = load.stages[0]!.users ?? 0;
      const all = Math.min(this.#most, Math.ceil((users - index + 1) / of));
      this.#gate = new Gate(all, (held) => {
        const text =
          `only ${held} of ${all} users begin together: the others wait for a connection`;
        run.note("warning", `${nameOfJob(run, options.start.job.id)}: ${text}`);
      });
    }
    this.#publishes = steps.some(({ publishes }) => publishes);
    const { steps: keys } = outline;
    const maskText = (text: string) => run.secrets.mask(text);
    const meters = {
      warmUp: new LoadMeter(keys, maskText),
      measured: new LoadMeter(keys, maskText),
    };
    this.#meters = meters;
    this.#run = this.#runFor(meters.measured);
    this.#warmUpRun = this.#runFor(meters.warmUp);
    this.#alarm = new Alarm(run.host.clock, () => this.#tick(), of);
    this.#seconds = new LoadSeconds({
      ...{ schedule, of, meters },
      // Idle turns leave the processor to others.
      cpuTime: () => options.cpuTime() - this.#alarm.idle,
      now: () => {
        const inFlight = this.#peak;
        this.#peak = this.#inFlight;
        return { users: this.#active.size, inFlight, isEnding: this.#isEnding };
      },
      emit: (second) => {
        const reason = options.onSecond(second);
        if (reason !== undefined) this.#stop(reason);
      },
    });
  }

  /** Resolves when all rounds are over. Throws what was thrown that is not about a step. */
  async run(): Promise<void> {
    const { start: { run }, plan: { schedule } } = this.#options;
    const { draining, options: { piece }, resources, host: { clock } } = run;
    if (this.#isIdle) return;
    this.#began = clock.ticks();
    if (piece?.team) {
      // Those that begin together are ready before.
      for (const step of this.#options.steps) await step.load(resources);
      const began = await piece.team.begin();
      this.#began = clock.ticks() - (clock.now() - began);
    }
    if (schedule.isOpen) {
      this.#dueTimes = schedule.dueTimes(this.#part);
      this.#due = this.#dueTimes.next().value;
    }
    const drained = draining.add({ stop: ({ message }) => this.#stop(message) });
    if (draining.reason !== undefined) this.#stop(draining.reason);
    this.#tick();
    await this.#done.promise.finally(() => {
      this.#alarm.cancel();
      drained.remove();
    });
    if (this.#error !== undefined) throw this.#error;
  }

  onEnd(round: Round, state: JobState): void {
    const { run, due = 0, names } = round;
    const isWarmUp = run === this.#warmUpRun;
    const now = this.#now();
    this.#seconds.advance(now);
    round.gate?.leave();
    const isCut = run.cancellation.reason !== undefined;
    const { warmUp, measured } = this.#meters;
    (isWarmUp ? warmUp : measured).addRound(isCut ? "skipped" : state, roundDuration(now - due));
    if (!isWarmUp && state === "failed" && !this.#options.plan.load.expect) this.hasFailed = true;
    this.#inFlight--;
    const { user } = names.round as { readonly user: number };
    if (this.#dueTimes) {
      this.#free.push(user);
      this.#startDue(now, SUCCESSORS);
    } else this.#think(user);
    this.#endIfOver();
  }

  onError(error: unknown): void {
    this.#inFlight--;
    this.#error ??= error;
    this.#stop("");
    this.#done.resolve();
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

  #now(): number {
    return this.#options.start.run.host.clock.ticks() - this.#began;
  }

  #tick(): void {
    const now = this.#now();
    const { schedule } = this.#options.plan;
    this.#seconds.advance(now);
    if (!this.#isEnding) {
      if (schedule.isOpen) this.#startBurst(now);
      else this.#startUsers(now);
      if (!this.#isEnding && now >= schedule.end && !this.#due) this.#end(schedule.end);
    }
    this.#endIfOver();
    this.#arm();
  }

  /** Sets the alarm for what is next. */
  #arm(): void {
    const { schedule } = this.#options.plan;
    if (this.#isEnding && this.#inFlight === 0) return;
    const now = this.#now();
    const next = this.#isEnding
      ? Infinity
      : schedule.isOpen
      ? Math.min(this.#due?.time ?? Infinity, schedule.end)
      : schedule.nextChange(now);
    this.#alarm.set(Math.min(next, this.#seconds.end) - now);
  }

  /** Starts the rounds that are due, a burst of them in a millisecond. */
  #startBurst(now: number): void {
    if (now - this.#burst >= 1) {
      const { milliseconds, rounds } = BURST;
      this.#burst = now;
      const usual = this.#options.plan.schedule.roundsBetween(now - milliseconds, now);
      this.#left = Math.max(rounds, Math.ceil(usual));
    }
    this.#left -= this.#startDue(now, this.#left);
  }

  /** Starts rounds that are due, and returns how many. */
  #startDue(now: number, most: number): number {
    // A round may end at once.
    if (this.#isStarting) return 0;
    this.#isStarting = true;
    let started = 0;
    while (started < most && !this.#isEnding && this.#due && this.#due.time <= now) {
      const due = this.#due;
      this.#due = this.#dueTimes!.next().value;
      const isOver = !due.isWarmUp && this.#measured >= this.#most;
      if (isOver || this.#index >= this.#rows) {
        this.#end(due.time);
      } else if (this.#inFlight >= this.#maxInFlight) {
        this.#seconds.addDropped();
      } else {
        this.#begin(due.time, due.isWarmUp, this.#free.pop() ?? ++this.#lastUser);
        started++;
      }
    }
    this.#isStarting = false;
    return started;
  }

  /** Lets the users begin that are there now. */
  #startUsers(now: number): void {
    const { index, of } = this.#part;
    const users = this.#options.plan.schedule.usersAt(now);
    for (let user = index - 1; user < users; user += of) {
      if (this.#active.has(user)) continue;
      this.#active.add(user);
      this.#ready.push(user);
    }
    this.#pump();
  }

  /** Starts a round for each user that is ready. */
  #pump(): void {
    // A round may end at once, and its user is ready again.
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { start: { run: { host: { clock } } }, plan: { schedule } } = this.#options;
    while (this.#ready.length > 0 && !this.#isEnding) {
      const users = this.#ready;
      this.#ready = [];
      for (const [index, user] of users.entries()) {
        const now = this.#now();
        if (now >= schedule.end || this.#isEnding) break;
        if (now - this.#turn > LONGEST_TURN) {
          this.#ready.push(...users.slice(index));
          // The event loop takes what has arrived: rounds that wait for nothing would keep it off.
          clock.after(0, () => {
            this.#isPumping = false;
            this.#turn = this.#now();
            this.#pump();
          });
          return;
        }
        if (user >= schedule.usersAt(now)) {
          this.#active.delete(user);
          continue;
        }
        const isWarmUp = now < schedule.warmUp;
        this.#begin(now, isWarmUp, user);
      }
    }
    this.#isPumping = false;
  }

  /** Has a user pause, and then begin the next round. */
  #think(user: number): void {
    const { start: { run: { deadlines } }, plan: { load }, scope } = this.#options;
    if (this.#isEnding) return;
    const goOn = () => {
      this.#thinking.delete(user);
      this.#ready.push(user);
      this.#pump();
    };
    let pause = 0;
    try {
      pause = evaluateDuration(load.thinkTime, scope, ["load", "think_time"]);
    } catch (error) {
      this.#error ??= error;
      return this.#stop("");
    }
    if (pause > 0) this.#thinking.set(user, deadlines.add(pause, goOn));
    else goOn();
  }

  #begin(due: number, isWarmUp: boolean, user: number): void {
    const { start, steps, rows, plan: { load } } = this.#options;
    const { outputs } = start.run;
    const index = this.#index;
    this.#index += this.#part.of;
    if (!isWarmUp) this.#measured++;
    this.#seconds.addStart(this.#now() - due);
    this.#inFlight++;
    this.#peak = Math.max(this.#peak, this.#inFlight);
    const row = rows?.[index % rows.length];
    const round = new Round({
      ...start,
      run: isWarmUp ? this.#warmUpRun : this.#run,
      index,
      due,
      outputs: this.#publishes ? outputs.fork() : outputs,
      names: {
        ...start.names,
        ...row ? { vars: mergeDicts(start.run.vars, row) } : {},
        round: { ...NO_ROUND, index, user },
      },
      ...this.#gate && !this.#isPast(user) ? { gate: this.#gate.join() } : {},
      ...load.keepsCookies ? { session: this.#sessionOf(user) } : {},
    });
    new Flight(round, steps, this).start();
    // Rounds at a rate end when the next one would be due.
    const isLast = this.#measured >= this.#most || this.#index >= this.#rows;
    if (this.#dueTimes || !isLast) return;
    this.#end(this.#now());
    this.#endIfOver();
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

  /** Ends early. */
  #stop(reason: string): void {
    if (this.#isEnding) return;
    this.stopped = reason;
    this.#end(this.#now());
    this.#endIfOver();
  }

  /** From now on nothing starts. */
  #end(time: number): void {
    if (this.#isEnding) return;
    this.#seconds.cut(time);
    this.#isEnding = true;
    for (const pause of this.#thinking.values()) pause.cancel();
    this.#thinking.clear();
  }

  #endIfOver(): void {
    if (!this.#isEnding || this.#inFlight > 0 || this.#isOver) return;
    this.#isOver = true;
    this.#seconds.cut(this.#now(), true);
    this.#done.resolve();
  }
}
