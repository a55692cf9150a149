import type { RunEvent, RunStarted, StepRun } from "../../run/event.ts";
import { runKey } from "./step_trees.ts";
import { oneLine } from "../text/text_lines.ts";

/** Knows jobs and the steps under way by the names that people gave them. */
export class StepNames {
  readonly #jobs = new Map<string, string>();
  readonly #steps = new Map<string, string>();
  /** Names the workflow where it is one of several. */
  #prefix = "";

  /** Learns names from an event, and forgets those of steps that are over. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        if (event.suite) this.#prefix = `${suiteTitle(event)} › `;
        for (const { id, name } of event.jobs) this.#jobs.set(id, oneLine(name));
        return;
      case "job_started":
        this.#jobs.set(event.job, oneLine(event.name));
        return;
      case "step_started":
        this.#steps.set(runKey(event.run), oneLine(event.name));
        return;
      case "step_finished":
        this.#steps.delete(runKey(event.run));
        return;
    }
  }

  /** `Build`. */
  job(id: string): string {
    return this.#prefix + (this.#jobs.get(id) ?? id);
  }

  /** `Build › compile (repeat_index 2)`; steps of an embedded job follow the one that embeds it. */
  step(run: StepRun, name = this.#steps.get(runKey(run))): string {
    const around = run.within ? this.step(run.within) : this.job(run.job);
    const title = `${around} › ${name === undefined ? `step ${run.step + 1}` : name}`;
    const parts = [
      ...(run.round === undefined ? [] : [`repeat_index ${run.round}`]),
      ...(run.entry === undefined ? [] : [`entry ${run.entry + 1}`]),
    ];
    return parts.length === 0 ? title : `${title} (${parts.join(", ")})`;
  }
}

/** What a workflow of a suite is called: its name, behind what it is for if it is not a test. */
export function suiteTitle({ name, suite }: RunStarted): string {
  return (suite?.role === undefined ? "" : `${suite.role}: `) + oneLine(name);
}
