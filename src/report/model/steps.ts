import { oneLine } from "../../base/text/printable.ts";
import type { RunEvent, RunStarted, StepRun, StepTally, StepTree } from "../../run/event.ts";
import { runKey } from "../../run/step_trees.ts";

/** Knows jobs and the steps under way by the names that people gave them. */
export class StepNames {
  readonly #jobs = new Map<string, string>();
  readonly #steps = new Map<string, string>();
  /** The workflow if it is one of several; otherwise empty. */
  workflow = "";

  /** Learns names from an event, and forgets those of steps that are over. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        if (event.suite) this.workflow = suiteTitle(event);
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
    const name = this.#jobs.get(id) ?? id;
    return this.workflow === "" ? name : `${this.workflow} › ${name}`;
  }

  /** `Build › compile (repeat_index 2)`; steps of an embedded job follow the one that embeds it. */
  step(run: StepRun, name = this.#steps.get(runKey(run)) ?? `step ${run.step + 1}`): string {
    const around = run.within ? this.step(run.within) : this.job(run.job);
    return stepTitle(around, name, run);
  }
}

/** `Build › compile (repeat_index 2, entry 1)`. */
export function stepTitle(around: string, name: string, { round, entry }: StepRun): string {
  const parts = [
    ...round === undefined ? [] : [`repeat_index ${round}`],
    ...entry === undefined ? [] : [`entry ${entry + 1}`],
  ];
  return `${around} › ${name}${parts.length === 0 ? "" : ` (${parts.join(", ")})`}`;
}

/** The title of a workflow of a suite: its name, after its role if it is not a test. */
export function suiteTitle({ name, suite }: RunStarted): string {
  return (suite?.role === undefined ? "" : `${suite.role}: `) + oneLine(name);
}

/** More names are never shown. */
const MAX_NAMES = 4;

/** Adds the names of steps that were unsuccessful and that nothing tests: `gate (HTTP 401)`. */
export function addUntested(names: Set<string>, { result, inside }: StepTree, around = ""): void {
  if (names.size >= MAX_NAMES) return;
  const name = around + oneLine(result.name);
  if (result.untested !== undefined) names.add(`${name} (${oneLine(result.untested)})`);
  for (const step of inside) addUntested(names, step, `${name} › `);
}

/** The same for a step of a repeated job. */
export function addUntestedRounds(names: Set<string>, tally: StepTally, around = ""): void {
  if (names.size >= MAX_NAMES) return;
  const { untested, inside } = tally;
  const name = around + oneLine(tally.name);
  if (untested) names.add(`${name} (${oneLine(untested.first)})`);
  for (const step of inside) addUntestedRounds(names, step, `${name} › `);
}
