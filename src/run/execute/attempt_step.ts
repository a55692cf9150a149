import type { ActionResult } from "../../action/action.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration, roundDuration } from "../../base/value/duration.ts";
import { type Dict, LimitError, type Value } from "../../base/value/value.ts";
import { renderData } from "../../expr/template/template_data.ts";
import { addOutputSecrets } from "../../secrets/add_secrets.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import { STEP_TIMEOUT } from "../../workflow/decode/fields.ts";
import type { AssertionCount, Failure } from "../event.ts";
import type { StepExecution } from "../run_state.ts";
import type { SnapshotCheck } from "../snapshots/check_snapshot.ts";
import {
  EmbeddedError,
  evaluateDuration,
  FieldError,
  inField,
  isTrue,
  UnexpectedResult,
} from "./evaluate_field.ts";
import { type ActionResponse, runAction } from "./run_action.ts";

/** The result of one attempt of a step. */
export interface AttemptResult {
  readonly outcome: "passed" | "failed" | "error";
  /** Whether another attempt may do better: a mistake in the step itself would be made again. */
  readonly isRetryable: boolean;
  readonly failures: readonly Failure[];
  readonly response?: ActionResponse;
  /** The request and the response, or the parts of them that an action had when it was ended. */
  readonly exchange?: ExchangeData;
  /** The number of its assertions that were true, if any were evaluated. */
  readonly assertions?: AssertionCount;
  /** Its snapshot, and the function that writes it if nothing else has failed. */
  readonly snapshot?: SnapshotCheck;
}

/** The data of an exchange; a step that timed out may have no response. */
interface ExchangeData extends Pick<ActionResult, "req" | "brief" | "whole"> {
  readonly res: Dict | null;
}

/** Renders `with`, carries the action out, publishes the outputs and evaluates the test. */
export async function attemptStep(step: StepExecution): Promise<AttemptResult> {
  const { run, model, scope } = step;
  step.forgetResponse();
  let params: Dict;
  let timeout: number;
  try {
    params = inField(["with"], () => renderData(model.with, scope)) as Dict;
    timeout = timeoutOf(step);
  } catch (error) {
    return { outcome: "error", isRetryable: false, failures: [await step.failureOf(error)] };
  }
  run.addExchangedSecrets(params);
  step.params = params;
  let response: ActionResponse;
  try {
    response = await runAction(step, params, timeout);
  } catch (error) {
    return await withoutResponse(step, timeout, error);
  }
  const { result: exchange, result: { job } } = response;
  run.addExchangedSecrets(exchange.req);
  run.addExchangedSecrets(exchange.res, model.action.responseFields);
  setResponse(step, response);
  const until = model.retry?.until;
  if (until) {
    const waits = { outcome: "failed", isRetryable: true, response, exchange } as const;
    try {
      if (!isTrue(until, scope, ["retry", "until"])) return { ...waits, failures: [] };
    } catch (error) {
      return { ...waits, failures: [await step.failureOf(error)] };
    }
  }
  const errors: unknown[] = [];
  // What a job that failed has published says nothing more.
  const hasJobFailed = job !== undefined && job.failed > 0;
  if (hasJobFailed) errors.push(new UnexpectedResult({ kind: "job", job }));
  if (model.id !== undefined && model.outputs.length > 0) {
    errors.push(...publishOutputs(step, model.id));
  }
  const tests = hasJobFailed ? { isGood: false, errors: [] } : evaluateTests(step, response);
  errors.push(...tests.errors);
  const failures: Failure[] = [];
  for (const error of errors) failures.push(await step.failureOf(error));
  const snapshot = model.snapshot && failures.length === 0
    ? await (await import("../snapshots/check_snapshot.ts")).checkSnapshot(step, model.snapshot)
    : undefined;
  if (snapshot) failures.push(...snapshot.failures);
  // A comparison with a snapshot counts as a test, regardless of the status.
  const isTested = model.snapshot !== undefined && tests.errors.length === 0;
  const isGood = (tests.isGood || isTested) && !snapshot?.failures.length && !hasJobFailed;
  return {
    outcome: isGood ? "passed" : "failed",
    isRetryable: !until,
    failures,
    response,
    exchange,
    assertions: withSnapshot(tests.assertions, snapshot),
    snapshot,
  };
}

