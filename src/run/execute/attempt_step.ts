import type {
  ActionContext,
  ActionResult,
  ActionScopes,
  Arrival,
  AttemptDeadline,
  Condition,
  Dict,
  JobResult,
  LateContext,
  ResourceScope,
  SecretSink,
  StepIdentity,
} from "../../action/action.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration, roundDuration } from "../../base/value/duration.ts";
import type { Trace } from "../../base/trace.ts";
import { LimitError, type Value } from "../../base/value/value.ts";
import { renderData } from "../../expr/template.ts";
import { addOutputSecrets } from "../../secrets/find_secrets.ts";
import { assertionPath, STEP_TIMEOUT } from "../../workflow/step_facts.ts";
import type { Snapshot } from "../../workflow/model.ts";
import type { AssertionCount, Failure } from "../event.ts";
import { NO_RESPONSE, type StepExecution } from "../run_state.ts";
import type { SnapshotCheck } from "../snapshots/check_snapshot.ts";
import {
  EmbeddedError,
  evaluateDuration,
  FieldError,
  inField,
  isMistake,
  isTrue,
  UnexpectedResult,
} from "./evaluate_field.ts";
import type { Deadline, Link } from "../../host/deadlines.ts";
import type { Host } from "../../host/host.ts";
import type { Stoppable } from "../cancellation.ts";

export interface AttemptResult {
  readonly outcome: "passed" | "failed" | "error";
  /** Whether another attempt may do better: a mistake in the step itself would be made again. */
  readonly isRetryable: boolean;
  /** What was thrown, and what is not as expected. */
  readonly errors: readonly unknown[];
  /** The same in words, once `explain` has made them. */
  readonly failures: readonly Failure[];
  readonly response?: TimedResult;
  /** The request and the response, or the parts of them that an action had when it was ended. */
  readonly exchange?: ExchangeData;
  /** The number of its assertions that were true, if any were evaluated. */
  readonly assertions?: AssertionCount;
  /** What its result is still to be compared with. */
  readonly snapshot?: Snapshot;
  /** The result of that, and the function that writes it if nothing else has failed. */
  readonly comparison?: SnapshotCheck;
}

/** The data of an exchange; a step that timed out may have no response. */
interface ExchangeData extends Pick<ActionResult, "req" | "brief" | "whole"> {
  readonly res: Dict | null;
}

/**
 * Renders `with`, carries the action out, publishes the outputs and evaluates the test. Calls `then`
 * with the result, at once where the action waits for nothing. `remaining` are the
 * milliseconds that `for` of a retry still has.
 */
export function attemptStep<T>(
  step: StepExecution,
  then: (attempt: AttemptResult) => T | Promise<T>,
  remaining = Infinity,
): T | Promise<T> {
  const { run, compiled, model, scope } = step;
  let params: Dict;
  let timeout: number;
  try {
    params = compiled.params ?? inField(["with"], () => renderData(model.with, scope)) as Dict;
    timeout = compiled.timeout ?? timeoutOf(step);
  } catch (error) {
    return then(mistake(error));
  }
  run.addExchangedSecrets(params);
  step.params = params;
  return runAction(
    step,
    params,
    Math.min(timeout, remaining),
    (response) => then(judgeSafely(step, response)),
    (error) => then(withoutResponse(step, { timeout, remaining }, error)),
  );
}

/** The result of an attempt that nothing can be better than. */
function mistake(error: unknown): AttemptResult {
  return { outcome: "error", isRetryable: false, errors: [error], failures: NO_FAILURES };
}

function judgeSafely(step: StepExecution, response: TimedResult): AttemptResult {
  try {
    return judge(step, response);
  } catch (error) {
    return mistake(error);
  }
}

