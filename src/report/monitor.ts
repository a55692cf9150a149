import { Histogram } from "../base/value/histogram.ts";
import type { JobState } from "../run/event.ts";
import { suitesOf, withDistinctNames } from "./files/cases.ts";
import { type HistoryRun, historyRun, type RunPart } from "./files/history.ts";
import { type Add, addHistogram, addStates, type Labels } from "./files/prometheus.ts";
import type { RunRecord, SuiteRecord } from "./record.ts";

/** The most runs that are kept one by one. */
export const MAX_RUNS = 90;

/** A period consists of so many parts, of which the oldest leaves it as a whole. */
const PARTS = 30;

/** The results in one part of a period. */
class PeriodPart {
  readonly times = new Histogram();
  passed = 0;

  /** `index` counts the parts since 1970. */
  constructor(readonly index: number) {}
}

/** The results of the last hour, for example, in memory that does not grow with the runs. */
class Period {
  readonly #length: number;
  readonly #parts: PeriodPart[] = [];

  constructor(readonly name: string, hours: number) {
    this.#length = hours * 3_600_000 / PARTS;
  }

  add(time: number, isPassed: boolean, duration: number): void {
    const index = Math.floor(time / this.#length);
    let part = this.#parts.at(-1);
    // The clock of the system may go back.
    if (!part || part.index < index) this.#parts.push(part = new PeriodPart(index));
    if (this.#parts.length > PARTS) this.#parts.shift();
    // Two digits are enough for a reader, and few different times take little memory.
    part.times.add(Number(duration.toPrecision(2)));
    if (isPassed) part.passed++;
  }

  /** The share that passed, and the time that 95 % did not exceed; undefined without a run. */
  summary(now: number): { readonly available: number; readonly p95: number } | undefined {
    const first = Math.floor(now / this.#length) - PARTS + 1;
    const times = new Histogram();
    let passed = 0;
    for (const part of this.#parts) {
      if (part.index < first) continue;
      times.merge(part.times);
      passed += part.passed;
    }
    const [p95 = 0] = times.percentiles([95]);
    return times.count === 0 ? undefined : { available: passed / times.count, p95 };
  }
}

/** How the runs of a workflow or of a job of it ended. Times are in milliseconds since 1970. */
export class Track {
  /** The last of them, the oldest first. */
  readonly runs: (Pick<RunPart, "state" | "duration"> & { readonly started: number })[] = [];
  readonly periods = [new Period("hour", 1), new Period("day", 24), new Period("week", 168)];
  /** Of the last run that was not skipped. */
  state: JobState = "skipped";
  /** When the first run in this state began. */
  since = 0;
  /** The number of runs in a row that ended in this state. */
  streak = 0;
  /** The last failure, of the run that began then. */
  failure: NonNullable<RunPart["failure"]> & { readonly started: number } | undefined;
  /** The runs of this process. */
  readonly counts: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };

  /** Of the job or the workflow. */
  name = "";

  constructor(readonly file: string, readonly job: string | undefined) {}

  add(started: number, { name, job = name, state, duration, failure }: RunPart): void {
    this.name = job;
    this.runs.push({ started, state, duration });
    if (this.runs.length > MAX_RUNS) this.runs.shift();
    if (state === "skipped") return;
    if (this.state !== state) Object.assign(this, { state, since: started, streak: 0 });
    this.streak++;
    if (failure) this.failure = { ...failure, started };
    for (const period of this.periods) period.add(started, state === "passed", duration);
  }
}

/** What a program that runs again and again shows of it: its memory does not grow with the runs. */
export class Monitor {
  /** The workflows of the last run, each followed by its jobs. */
  tracks: readonly Track[] = [];
  /** The last run, and the last one that failed. */
  last: MonitoredRun | undefined;
  failed: MonitoredRun | undefined;
  #past: readonly HistoryRun[];
  #times: ReadonlyMap<string, { readonly labels: Labels; readonly times: Histogram }> = new Map();

  /** `past` are the runs of a history. */
  constructor(past: readonly HistoryRun[]) {
    this.#past = past;
  }

  /** Adds a run that is over. `memoryOf` knows more runs in a row than the history. */
  add(
    records: readonly RunRecord[],
    suite: SuiteRecord | undefined,
    isPassed: boolean,
    memoryOf: (file: string) => RunsInARow | undefined,
  ): void {
    const run = historyRun(records, suite);
    const { started, duration, subject, parts = [] } = run;
    this.last = { records, suite, started, duration, isPassed };
    if (!isPassed) this.failed = this.last;
    const tracks = new Map(this.tracks.map((track) => [keyOf(track), track]));
    const past = this.#past.filter((one) => one.subject === subject);
    this.#past = [];
    for (const { started, parts = [] } of [...past, run]) {
      for (const part of parts) {
        tracks.getOrInsertComputed(keyOf(part), () => new Track(part.file, part.job))
          .add(started, part);
      }
    }
    // What is no longer in the files is forgotten.
    this.tracks = parts.map((part) => tracks.get(keyOf(part))!);
    for (const [index, track] of this.tracks.entries()) track.counts[parts[index]!.state]++;
    for (const [index, track] of this.#workflows().entries()) {
      const { state, streak, since } = memoryOf(records[index]!.file) ?? track;
      if (state !== track.state || streak <= track.streak) continue;
      Object.assign(track, { streak, since: new Date(since).getTime() });
    }
    this.#addTimes(withDistinctNames(records));
  }

  #workflows(): readonly Track[] {
    return this.tracks.filter(({ job }) => job === undefined);
  }

  #addTimes(records: readonly RunRecord[]): void {
    const all = new Map<string, { readonly labels: Labels; readonly times: Histogram }>();
    for (const record of records) {
      for (const { job, name, cases } of suitesOf([{ ...record, suite: undefined }])) {
        for (const { name: step, isJob, outcome, step: run, rounds } of cases) {
          if (job.load || isJob || outcome === "skipped" || !run) continue;
          const labels = { workflow: record.name, file: record.file, job_name: name, step };
          const key = JSON.stringify(labels);
          const times = this.#times.get(key)?.times ?? new Histogram();
          if (!rounds) times.add(run.result.duration);
          else if (rounds.tally?.times) times.merge(Histogram.decode(rounds.tally.times));
          all.set(key, { labels, times });
        }
      }
    }
    this.#times = all;
  }

  /** Adds the metrics of all runs of this process to those of the last one. */
  addMetrics(add: Add): void {
    const records = withDistinctNames(this.last?.records ?? []);
    for (const [index, { counts, streak }] of this.#workflows().entries()) {
      const { name: workflow, file } = records[index]!;
      addStates("runner_runs_total", { workflow, file }, counts, add);
      add("runner_streak", { workflow, file }, streak);
    }
    for (const { labels, times } of this.#times.values()) {
      addHistogram("runner_step_seconds", labels, times, add);
    }
  }
}

/** A run as reports show it. */
interface MonitoredRun {
  readonly records: readonly RunRecord[];
  readonly suite: SuiteRecord | undefined;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly duration: number;
  readonly isPassed: boolean;
}

/** How many runs in a row ended in a state, the first of them when. */
interface RunsInARow {
  readonly state: string;
  readonly streak: number;
  readonly since: string | number;
}

function keyOf({ file, job }: Pick<RunPart, "file" | "job">): string {
  return JSON.stringify([file, job]);
}
