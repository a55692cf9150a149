import type {
  BareEvent,
  JobState,
  PiecePart,
  RunFinished,
  RunStarted,
  StepResult,
  StepRun,
  StepState,
  SuiteFinished,
  SuitePart,
} from "./event.ts";
import type { recapFailure } from "./failure/summarize_failure.ts";

/** A count of no steps. */
export function noSteps(): Record<StepState, number> {
  return { passed: 0, failed: 0, skipped: 0, untested: 0, allowed: 0 };
}

/** The number of counted steps. */
export function sumOf(steps: Readonly<Record<StepState, number>>): number {
  return Object.values(steps).reduce((sum, count) => sum + count, 0);
}

/** A workflow of a suite that has ended. */
export interface EndedWorkflow {
  readonly role: SuitePart["role"];
  readonly state: JobState;
  readonly steps: RunFinished["steps"];
}

/**
 * The workflows of a suite and all steps, by state. Setup and teardown are no workflows of it
 * unless they failed.
 */
export function countWorkflows(
  ended: readonly EndedWorkflow[],
): Pick<SuiteFinished, "workflows" | "steps"> {
  const workflows: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  const steps = noSteps();
  for (const { role, state, steps: counted } of ended) {
    if (role === undefined || state === "failed") workflows[state]++;
    for (const name of Object.keys(steps) as StepState[]) steps[name] += counted[name] ?? 0;
  }
  return { workflows, steps };
}

/** The number of rounds in a part of a repeated job. */
export function roundsOf(rounds: number, { index, of }: PiecePart = { index: 1, of: 1 }): number {
  return Math.ceil((rounds - index + 1) / of);
}

/** A failure as steps of the run itself see it. */
export interface RunFailure {
  /** The name of the job. */
  readonly job: string;
  /** The name of the step; nil where the job failed outside of its steps. */
  readonly step: string | null;
  /** In one line, as the list at the end of a report has it. */
  readonly message: string;
  readonly file: string;
  /** From 1; nil where it is about no line. */
  readonly line: number | null;
}

/** Rounds may fail without end: later failures are counted and not kept. */
const MAX_FAILURES = 100;

/** The first failures of a run, or of several. */
export function firstFailures(failures: readonly RunFailure[]): readonly RunFailure[] {
  return failures.slice(0, MAX_FAILURES);
}

/** The state of a workflow of a suite: skipped if nothing of it was run. */
export function workflowState({ state, jobs, interrupted }: RunFinished): JobState {
  if (jobs.passed + jobs.failed > 0 || jobs.skipped === 0) return state;
  return interrupted?.startsWith("--strict") ? state : "skipped";
}

/**
 * Counts the events of a run, also the steps that never began. Made for the step that embeds a
 * job, it counts the steps of this job alone.
 */
export class RunTotals {
  readonly jobs: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  readonly steps = noSteps();
  warnings = 0;
  /** Of `allowed`, those that `allow_failure` allows. */
  allowedByStep = 0;
  /** Is called when something has failed. */
  onFailure: (() => void) | undefined;
  /** The first failures so far, as reports have them. */
  failures: readonly RunFailure[] = [];
  #flaky = 0;
  readonly #assertions = { passed: 0, failed: 0 };
  readonly #within: StepRun | undefined;
  readonly #mask: (event: BareEvent) => BareEvent;
  readonly #running = new Map<string, RunningJob>();
  readonly #names = new Map<string, string>();
  #file = "";
  #recap: typeof recapFailure | undefined;

  /** `mask` takes the secrets out of an event whose failures are kept. */
  constructor(within?: StepRun, mask = (event: BareEvent) => event) {
    this.#within = within;
    this.#mask = mask;
  }

  /** Keeps failures from now on: a run without any never loads what describes them. */
  async keepFailures(): Promise<void> {
    this.#recap ??= (await import("./failure/summarize_failure.ts")).recapFailure;
  }

