import { sumOf } from "./count_steps.ts";
import type { BareEvent, Emit, RunEvent, StepRun } from "./event.ts";
import { LoadTotals } from "./load/load_stats.ts";
import { Tally } from "./tally.ts";

/** What takes the events of a run, and how much of it. */
interface Sink {
  /** Whether the events of every round are emitted, not only of some, which show the progress. */
  readonly reportsAll: boolean;
  /** Completes an event, and takes secrets out of it. */
  readonly mask: (event: BareEvent) => RunEvent;
  /** Takes secrets out of a text. */
  readonly maskText: (text: string) => string;
  readonly emit: Emit;
}

type OfType<Type> = Extract<BareEvent, { readonly type: Type }>;

/**
 * Counts the rounds of jobs that repeat and of load jobs: all reports read these tallies. Every
 * event of a run passes here; those of rounds go on only if somebody takes them, and
 * `rounds_tallied` is added before the end of each such job.
 */
export class RoundTallies {
  readonly #sink: Sink;
  /** Of the jobs under way that repeat, by id. */
  readonly #jobs = new Map<string, JobTally>();
  /** Of the load jobs under way. */
  readonly #loads = new Map<string, LoadTotals>();
  /** The load jobs whose end was reported. */
  readonly #ended = new Set<string>();

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  take(event: BareEvent): void {
    const { mask, emit } = this.#sink;
    switch (event.type) {
      case "load_second":
        if (event.phase !== "warm_up") this.#loads.get(event.job)?.add(event);
        break;
      case "load_ended":
        this.#ended.add(event.job);
        break;
      case "job_started":
        if (event.load) this.#loads.set(event.job, new LoadTotals(event.load.steps));
        // A job that runs once is like one without `repeat`.
        if ((event.rounds ?? 1) !== 1) this.#jobs.set(event.job, new JobTally(this.#sink));
        break;
      case "step_started":
      case "step_waiting":
      case "step_retried":
      case "step_finished": {
        const job = this.#jobs.get(event.run.job);
        if (job) return job.takeStep(event);
        break;
      }
      case "round_finished": {
        const job = this.#jobs.get(event.job);
        if (job) return job.takeRound(event);
        break;
      }
      case "job_finished":
        this.#end(event);
        break;
      case "rounds_tallied":
        // It was of a part of the rounds, and is made anew.
        return;
    }
    emit(mask(event));
  }

  #end({ job, time }: OfType<"job_finished">): void {
    const { mask, emit } = this.#sink;
    const load = this.#loads.get(job);
    const tally = load?.tally ?? this.#jobs.get(job)?.tally;
    if (load?.isMeasured && !this.#ended.delete(job)) {
      // All but its thresholds is known of a load job whose process was lost.
      const end = { stats: load.stats(), thresholds: [], stopped: "its process was lost" };
      emit(mask({ type: "load_ended", time, job, ...end }));
    }
    if (tally) {
      const all = tally.toJson();
      // A step that each round runs has ended in all that have begun, but for those cut before it.
      const ran = all.steps.map(({ states }) => sumOf(states));
      const begun = load ? tally.ended : Math.max(0, ...ran);
      emit(mask({ type: "rounds_tallied", time, job, begun, ...all }));
    }
    this.#jobs.delete(job);
    this.#loads.delete(job);
  }
}

/** The events of one or more runs, with the tallies of repeated jobs made anew. */
export function* tallyRounds(events: Iterable<RunEvent>): Iterable<RunEvent> {
  const tallied: RunEvent[] = [];
  const sinkOf = (runId: string): Sink => ({
    reportsAll: true,
    mask: (event) => ({ runId, ...event }) as RunEvent,
    maskText: (text) => text,
    emit: (event) => void tallied.push(event as RunEvent),
  });
  const runs = new Map<string, RoundTallies>();
  for (const event of events) {
    const { runId } = event;
    runs.getOrInsertComputed(runId, () => new RoundTallies(sinkOf(runId))).take(event);
    yield* tallied.splice(0);
  }
}

type StepEvent = OfType<"step_started" | "step_waiting" | "step_retried" | "step_finished">;

/** Between two rounds whose events are emitted to show the progress, in milliseconds. */
const SAMPLE_PAUSE = 200;

/** The rounds of a repeated job under way. */
class JobTally {
  readonly #sink: Sink;
  readonly tally: Tally;
  /** The round whose events are emitted, and the time of the latest that were. */
  #sample: number | undefined;
  #sampled = -Infinity;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.tally = new Tally({ mask: sink.maskText });
  }

  takeStep(event: StepEvent): void {
    const { mask, emit } = this.#sink;
    if (event.type === "step_retried") this.tally.retry(event.run);
    if (event.type === "step_finished") this.tally.addStep(event);
    if (this.#reports(event)) emit(mask(event));
  }

  takeRound(event: OfType<"round_finished">): void {
    const { reportsAll, mask, emit } = this.#sink;
    const { round, state, duration = 0, time } = event;
    this.tally.addRound(state, duration);
    if (reportsAll) return emit(mask(event));
    const isSample = round === this.#sample;
    if (isSample) this.#sample = undefined;
    else if (time - this.#sampled < SAMPLE_PAUSE) return;
    this.#sampled = time;
    emit(mask({ ...event, ended: this.tally.ended }));
  }

  #reports({ type, time, run }: StepEvent): boolean {
    if (this.#sink.reportsAll) return true;
    const round = roundOf(run);
    if (type === "step_started" && this.#sample === undefined) {
      if (time - this.#sampled < SAMPLE_PAUSE) return false;
      this.#sample = round;
      this.#sampled = time;
    }
    return round === this.#sample;
  }
}

function roundOf({ within, round = 0 }: StepRun): number {
  return within ? roundOf(within) : round;
}
