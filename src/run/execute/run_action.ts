import type {
  ActionContext,
  ActionResult,
  ActionScopes,
  AttemptDeadline,
  Dict,
  JobResult,
  ResourceScope,
  SecretSink,
} from "../../action/action.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { Link } from "../../host/chain.ts";
import type { Deadline } from "../../host/deadlines.ts";
import type { Host } from "../../host/host.ts";
import type { Stoppable } from "../cancellation.ts";
import type { StepExecution } from "../run_state.ts";
import { EmbeddedError, isTrue } from "./evaluate_field.ts";

/** The result of an action, and how long it took in milliseconds. */
export interface ActionResponse {
  readonly result: ActionResult;
  readonly elapsed: number;
}

/**
 * Carries an action out once, and calls `answer` with its result, or `fail` with what it threw: at
 * once where nothing is waited for. When the time is over or the run is interrupted, that is the
 * reason; the action has ended what it began by then.
 */
export function runAction<T>(
  step: StepExecution,
  params: Dict,
  timeout: number,
  answer: (response: ActionResponse) => T | Promise<T>,
  fail: (error: unknown) => T | Promise<T>,
): T | Promise<T> {
  const { run, compiled } = step;
  if (!compiled.isLoaded) {
    return compiled.load(run.resources)
      .then(() => runAction(step, params, timeout, answer, fail), fail);
  }
  const { cancellation, host: { clock } } = run;
  const { reason } = cancellation;
  // It may have come while the code was loaded.
  if (reason !== undefined) return fail(new StepError(reason));
  const attempt = new ActionAttempt(step, timeout);
  const began = clock.ticks();
  let returned: ActionResult | Promise<ActionResult>;
  try {
    returned = compiled.act(params, attempt);
  } catch (error) {
    return explainFault(step, params, attempt, error).then(fail);
  }
  if (!(returned instanceof Promise)) {
    return answer({ result: returned, elapsed: clock.ticks() - began });
  }
  attempt.watch();
  return returned.then(
    (result) => {
      attempt.end();
      if (result.traffic) run.onTraffic?.(step.id, result.traffic);
      return answer({ result, elapsed: result.elapsed ?? clock.ticks() - began });
    },
    (error) => {
      attempt.end();
      return explainFault(step, params, attempt, error).then(fail);
    },
  );
}

/** Why an action has no result: it was stopped, or what it threw in words. */
async function explainFault(
  { model: { action } }: StepExecution,
  params: Dict,
  { reason }: ActionAttempt,
  error: unknown,
): Promise<unknown> {
  const fault = error instanceof StepError
    ? error
    : reason ?? (await action.explainer?.())?.explain?.(error, params) ?? error;
  const isWhole = !(fault instanceof StepError) || fault instanceof EmbeddedError;
  if (isWhole || !reason?.details.timedOut) return fault;
  return new StepError(fault.message, fault.hint, { ...fault.details, timedOut: true });
}

/** One attempt of an action, as the action sees it, with its timeout. */
class ActionAttempt implements ActionContext, AttemptDeadline {
  readonly timeout: number;
  readonly deadline: AttemptDeadline = this;
  /** Not private: a context with a signal of its own inherits from this one. */
  readonly step: StepExecution;
  #abort: AbortController | undefined;
  #reason: StepError | undefined;
  #stops: Set<(reason: StepError) => void> | undefined;
  #link: Link<Stoppable> | undefined;
  #isRunning = false;
  #isPaused = false;
  #isOver = false;
  #deadline: Deadline | undefined;

  constructor(step: StepExecution, timeout: number) {
    this.step = step;
    this.timeout = timeout;
  }

  get host(): Host {
    return this.step.run.host;
  }

  get scope(): ActionScopes {
    return new StepScopes(this.step);
  }

  get hold(): ActionContext["hold"] {
    return this.step.round.gate?.hold;
  }