/** Whether what an action answered is good. */
function judge(step: StepExecution, response: TimedResult): AttemptResult {
  const { run, compiled, model, scope } = step;
  const { result: exchange, result: { job } } = response;
  run.addExchangedSecrets(exchange.req);
  run.addExchangedSecrets(exchange.res, model.action.responseFields);
  setResponse(step, response);
  const until = model.retry?.until;
  if (until) {
    const waits = {
      outcome: "failed",
      isRetryable: true,
      failures: [],
      response,
      exchange,
    } as const;
    try {
      if (!isTrue(until, scope, ["retry", "until"])) return { ...waits, errors: [] };
    } catch (error) {
      return { ...waits, isRetryable: !isMistake(error), errors: [error] };
    }
  }
  const errors: unknown[] = [];
  // What a job that failed has published says nothing more.
  const hasJobFailed = job !== undefined && job.failed > 0;
  if (hasJobFailed) errors.push(new UnexpectedResult({ kind: "job", job }));
  const unpublished: unknown[] = [];
  if (compiled.publishes) publishOutputs(step, unpublished);
  const { isGood, assertions } = hasJobFailed ? BAD : evaluateTests(step, response, errors);
  // A false test says why an output is missing, which in turn says why a test has an error.
  const broken = errors.findIndex((error) => error instanceof FieldError);
  errors.splice(broken < 0 ? errors.length : broken, 0, ...unpublished);
  return {
    outcome: isGood ? "passed" : "failed",
    isRetryable: !until && !errors.some(isMistake),
    errors,
    failures: NO_FAILURES,
    response,
    exchange,
    assertions,
    snapshot: errors.length === 0 ? model.snapshot : undefined,
  };
}

/** The result of an attempt whose action threw. */
function withoutResponse(
  step: StepExecution,
  { timeout, remaining }: { readonly timeout: number; readonly remaining: number },
  error: unknown,
): AttemptResult {
  const thrown = error instanceof FieldError ? error.cause : error;
  const { parameter, timedOut, ...parts } = thrown instanceof StepError ? thrown.details : {};
  const [req, res] = [parts.req, parts.res] as (Dict | undefined)[];
  for (const part of [req, res]) if (part) step.run.addExchangedSecrets(part);
  const field = parameter !== undefined
    ? ["with", parameter]
    : timedOut && remaining < timeout
    ? ["retry", "for"]
    : timedOut && timeout !== STEP_TIMEOUT
    ? ["timeout"]
    : ["uses"];
  return {
    outcome: "error",
    isRetryable: !(error instanceof EmbeddedError),
    errors: [error instanceof FieldError ? error : new FieldError(field, error)],
    failures: NO_FAILURES,
    exchange: req && { req, res: res ?? null },
  };
}

/** The timeout of each attempt, in milliseconds. */
export function timeoutOf({ model, scope }: StepExecution): number {
  return evaluateDuration(model.timeout, scope, ["timeout"]) || STEP_TIMEOUT;
}

function setResponse(step: StepExecution, { result, elapsed }: TimedResult): void {
  const { names } = step;
  if (result.status !== 0) step.trouble = result.brief;
  names.req = result.req;
  names.res = result.res;
  for (const name of step.model.action.resultNames ?? []) names[name] = result.res[name] ?? null;
  names.status = result.status;
  // In whole nanoseconds: what the division adds below them is noise.
  step.whole = result.whole;
  const sec = Math.round(elapsed * 1e6) / 1e9;
  names.rt = { ...NO_RESPONSE.rt, duration: formatDuration(elapsed), sec };
}

/** Evaluates and publishes every output that can be evaluated; adds the errors of the others. */
function publishOutputs(
  { run, model, scope, round, names }: StepExecution,
  errors: unknown[],
): void {
  const values: Record<string, Value> = Object.create(null);
  for (const { name, value } of model.outputs) {
    try {
      values[name] = inField(["outputs", name], () => value.evaluate(scope)) as Value;
    } catch (error) {
      errors.push(error);
    }
  }
  addOutputSecrets(values, run.secrets);
  try {
    round.outputs.publish(model.id!, values);
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    const tooLarge = new StepError(`cannot publish the outputs of "${model.id}": ${error.message}`);
    errors.push(new FieldError(["outputs"], tooLarge));
  }
  names.outputs = round.outputs.view;
}

/** The phases of the action that took any time. */
export function phasesOf({ response }: AttemptResult): Record<string, number> | undefined {
  let kept: Record<string, number> | undefined;
  const phases = response?.result.phases ?? {};
  for (const name of Object.keys(phases)) {
    const time = roundDuration(phases[name]!);
    if (time > 0) (kept ??= {})[name] = time;
  }
  return kept;
}

