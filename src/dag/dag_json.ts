import { jobsBefore } from "../plan/plan.ts";
import type { Plan, PlannedJob } from "../plan/plan.ts";
import { excerptOf, type Path, type Position } from "../base/source.ts";
import type { Repeat, Step } from "../workflow/model.ts";
import type { Dag, DagJob, DagStep } from "./dag.ts";

/** A job as `runner dag --json` has it, for programs that run jobs or show them. */
interface JsonJob extends Omit<DagJob, "steps"> {
  /** Ids of all jobs that it needs, directly or not, in the order of the file. */
  readonly ancestors: readonly string[];
  /** When it starts, unless that is once all its needs passed. */
  readonly when?: "always" | "failure";
  readonly skipif?: string;
  /** Its steps after a failed one are skipped. */
  readonly on_failure?: "stop";
  readonly repeat?: JsonRepeat;
  /** It is the `finally` of the workflow. */
  readonly cleanup?: true;
  readonly place: Position;
  readonly steps: readonly JsonStep[];
}

interface JsonRepeat {
  readonly count: number;
  readonly async: boolean;
  /** Between the starts of two rounds: seconds, or a template. */
  readonly interval?: number | string;
  readonly expect?: readonly string[];
}

interface JsonStep extends Omit<DagStep, "steps"> {
  readonly skipif?: string;
  /** It is a step of `finally`. */
  readonly cleanup?: true;
  readonly place: Position;
  readonly steps?: readonly DagStep[];
}

/** The graph with all that programs must know to run its jobs: see docs/dag.schema.json. */
export async function makeDagJson(dag: Dag, plan: Plan): Promise<object> {
  const positions = await plan.workflow.document.positions();
  const placeOf = (path: Path): Position => {
    const { file, line, column } = excerptOf(positions.locate(path));
    return { file, line, column };
  };
  const stepOf = (drawn: DagStep, step: Step): JsonStep => ({
    ...drawn,
    skipif: step.skipif?.source.trim(),
    cleanup: step.isCleanup ? true : undefined,
    place: placeOf(step.path),
  });
  const jobOf = (drawn: DagJob, planned: PlannedJob): JsonJob => {
    const { job } = planned;
    const { jobs: before } = jobsBefore(planned, ({ needs }) => needs);
    const { steps, ...rest } = drawn;
    return {
      ...rest,
      ancestors: plan.jobs.filter((other) => before.has(other)).map(({ job }) => job.id),
      when: job.when,
      skipif: job.skipif?.source.trim(),
      on_failure: job.stopsAtFailure ? "stop" : undefined,
      repeat: job.repeat && repeatOf(job.repeat),
      cleanup: job.isCleanup ? true : undefined,
      place: placeOf(job.path),
      steps: steps.map((step, at) => stepOf(step, job.steps[at]!)),
    };
  };
  return { ...dag, jobs: dag.jobs.map((job, at) => jobOf(job, plan.jobs[at]!)) };
}

function repeatOf({ count, async, interval, period, expect }: Repeat): JsonRepeat {
  const between = period !== undefined
    ? period / 1000
    : interval.kind === "constant"
    ? interval.milliseconds / 1000
    : interval.template.source;
  return {
    count,
    async,
    interval: between === 0 ? undefined : between,
    expect: expect?.map(({ expression }) => expression.source),
  };
}
