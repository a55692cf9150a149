import type { RunStarted } from "../run/event.ts";
import type { Diagnostic } from "../source/diagnostic.ts";

/** A workflow that was loaded and has passed every check. */
export interface Workflow {
  /** Its name, shown at the top of a report. */
  readonly name: string;
  /** What it is for. */
  readonly description?: string;
  /** The file, or the files joined by commas, as they were named. */
  readonly file: string;
  /** What keeps nothing from running: unknown keys, outputs without an id. */
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
  /** What should be said of job files that were loaded when the `vars` were known. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * What the actions of a run may reach, as the options of the same names narrow it on the command
 * line. A kind that is absent is not narrowed and an empty list allows nothing of its kind. With
 * any of them, `shell` steps and plugins need to be named by `run`, since nothing binds what a
 * command does.
 */
export interface Permissions {
  /** Hosts of `http` steps and their redirects: `example.com`, `*.example.com`, `[::1]:80`. */
  readonly net?: readonly string[];
  /** Shells and plugins: `sh`, `/bin/bash`, `runner-name`. */
  readonly run?: readonly string[];
  /** Files that may be read, and folders with all that is in them: job files. */
  readonly read?: readonly string[];
  /** Files that may be written, and folders with all that is in them. */
  readonly write?: readonly string[];
  /** Whether no `shell` step runs, whatever `run` says. */
  readonly noShell?: boolean;
}
