import type { RunTls } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import type { RunEvent } from "../run/event.ts";
import type { RunOptions as ModelOptions } from "../run/run_options.ts";
import { EventQueue } from "./event_queue.ts";
import { explained } from "./explained.ts";
import { type HeldPlan, planOf } from "./handles.ts";
import type { Given } from "./open_given.ts";
import type { Plan } from "./types.ts";

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
  readonly given?: Given;
  /**
   * Receives each event as it happens, and is not awaited. When it throws, the run is interrupted
   * and `passed` rejects with what it threw.
   */
  readonly onEvent?: (event: RunEvent) => void;
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

/**
 * Runs a plan. Secrets are masked in its events: values of secret names in the environment, in
 * `vars` and in what the steps are given and give. Throws RangeError for invalid options.
 *
 * @example Follow a run
 * ```ts
 * import { loadWorkflow, makePlan, run } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const running = run(await makePlan(workflow));
 * for await (const event of running) {
 *   if (event.type === "step_finished") console.log(event.result.name, event.result.state);
 * }
 * console.log(await running.passed);
 * ```
 *
 * @example Print a report, with a bound of time and of jobs at once
 * ```ts
 * import { loadWorkflow, makePlan, makeReport, run } from "@runner/runner";
 *
 * const plan = await makePlan(await loadWorkflow("examples/hello.yml"));
 * const report = await makeReport("text");
 * const passed = await run(plan, {
 *   jobs: 4,
 *   signal: AbortSignal.timeout(60_000),
 *   onEvent: (event) => console.log(report(event)),
 * }).passed;
 * console.log(passed ? "good" : "bad");
 * ```
 */
export function run(plan: Plan, options: RunOptions = {}): Run {
  checkOptions(options);
  return startRun(runnerOf(planOf(plan), options), options);
}

/** Throws RangeError for invalid options. */
export function checkOptions({ jobs, timeout, cleanupTimeout }: RunOptions): void {
  if (jobs !== undefined && !(Number.isSafeInteger(jobs) && jobs >= 1)) {
    throw new RangeError(`jobs must be a whole number from 1, not ${jobs}`);
  }
  for (const [name, time] of Object.entries({ timeout, cleanupTimeout })) {
    if (time !== undefined && !(time > 0)) {
      throw new RangeError(`${name} must be more than 0 milliseconds, not ${time}`);
    }
  }
}

/** Carries out a run of the library once it starts. */
export type Runner = (
  emit: (event: RunEvent) => void,
  options: Required<Pick<ModelOptions, "cancellation" | "detail">> & Pick<ModelOptions, "timeout">,
) => Promise<boolean>;

/** Creates a run, which starts at once if there is an `onEvent`. */
export function startRun(runner: Runner, options: RunOptions): Run {
  const running = new PlanRun(runner, options);
  if (options.onEvent) running.begin();
  return running;
}

function runnerOf(
  { model, permissions, given }: HeldPlan,
  { failFast = false, jobs, cleanupTimeout, snapshots, tls, openapi, given: piece }: RunOptions,
): Runner {
  return async (emit, options) => {
    const { run: runPlan } = await import("../run/run.ts");
    const { denoHost } = await import("../host/deno_host.ts");
    const { makeMasker } = await import("../secrets/add_secrets.ts");
    const host = denoHost();
    const secrets = makeMasker(given);
    const opened = piece &&
      await (await import("./open_given.ts")).openGiven(model, piece, secrets);
    const take = opened ? opened.recorder.around(emit) : emit;
    const passed = await runPlan(opened?.plan ?? model, host, take, {
      ...options,
      ...await tlsOf(tls, host),
      failFast,
      secrets,
      ...opened?.options,
      ...jobs === undefined ? {} : { jobs },
      ...cleanupTimeout === undefined ? {} : { cleanupTimeout },
      ...snapshots ? { snapshots } : {},
      ...await openapiOf(openapi, permissions, host),
      ...permissions ? { permissions } : {},
    });
    const outputs = await opened?.renderOutputs();
    if (outputs !== undefined) piece?.onOutputs?.(outputs);
    return passed;
  };
}

