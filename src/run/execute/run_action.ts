import type {
  ActionContext,
  ActionResult,
  ActionScopes,
  AttemptDeadline,
  Dict,
  JobResult,
  SecretSink,
} from "../../action/action.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { Link } from "../../host/chain.ts";
import type { Deadline, Deadlines } from "../../host/deadlines.ts";
import type { Host } from "../../host/host.ts";
import type { Stoppable } from "../cancellation.ts";
import type { StepExecution } from "../run_state.ts";
import { compiledStep } from "./compiled_step.ts";
import { EmbeddedError, isTrue } from "./evaluate_field.ts";

/** The result of an action, and how long it took in milliseconds. */
export interface ActionResponse {
  readonly result: ActionResult;
  readonly elapsed: number;
}

/**
 * Carries an action out once. When the time is over or the run is interrupted, what the action
 * throws is the reason; it has ended what it began by then.
 */
export async function runAction(
  step: StepExecution,
  params: Dict,
  timeout: number,
): Promise<ActionResponse> {
  const { run, model, model: { action } } = step;
  const compiled = compiledStep(run, model);
  if (!compiled.isLoaded) await compiled.load(run);
  const { reason } = run.cancellation;
  if (reason !== undefined) throw new StepError(reason); // It came while the code was loaded.
  const attempt = new ActionAttempt(step, timeout);
  const { clock } = run.host;
  const began = clock.ticks();
  try {
    const returned = compiled.act(params, attempt);
    if (!(returned instanceof Promise)) return { result: returned, elapsed: clock.ticks() - began };
    attempt.watch();
    const result = await returned;
    return { result, elapsed: result.elapsed ?? clock.ticks() - began };
  } catch (error) {
    const fault = error instanceof StepError ? error : attempt.reason ??
      (await action.explainer?.())?.explain?.(error, params) ?? error;
    const isWhole = !(fault instanceof StepError) || fault instanceof EmbeddedError;
    if (isWhole || !attempt.reason?.details.timedOut) throw fault;
    throw new StepError(fault.message, fault.hint, { ...fault.details, timedOut: true });
  } finally {
    attempt.end();
  }
}

/** One attempt of an action, as the action sees it. */
class ActionAttempt implements ActionContext {
  readonly host: Host;
  readonly deadline: AttemptTimer;
  readonly scope: ActionScopes;
  readonly secrets: SecretSink;
  readonly label: string;
  readonly vars: Dict;
  readonly permissions: ActionContext["permissions"];
  readonly tls: ActionContext["tls"];
  readonly openapi: ActionContext["openapi"];
  readonly #step: StepExecution;
  #abort: AbortController | undefined;
  #reason: StepError | undefined;
  #link: Link<Stoppable> | undefined;

  constructor(step: StepExecution, timeout: number) {
    const { run, run: { options } } = step;
    this.host = run.host;
    this.deadline = new AttemptTimer(run.deadlines, timeout, this);
    this.scope = step.resources;
    this.secrets = run.secrets;
    this.label = step.name;
    this.vars = step.names.vars as Dict;
    this.permissions = options.permissions;
    this.tls = options.tls;
    this.openapi = options.openapi;
    this.#step = step;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  runJobFile(vars: Dict): Promise<JobResult> {
    return this.#step.run.runJobFile(this.#step, this, vars);
  }

  async readCondition(parameter: string, source: string): Promise<(names: Dict) => boolean> {
    const { parseExpression } = await import("../../expr/parse_expression.ts");
    const { names, ...scope } = this.#step.scope;
    const expression = parseExpression(source);
    return (added) =>
      isTrue(expression, { ...scope, names: { ...names, ...added } }, ["with", parameter]);
  }

  async resolvePath(path: string): Promise<string> {
    const { besideDocument, fromCurrentDirectory } = await import(
      "../../workflow/job_files/job_path.ts"
    );
    const { run, model } = this.#step;
    const beside = besideDocument(run.document, model.path, path);
    return await fromCurrentDirectory(path, beside, this.host) ?? beside;
  }

  log(text: string): void {
    const { run } = this.#step;
    if (run.detail.debug) run.note("debug", text, this.#step);
  }

  warn(text: string): void {
    this.#step.run.note("warning", text, this.#step);
  }

  /** Makes the action end what it started. Only the first reason counts. */
  stop(reason: StepError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#abort?.abort(reason);
  }

  /** Why the attempt must end, once it must. */
  get reason(): StepError | undefined {
    return this.#reason;
  }

  /** From now on the attempt ends when the run is cancelled or its time is over. */
  watch(): void {
    this.#link = this.#step.run.cancellation.add(this);
    this.deadline.start();
  }

  /** Nothing stops the attempt any more. */
  end(): void {
    this.#link?.remove();
    this.deadline.end();
  }
}

/** The timeout of an attempt. */
class AttemptTimer implements AttemptDeadline {
  readonly timeout: number;
  readonly #deadlines: Deadlines;
  readonly #attempt: Stoppable;
  #isRunning = false;
  #isPaused = false;
  #deadline: Deadline | undefined;

  constructor(deadlines: Deadlines, timeout: number, attempt: Stoppable) {
    this.#deadlines = deadlines;
    this.timeout = timeout;
    this.#attempt = attempt;
  }

  pauseTimeout(): void {
    this.#isPaused = true;
    this.#deadline?.cancel();
  }

  resumeTimeout(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#isRunning) this.#set();
  }

  after(milliseconds: number, act: () => void): Deadline {
    return this.#deadlines.add(milliseconds, act);
  }

  start(): void {
    this.#isRunning = true;
    if (!this.#isPaused) this.#set();
  }

  end(): void {
    this.#isRunning = false;
    this.#deadline?.cancel();
  }

  #set(): void {
    this.#deadline = this.#deadlines.add(this.timeout, () => {
      const time = formatDuration(this.timeout);
      const details = { timedOut: true };
      this.#attempt.stop(new StepError(`the step timed out after ${time}`, undefined, details));
    });
  }
}