  take(event: BareEvent): void {
    switch (event.type) {
      case "run_started":
        this.#file = event.file;
        for (const job of event.jobs) {
          this.#names.set(job.id, job.name);
          this.#running.set(job.id, { job, rounds: 1, begun: 0, open: new Map() });
        }
        return;
      case "job_started": {
        // The seconds of a load job say how many steps there were.
        if (event.load) this.#running.delete(event.job);
        const running = this.#running.get(event.job);
        if (running) running.rounds = Math.max(event.rounds ?? 1, 1);
        return;
      }
      case "step_finished":
        if (event.run.within !== this.#within) return;
        this.#countStep(event);
        if (event.result.state === "failed") this.#addFailures(event);
        return;
      case "load_second":
        if (event.phase === "warm_up") return;
        this.#countSecond(event);
        this.#addFailures(event);
        return;
      case "round_finished":
        this.#endRound(this.#running.get(event.job), event.round);
        return;
      case "job_finished":
        this.jobs[event.state]++;
        if (event.state === "failed") this.#addFailures(event);
        this.#endJob(event.job);
        return;
      case "note":
        if (event.level === "warning") this.warnings++;
    }
  }

  /** The totals as the last event of a run has them. */
  all(): Pick<RunFinished, "jobs" | "steps" | "flaky" | "assertions"> {
    const { jobs, steps } = this;
    const { passed, failed } = this.#assertions;
    return {
      jobs,
      steps,
      flaky: this.#flaky,
      assertions: passed + failed === 0 ? undefined : { passed, failed },
    };
  }

  #countSecond({ steps }: Extract<BareEvent, { readonly type: "load_second" }>): void {
    for (const { states, flaky, assertions } of steps) {
      for (const state of Object.keys(states) as StepState[]) this.steps[state] += states[state];
      this.#flaky += flaky;
      this.#assertions.passed += assertions?.passed ?? 0;
      this.#assertions.failed += assertions?.failed ?? 0;
    }
  }

  #countStep({ run, result }: Extract<BareEvent, { readonly type: "step_finished" }>): void {
    const { state, flaky, allowFailure, assertions } = result;
    this.steps[state]++;
    if (flaky) this.#flaky++;
    if (allowFailure) this.allowedByStep++;
    this.#assertions.passed += assertions?.passed ?? 0;
    this.#assertions.failed += assertions?.failed ?? 0;
    const running = run.within ? undefined : this.#running.get(run.job);
    if (!running) return;
    let steps = running.open.get(run.round);
    if (!steps) {
      steps = [];
      running.open.set(run.round, steps);
      running.begun++;
    }
    const ofStep = steps[run.step] ??= new RunsOfStep();
    ofStep.count++;
    ofStep.last = Math.max(ofStep.last, run.entry ?? 0);
  }

  #addFailures(event: FailingEvent): void {
    this.#keepFailures(event);
    this.onFailure?.();
  }

  #keepFailures(event: FailingEvent): void {
    const recap = this.#recap;
    if (!recap || this.failures.length >= MAX_FAILURES) return;
    const job = event.type === "step_finished" ? event.run.job : event.job;
    const found = failedIn(this.#mask(event) as FailingEvent).flatMap((failed) =>
      failed.failures.map((failure): RunFailure => ({
        job: this.#names.get(job) ?? job,
        step: failed.name ?? null,
        message: recap(failure, failed.exchange),
        file: failure.place?.file ?? this.#file,
        line: failure.place?.line ?? null,
      }))
    );
    this.failures = firstFailures([...this.failures, ...found]);
  }

  /** Counts the steps of an unfinished round, or their entries, that never began as skipped. */
  #endRound(running: RunningJob | undefined, round: number | undefined): void {
    const begun = running?.open.get(round);
    if (!running || !begun) return;
    running.open.delete(round);
    for (const [index, { entries }] of running.job.steps.entries()) {
      const { count, last } = begun[index] ?? NO_RUNS;
      // A step whose entries are not known is one run as long as none of them ran.
      const unknown = count === 0 && entries === undefined ? 1 : 0;
      this.steps.skipped += Math.max(entries ?? 0, last + 1, unknown) - count;
    }
  }

  #endJob(id: string): void {
    const running = this.#running.get(id);
    if (!running) return;
    for (const round of running.open.keys()) this.#endRound(running, round);
    // All rounds that did not begin count as one, since there may be thousands of them.
    if (running.begun < running.rounds) this.steps.skipped += running.job.steps.length;
    this.#running.delete(id);
  }
}

/** An event that may say why steps or a job failed. */
type FailingEvent = Extract<
  BareEvent,
  { readonly type: "step_finished" | "job_finished" | "load_second" }
>;

type Failed = Pick<StepResult, "failures"> & Partial<StepResult>;

/** What failed: a step, a job outside of its steps, or steps in a second of a load job. */
function failedIn(event: FailingEvent): readonly Failed[] {
  switch (event.type) {
    case "step_finished":
      return [event.result];
    case "job_finished":
      return [{ failures: event.failures }];
    case "load_second":
      return event.steps.flatMap(({ failures }) => failures)
        .flatMap(({ state, first }) => state === "failed" && first ? [first.result] : []);
  }
}

interface RunningJob {
  readonly job: RunStarted["jobs"][number];
  rounds: number;
  /** The number of rounds in which a step has ended. */
  begun: number;
  /** Of each unfinished round, what has ended of each step. */
  readonly open: Map<number | undefined, RunsOfStep[]>;
}

/** The runs of a step that have ended in a round: several if it has an `iteration`. */
class RunsOfStep {
  count = 0;
  /** The entry that is furthest. */
  last = -1;
}

const NO_RUNS = new RunsOfStep();
