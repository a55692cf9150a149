import type { Expression, Scope } from "../../expr/expression.ts";
import { StepError } from "../../base/errors.ts";
import { roundDuration } from "../../base/value/duration.ts";
import type { Loop, Retry, Step } from "../../workflow/model.ts";
import { evaluateDuration, FieldError, inField, isTrue } from "./evaluate_field.ts";
import type { Attempt, Failure, StepResult, StepRun, StepWaiting } from "../event.ts";
import { failureOf } from "../failure/lazy_failures.ts";
import type { Session } from "../session.ts";
import type { StepContext } from "./step_context.ts";
import { phasesOf, timeoutOf, type Try, tryStep } from "./try_step.ts";

/** Loads the details of a step, which most steps of most runs do not need. */
let code: Promise<typeof import("./step_detail.ts")> | undefined;
const detail = () => code ??= import("./step_detail.ts");

/** The outcome of a run of a step. */
export type Outcome = Omit<StepResult, "name" | "uses" | "started" | "duration">;

/** Carries the action out until it is good enough or the attempts are used up. */
export async function runAttempts(
  session: Session,
  context: StepContext,
  name: string,
): Promise<Outcome> {
  const { step: { retry }, run } = context;
  const { clock } = session.host;
  const most = retry?.maxAttempts ?? 1;
  if (retry) await pause(session, run, delay(retry, "initial_delay", context), "initial_delay");
  const attempts: Attempt[] = [];
  let known = session.secrets.count;
  let wasOnlyRefused = true;
  for (;;) {
    const started = clock.now();
    const ticks = clock.ticks();
    const tried = await tryStep(session, context, name);
    if (attempts.length === 0) known = session.secrets.count;
    const attempt = describe(
      tried,
      attempts.length + 1,
      started,
      roundDuration(clock.ticks() - ticks),
    );
    attempts.push(attempt);
    const gaveUp = retry?.stop && await giveUp(session, context, retry.stop, tried);
    const isLast = gaveUp || tried.outcome === "passed" || !tried.isRetryable ||
      attempts.length >= most ||
      session.cancellation.reason !== undefined;
    let stopped = gaveUp;
    if (retry && !isLast) {
      session.emit({ type: "step_retried", time: clock.now(), run, attempt, of: most });
      wasOnlyRefused &&= isRefused(tried);
      stopped = await pauseOrFail(session, context, retry, tried, attempts.length);
      if (!stopped) {
        if (session.detail.all) await keepAttempt(session, context, tried, attempts);
        continue;
      }
    }
    const outcome = await conclude(session, context, tried, stopped, attempts.length);
    const isFlaky = attempts.length > 1 && !retry?.until && !wasOnlyRefused &&
      tried.outcome === "passed" &&
      !stopped &&
      outcome.state !== "failed";
    return {
      ...outcome,
      attempts: await withoutSecrets(session, attempts, known),
      ...(retry ? { maxAttempts: most } : {}),
      ...(isFlaky ? { flaky: true } : {}),
    };
  }
}

/** The attempts without secrets that have come up since the first one. */
async function withoutSecrets(
  { secrets }: Session,
  attempts: Attempt[],
  known: number,
): Promise<readonly Attempt[]> {
  if (attempts.length === 1 || secrets.count === known) return attempts;
  return (await detail()).maskedAgain(secrets, attempts);
}

/** Adds details to the latest attempt, of which the result of the step will hold none. */
async function keepAttempt(
  session: Session,
  context: StepContext,
  tried: Try,
  attempts: Attempt[],
): Promise<void> {
  const { attemptDetail, withoutMiddle } = await detail();
  attempts.push({ ...attempts.pop()!, detail: await attemptDetail(session, context, tried) });
  withoutMiddle(attempts);
}

/** Whether nothing was listening: a server that is still starting is not flaky. */
function isRefused({ failures }: Try): boolean {
  return failures.length > 0 && failures.every(({ cause }) => cause?.includes("(ECONNREFUSED)"));
}

