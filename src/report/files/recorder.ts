import type { RunEvent, StepFinished, StepRun } from "../../run/event.ts";
import type { Position } from "../../base/source.ts";
import { hasFailed } from "../model/round_tally.ts";
import { type StepTree, StepTrees } from "../model/steps.ts";
import { resultText } from "./result_json.ts";
import {
  emptyRecord,
  type JobRecord,
  plannedRecord,
  type RunRecord,
  type StepRecord,
  type SuiteRecord,
} from "./run_record.ts";

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
      return;
    }
    if (event.type === "suite_finished") {
      if (this.#suite) this.#suite = { ...this.#suite, end: event };
      return;
    }
    const { runId } = event;
    let run = this.#runs.get(runId);
    if (!run) this.#runs.set(runId, run = new RunRecorder(emptyRecord(runId, this.#tool)));
    run.take(event);
  }

  /** The record of each run so far; those of a suite are in its order. */
  records(): readonly RunRecord[] {
    const records = [...this.#runs.values()].map((run) => run.record());
    return records.every(({ suite }) => suite) ? records.sort(comparePlaces) : records;
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
  readonly #jobs = new Map<string, JobRecord>();
  readonly #steps = new Map<string, StepRecord[]>();
  readonly #trees = new StepTrees();

  constructor(run: RunRecord) {
    this.#run = run;
  }

  take(event: RunEvent): void {
    switch (event.type) {
      case "run_started": {
        const { name, description, file, time: started, jobs, suite } = event;
        const about = description === undefined ? {} : { description };
        const part = suite ? { suite } : {};
        this.#run = { ...this.#run, name, ...about, file, ...part, started };
        for (const job of jobs) this.#jobs.set(job.id, plannedRecord(job));
        return;
      }
      case "job_started": {
        const { job, time: started, rounds, expect } = event;
        this.#change(job, {
          started,
          ...rounds === undefined ? {} : { rounds },
          ...expect === undefined ? {} : { expect },
        });
        return;
      }
      case "step_finished":
        this.#addStep(event);
        return;
      case "step_retried":
        this.#trees.retry(event.run);
        return;
      case "job_finished": {
        const { job, state, duration, reason, blocked, failures, stats } = event;
        const why = { ...reason === undefined ? {} : { reason }, ...blocked ? { blocked } : {} };
        this.#change(job, { state, duration, ...why, failures, ...stats ? { stats } : {} });
        return;
      }
      case "run_finished":
        this.#run = { ...this.#run, end: event };
        return;
      case "note":
        if (event.level === "warning") {
          this.#run = { ...this.#run, warnings: [...this.#run.warnings, event] };
        }
        return;
      case "step_started":
      case "step_waiting":
      case "round_finished":
      case "suite_started":
      case "suite_finished":
        return;
    }
  }

  record(): RunRecord {
    const jobs = [...this.#jobs.values()].map((job) => {
      const steps = this.#steps.get(job.id) ?? [];
      return { ...job, steps: steps.toSorted((a, b) => compareRuns(a.run, b.run)) };
    });
    return { ...this.#run, jobs };
  }

  #addStep(event: StepFinished): void {
    const step = this.#trees.finish(event);
    if (!step) return;
    const { job, step: index } = step.run;
    const place = this.#jobs.get(job)?.outline[index]?.place;
    const record = recordOf(step, place);
    const steps = this.#steps.get(job);
    if (steps) steps.push(record);
    else this.#steps.set(job, [record]);
  }

  #change(id: string, change: Partial<JobRecord>): void {
    const job = this.#jobs.get(id);
    if (job) this.#jobs.set(id, { ...job, ...change });
  }
}

/**
 * The exchange of a step that did not fail is recorded as data alone, and thousands of exchanges take
 * much more room as objects, and time to look after. So do the details of attempts.
 */
function recordOf({ run, result, inside }: StepTree, place?: Position): StepRecord {
  const text = resultText(result);
  return {
    run,
    result: hasFailed(result) ? { ...result, attempts: text.bare.attempts } : text.bare,
    text,
    place,
    inside: inside.length === 0 ? NONE : inside.map((step) => recordOf(step)),
  };
}

const NONE: readonly StepRecord[] = [];

const ROLES = ["setup", undefined, "teardown"];

function comparePlaces({ suite: a }: RunRecord, { suite: b }: RunRecord): number {
  return ROLES.indexOf(a?.role) - ROLES.indexOf(b?.role) || (a?.index ?? 0) - (b?.index ?? 0);
}

/** Rounds that run side by side finish in any order. */
function compareRuns(a: StepRun, b: StepRun): number {
  return (a.round ?? 0) - (b.round ?? 0) || a.step - b.step || (a.entry ?? 0) - (b.entry ?? 0);
}
