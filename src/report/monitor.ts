import { cutLine } from "../base/text/display_width.ts";
import { printableLine } from "../base/text/printable.ts";
import { Histogram } from "../base/value/histogram.ts";
import type { JobState } from "../run/event.ts";
import { failedByThemselves, failedParts, fullTitle } from "./failed_parts.ts";
import { suitesOf, withDistinctNames } from "./files/cases.ts";
import { type HistoryRun, partsOf, subjectOf } from "./files/history.ts";
import { addHistogram, addStates, Buckets, type Labels, Metrics } from "./files/prometheus.ts";
import { type JobRecord, type RunRecord, stateOf, type SuiteRecord, timesOf } from "./record.ts";
import { summarizeFailure } from "../run/failure/summarize_failure.ts";

/** The most runs that are kept one by one. */
export const MAX_RUNS = 90;

/** The times over which results are added up, in milliseconds. */
export const PERIODS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

/** A period consists of so many parts, of which the oldest leaves it as a whole. */
const PARTS = 30;

/** The widest line about a failure. */
const WIDEST_FAILURE = 500;

/** The results in one part of a period. */
class Part {
  readonly times = new Histogram();
  passed = 0;

  /** `index` counts the parts since 1970. */
  constructor(readonly index: number) {}
}

/** The results of the last hour, for example, in memory that does not grow with the runs. */
class Period {
  readonly #length: number;
  readonly #parts: Part[] = [];

  /** Of so many milliseconds. */
  constructor(milliseconds: number) {
    this.#length = milliseconds / PARTS;
  }

