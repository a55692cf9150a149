import { noSteps, UnbegunSteps } from "../run/count_steps.ts";
import type { JobState, RunEvent, RunFinished } from "../run/event.ts";

/** Counts the events of a run, also those of steps that never began. */
export class RunTotals {
  readonly #jobs: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  readonly #steps = noSteps();
  readonly #unbegun = new UnbegunSteps();
  #untestedFailures = 0;
  #flaky = 0;
  readonly #assertions = { passed: 0, failed: 0 };

  take(event: RunEvent): void {
    this.#unbegun.take(event);
    if (event.type === "job_finished") this.#jobs[event.state]++;
    if (event.type !== "step_finished" || event.run.within) return;
    const { state, untested, untestedInside = 0, flaky, assertions } = event.result;
    this.#steps[state]++;
    this.#untestedFailures += untestedInside + (untested === undefined ? 0 : 1);
    if (flaky) this.#flaky++;
    this.#assertions.passed += assertions?.passed ?? 0;
    this.#assertions.failed += assertions?.failed ?? 0;
  }

  all(): Pick<RunFinished, "jobs" | "steps" | "untestedFailures" | "flaky" | "assertions"> {
    const { passed, failed } = this.#assertions;
    const skipped = this.#steps.skipped + this.#unbegun.count;
    return {
      jobs: this.#jobs,
      steps: { ...this.#steps, skipped },
      untestedFailures: this.#untestedFailures,
      flaky: this.#flaky,
      ...passed + failed === 0 ? {} : { assertions: { passed, failed } },
    };
  }
}