/** Why there is no other attempt after one that was not good enough, where `stop` says so. */
async function giveUp(
  session: Session,
  context: StepContext,
  stop: Expression,
  { outcome, answer }: Try,
): Promise<Failure | undefined> {
  if (outcome === "passed" || !answer) return undefined;
  const field = ["retry", "stop"];
  try {
    if (!isTrue(stop, context.scope, field)) return undefined;
    const error = new StepError("gave up: stop is true", undefined, { decided: true });
    return await failureOf(session, context, new FieldError(field, error, stop));
  } catch (error) {
    return await failureOf(session, context, error);
  }
}

/** Waits for the next attempt; the failure says why there is none. */
async function pauseOrFail(
  session: Session,
  context: StepContext,
  retry: Retry,
  { answer }: Try,
  attempts: number,
): Promise<Failure | undefined> {
  try {
    const asked = retry.respectsRetryAfter ? answer?.result.retryAfter : undefined;
    const time = asked === undefined
      ? pauseAfter(attempts, retry, context)
      : Math.min(asked, timeoutOf(context));
    await pause(session, context.run, time, "retry");
    return undefined;
  } catch (error) {
    return await failureOf(session, context, error);
  }
}

/** The time to wait after so many attempts. */
function pauseAfter(attempts: number, retry: Retry, context: StepContext): number {
  const { backoff, maxInterval, jitter } = retry;
  const most = maxInterval
    ? evaluateDuration(maxInterval, context.scope, ["retry", "max_interval"])
    : MOST_PAUSE;
  const grown = Math.min(delay(retry, "interval", context) * backoff ** (attempts - 1), most);
  return jitter ? grown * (1 + Math.random()) / 2 : grown;
}

/** A growing interval ends somewhere: a day. */
const MOST_PAUSE = 86_400_000;

function delay(retry: Retry, key: "interval" | "initial_delay", context: StepContext): number {
  const duration = key === "interval" ? retry.interval : retry.initialDelay;
  return evaluateDuration(duration, context.scope, ["retry", key]);
}

function describe(tried: Try, number: number, started: number, duration: number): Attempt {
  const message = tried.failures[0]?.message ??
    (tried.outcome === "passed" ? undefined : briefOf(tried));
  const attempt = { number, started, duration, outcome: tried.outcome };
  return message === undefined ? attempt : { ...attempt, message };
}

/** The end of a step after its last attempt: what it is called, and what is kept of it. */
async function conclude(
  session: Session,
  context: StepContext,
  tried: Try,
  stopped: Failure | undefined,
  attempts: number,
): Promise<Omit<Outcome, "attempts">> {
  const failures = [...tried.failures, ...(stopped ? [stopped] : [])];
  const { step } = context;
  let echo: string | undefined;
  if (step.echo && tried.answer) {
    const template = step.echo;
    try {
      echo = inField(["echo"], () => template.renderText(context.scope, { display: true }));
    } catch (error) {
      failures.push(await failureOf(session, context, error));
    }
  }
  const mustSucceed = session.strict || step.retry && !isPolled(step, tried);
  if (failures.length === 0 && tried.outcome === "failed" && mustSucceed) {
    failures.push(await failureOf(session, context, unsuccessful(tried, step, attempts)));
  }
  const { entry, scope } = context;
  if (entry?.loop && failures.length === 0) {
    try {
      endPass(entry.loop, entry.index, scope);
    } catch (error) {
      failures.push(await failureOf(session, context, error));
    }
  }
  const snapshot = await keepSnapshot(session, context, tried.snapshot, failures);
  const isTested = step.test || step.snapshot || meetsExpectations(step, tried) ||
    (tried.answer?.result.job?.passed ?? 0) > 0;
  const state = failures.length > 0 ? "failed" : isTested ? "passed" : "untested";
  const untested = state === "untested" && tried.answer?.result.status !== 0;
  return {
    state,
    failures,
    ...(tried.answer ? { responseTime: roundDuration(tried.answer.elapsed) } : {}),
    ...phasesOf(tried),
    ...(step.action.neverFails ? { instant: true as const } : {}),
    ...(tried.assertions ? { assertions: tried.assertions } : {}),
    ...(snapshot ? { snapshot } : {}),
    ...(echo === undefined ? {} : { echo }),
    ...(untested ? { untested: briefOf(tried) } : {}),
    ...untestedInside(tried),
    ...(state === "failed" || session.detail.all
      ? await (await detail()).stepDetail(session, context, tried, state)
      : {}),
  };
}

