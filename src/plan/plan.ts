import type { Diagnostic } from "../source/diagnostic.ts";
import type { Dict, Value } from "../value/value.ts";
import type { Job, Workflow } from "../workflow/model.ts";

/** A workflow with its `vars` evaluated and its graph resolved. */
export interface Plan {
  readonly workflow: Workflow;
  /** The workflow's `vars`, evaluated once. */
  readonly vars: Dict;
  /** What expressions said is secret. */
  readonly secrets: readonly Value[];
  /** In the order of the file; those of the workflow that were not chosen are not among them. */
  readonly jobs: readonly PlannedJob[];
  /** What should be said of job files that were loaded when the `vars` were known. */
  readonly warnings: readonly Diagnostic[];
}

/** A job with the jobs it waits for. */
export interface PlannedJob {
  readonly job: Job;
  /** As reports show it; the template itself where it cannot be evaluated. */
  readonly name: string;
  /** Why the name could not be evaluated. */
  readonly nameError?: unknown;
  readonly needs: readonly PlannedJob[];
  /** Why it is skipped without a look at its `skipif`. */
  readonly skip?: string;
}