  add(time: number, isPassed: boolean, duration: number): void {
    const index = Math.floor(time / this.#length);
    let part = this.#parts.at(-1);
    // The clock of the system may go back.
    if (!part || part.index < index) this.#parts.push(part = new Part(index));
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

/** A failure, with the start of its run: milliseconds since 1970. */
interface LastFailure {
  readonly started: number;
  /** The names of the job and the step. */
  readonly title: string;
  readonly message: string;
  readonly place: string | undefined;
}

/** A run of a workflow or a job; its start is in milliseconds since 1970. */
interface TrackedRun {
  readonly started: number;
  readonly state: JobState;
  readonly duration: number;
}

/** How the runs of a workflow or of a job ended. */
export class Track {
  /** The last of them, the oldest first. */
  readonly runs: TrackedRun[] = [];
  readonly periods = {
    hour: new Period(PERIODS.hour),
    day: new Period(PERIODS.day),
    week: new Period(PERIODS.week),
  };
  /** The runs of this process. */
  readonly counts: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  title = "";
  path = "";
  /** Of the last run that was not skipped. */
  state: JobState = "skipped";
  /** When the first run in this state began. */
  since = 0;
  /** The number of runs in a row that ended in this state. */
  streak = 0;
  failure: LastFailure | undefined;

  /** The name of a workflow's own job is empty. */
  constructor(readonly file: string, readonly job: string) {}

  add(run: TrackedRun): void {
    const { started, state, duration } = run;
    this.runs.push(run);
    if (this.runs.length > MAX_RUNS) this.runs.shift();
    if (state === "skipped") return;
    if (this.state !== state) Object.assign(this, { state, since: started, streak: 0 });
    this.streak++;
    for (const period of Object.values(this.periods)) {
      period.add(started, state === "passed", duration);
    }
  }

  /** Adds a run of this process, with the names of then. */
  addOfProcess(run: TrackedRun, title: string, path: string): void {
    this.add(run);
    this.counts[run.state]++;
    this.title = title;
    this.path = path;
  }
}

/** A run as reports show it. */
interface KeptRun {
  readonly records: readonly RunRecord[];
  readonly suite: SuiteRecord | undefined;
  readonly started: number;
  readonly duration: number;
  readonly isPassed: boolean;
}

/** What is known of the run before of a workflow. */
type Memory = { readonly state: string; readonly streak: number; readonly since: string };

/** What is shown of a program that runs again and again: its memory does not grow with the runs. */
export class Monitor {
  /** Each workflow, followed by its jobs. */
  tracks: ReadonlyMap<string, Track> = new Map();
  /** The last run, and the last one that failed. */
  last: KeptRun | undefined;
  failed: KeptRun | undefined;
  #past: readonly HistoryRun[];
  #stepTimes: ReadonlyMap<string, { readonly labels: Labels; readonly times: Buckets }> = new Map();

  /** `past` are the runs of a history. */
  constructor(past: readonly HistoryRun[]) {
    this.#past = past;
  }

  /** Adds a run that is over. `memoryOf` knows more runs in a row than the history. */
  add(
    records: readonly RunRecord[],
    suite: SuiteRecord | undefined,
    isPassed: boolean,
    memoryOf: (file: string) => Memory | undefined,
  ): void {
    const { started, duration } = timesOf(records);
    this.last = { records, suite, started, duration, isPassed };
    if (!isPassed) this.failed = this.last;
    const before = new Map(this.tracks);
    const trackOf = (file: string, job: string) =>
      before.getOrInsertComputed(JSON.stringify([file, job]), () => new Track(file, job));
    const subject = subjectOf(records, suite);
    for (const run of this.#past) {
      if (run.subject !== subject) continue;
      for (const [file, job, state, duration] of run.ends ?? []) {
        trackOf(file, job).add({ started: run.started, state, duration });
      }
    }
    this.#past = [];
    const tracks: Track[] = [];
    const titles = withDistinctNames(records);
    for (const [index, { name: file, record, jobs }] of partsOf(records).entries()) {
      const whole = trackOf(file, "");
      const ofJobs = jobs.map((job) => {
        const track = trackOf(file, job.name);
        const { state = "failed", duration } = job;
        track.addOfProcess({ started, state, duration }, job.name, record.file);
        if (state === "failed") track.failure = failureOf(job, record, started);
        return track;
      });
      const { name } = titles[index]!;
      const run = { started, state: stateOf(record), duration: record.end?.duration ?? 0 };
      whole.addOfProcess(run, name, record.file);
      const memory = memoryOf(record.file);
      if (memory && memory.state === whole.state && memory.streak > whole.streak) {
        Object.assign(whole, { streak: memory.streak, since: Date.parse(memory.since) });
      }
      tracks.push(whole, ...ofJobs);
    }
    // What is no longer in the files is forgotten.
    this.tracks = new Map(tracks.map((track) => [JSON.stringify([track.file, track.job]), track]));
    this.#addTimes(titles);
  }

  #addTimes(records: readonly RunRecord[]): void {
    const all = new Map<string, { readonly labels: Labels; readonly times: Buckets }>();
    for (const record of records) {
      for (const { job, name, cases } of suitesOf([{ ...record, suite: undefined }])) {
        for (const { name: step, isJob, outcome, step: run, rounds } of cases) {
          if (job.load || isJob || outcome === "skipped" || !run) continue;
          const labels = { workflow: record.name, file: record.file, job_name: name, step };
          const key = JSON.stringify(labels);
          const { times } = this.#stepTimes.get(key) ?? { times: new Buckets() };
          if (!rounds) times.add(run.result.duration);
          else if (rounds.tally?.times) times.addAll(rounds.tally.times);
          all.set(key, { labels, times });
        }
      }
    }
    this.#stepTimes = all;
  }

  /** The metrics of the last run, and of all runs of this process. */
  metrics(): Iterable<string> {
    const metrics = new Metrics();
    if (this.last) metrics.addRuns(this.last.records, this.last.suite);
    for (const { job, title: workflow, path: file, counts, streak } of this.tracks.values()) {
      if (job !== "") continue;
      addStates("runner_runs_total", { workflow, file }, counts, metrics.add);
      metrics.add("runner_streak", { workflow, file }, streak);
    }
    for (const { labels, times } of this.#stepTimes.values()) {
      addHistogram("runner_step_seconds", labels, times, metrics.add);
    }
    return metrics.text();
  }
}

/** The first failure of a job. */
function failureOf(job: JobRecord, { end }: RunRecord, started: number): LastFailure {
  const parts = failedByThemselves(failedParts(job));
  const part = parts.find(({ allowFailure, failures }) => !allowFailure && failures.length > 0);
  if (!part) {
    const message = end?.interrupted ?? "it did not end";
    return { started, title: job.name, message, place: undefined };
  }
  const [failure] = part.failures;
  const { place } = failure!;
  return {
    started,
    title: fullTitle(part),
    message: cutLine(summarizeFailure(failure!), WIDEST_FAILURE),
    place: place && `${printableLine(place.file)}:${place.line}:${place.column}`,
  };
}