/** Writes the snapshot of a step, unless anything in the step has failed. */
async function keepSnapshot(
  session: Session,
  context: StepContext,
  snapshot: Try["snapshot"],
  failures: Failure[],
): Promise<StepResult["snapshot"]> {
  if (!snapshot?.write) return snapshot?.outcome;
  if (failures.length > 0) return undefined;
  try {
    await snapshot.write();
    return snapshot.outcome;
  } catch (error) {
    failures.push(await failureOf(session, context, new FieldError(["snapshot"], error)));
    return undefined;
  }
}

/** The error of a step without a test whose action was unsuccessful. */
function unsuccessful(tried: Try, step: Step, attempts: number): FieldError {
  const { retry } = step;
  const times = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  if (retry?.until && !isPolled(step, tried)) {
    const why = new StepError(`until is still false after ${times}`, undefined, { decided: false });
    return new FieldError(["retry", "until"], why, retry.until);
  }
  if (!retry || isPolled(step, tried)) {
    const hint = "--strict makes it a failure; a test says what counts as success";
    return new FieldError(["uses"], new StepError(`${briefOf(tried)}, not tested`, hint));
  }
  const message = `${briefOf(tried)} after ${times}`;
  const hint = "retry without test repeats until the action succeeds; " +
    "a test says what else counts as success";
  return new FieldError(["retry"], new StepError(message, hint));
}

/** Whether what `until` waits for has come about: no attempt follows then, whatever the result. */
function isPolled({ retry }: Step, { answer, isRetryable }: Try): boolean {
  return retry?.until !== undefined && answer !== undefined && !isRetryable;
}

/** Whether the action succeeded, and its parameters or an API description state what to expect. */
function meetsExpectations({ action }: Step, { answer, params }: Try): boolean {
  if (answer?.result.status !== 0) return false;
  if (answer.result.violations) return true;
  return action.expectsResult?.(params ?? {}) ?? false;
}

function untestedInside({ answer }: Try): Pick<Outcome, "untestedInside"> {
  const count = answer?.result.job?.untested ?? 0;
  return count === 0 ? {} : { untestedInside: count };
}

function briefOf({ answer }: Try): string {
  return answer?.result.brief ?? `status ${answer?.result.status ?? "unknown"}`;
}

/** Sleeps, and says so. A cancellation ends the sleep and is thrown. */
export async function pause(
  session: Session,
  run: StepRun,
  milliseconds: number,
  why: StepWaiting["why"],
): Promise<void> {
  if (milliseconds > 0) {
    const time = session.host.clock.now();
    session.emit({ type: "step_waiting", time, run, milliseconds, why });
    await session.cancellation.sleep(milliseconds, session.deadlines);
  }
  const { reason } = session.cancellation;
  if (reason !== undefined) throw new StepError(reason);
}

/** Decides after a pass whether there is another one. Throws where there cannot be one. */
function endPass(
  { until, max, interval, pass }: Loop & { readonly pass: { isOver: boolean; pause: number } },
  index: number,
  scope: Scope,
): void {
  pass.isOver = isTrue(until, scope, ["iteration", "until"]);
  if (pass.isOver) return;
  pass.pause = evaluateDuration(interval, scope, ["iteration", "interval"]);
  if (index + 1 < max) return;
  const error = new StepError(
    `"until" is still false after ${max === 1 ? "1 pass" : `${max} passes`}`,
    "raise max, or look at what the expression reads",
    { decided: false },
  );
  throw new FieldError(["iteration", "until"], error, until);
}
