import type { JobState, PiecePart } from "../event.ts";
import type { CompiledStep } from "../execute/compiled_step.ts";
import { Flight, type FlightOwner } from "../execute/flight.ts";
import type { Round, RoundGate, RunExecution } from "../run_state.ts";
import type { Deadline } from "../../host/deadlines.ts";
import type { Due, Schedule } from "./schedule.ts";
import { Alarm } from "./alarm.ts";

/**
 * The most rounds that start together after a pause of the program, unless more are due in these
 * milliseconds: the answers to a burst of all of them would wait for its end.
 */
const BURST = { rounds: 16, milliseconds: 5 } as const;

/** The number of due rounds that each round starts when it ends; one if all are due at once. */
const SUCCESSORS = 2;

/** Milliseconds after which rounds that wait for nothing give others their turn. */
const LONGEST_TURN = 50;

/** The number of rounds that wait for their action to have its turn, when no further one begins. */
const MAX_WAITING = 64;

/** When the rounds of a job start, and how many there are. */
interface Pacing {
  readonly schedule: Schedule;
  /** The rounds that this process starts, of all. */
  readonly part: PiecePart;
  /** The number of rounds that count, in all processes. */
  readonly count: number;
  /** The number of rounds, with those of the warm-up. */
  readonly rows?: number;
  /** The number of rounds that may be under way; those that find no place are dropped. */
  readonly maxInFlight: number;
  /** The pause of a user between two rounds. */
  readonly thinkTime: () => number;
  /** Whether it is over with its last round, and not when the next one would be due. */
  readonly endsWithLast: boolean;
}

/** What the rounds of a job are, and who counts them. Times are milliseconds since the start. */
export interface RoundOwner {
  /** Readies a user before the first round; false where he runs none. */
  setUp?: ((user: number) => Promise<boolean>) | undefined;
  /** Makes a round that starts. */
  open(index: number, due: number, user: number, isWarmUp: boolean): Round;
  /** A round starts, this many milliseconds after it was due. */
  onStart?(late: number): void;
  /** A round has found no place. */
  onDrop?(): void;
  onEnd(round: Round, state: JobState, now: number): void;
  /** The clock has reached this time. */
  advance?(now: number): void;
  /** When `advance` is to be called next. */
  readonly nextAdvance?: number;
  /** Nothing starts from this time on. */
  onEnding?(time: number): void;
  onOver?(now: number): void;
}

/**
 * Starts the rounds of a job: at times that one clock sets, or for users one after another. One
 * timer serves them all.
 */
export class RoundEngine implements FlightOwner, RoundGate {
  readonly #run: RunExecution;
  readonly #steps: readonly CompiledStep[];
  readonly #pacing: Pacing;
  readonly #owner: RoundOwner;
  readonly #part: PiecePart;
  /** The rounds that count, of this process. */
  readonly #most: number;
  readonly #rows: number;
  readonly #maxInFlight: number;
  /** Whether this process has no share of the rounds. */
  readonly #isIdle: boolean;
  readonly #done = Promise.withResolvers<void>();
  readonly #alarm: Alarm;
  #began = 0;
  /** Of the rounds that start at a rate, the next one. */
  #due: Due | undefined;
  #dueTimes: Iterator<Due, undefined> | undefined;
  #isStarting = false;
  /** Whether all rounds are due at once. */
  readonly #isAtOnce: boolean;
  /** When the last burst was, and how many rounds may still be a part of it. */
  #burst = -Infinity;
  #left = 0;
  /** The number of rounds that have ended since then. */
  #ended = 0;
  /** The numbers of users whose rounds are over, where rounds start at a rate. */
  readonly #free: number[] = [];
  #lastUser: number;
  /** The users that are being set up, and whether any of them was. */
  #settingUp = 0;
  #hasSetUp = false;
  readonly #active = new Set<number>();
  readonly #ready: number[] = [];
  readonly #thinking = new Map<number, Deadline>();
  #isPumping = false;
  /** When the event loop had its turn. */
  #turn = 0;
  #index: number;
  #measured = 0;
  #inFlight = 0;
  /** The most rounds in flight since this was asked. */
  #peak = 0;
  /** The number of rounds whose action waits for its turn. */
  #waiting = 0;
  #isEnding = false;
  #isOver = false;
  #error: unknown;
  /** The number of rounds that have started. */
  started = 0;
  /** Why it ended before its time. */
  stopped: string | undefined;