/** The result of an attempt whose action threw. */
async function withoutResponse(
  step: StepExecution,
  timeout: number,
  error: unknown,
): Promise<AttemptResult> {
  const { parameter, timedOut, ...parts } = error instanceof StepError ? error.details : {};
  const [req, res] = [parts.req, parts.res] as (Dict | undefined)[];
  for (const part of [req, res]) if (part) step.run.addExchangedSecrets(part);
  const field = parameter !== undefined
    ? ["with", parameter]
    : timedOut && timeout !== STEP_TIMEOUT
    ? ["timeout"]
    : ["uses"];
  const fault = error instanceof FieldError ? error : new FieldError(field, error);
  return {
    outcome: "error",
    isRetryable: !(error instanceof EmbeddedError),
    failures: [await step.failureOf(fault)],
    exchange: req && { req, res: res ?? null },
  };
}

/** The timeout of each attempt, in milliseconds. */
export function timeoutOf({ model, scope }: StepExecution): number {
  return evaluateDuration(model.timeout, scope, ["timeout"]) || STEP_TIMEOUT;
}

function setResponse(step: StepExecution, { result, elapsed }: ActionResponse): void {
  const { names } = step;
  if (result.status !== 0) step.trouble = result.brief;
  names.req = result.req;
  names.res = result.res;
  names.status = result.status;
  // In whole nanoseconds: what the division adds below them is noise.
  step.whole = result.whole;
  names.rt = { duration: formatDuration(elapsed), sec: Math.round(elapsed * 1e6) / 1e9 };
}

/** Evaluates and publishes every output that can be evaluated; returns the errors of the others. */
function publishOutputs(step: StepExecution, id: string): unknown[] {
  const { run, model, scope, round } = step;
  const errors: unknown[] = [];
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
    round.outputs.publish(id, values);
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    const tooLarge = new StepError(`cannot publish the outputs of "${id}": ${error.message}`);
    errors.push(new FieldError(["outputs"], tooLarge));
  }
  step.names.outputs = round.outputs.view;
  return errors;
}

/** The phases of the action that took any time. */
export function phasesOf({ response }: AttemptResult): Record<string, number> | undefined {
  const all = Object.entries(response?.result.phases ?? {});
  const phases = all.map(([name, time]) => [name, roundDuration(time)] as const)
    .filter(([, time]) => time > 0);
  return phases.length === 0 ? undefined : Object.fromEntries(phases);
}

/** The outcome of the assertions of a step. */
interface TestResult {
  readonly isGood: boolean;
  /** One for each assertion that is not true. */
  readonly errors: readonly unknown[];
  readonly assertions?: AssertionCount;
}

/** Whether the response is good: by the test, or by the status of the action without one. */
function evaluateTests({ model, scope }: StepExecution, response: ActionResponse): TestResult {
  const { test, maxTime } = model;
  const { result: { violations = [], status } } = response;
  const broken = violations.map((violation) =>
    new UnexpectedResult({ kind: "violation", violation })
  );
  if (!test && !maxTime) return { isGood: status === 0 && broken.length === 0, errors: broken };
  const untrue: unknown[] = [];
  for (const assertion of test ?? []) {
    try {
      if (isTrue(assertion.expression, scope, assertionPath(["test"], assertion))) continue;
      untrue.push(new UnexpectedResult({ kind: "test", assertion }));
    } catch (error) {
      untrue.push(error);
    }
  }
  if (maxTime) {
    const { elapsed, result: { phases } } = response;
    try {
      const limit = evaluateDuration(maxTime, scope, ["max_time"]);
      const spent = { elapsed: roundDuration(elapsed), phases };
      if (elapsed > limit) untrue.push(new UnexpectedResult({ kind: "max_time", limit, ...spent }));
    } catch (error) {
      untrue.push(error);
    }
  }
  const passed = (test?.length ?? 0) + (maxTime ? 1 : 0) - untrue.length;
  const errors = [...untrue, ...broken];
  const isGood = errors.length === 0 && (test !== undefined || status === 0);
  return { isGood, errors, assertions: { passed, failed: untrue.length } };
}

/** A snapshot that was compared counts as an assertion. */
function withSnapshot(
  assertions: AssertionCount | undefined,
  snapshot: SnapshotCheck | undefined,
): AssertionCount | undefined {
  if (!snapshot) return assertions;
  const { passed, failed } = assertions ?? { passed: 0, failed: 0 };
  return snapshot.failures.length === 0
    ? { passed: passed + 1, failed }
    : { passed, failed: failed + 1 };
}
