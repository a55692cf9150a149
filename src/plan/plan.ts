import type { Job, Workflow } from "../workflow/model.ts";

/** A workflow with its graph resolved. */
export interface Plan {
  readonly workflow: Workflow;
  /** In the order of the file. */
  readonly jobs: readonly PlannedJob[];
}

/** A job with the jobs it waits for. */
export interface PlannedJob {
  readonly job: Job;
  readonly needs: readonly PlannedJob[];
}
