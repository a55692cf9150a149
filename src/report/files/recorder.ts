import type { LoadSecond, RoundsTallied, RunEvent, StepRun, StepTree } from "../../run/event.ts";
import { StepTrees } from "../../run/step_trees.ts";
import type { JobRecord, RunRecord, StepRecord, SuiteRecord } from "./run_record.ts";

/** Keeps what the events of any number of runs report until the runs are over. */
export class Recorder {
  readonly #tool: RunRecord["tool"];
  /** By id, in the order in which they began. */
  readonly #runs = new Map<string, RunRecorder>();
  #suite: SuiteRecord | undefined;

  constructor(tool: RunRecord["tool"]) {
    this.#tool = tool;
  }

  /** Takes an event of any of the runs into account. */
  take(event: RunEvent): void {
    if (event.type === "suite_started") {
      this.#suite = { start: event };
    } else if (event.type === "suite_finished") {
      if (this.#suite) this.#suite = { ...this.#suite, end: event };
    } else {
      let run = this.#runs.get(event.runId);
      if (!run) this.#runs.set(event.runId, run = new RunRecorder(event.runId, this.#tool));
      run.take(event);
    }
  }

  /** The record of each run so far; those of a suite are in its order. */
  records(): readonly RunRecord[] {
    const records = [...this.#runs.values()].map((run) => run.record());
    return records.every(({ suite }) => suite) ? records.sort(comparePositions) : records;
  }

  /** The record of the suite, if there is one. */
  suite(): SuiteRecord | undefined {
    return this.#suite;
  }
}

/** The same for one run. */
class RunRecorder {
  #run: RunRecord;
  /** By id, in the order of the file. */
  readonly #jobs = new Map<string, JobRecord & { readonly steps: StepRecord[] }>();
  readonly #trees = new StepTrees();

  constructor(id: string, tool: RunRecord["tool"]) {
    this.#run = { id, tool, name: "", file: "", started: 0, jobs: [], warnings: [] };
  }

  take(event: RunEvent): void {
    const step = this.#trees.take(event);
    if (step) this.#addStep(step);
    switch (event.type) {
      case "run_started": {
        const { name, description, file, suite, origin, vars, time: started } = event;
        this.#run = { ...this.#run, name, description, file, suite, origin, vars, started };
        for (const { id, name, needs, tags, steps: outline } of event.jobs) {
          const none = { duration: 0, failures: [], steps: [] };
          this.#jobs.set(id, { id, name, needs, tags, outline, ...none });
        }
        return;
      }
      case "job_started": {
        const { job, time: started, rounds, load: outline } = event;
        const load = outline && { outline, seconds: [] };
        this.#change(job, { started, rounds, ...load ? { load } : {} });
        return;
      }
      case "load_second":
        // They are added in place: there may be thousands.
        (this.#jobs.get(event.job)?.load?.seconds as LoadSecond[] | undefined)?.push(event);
        return;
      case "load_ended": {
        const load = this.#jobs.get(event.job)?.load;
        if (load) this.#change(event.job, { load: { ...load, end: event } });
        return;
      }
      case "rounds_tallied":
        this.#addRounds(event);
        return;
      case "job_finished": {
        const { job, state, duration, reason, blocked, failures, stats, known } = event;
        this.#change(job, { state, duration, reason, blocked, failures, stats, known });
        return;
      }
      case "run_finished":
        this.#run = { ...this.#run, end: event };
        return;
      case "note":
        if (event.level !== "warning") return;
        this.#run = { ...this.#run, warnings: [...this.#run.warnings, event] };
    }
  }

  record(): RunRecord {
    const jobs = [...this.#jobs.values()].map((job) => {
      return { ...job, steps: job.steps.toSorted((a, b) => compareRuns(a.run, b.run)) };
    });
    return { ...this.#run, jobs };
  }

  #addStep(step: StepTree, runs?: number): void {
    const job = this.#jobs.get(step.run.job);
    const position = job?.outline[step.run.step]?.place;
    job?.steps.push({ ...step, position, ...runs === undefined ? {} : { runs } });
  }

  #addRounds({ job, begun, rounds, steps }: RoundsTallied): void {
    const { passed, failed, skipped } = rounds;
    // A load job does not know how many there will be.
    const all = this.#jobs.get(job)?.rounds ?? passed + failed + skipped;
    this.#change(job, { rounds: all, tally: { begun, rounds, steps } });
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

  #change(id: string, change: Omit<Partial<JobRecord>, "steps">): void {
    const job = this.#jobs.get(id);
    if (job) this.#jobs.set(id, { ...job, ...change });
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
