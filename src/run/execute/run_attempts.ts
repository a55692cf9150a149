import { StepError } from "../../base/errors.ts";
import { valueAt } from "../../base/value/value.ts";
import type { Expression } from "../../expr/expression.ts";
import type { Retry } from "../../workflow/model.ts";
import type { Attempt, Failure } from "../event.ts";
import type { StepExecution } from "../run_state.ts";
import { type AttemptResult, attemptStep, timeoutOf } from "./attempt_step.ts";
import { evaluateDuration, FieldError, isTrue } from "./evaluate_field.ts";
import { conclude, describe, explain, pause, type StepOutcome } from "./conclude_step.ts";

/** Carries the action out until it is good enough or the attempts are used up. */
export async function runAttempts(step: StepExecution, retry: Retry): Promise<StepOutcome> {
  const { run } = step;
  const { clock } = run.host;
  const { maxAttempts } = retry;
  const time = retry.time && evaluateDuration(retry.time, step.scope, ["retry", "for"]);
  if (time === 0) {
    throw new FieldError(["retry", "for"], new StepError('"for" must be greater than 0'));
  }
  await pause(step, delay(step, retry, "initial_delay"), "initial_delay");
  const end = time === undefined ? Infinity : clock.ticks() + time;
  const attempts: Attempt[] = [];
  let wasOnlyRefused = true;
  let isAtEnd = false;
  for (;;) {
    const began = { number: attempts.length + 1, started: clock.now(), ticks: clock.ticks() };
    step.forgetResponse();
    if (step.trace && attempts.length > 0) step.openSpan(step.trace);
    const remaining = Math.max(1, Math.ceil(end - clock.ticks()));
    const result = await attemptStep(step, (attempt) => explain(step, attempt), remaining);
    const attempt = describe(step, result, began);
    attempts.push(attempt);
    let stopped = retry.stop && await giveUp(step, retry.stop, result);
    const isLast = stopped || result.outcome === "passed" || !result.isRetryable || isAtEnd ||
      attempts.length >= (maxAttempts ?? Infinity) ||
      run.cancellation.reason !== undefined ||
      attempts.length === 1 && await readsMissingOutput(step);
    let next = isLast ? undefined : await pauseOrFailure(step, retry, result, attempts.length);
    if (typeof next === "number" && clock.ticks() + next >= end) {
      // The last attempt has the time that this one took, and some more.
      const latest = end - clock.ticks() - Math.max(LEAST_TIME, 2 * (clock.ticks() - began.ticks));
      next = latest > 0 ? latest : undefined;
      isAtEnd = true;
    }
    if (next !== undefined) {
      run.emit({
        type: "step_retried",
        time: clock.now(),
        run: step.id,
        attempt,
        of: maxAttempts,
      });
      wasOnlyRefused &&= isRefused(result) || isAskedToWait(retry, result);
      stopped = typeof next === "number" ? await pauseOrFail(step, next) : next;
      if (!stopped) {
        if (run.detail.all) await keepDetail(step, result, attempts);
        continue;
      }
    }
    const last = afterEarlier(result, attempts.at(-2));
    const outcome = await conclude(step, last, attempts, stopped);
    const isFlaky = attempts.length > 1 && !retry.until && !retry.time && !wasOnlyRefused &&
      result.outcome === "passed" &&
      !stopped &&
      outcome.state !== "failed";
    return { ...outcome, maxAttempts, retryTime: time, ...isFlaky ? { flaky: true } : {} };
  }
}

/** The least time for the last attempt, in milliseconds. */
const LEAST_TIME = 100;

