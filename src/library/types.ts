import type { RunStarted } from "../run/event.ts";
import type { Diagnostic } from "../base/diagnostic.ts";

/** A workflow that was loaded and has passed every check. */
export interface Workflow {
  /** Its name, shown at the top of a report. */
  readonly name: string;
  /** Its purpose. */
  readonly description?: string;
  /** The file, or the files joined by commas, as they were named. */
  readonly file: string;
  /** Problems that do not prevent a run: unknown keys, outputs without an id. */
  readonly warnings: readonly Diagnostic[];
}

/** A workflow with its `vars` evaluated and its graph resolved. */
export interface Plan {
  /** The workflow that it was made of. */
  readonly workflow: Workflow;
  /** Its `vars`, evaluated once. */
  readonly vars: Readonly<Record<string, unknown>>;
  /** In the order of the file. */
  readonly jobs: RunStarted["jobs"];
  /** Diagnostics of job files that were loaded once the `vars` were known. */
  readonly warnings: readonly Diagnostic[];
}
