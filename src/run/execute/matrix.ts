import type { PlannedJob } from "../../plan/plan.ts";
import type { Dict, Value } from "../../base/value/value.ts";
import { ALL, titleOf } from "../../workflow/step_facts.ts";
import { Cancellation } from "../cancellation.ts";
import type { JobOutcome, RunExecution } from "../run_state.ts";
import type { Outputs } from "./outputs.ts";
import { JobSlots } from "./slots.ts";

/** The jobs of a run that one job with a matrix became. */
class MatrixRun {
  readonly #run: RunExecution;
  readonly #slots: JobSlots | undefined;
  /** Closes its jobs after the first failure. */
  readonly #draining: Cancellation | undefined;
  /** Where each of the jobs publishes. */
  readonly #outputs: ReadonlyMap<PlannedJob, Outputs>;
  #remaining: number;

  constructor(run: RunExecution, jobs: readonly PlannedJob[]) {
    const { parallel, failFast } = jobs[0]!.job.matrix!;
    this.#slots = parallel === undefined ? undefined : new JobSlots(parallel, run.host.clock);
    // With --fail-fast, the first failure closes the whole run.
    if (failFast && !run.failFast) {
      this.#draining = new Cancellation();
      this.#draining.follow(run.draining);
    }
    this.#run = run.with({ draining: this.#draining ?? run.draining });
    this.#outputs = new Map(jobs.map((job) => [job, run.outputs.fork()]));
    this.#remaining = jobs.length;
  }

  /** The run as one of the jobs sees it: its steps see the outputs of their own job. */
  runOf(job: PlannedJob): RunExecution {
    return this.#run.with({ outputs: this.#outputs.get(job)! });
  }

  /** Starts one of the jobs in its turn; the last to end publishes the outputs of all. */
  async start(planned: PlannedJob, begin: () => Promise<JobOutcome>): Promise<JobOutcome> {
    const outcome = await (this.#slots?.use(planned.job.index, begin) ?? begin());
    if (outcome.state === "failed") {
      this.#draining?.cancel(
        `fail_fast of the matrix after "${titleOf(planned.job.id, planned.name)}" failed`,
      );
    }
    if (--this.#remaining === 0) publishAll(this.#run.outputs, this.#outputs);
    return outcome;
  }
}

/** Publishes the outputs of each step as the list of those of all jobs, in their order. */
function publishAll(outputs: Outputs, ofJobs: ReadonlyMap<PlannedJob, Outputs>): void {
  const [first] = ofJobs.keys();
  for (const { id, outputs: declared } of first!.job.steps) {
    if (id === undefined || declared.length === 0) continue;
    // A job in which the step was skipped, or failed before it published anything, is not in it.
    const all = [...ofJobs.values()].flatMap((outputs): readonly Dict[] => {
      const values = outputs.ofSteps()[id];
      return values ? [values] : [];
    });
    outputs.publishMatrix(id, all);
  }
}

/** Groups the jobs of a run by the matrices that they are of. */
export function openMatrices(
  run: RunExecution,
  jobs: readonly PlannedJob[],
): ReadonlyMap<PlannedJob, MatrixRun> {
  const groups = Map.groupBy(
    jobs.filter(({ job }) => job.combination),
    ({ job }) => job.combination!.of.id,
  );
  return new Map([...groups.values()].flatMap((group) => {
    const matrix = new MatrixRun(run, group);
    return group.map((job) => [job, matrix] as const);
  }));
}

/** The state of a job with a matrix, to which that of one of its jobs is added. */
export function addState(
  known: Dict | undefined,
  { job }: PlannedJob,
  state: JobOutcome["state"],
): Dict {
  const all = [...known?.[ALL] as Value[] ?? [], { state, matrix: job.combination!.values }];
  const states = all.map((one) => (one as Dict).state);
  const worst = (["failed", "passed"] as const).find((one) => states.includes(one)) ?? "skipped";
  return { state: worst, [ALL]: all };
}