  get secrets(): SecretSink {
    return this.step.run.secrets;
  }

  get label(): string {
    return this.step.name;
  }

  get vars(): Dict {
    return this.step.names.vars as Dict;
  }

  get permissions(): ActionContext["permissions"] {
    return this.step.run.options.permissions;
  }

  get tls(): ActionContext["tls"] {
    return this.step.run.options.tls;
  }

  get openapi(): ActionContext["openapi"] {
    return this.step.run.options.openapi;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  onStop(stop: (reason: StepError) => void): () => void {
    if (this.#reason) stop(this.#reason);
    else (this.#stops ??= new Set()).add(stop);
    return () => void this.#stops?.delete(stop);
  }

  runJobFile(vars: Dict): Promise<JobResult> {
    return this.step.run.runJobFile(this.step, this, vars);
  }

  async readCondition(parameter: string, source: string): Promise<(names: Dict) => boolean> {
    const { parseExpression } = await import("../../expr/parse_expression.ts");
    const { names, ...scope } = this.step.scope;
    const expression = parseExpression(source);
    return (added) =>
      isTrue(expression, { ...scope, names: { ...names, ...added } }, ["with", parameter]);
  }

  async resolvePath(path: string): Promise<string> {
    const { besideDocument, fromCurrentDirectory } = await import(
      "../../workflow/job_files/job_path.ts"
    );
    const { run, model } = this.step;
    const beside = besideDocument(run.document, model.path, path);
    return await fromCurrentDirectory(path, beside, this.host) ?? beside;
  }

  log(text: string): void {
    const { run } = this.step;
    if (run.detail.debug) run.note("debug", text, this.step);
  }

  warn(text: string): void {
    this.step.run.note("warning", text, this.step);
  }

  /** Makes the action end what it started. Only the first reason counts. */
  stop(reason: StepError): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const stop of this.#stops ?? []) stop(reason);
    this.#abort?.abort(reason);
  }

  /** Why the attempt must end, once it must. */
  get reason(): StepError | undefined {
    return this.#reason;
  }

  /** From now on the attempt ends when the run is cancelled or its time is over. */
  watch(): void {
    this.#link = this.step.run.cancellation.add(this);
    this.#isRunning = true;
    if (!this.#isPaused) this.#startTimeout();
  }

  /** Nothing stops the attempt any more. */
  end(): void {
    this.#link?.remove();
    this.#isRunning = false;
    this.#deadline?.cancel();
    this.#isOver = true;
    if (this.#isPaused) this.#tellWait(false);
  }

  pauseTimeout(): void {
    if (this.#isPaused || this.#isOver) return;
    this.#isPaused = true;
    this.#deadline?.cancel();
    this.#tellWait(true);
  }

  resumeTimeout(): void {
    if (!this.#isPaused || this.#isOver) return;
    this.#isPaused = false;
    this.#tellWait(false);
    if (this.#isRunning) this.#startTimeout();
  }

  #tellWait(waits: boolean): void {
    this.step.round.gate?.wait(waits);
  }

  after(milliseconds: number, act: () => void): Deadline {
    return this.step.run.deadlines.add(milliseconds, act);
  }

  #startTimeout(): void {
    this.#deadline = this.step.run.deadlines.add(this.timeout, () => {
      const time = formatDuration(this.timeout);
      const details = { timedOut: true };
      this.stop(new StepError(`the step timed out after ${time}`, undefined, details));
    });
  }
}

/** The scopes of a step; that of the step itself is made when something is opened in it. */
class StepScopes implements ActionScopes {
  readonly #step: StepExecution;

  constructor(step: StepExecution) {
    this.#step = step;
  }

  get run(): ResourceScope {
    return this.#step.run.resources;
  }

  get job(): ResourceScope {
    return this.#step.round.resources;
  }

  get step(): ResourceScope {
    return this.#step.resources;
  }

  get session(): object | undefined {
    return this.#step.round.session;
  }
}