/** Reads the TLS settings of the options. Throws `UsageError`. */
export async function tlsOf(
  tls: TlsOptions | undefined,
  host: Host,
): Promise<{ readonly tls?: RunTls }> {
  if (!tls) return {};
  const { readRunTls } = await import("../action/tls/read_run_tls.ts");
  return { tls: await readRunTls(tls, host, (option) => `"tls.${option}"`) };
}

/** Reads the description of the options, to find mistakes in it. Throws LoadError. */
export async function openapiOf(
  openapi: string | undefined,
  permissions: Permissions | undefined,
  host: Host,
): Promise<{ readonly openapi?: string }> {
  if (openapi === undefined) return {};
  const { checkDescription } = await import("../workflow/decode/check_descriptions.ts");
  await checkDescription(openapi, permissions ? { permissions } : {}, host).catch(
    async (error) => {
      throw await explained(error);
    },
  );
  return { openapi };
}

class PlanRun implements Run {
  readonly #runner: Runner;
  readonly #options: RunOptions;
  readonly #stop = new AbortController();
  #passed: Promise<boolean> | undefined;
  #queue: EventQueue | undefined;
  /** Why the events can no longer be read. */
  #closed: string | undefined;

  constructor(runner: Runner, options: RunOptions) {
    this.#runner = runner;
    this.#options = options;
  }

  get passed(): Promise<boolean> {
    return this.begin();
  }

  begin(): Promise<boolean> {
    if (this.#passed) return this.#passed;
    this.#passed = this.#run();
    // The program may take the promise first and begin its loop right after.
    queueMicrotask(() => this.#closed ??= "begin to read the events no later than the run begins");
    return this.#passed;
  }

  [Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    if (this.#closed !== undefined) throw new TypeError(this.#closed);
    this.#closed = "the events of a run can be read once";
    const queue = this.#queue = new EventQueue();
    this.begin().then(() => queue.end(), (error) => queue.fail(error));
    return this.#read(queue);
  }

  async *#read(queue: EventQueue): AsyncGenerator<RunEvent> {
    try {
      yield* queue.read();
    } finally {
      // Only who leaves early finds the run still going on.
      this.#queue = undefined;
      this.#stop.abort("nobody reads its events any more");
      await this.#passed;
    }
  }

  async #run(): Promise<boolean> {
    const { signal, onEvent } = this.#options;
    const interrupt = () => this.#stop.abort(wordsOf(signal?.reason));
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt);
    const thrown: unknown[] = [];
    const emit = (event: RunEvent) => {
      this.#queue?.add(event);
      if (thrown.length > 0) return;
      try {
        onEvent?.(event);
      } catch (error) {
        thrown.push(error);
        this.#stop.abort("its events cannot be taken any more");
      }
    };
    try {
      const passed = await this.#runPlan(emit);
      // Reported here, since an error thrown in a step would fail that step.
      if (thrown.length > 0) throw thrown[0];
      return passed;
    } finally {
      signal?.removeEventListener("abort", interrupt);
    }
  }

  async #runPlan(emit: (event: RunEvent) => void): Promise<boolean> {
    const { detailed = false, debug = false } = this.#options;
    const all = detailed || debug;
    return await this.#runner(emit, {
      cancellation: await this.#cancellation(),
      detail: { all, places: all, debug, ...debug ? { limit: Infinity } : {} },
      ...await this.#timeout(),
    });
  }

  /** The end of the run by what the caller or a reader does, as the run knows it. */
  async #cancellation() {
    const { Cancellation } = await import("../run/cancellation.ts");
    const cancellation = new Cancellation();
    const { signal } = this.#stop;
    const interrupt = () => cancellation.cancel(String(signal.reason));
    if (signal.aborted) interrupt();
    else signal.addEventListener("abort", interrupt);
    return cancellation;
  }

  async #timeout() {
    const { timeout } = this.#options;
    if (timeout === undefined) return {};
    const { formatDuration } = await import("../base/value/duration.ts");
    return {
      timeout: {
        milliseconds: timeout,
        reason: `the run timed out after ${formatDuration(timeout)}`,
      },
    };
  }
}

/** Why a run was interrupted, as reports show it. */
function wordsOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  // The reasons that signals have by themselves are sentences about the signal.
  if (reason.name === "AbortError") return "interrupted";
  return reason.name === "TimeoutError" ? "timed out" : reason.message;
}
