import type { JobStarted, RunEvent, StepRun } from "../../run/event.ts";
import { runKey } from "../model/step_trees.ts";

/** A job that runs, as far as its line below the report needs it. */
export interface LiveJob {
  readonly name: string;
  readonly started: number;
  readonly rounds?: number;
  readonly roundsDone: number;
  /** The step that has been under way for longest, where there is one. */
  readonly step?: LiveStep;
}

/** A step that runs. */
export interface LiveStep {
  readonly name: string;
  readonly started: number;
  /** The attempt under way, from the second one on. */
  attempt?: { readonly number: number; readonly of: number };
  waiting?: { readonly until: number; readonly why: "wait" | "initial_delay" | "retry" };
  /** The step under way of the job that it embeds. */
  inside?: LiveStep;
}

/** The progress of a run, in jobs. */
export interface Progress {
  readonly done: number;
  readonly failed: number;
  readonly all: number;
}

interface RunningJob extends JobStarted {
  readonly position: number;
  roundsDone: number;
  /** The oldest first; more than one where rounds run side by side. */
  readonly steps: Map<string, LiveStep>;
}

/** Follows which jobs and steps are under way. */
export class LiveJobs {
  /** Places of jobs in the file, by id. */
  readonly #positions = new Map<string, number>();
  readonly #running = new Map<string, RunningJob>();
  #done = 0;
  #failed = 0;

  /** Takes an event of the run into account. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        event.jobs.forEach(({ id }, position) => this.#positions.set(id, position));
        return;
      case "job_started": {
        const position = this.#positions.get(event.job) ?? Infinity;
        this.#running.set(event.job, { ...event, position, roundsDone: 0, steps: new Map() });
        return;
      }
      case "job_finished":
        this.#done++;
        if (event.state === "failed") this.#failed++;
        this.#running.delete(event.job);
        return;
      case "round_finished": {
        const job = this.#running.get(event.job);
        if (job) job.roundsDone++;
        return;
      }
      case "step_started": {
        const { name, time: started, run } = event;
        const step: LiveStep = { name, started };
        this.#running.get(run.job)?.steps.set(runKey(run), step);
        const around = run.within && this.#step(run.within);
        if (around) around.inside = step;
        return;
      }
      case "step_finished":
        this.#running.get(event.run.job)?.steps.delete(runKey(event.run));
        if (event.run.within) delete this.#step(event.run.within)?.inside;
        return;
      case "step_waiting": {
        const step = this.#step(event.run);
        if (step) step.waiting = { until: event.time + event.milliseconds, why: event.why };
        return;
      }
      case "step_retried": {
        const step = this.#step(event.run);
        if (step) step.attempt = { number: event.attempt.number + 1, of: event.of };
        return;
      }
      case "run_finished":
        this.#running.clear();
        return;
      case "note":
      case "suite_started":
      case "suite_finished":
        return;
    }
  }

  /** The number of finished jobs, including skipped ones, and the number of all jobs. */
  get progress(): Progress {
    return { done: this.#done, failed: this.#failed, all: this.#positions.size };
  }

  /** The jobs under way, in the order of the file. */
  inOrder(): LiveJob[] {
    const jobs = [...this.#running.values()].sort((a, b) => a.position - b.position);
    return jobs.map(({ name, time, rounds, roundsDone, steps }) => {
      const [step] = steps.values();
      return {
        name,
        started: time,
        roundsDone,
        ...(rounds === undefined ? {} : { rounds }),
        ...(step ? { step } : {}),
      };
    });
  }

  #step(run: StepRun): LiveStep | undefined {
    return this.#running.get(run.job)?.steps.get(runKey(run));
  }
}