/** Whether a test needs an output that other steps have not published, and will not. */
async function readsMissingOutput(
  { model: { id, test = [], outputs }, round }: StepExecution,
): Promise<boolean> {
  if (!test.some(({ expression }) => expression.source.includes("outputs"))) return false;
  const { findReferences, keyPath } = await import("../../expr/references.ts");
  const own = new Set([id, ...outputs.map(({ name }) => name)]);
  return test.some(({ expression }) => {
    const { needed, tested } = findReferences(expression);
    return needed.some(({ root, keys }) => {
      if (root !== "outputs" || keys.length === 0 || own.has(keys[0]!.name)) return false;
      if (keys.some((_, index) => tested.has(keyPath(root, keys, index)))) return false;
      return valueAt(round.outputs.view, keys.slice(0, 2).map(({ name }) => name)) === undefined;
    });
  });
}

/** Adds details to the latest attempt, which the result of the step does not hold. */
async function keepDetail(
  step: StepExecution,
  result: AttemptResult,
  attempts: Attempt[],
): Promise<void> {
  const { attemptDetail, withoutMiddle } = await import("./step_detail.ts");
  attempts.push({ ...attempts.pop()!, detail: await attemptDetail(step, result) });
  withoutMiddle(attempts);
}

/** Whether nothing was listening: a server that is still starting is not flaky. */
function isRefused({ failures }: AttemptResult): boolean {
  return failures.length > 0 && failures.every(({ cause }) => cause?.includes("(ECONNREFUSED)"));
}

/** Returns the failure that ends the attempts if `stop` is true. */
async function giveUp(
  step: StepExecution,
  stop: Expression,
  { outcome, response }: AttemptResult,
): Promise<Failure | undefined> {
  if (outcome === "passed" || !response) return undefined;
  const field = ["retry", "stop"];
  try {
    if (!isTrue(stop, step.scope, field)) return undefined;
    const error = new StepError("gave up: stop is true", undefined, { decided: true });
    return await step.failureOf(new FieldError(field, error, stop));
  } catch (error) {
    return await step.failureOf(error);
  }
}

/** The last attempt; where it had no time left, what counts is why the one before was not good. */
function afterEarlier(result: AttemptResult, before?: Attempt): AttemptResult {
  if (before?.message === undefined) return result;
  const failures = result.failures.map((failure) =>
    failure.field === "retry.for" ? { ...failure, hint: `before that: ${before.message}` } : failure
  );
  return { ...result, failures };
}

/** Whether the other side has said when to try again, and that is respected. */
function isAskedToWait({ respectsRetryAfter }: Retry, { response }: AttemptResult): boolean {
  return respectsRetryAfter && response?.result.retryAfter !== undefined;
}

/** The time to the next attempt; a failure if there cannot be one. */
async function pauseOrFailure(
  step: StepExecution,
  retry: Retry,
  { response }: AttemptResult,
  attempts: number,
): Promise<number | Failure> {
  try {
    const requested = retry.respectsRetryAfter ? response?.result.retryAfter : undefined;
    return requested === undefined
      ? pauseAfter(attempts, step, retry)
      : Math.min(requested, timeoutOf(step));
  } catch (error) {
    return await step.failureOf(error);
  }
}

/** Waits for the next attempt; returns a failure if there cannot be one. */
async function pauseOrFail(step: StepExecution, time: number): Promise<Failure | undefined> {
  try {
    await pause(step, time, "retry");
    return undefined;
  } catch (error) {
    return await step.failureOf(error);
  }
}

/** A growing interval ends somewhere: a day. */
const LONGEST_PAUSE = 86_400_000;

/** The time to wait after an attempt. */
function pauseAfter(attempts: number, step: StepExecution, retry: Retry): number {
  const { backoff, maxInterval, jitter } = retry;
  const longest = maxInterval
    ? evaluateDuration(maxInterval, step.scope, ["retry", "max_interval"])
    : LONGEST_PAUSE;
  const grown = Math.min(delay(step, retry, "interval") * backoff ** (attempts - 1), longest);
  return jitter ? grown * (1 + Math.random()) / 2 : grown;
}

function delay(step: StepExecution, retry: Retry, key: "interval" | "initial_delay"): number {
  const duration = key === "interval" ? retry.interval : retry.initialDelay;
  return evaluateDuration(duration, step.scope, ["retry", key]);
}