  constructor(
    run: RunExecution,
    steps: readonly CompiledStep[],
    pacing: Pacing,
    owner: RoundOwner,
  ) {
    const { count, rows = Infinity, maxInFlight, schedule } = pacing;
    this.#run = run;
    this.#steps = steps;
    this.#pacing = pacing;
    this.#owner = owner;
    const { index } = pacing.part;
    // No more processes have a share of the rounds than there are users, or rounds under way.
    const of = Math.min(pacing.part.of, schedule.isOpen ? maxInFlight : schedule.mostUsers);
    this.#part = { index, of };
    this.#index = index - 1;
    this.#lastUser = index - 1 - of;
    this.#rows = rows;
    this.#most = count === Infinity ? count : Math.ceil((count - index + 1) / of);
    this.#isIdle = index > of || this.#most <= 0 || this.#index >= rows;
    this.#maxInFlight = Math.ceil((maxInFlight - index + 1) / of);
    this.#isAtOnce = schedule.isOpen && schedule.roundsBetween(0, 1) === Infinity;
    this.#alarm = new Alarm(run.host.clock, () => this.#tick(), of);
  }

  /** The number of processes that have a share of the rounds. */
  get processes(): number {
    return this.#part.of;
  }

  get users(): number {
    return this.#active.size;
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** The milliseconds in which it has only waited, though it used the processor. */
  get idle(): number {
    return this.#alarm.idle;
  }

  /** The most rounds that were under way since the last call. */
  takePeak(): number {
    const peak = this.#peak;
    this.#peak = this.#inFlight;
    return peak;
  }

  /** Resolves when all rounds are over. Throws what was thrown that is not about a step. */
  async run(): Promise<void> {
    const { draining, options: { piece }, resources, host: { clock } } = this.#run;
    const { schedule } = this.#pacing;
    if (this.#isIdle) return;
    this.#began = clock.ticks();
    if (piece?.team) {
      // Those that begin together are ready before.
      for (const step of this.#steps) await step.load(resources);
      const began = await piece.team.begin();
      this.#began = clock.ticks() - (clock.now() - began);
    }
    if (schedule.isOpen) {
      this.#dueTimes = schedule.dueTimes(this.#part);
      this.#due = this.#dueTimes.next().value;
    }
    const drained = draining.add({ stop: ({ message }) => this.stop(message) });
    if (draining.reason !== undefined) this.stop(draining.reason);
    this.#tick();
    await this.#done.promise.finally(() => {
      this.#alarm.cancel();
      drained.remove();
    });
    if (this.#error !== undefined) throw this.#error;
  }

  onEnd(round: Round, state: JobState): void {
    const now = this.#now();
    this.#owner.onEnd(round, state, now);
    this.#inFlight--;
    if (this.#dueTimes) {
      this.#ended++;
      this.#free.push(round.user!);
      this.#startDue(now, this.#isAtOnce ? 1 : SUCCESSORS);
    } else this.#think(round.user!);
    this.#endIfOver();
  }

  onError(error: unknown): void {
    this.#inFlight--;
    this.#error ??= error;
    this.stop("");
    this.#done.resolve();
  }

  /** The action of a round waits for its turn, or does no longer. */
  wait(waits: boolean): void {
    this.#waiting += waits ? 1 : -1;
    if (!waits && this.#waiting === MAX_WAITING - 1) this.#arm();
  }

  /** Ends early. */
  stop(reason: string): void {
    if (this.#isEnding) return;
    this.stopped = reason;
    this.#end(this.#now());
    this.#endIfOver();
  }

  #now(): number {
    return this.#run.host.clock.ticks() - this.#began;
  }

  #tick(): void {
    const now = this.#now();
    const { schedule } = this.#pacing;
    this.#owner.advance?.(now);
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
    const { schedule } = this.#pacing;
    if (this.#isEnding && this.#inFlight + this.#settingUp === 0) return;
    const now = this.#now();
    const next = Math.min(
      this.#owner.nextAdvance ?? Infinity,
      this.#isEnding || this.#waiting >= MAX_WAITING
        ? Infinity
        : schedule.isOpen
        ? Math.min(this.#due?.time ?? Infinity, schedule.end)
        : schedule.nextChange(now),
    );
    if (next < Infinity) this.#alarm.set(next - now);
  }

  /** Starts the rounds that are due, a burst of them in a millisecond. */
  #startBurst(now: number): void {
    if (now - this.#burst >= 1) {
      const { milliseconds, rounds } = BURST;
      this.#burst = now;
      const usual = this.#pacing.schedule.roundsBetween(now - milliseconds, now);
      // A slow server gets many rounds at once, and a fast one no more than it answers.
      this.#left = this.#isAtOnce ? rounds - this.#ended : Math.max(rounds, Math.ceil(usual));
      this.#ended = 0;
    }
    this.#left -= this.#startDue(now, this.#left);
  }

  /** Starts rounds that are due, and returns how many. */
  #startDue(from: number, most: number): number {
    // A round may end at once.
    if (this.#isStarting) return 0;
    this.#isStarting = true;
    let started = 0;
    let now = from;
    while (started < most && !this.#isEnding && this.#due && this.#due.time <= from) {
      if (this.#waiting >= MAX_WAITING || now - from > LONGEST_TURN) break;
      const due = this.#due;
      this.#due = this.#dueTimes!.next().value;
      const isOver = !due.isWarmUp && this.#measured >= this.#most;
      if (isOver || this.#index >= this.#rows) {
        this.#end(due.time);
      } else if (this.#inFlight + this.#settingUp >= this.#maxInFlight) {
        this.#owner.onDrop?.();
      } else if (this.#owner.setUp && this.#free.length === 0) {
        const isWarmUp = due.isWarmUp;
        // The round is due once its user can run it.
        this.#setUp(this.#lastUser += this.#part.of, (user) => {
          const isOver = !isWarmUp && this.#measured >= this.#most || this.#index >= this.#rows;
          if (isOver) return void this.#free.push(user);
          const now = this.#now();
          this.#begin(now, now, user, isWarmUp);
        });
      } else {
        now = this.#now();
        const before = this.#inFlight;
        this.#begin(
          due.time,
          now,
          this.#free.pop() ?? (this.#lastUser += this.#part.of),
          due.isWarmUp,
        );
        // One that has ended at once keeps no answer waiting.
        if (this.#inFlight > before) started++;
      }
    }
    this.#isStarting = false;
    return started;
  }

  /** Lets the users begin that are there now. */
  #startUsers(now: number): void {
    const { index, of } = this.#part;
    const users = this.#pacing.schedule.usersAt(now);
    for (let user = index - 1; user < users; user += of) {
      if (this.#active.has(user)) continue;
      this.#active.add(user);
      if (this.#owner.setUp) this.#setUp(user, (user) => this.#goOn(user));
      else this.#ready.push(user);
    }
    this.#pump();
  }

  /** Sets a user up, who then begins unless that failed. */
  #setUp(user: number, begin: (user: number) => void): void {
    this.#settingUp++;
    this.#owner.setUp!(user).then((passed) => {
      this.#settingUp--;
      this.#hasSetUp ||= passed;
      if (passed && !this.#isEnding) begin(user);
      if (this.#settingUp === 0 && !this.#hasSetUp) this.stop("the setup of every user failed");
      this.#endIfOver();
    }, (error) => {
      this.#settingUp--;
      this.#error ??= error;
      this.stop("");
      this.#done.resolve();
    });
  }

  /** Starts a round for each user that is ready. */
  #pump(): void {
    // A round may end at once, and its user is ready again.
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { schedule } = this.#pacing;
    const ready = this.#ready;
    for (let next = 0; next < ready.length && !this.#isEnding; next++) {
      const now = this.#now();
      if (now >= schedule.end) break;
      if (now - this.#turn > LONGEST_TURN) {
        ready.splice(0, next);
        // The event loop takes what has arrived: rounds that wait for nothing would keep it off.
        this.#run.host.clock.after(0, () => {
          this.#isPumping = false;
          this.#turn = this.#now();
          this.#pump();
        });
        return;
      }
      const user = ready[next]!;
      if (user < schedule.usersAt(now)) this.#begin(now, now, user, now < schedule.warmUp);
      else this.#active.delete(user);
    }
    ready.length = 0;
    this.#isPumping = false;
  }

  /** Has a user pause, and then begin the next round. */
  #think(user: number): void {
    if (this.#isEnding) return;
    let pause = 0;
    try {
      pause = this.#pacing.thinkTime();
    } catch (error) {
      this.#error ??= error;
      return this.stop("");
    }
    if (pause === 0) return this.#goOn(user);
    const goOn = () => {
      this.#thinking.delete(user);
      this.#goOn(user);
    };
    this.#thinking.set(user, this.#run.deadlines.add(pause, goOn));
  }

  #goOn(user: number): void {
    this.#ready.push(user);
    this.#pump();
  }

  #begin(due: number, now: number, user: number, isWarmUp: boolean): void {
    const { endsWithLast } = this.#pacing;
    const index = this.#index;
    this.#index += this.#part.of;
    if (!isWarmUp) this.#measured++;
    this.started++;
    this.#owner.onStart?.(now - due);
    this.#inFlight++;
    this.#peak = Math.max(this.#peak, this.#inFlight);
    new Flight(this.#owner.open(index, due, user, isWarmUp), this.#steps, this).start();
    const isLast = this.#measured >= this.#most || this.#index >= this.#rows;
    if (!isLast || this.#dueTimes && !endsWithLast) return;
    this.#end(this.#now());
    this.#endIfOver();
  }

  /** From now on nothing starts. */
  #end(time: number): void {
    if (this.#isEnding) return;
    this.#owner.onEnding?.(time);
    this.#isEnding = true;
    for (const pause of this.#thinking.values()) pause.cancel();
    this.#thinking.clear();
  }

  #endIfOver(): void {
    const isBusy = this.#inFlight + this.#settingUp > 0;
    if (!this.#isEnding || isBusy || this.#isOver) return;
    this.#isOver = true;
    this.#owner.onOver?.(this.#now());
    this.#done.resolve();
  }
}
