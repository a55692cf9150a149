import { excerpt } from "../../action/received.ts";
import { textOf } from "../../action/parameter.ts";
import { StepError } from "../../base/errors.ts";
import { lastLine } from "../../base/text/printable.ts";
import { roundDuration } from "../../base/value/duration.ts";
import type { Scope } from "../../expr/expression.ts";
import type { Loop } from "../../workflow/model.ts";
import type { Attempt, Failure, SnapshotOutcome, StepResult, StepWaiting } from "../event.ts";
import type { StepExecution } from "../run_state.ts";
import type { SnapshotCheck } from "../snapshots/check_snapshot.ts";
import { type AttemptResult, attemptStep, phasesOf } from "./attempt_step.ts";
import { evaluateDuration, FieldError, inField, isTrue } from "./evaluate_field.ts";

export type StepOutcome = Omit<StepResult, "name" | "uses" | "started" | "duration">;

/** Goes on with a value: at once, or when it is there. */
function follow<T, U>(
  value: T | Promise<T>,
  next: (value: T) => U | Promise<U>,
): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Carries the action out once, and calls `end` with the outcome: at once where nothing waits. */
export function runOneAttempt<T>(
  step: StepExecution,
  end: (outcome: StepOutcome) => T | Promise<T>,
): T | Promise<T> {
  const { started, ticks } = step;
  return attemptStep(step, (attempt) =>
    follow(explain(step, attempt), (explained) => {
      const attempts = [describe(step, explained, { number: 1, started, ticks })];
      return follow(conclude(step, explained, attempts), end);
    }));
}

/** An attempt with its failures, and with what its snapshot says. */
export function explain(
  step: StepExecution,
  attempt: AttemptResult,
): AttemptResult | Promise<AttemptResult> {
  const isExplained = attempt.errors.length === 0 && !attempt.snapshot;
  return isExplained ? attempt : explainSlowly(step, attempt);
}

async function explainSlowly(
  step: StepExecution,
  { snapshot, ...attempt }: AttemptResult,
): Promise<AttemptResult> {
  const failures = await failuresOf(step, attempt.errors);
  if (!snapshot) return { ...attempt, failures };
  const { checkSnapshot } = await import("../snapshots/check_snapshot.ts");
  const comparison = await checkSnapshot(step, snapshot);
  const isGood = comparison.failures.length === 0;
  const { passed, failed } = attempt.assertions ?? { passed: 0, failed: 0 };
  return {
    ...attempt,
    outcome: isGood ? attempt.outcome : "failed",
    failures: [...failures, ...comparison.failures],
    assertions: isGood ? { passed: passed + 1, failed } : { passed, failed: failed + 1 },
    comparison,
  };
}

async function failuresOf(step: StepExecution, errors: readonly unknown[]): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const error of errors) failures.push(await step.failureOf(error));
  return failures;
}

/** An attempt as reports show it. */
export function describe(
  { run: { host: { clock } }, attempt: trace }: StepExecution,
  attempt: AttemptResult,
  { number, started, ticks }: {
    readonly number: number;
    readonly started: number;
    readonly ticks: number;
  },
): Attempt {
  const { outcome } = attempt;
  const duration = roundDuration(clock.ticks() - ticks);
  const message = attempt.failures[0]?.message ??
    (outcome === "passed" ? undefined : briefOf(attempt));
  const times = { number, started, duration, outcome };
  const described = trace ? { ...times, span: trace.span } : times;
  return message === undefined ? described : { ...described, message };
}