const NO_FAILURES: readonly Failure[] = [];

/** The outcome of the assertions of a step. */
interface TestResult {
  readonly isGood: boolean;
  readonly assertions?: AssertionCount;
}

const BAD: TestResult = { isGood: false };

/**
 * Whether the response is good: by the test, and by the status of the action unless the step judges
 * that itself. Adds an error for each assertion that is not true.
 */
function evaluateTests(
  { compiled, model: { test, maxTime }, scope }: StepExecution,
  { elapsed, result: { violations = [], status, phases } }: TimedResult,
  errors: unknown[],
): TestResult {
  const before = errors.length;
  for (const assertion of test ?? []) {
    try {
      if (isTrue(assertion.expression, scope, assertionPath(["test"], assertion))) continue;
      errors.push(new UnexpectedResult({ kind: "test", assertion }));
    } catch (error) {
      errors.push(error);
    }
  }
  if (maxTime) {
    try {
      const limit = evaluateDuration(maxTime, scope, ["max_time"]);
      const spent = { elapsed: roundDuration(elapsed), phases };
      if (elapsed > limit) errors.push(new UnexpectedResult({ kind: "max_time", limit, ...spent }));
    } catch (error) {
      errors.push(error);
    }
  }
  const failed = errors.length - before;
  for (const violation of violations) {
    errors.push(new UnexpectedResult({ kind: "violation", violation }));
  }
  const isGood = errors.length === before && (status === 0 || compiled.judgesStatus);
  if (!test && !maxTime) return { isGood };
  const all = (test?.length ?? 0) + (maxTime ? 1 : 0);
  return { isGood, assertions: { passed: all - failed, failed } };
}

/** The result of an action, and how long it took in milliseconds. */
export interface TimedResult {
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
  answer: (response: TimedResult) => T | Promise<T>,
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
  const attempt = new AttemptContext(step, timeout);
  const began = clock.ticks();
  let returned: ActionResult | Promise<ActionResult>;
  try {
    returned = compiled.carryOut(params, attempt);
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
  { reason }: AttemptContext,
  error: unknown,
): Promise<unknown> {
  const fault = error instanceof StepError || error instanceof FieldError
    ? error
    : reason ?? (await action.explainer?.())?.explain?.(error, params) ?? error;
  const isWhole = !(fault instanceof StepError) || fault instanceof EmbeddedError;
  if (isWhole || !reason?.details.timedOut) return fault;
  return new StepError(fault.message, fault.hint, { ...fault.details, timedOut: true });
}

/** One attempt of an action, as the action sees it, with its timeout. */
class AttemptContext implements ActionContext, AttemptDeadline {
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

  get identity(): StepIdentity {
    return { ...this.step.id, user: this.step.round.user };
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

  get trace(): Trace | undefined {
    return this.step.attempt;
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

  async readCondition(parameter: string, source: string): Promise<Condition> {
    const { readCondition } = await import("./read_condition.ts");
    return readCondition(this.step, ["with", parameter], source);
  }

  async late(): Promise<LateContext> {
    return (await import("./read_condition.ts")).lateContext(this.step);
  }

  async resolvePath(path: string): Promise<string> {
    const { findNamedFile } = await import("../../workflow/job_files/job_path.ts");
    return await findNamedFile(this.step.run.document, this.step.model.path, path, this.host);
  }

  log(text: string): void {
    const { run } = this.step;
    if (run.detail.debug) run.note("debug", text, this.step);
  }

  warn(text: string): void {
    this.step.run.note("warning", text, this.step);
  }

  messagesCame(count: number, messages: readonly Arrival[]): void {
    const { id: run, run: { host, emit } } = this.step;
    emit({ type: "messages_came", time: host.clock.now(), run, count, messages });
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

  after(milliseconds: number, callback: () => void): Deadline {
    return this.step.run.deadlines.add(milliseconds, callback);
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

  get user(): ResourceScope | undefined {
    return this.#step.model.isSetup ? this.#step.round.resources : undefined;
  }
}
