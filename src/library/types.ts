import type { WrittenPermissions } from "../action/permissions/rules.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import type { Dict } from "../base/value/value.ts";
import type { RunEvent, RunStarted } from "../run/event.ts";

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

/** The options for loading a workflow. */
export interface LoadOptions {
  /**
   * The permissions of the actions of its runs; everything by default. It is set here since plugins
   * and job files, which it restricts too, are read while a workflow is loaded.
   */
  readonly permissions?: WrittenPermissions;
}

/** The options for making a plan: its inputs, and the selected jobs. */
export interface PlanOptions {
  /** The variables that `vars` see by bare names, in place of the environment of the process. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Values for `vars` of the workflow, merged into them key by key. Text with braces in it stays
   * text. A name that the workflow does not have is an error.
   */
  readonly vars?: Dict;
  /** Jobs that run, with what they need, by id, name, or a pattern like `deploy*`; all without. */
  readonly only?: readonly string[];
  /** With `only`: whether what these jobs need is left out. */
  readonly noNeeds?: boolean;
  /** Jobs that are skipped as if their `skipif` were true, named in the same ways. */
  readonly skip?: readonly string[];
  /** False makes a plan also where static analysis proves that a run must fail. */
  readonly check?: boolean;
}

/** The options for loading and selecting the workflows of a suite. */
export interface SuiteOptions extends LoadOptions {
  /**
   * The variables that `vars` see by bare names, in place of the environment of the process. They
   * win over those of the `env_file` of a suite file.
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** Values for `vars` of the workflows that have them; they win over those of a suite file. */
  readonly vars?: Dict;
  /** Chooses jobs by their tags: `smoke and not slow`. */
  readonly tags?: string;
  /** One share of the workflows: the second of five is `{ index: 2, of: 5 }`. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** False also runs workflows that must fail according to static analysis. */
  readonly check?: boolean;
}

/** Workflows that were loaded to run together. */
export interface Suite {
  /** The name that a suite file gives. */
  readonly name?: string;
  /** In the order of the suite, without setup and teardown. */
  readonly workflows: readonly SuiteWorkflow[];
}

/** One of them. */
export interface SuiteWorkflow {
  /** The file, as it was found. */
  readonly file: string;
  /** The name that it gives itself. */
  readonly name: string;
}

/** The options for running a suite. */
export interface SuiteRunOptions extends RunOptions {
  /** The maximum number of workflows at once: by default one for each processor, at most 4. */
  readonly workers?: number;
}

/**
 * The options for running a plan. `makePlan` takes the jobs to run and their `vars`, and what
 * they may reach for `loadWorkflow`.
 */
export interface RunOptions {
  /**
   * Interrupts the run; reports show its reason if that is a string. Running steps are stopped,
   * no others start, and the events go on to `run_finished`.
   */
  readonly signal?: AbortSignal;
  /** The time limit of the whole run, in milliseconds; no limit without it. */
  readonly timeout?: number;
  /** Begins no new job and no new step after the first failure. */
  readonly failFast?: boolean;
  /** The time limit of `finally` steps after an interruption: milliseconds, by default 30,000. */
  readonly cleanupTimeout?: number;
  /**
   * The milliseconds that the stages of a load job take at most; `off` runs each such job once, as if
   * it had no `load`.
   */
  readonly load?: number | "off";
  /** The maximum number of jobs that run at once, at least 1; no limit without it. */
  readonly jobs?: number;
  /** The defaults of all TLS connections, which a step may override. */
  readonly tls?: TlsOptions;
  /**
   * The path of an OpenAPI description, from the current directory, that the requests and
   * responses of all `http` steps that name none must match. `passed` rejects with a `LoadError` if
   * it cannot be read; what was called of it is in `run_finished`.
   */
  readonly openapi?: string;
  /**
   * The reaction to a missing or different snapshot: `check` fails in both cases, `write` writes
   * a missing one, `update` replaces a different one, `prune` also removes those that no step
   * names. Without it: `check` if CI=true, else `write`.
   */
  readonly snapshots?: "check" | "write" | "update" | "prune";
  /** Reports what every step sent, received and published, not only failed ones. */
  readonly detailed?: boolean;
  /** The same without truncation, and with the diagnostic messages of actions. */
  readonly debug?: boolean;
  /** Runs some jobs of the plan as one process of a run that `prepareRun` has prepared. */
  readonly piece?: PieceOptions;
  /**
   * Receives each event as it happens, and is not awaited. When it throws, the run is interrupted
   * and `passed` rejects with what it threw.
   */
  readonly onEvent?: (event: RunEvent) => void;
}

/** What makes a process a part of a run on several machines. */
export interface PieceOptions {
  /** The text that `prepareRun` made. Its `vars` and jobs apply, not those of the plan. */
  readonly runFile: string;
  /** The jobs that run, by id, name or a pattern. What they need is not run. */
  readonly only?: readonly string[];
  /** Runs the `finally` of the workflow instead, once all else is over. */
  readonly finally?: boolean;
  /** One share of the rounds of a repeated job: `2/8`. */
  readonly rounds?: string;
  /** The texts of the outputs files of the jobs before. */
  readonly inputs?: readonly string[];
  /** The key that seals secrets: at least 32 bytes, the same for all processes of the run. */
  readonly key?: string;
  /** When it begins: milliseconds since 1970. */
  readonly startAt?: number;
  /** Takes the text of the outputs file, before `passed` resolves. */
  readonly onOutputs?: (text: string) => void;
}

/** Certificates for a whole run, each as PEM text or as a path from the current directory. */
export interface TlsOptions {
  /** Authorities to trust in place of those of the system. */
  readonly ca?: string;
  /** The client certificate; the file or text may hold its key as well. */
  readonly cert?: string;
  /** The key of the client certificate. */
  readonly key?: string;
  /** Accepts any certificate of a server. A step's `verify: true` wins. */
  readonly insecure?: boolean;
}

/**
 * A run. It begins at once where there is an `onEvent`, otherwise when its events or `passed` are
 * first asked for.
 *
 * Its events can be read by one loop, which must begin no later than the run. Who leaves the loop
 * early interrupts the run, and goes on when all is ended that it began. Events are kept in memory
 * only from when they happen until the loop reads them, and not at all without a loop.
 */
export interface Run extends AsyncIterable<RunEvent> {
  /**
   * Whether every job passed or was skipped on purpose. By then all is ended that the run began:
   * commands are asked to end and then made to, with all that they started, and temporary files
   * are removed.
   */
  readonly passed: Promise<boolean>;
}

/** The options for preparing a run on several machines. */
export interface PrepareOptions {
  /** The id of the run: letters, digits, `.`, `_` and `-`; a random one without it. */
  readonly id?: string;
  /** The key that seals secret vars: at least 32 bytes, the same for all processes of the run. */
  readonly key?: string;
}
