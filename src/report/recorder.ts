import type {
  LoadSecond,
  MessagesCame,
  Note,
  RoundsTallied,
  RunEvent,
  StepRun,
  StepTree,
  SuiteFinished,
  SuiteStarted,
} from "../run/event.ts";
import { runKey, StepTrees } from "../run/step_trees.ts";
import type {
  Change,
  JobRecord,
  RunningStep,
  RunRecord,
  StepRecord,
  SuiteRecord,
  Tool,
} from "./record.ts";

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenJob = Open<JobRecord> & { steps: StepRecord[] };

/** What a recorder keeps of jobs that are over. */
interface RecorderOptions {
  /**
   * `everything` is for reports that are written at the end, `outcomes` leaves out the steps, the
   * tallies and the seconds of load.
   */
  readonly keeps: "everything" | "outcomes";
  readonly tool?: Tool;
}

/** Makes the records of any number of runs from their events. */
export class Recorder {
  readonly #options: RecorderOptions;
  /** By id, in the order in which they began. */
  readonly #runs = new Map<string, RunRecorder>();
  #suite: Open<SuiteRecord> | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Takes an event of any of the runs into account. */
  take(event: RunEvent): Change {
    if (event.type === "suite_started") this.#suite = { start: event };
    else if (event.type === "suite_finished") {
      if (this.#suite) this.#suite.end = event;
    } else {
      let run = this.#runs.get(event.runId);
      if (!run) {
        run = new RunRecorder(event.runId, this.#options);
        this.#runs.set(event.runId, run);
      }
      return run.take(event);
    }
    return { event };
  }

  /** The record of each run so far; those of a suite are in its order. */
  records(): readonly RunRecord[] {
    const records = [...this.#runs.values()].map((run) => run.sorted());
    return records.every(({ suite }) => suite) ? records.sort(comparePositions) : records;
  }

  /** The record of the suite, if there is one. */
  suite(): SuiteRecord | undefined {
    return this.#suite;
  }
}

const NO_TOOL: Tool = { name: "", version: "" };

/** The same for one run. */
class RunRecorder {
  readonly #record: Open<RunRecord> & { jobs: OpenJob[]; warnings: Note[] };
  readonly #keepsAll: boolean;
  readonly #jobs = new Map<string, OpenJob>();
  readonly #trees = new StepTrees();
  readonly #running = new Map<string, Open<RunningStep>>();
  readonly #messages = new Map<string, MessagesCame>();
  /** The job of the last event, if only its outcome is kept. */
  #ended: OpenJob | undefined;

  constructor(id: string, { keeps, tool = NO_TOOL }: RecorderOptions) {
    const none = { name: "", file: "", started: 0, jobs: [], warnings: [] };
    this.#record = { id, tool, ...none, running: this.#running, messages: this.#messages };
    this.#keepsAll = keeps === "everything";
  }

  take(event: Exclude<RunEvent, SuiteStarted | SuiteFinished>): Change {
    const run = this.#record;
    if (this.#ended) Object.assign(this.#ended, { steps: [], tally: undefined, load: undefined });
    this.#ended = undefined;
    const ended = this.#trees.take(event);
    const step = ended && this.#addStep(ended);
    const id = "job" in event ? event.job : "run" in event ? event.run?.job : undefined;
    const job = id === undefined ? undefined : this.#job(id);
    if (job) this.#changeJob(job, event);
    if (event.type === "job_finished" && !this.#keepsAll) this.#ended = job;
    switch (event.type) {
      case "run_started": {
        const { name, description, file, suite, origin, vars, time: started, trace, jobs } = event;
        Object.assign(run, { name, description, file, suite, origin, vars, started, trace });
        for (const { id, name, needs, tags, steps: outline } of jobs) {
          this.#addJob({ id, name, needs, tags, outline, duration: 0, failures: [], steps: [] });
        }
        break;
      }
      case "step_started": {
        const { run, name, time: started } = event;
        const step = { run, name, started };
        this.#running.set(runKey(run), step);
        const around = run.within && this.#running.get(runKey(run.within));
        if (around) around.inside = step;
        break;
      }
      case "step_waiting": {
        const step = this.#running.get(runKey(event.run));
        if (step) step.waiting = { until: event.time + event.milliseconds, why: event.why };
        break;
      }
      case "step_retried": {
        const step = this.#running.get(runKey(event.run));
        if (step) step.attempt = { number: event.attempt.number + 1, of: event.of };
        break;
      }
      case "step_finished": {
        const { run } = event;
        this.#running.delete(runKey(run));
        const around = run.within && this.#running.get(runKey(run.within));
        if (around) around.inside = undefined;
        break;
      }
      case "messages_came":
        if (this.#keepsAll) this.#messages.set(runKey(event.run), event);
        break;
      case "run_finished":
        run.end = event;
        this.#running.clear();
        break;
      case "note":
        if (event.level === "warning" && this.#keepsAll) run.warnings.push(event);
    }
    return { event, run, job, step };
  }

  /** The record with the steps of each job in the order of the file. */
  sorted(): RunRecord {
    const jobs = this.#record.jobs.map((job) => {
      return { ...job, steps: job.steps.toSorted((a, b) => compareRuns(a.run, b.run)) };
    });
    return { ...this.#record, jobs };
  }

  #changeJob(job: OpenJob, event: RunEvent): void {
    switch (event.type) {
      case "job_started": {
        const { name, time: started, rounds, trace, load: outline } = event;
        Object.assign(job, { name, started, rounds, trace });
        if (outline) job.load = { outline, seconds: [] };
        return;
      }
      case "load_second":
        // They are added in place: there may be thousands.
        if (this.#keepsAll) (job.load?.seconds as LoadSecond[] | undefined)?.push(event);
        return;
      case "load_ended":
        if (job.load) job.load = { ...job.load, end: event };
        return;
      case "rounds_tallied":
        this.#addRounds(job, event);
        return;
      case "job_finished": {
        // The name, too: a secret in it that a step has found is masked by now.
        const { name, state, duration, reason, blocked, failures, allowFailure } = event;
        Object.assign(job, { name, state, duration, reason, blocked, failures, allowFailure });
      }
    }
  }

  #job(id: string): OpenJob {
    return this.#jobs.get(id) ?? this.#addJob({
      ...{ id, name: id, needs: [], outline: [] },
      ...{ duration: 0, failures: [], steps: [] },
    });
  }

  #addJob(job: OpenJob): OpenJob {
    this.#jobs.set(job.id, job);
    this.#record.jobs.push(job);
    return job;
  }

  #addStep(tree: StepTree, runs?: number): StepRecord {
    const job = this.#job(tree.run.job);
    const position = job.outline[tree.run.step]?.place;
    const step = { ...tree, position, runs };
    job.steps.push(step);
    return step;
  }

  #addRounds(job: OpenJob, { begun, rounds, times, steps }: RoundsTallied): void {
    const { passed, failed, skipped } = rounds;
    // A load job does not know how many there will be.
    job.rounds ??= passed + failed + skipped;
    job.tally = { begun, rounds, times, steps };
    for (const { first, failures, otherFailures, states } of steps) {
      const { passed, untested, skipped } = states;
      if (first) {
        this.#addStep(first, first.result.state === "skipped" ? skipped : passed + untested);
      }
      for (const [index, { first, count }] of failures.entries()) {
        this.#addStep(first, index === 0 ? count + otherFailures : count);
      }
    }
  }
}

const ROLES = ["setup", undefined, "teardown"];

function comparePositions({ suite: a }: RunRecord, { suite: b }: RunRecord): number {
  return ROLES.indexOf(a?.role) - ROLES.indexOf(b?.role) || (a?.index ?? 0) - (b?.index ?? 0);
}

/** Parallel rounds finish in any order. */
function compareRuns(a: StepRun, b: StepRun): number {
  return (a.round ?? 0) - (b.round ?? 0) || a.step - b.step || (a.entry ?? 0) - (b.entry ?? 0);
}
