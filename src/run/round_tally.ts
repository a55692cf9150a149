import type {
  BareEvent,
  Emit,
  JobState,
  RoundsTallied,
  RunEvent,
  RunStarted,
  StepFinished,
  StepRun,
} from "./event.ts";
import { LoadTotals } from "./load/load_stats.ts";
import {
  addMaskedName,
  addResult,
  addTree,
  slotOf,
  type StepCounts,
  talliesOf,
} from "./step_counts.ts";
import { hasFailed, StepTrees } from "./step_trees.ts";

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

/**
 * Counts the rounds of repeated jobs: the one tally that all reports read. Every event of a run
 * passes here; those of rounds go on only if somebody takes them, and `rounds_tallied` is added
 * before the end of each repeated job. What it keeps does not grow with the number of rounds, but
 * for their response times.
 */
export class RoundTallies {
  readonly #sink: Sink;
  /** Of the jobs under way that repeat, by id. */
  readonly #jobs = new Map<string, JobTally>();
  /** Of the load jobs under way. */
  readonly #loads = new Map<string, LoadTotals>();
  /** The load jobs that have said what they came to. */
  readonly #ended = new Set<string>();
  #outline: RunStarted["jobs"] = [];

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  take(event: BareEvent): void {
    const { mask, emit } = this.#sink;
    switch (event.type) {
      case "run_started":
        this.#outline = event.jobs;
        break;
      case "load_second":
        this.#loads.get(event.job)?.add(event);
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
        const tally = this.#jobs.get(event.run.job);
        if (tally) return tally.takeStep(event);
        break;
      }
      case "round_finished": {
        const tally = this.#jobs.get(event.job);
        if (tally) return tally.takeRound(event);
        break;
      }
      case "job_finished": {
        const tally = this.#jobs.get(event.job);
        this.#jobs.delete(event.job);
        const load = this.#loads.get(event.job);
        this.#loads.delete(event.job);
        const masked = mask(event);
        if (tally) emit(tally.finish(event.job, masked));
        if (load?.isMeasured && !this.#ended.delete(event.job)) emit(mask(endOf(load, event)));
        if (load) emit(mask(this.#tallyOf(load, event)));
        return emit(masked);
      }
      case "rounds_tallied":
        // It was of a part of the rounds, and is made anew.
        return;
    }
    emit(mask(event));
  }

  #tallyOf(load: LoadTotals, { job, time }: OfType<"job_finished">): OfType<"rounds_tallied"> {
    const names = this.#outline.find(({ id }) => id === job)?.steps.map(({ name }) => name) ?? [];
    return { type: "rounds_tallied", time, job, ...load.tally(names) };
  }
}

/** What a load job came to whose process was lost: all but its thresholds. */
function endOf(load: LoadTotals, { job, time }: OfType<"job_finished">): OfType<"load_ended"> {
  const stopped = "its process was lost";
  return {
    type: "load_ended",
    time,
    job,
    stats: load.stats(),
    thresholds: [],
    ...load.causes(),
    stopped,
  };
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

type OfType<Type> = Extract<BareEvent, { readonly type: Type }>;
type StepEvent = OfType<"step_started" | "step_waiting" | "step_retried" | "step_finished">;

/** Between two rounds whose events are emitted to show the progress, in milliseconds. */
const SAMPLE_PAUSE = 200;

/** The rounds of a job under way. */
class JobTally {
  readonly #sink: Sink;
  readonly #trees = new StepTrees();
  readonly #steps: StepCounts = new Map();
  readonly #rounds: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  /** The rounds under way in which a step has ended. */
  readonly #open = new Set<number>();
  #begun = 0;
  /** The round whose events are emitted, and the time of the latest that were. */
  #sample: number | undefined;
  #sampled = -Infinity;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  takeStep(event: StepEvent): void {
    const { mask, emit } = this.#sink;
    const isReported = this.#reports(event);
    if (event.type === "step_retried") this.#trees.retry(event.run);
    if (event.type === "step_finished") {
      this.#begin(event.run);
      if (!isReported && this.#countUsual(event)) return;
      const finished = mask(event) as StepFinished;
      const tree = this.#trees.finish(finished);
      if (tree) addTree(this.#steps, tree, tree.run.round ?? 0, event.result.name);
      if (isReported) emit(finished);
    } else if (isReported) emit(mask(event));
  }

  takeRound(event: OfType<"round_finished">): void {
    const { reportsAll, mask, emit } = this.#sink;
    const { round, state, time } = event;
    this.#rounds[state]++;
    this.#open.delete(round);
    if (reportsAll) return emit(mask(event));
    const isSample = round === this.#sample;
    if (isSample) this.#sample = undefined;
    else if (time - this.#sampled < SAMPLE_PAUSE) return;
    this.#sampled = time;
    const { passed, failed, skipped } = this.#rounds;
    emit(mask({ ...event, ended: passed + failed + skipped }));
  }

  finish(job: string, { runId, time }: RunEvent): RoundsTallied {
    return {
      type: "rounds_tallied",
      ...{ runId, time, job, begun: this.#begun, rounds: this.#rounds },
      steps: talliesOf(this.#steps),
    };
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

  #begin({ within, round = 0 }: StepRun): void {
    if (within || this.#open.has(round)) return;
    this.#open.add(round);
    this.#begun++;
  }

  /** Counts a step that did what it did before, of which only the name may have to be masked. */
  #countUsual({ run: { within, step, entry, round = 0 }, result }: OfType<"step_finished">) {
    const { name, state, echo, reason } = result;
    if (within || !this.#trees.isEmpty || hasFailed(result) || echo !== undefined) return false;
    const counts = this.#steps.get(slotOf(step, entry));
    if (!counts || counts.first?.result.state !== state) return false;
    if (reason !== undefined && counts.reason === undefined) return false;
    if (round < counts.firstRound) return false;
    addResult(counts, result, addMaskedName(counts, name, this.#sink.maskText), round);
    return true;
  }
}

function roundOf({ within, round = 0 }: StepRun): number {
  return within ? roundOf(within) : round;
}