/** Makes the outcome of a step from its last attempt. */
export function conclude(
  step: StepExecution,
  attempt: AttemptResult,
  attempts: readonly Attempt[],
  stopped?: Failure,
): StepOutcome | Promise<StepOutcome> {
  const { run, model, entry, scope } = step;
  const { response, outcome, comparison } = attempt;
  const failures = stopped ? [...attempt.failures, stopped] : attempt.failures;
  const errors: unknown[] = [];
  const orError = <T>(evaluate: () => T): T | undefined => {
    try {
      return evaluate();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const template = response && model.echo;
  const echo = template &&
    orError(() => inField(["echo"], () => template.renderText(scope, { display: true })));
  const isGood = () => failures.length + errors.length === 0;
  if (outcome === "failed" && isGood()) {
    // A redirect that is not followed fails a retry alone.
    const isRedirect = model.action.acceptsAnswers && !model.retry &&
      /^3..$/.test(String(response?.result.res.code));
    if (!isRedirect) errors.push(unsuccessful(step, attempt, attempts.length));
  }
  const { loop, index = 0 } = entry ?? {};
  if (loop && isGood()) orError(() => endPass(loop, index, scope));
  return isGood() && !comparison && !run.detail.all
    ? outcomeOf(step, attempt, attempts, { failures, echo })
    : concludeSlowly(step, attempt, attempts, { failures, echo, errors });
}

/** Makes the outcome of a step that has failed, has a snapshot or is shown with its details. */
async function concludeSlowly(
  step: StepExecution,
  attempt: AttemptResult,
  attempts: readonly Attempt[],
  { failures: known, echo, errors }: Ending & { readonly errors: readonly unknown[] },
): Promise<StepOutcome> {
  const failures = [...known, ...await failuresOf(step, errors)];
  const snapshot = await keepSnapshot(step, attempt.comparison, failures);
  const hasDetail = failures.length > 0 || step.run.detail.all;
  const details = hasDetail
    ? await (await import("./step_detail.ts")).stepDetail(step, attempt)
    : undefined;
  return outcomeOf(step, attempt, attempts, { failures, echo, snapshot, details });
}

/** The parts of the outcome of a step that its last attempt does not have. */
interface Ending {
  readonly failures: readonly Failure[];
  readonly echo: string | undefined;
  readonly snapshot?: SnapshotOutcome;
  readonly details?: Pick<StepResult, "exchange" | "outputs" | "tests">;
}

function outcomeOf(
  step: StepExecution,
  attempt: AttemptResult,
  attempts: readonly Attempt[],
  { failures, echo, snapshot, details }: Ending,
): StepOutcome {
  const { model } = step;
  const { response } = attempt;
  // A retry without a test fails its step unless an attempt succeeds, or what it waits for comes.
  const isTested = model.test || model.snapshot || model.retry ||
    meetsExpectations(step, attempt) ||
    (response?.result.job?.passed ?? 0) > 0;
  const state = failures.length > 0 ? "failed" : isTested ? "passed" : "untested";
  const resent = response?.result.traffic?.resent;
  return {
    state,
    failures,
    responseTime: response && roundDuration(response.elapsed),
    phases: phasesOf(attempt),
    instant: model.action.neverFails,
    assertions: attempt.assertions,
    snapshot,
    echo,
    ...details,
    resent,
    flaky: resent === undefined || state === "failed" ? undefined : true,
    attempts,
  };
}

/** Writes the snapshot of a step, unless anything in the step has failed. */
async function keepSnapshot(
  step: StepExecution,
  { write, outcome }: Partial<SnapshotCheck> = {},
  failures: Failure[],
): Promise<SnapshotOutcome | undefined> {
  if (!write) return outcome;
  if (failures.length > 0) return undefined;
  try {
    await write();
    return outcome;
  } catch (error) {
    failures.push(await step.failureOf(error));
    return undefined;
  }
}

/** The error of a step whose action was unsuccessful, which the step says nothing about. */
function unsuccessful(step: StepExecution, attempt: AttemptResult, attempts: number): FieldError {
  const { model: { retry, test }, run: { secrets } } = step;
  const times = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  if (retry?.until && !isPolled(step, attempt)) {
    const why = new StepError(`until is still false after ${times}`, undefined, { decided: false });
    return new FieldError(["retry", "until"], why, retry.until);
  }
  const { res, status } = attempt.response!.result;
  const field = ["close_code", "code", "error"].find((name) => (res[name] ?? "") !== "");
  const expected = field === undefined
    ? `status == ${status}`
    : field === "error"
    ? 'res.error != ""'
    : `res.${field} == ${JSON.stringify(res[field])}`;
  const brief = briefOf(attempt);
  const said = typeof res.stderr === "string" ? lastLine(res.stderr) : "";
  const text = excerpt(textOf(res.error || res.status_message || said), secrets);
  const message = text.startsWith(brief) ? text : [brief, text].filter(Boolean).join(": ");
  const after = test ? ", which the test does not read" : retry ? ` after ${times}` : "";
  const hint = `to expect it, write test: ${expected}; to allow it, allow_failure: true`;
  return new FieldError(["uses"], new StepError(message + after, hint));
}

/** Whether the condition of `until` is met, which ends the attempts with any result. */
function isPolled(
  { model }: StepExecution,
  { response, isRetryable }: AttemptResult,
): boolean {
  return model.retry?.until !== undefined && response !== undefined && !isRetryable;
}

/** Whether the action succeeded, and its parameters or an API description state what to expect. */
function meetsExpectations({ model, params }: StepExecution, { response }: AttemptResult): boolean {
  if (response?.result.status !== 0) return false;
  if (response.result.violations) return true;
  return model.action.expectsResult?.(params ?? {}) ?? false;
}

function briefOf({ response }: AttemptResult): string {
  return response?.result.brief ?? `status ${response?.result.status ?? "unknown"}`;
}

/** Sleeps, and reports it. A cancellation ends the sleep and is thrown. */
export async function pause(
  { run, id }: StepExecution,
  milliseconds: number,
  why: StepWaiting["why"],
): Promise<void> {
  if (milliseconds > 0) {
    const time = run.host.clock.now();
    run.emit({ type: "step_waiting", time, run: id, milliseconds, why });
    await run.cancellation.sleep(milliseconds, run.deadlines);
  }
  const { reason } = run.cancellation;
  if (reason !== undefined) throw new StepError(reason);
}

/** Decides after an entry whether another one follows. Throws if the limit is reached. */
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
    `"until" is still false after ${max === 1 ? "1 entry" : `${max} entries`}`,
    "raise max, or look at what the expression reads",
    { decided: false },
  );
  throw new FieldError(["iteration", "until"], error, until);
}
