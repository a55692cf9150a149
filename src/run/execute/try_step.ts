import { renderData } from "../../expr/template/template_data.ts";
import { StepError } from "../../base/errors.ts";
import { formatDuration, roundDuration } from "../../base/value/duration.ts";
import { LimitError } from "../../base/value/meter.ts";
import type { Dict, Value } from "../../base/value/value.ts";
import { STEP_TIMEOUT } from "../../workflow/decode/fields.ts";
import { assertionPath } from "../../workflow/assertion_path.ts";
import { EmbeddedError, evaluateDuration, FieldError, inField, isTrue } from "./evaluate_field.ts";
import type { AssertionCount, Failure, StepResult } from "../event.ts";
import { explainer, failureOf } from "../failure/lazy_failures.ts";
import { addOutputSecrets } from "../../secrets/add_secrets.ts";
import { type Answer, runAttempt } from "./run_attempt.ts";
import type { SnapshotCheck } from "../snapshots/check_snapshot.ts";
import type { Duration, Snapshot } from "../../workflow/model.ts";
import type { AttemptInput } from "../failure/nil_parameters.ts";
import type { Session } from "../session.ts";
import { forgetAnswer, type StepContext } from "./step_context.ts";

/** The outcome of one attempt. */
export interface Try {
  readonly outcome: "passed" | "failed" | "error";
  /** Whether another attempt may do better: a mistake in the step itself would be made again. */
  readonly isRetryable: boolean;
  readonly failures: readonly Failure[];
  readonly answer?: Answer;
  /** The number of its assertions that were true, if any were evaluated. */
  readonly assertions?: AssertionCount;
  /** Its snapshot, and what writes it once nothing else has failed. */
  readonly snapshot?: SnapshotCheck;
  /** The request, where there was one but no answer. */
  readonly request?: Dict;
  /** The part of the answer that had arrived when the action was ended. */
  readonly partial?: Dict;
  /** The rendered `with`, where the action was carried out. */
  readonly params?: Dict;
}

/** Renders `with`, carries the action out, publishes the outputs and evaluates the test. */
export async function tryStep(session: Session, context: StepContext, name: string): Promise<Try> {
  const { step, scope, run } = context;
  let params: Dict;
  let timeout: number;
  forgetAnswer(context);
  try {
    params = inField(["with"], () => renderData(step.with, scope)) as Dict;
    timeout = timeoutOf(context);
  } catch (error) {
    const failure = await failureOf(session, context, error);
    return { outcome: "error", isRetryable: false, failures: [failure] };
  }
  session.addExchangedSecrets(params);
  const given = { template: step.with, params, names: context.names };
  let answer: Answer;
  try {
    answer = await runAttempt(session, step.action, run, params, {
      label: name,
      vars: context.names.vars as Dict,
      timeout,
      scope: context.resources,
      names: scope,
      path: step.path,
      ...(step.embedded === undefined ? {} : { embedded: step.embedded }),
    });
  } catch (error) {
    const { parameter, timedOut, req, res } = error instanceof StepError ? error.details : {};
    for (const part of [req, res]) if (part) session.addExchangedSecrets(part as Dict);
    const isBounded = timedOut && timeout !== STEP_TIMEOUT;
    const field = parameter !== undefined
      ? ["with", parameter]
      : isBounded
      ? ["timeout"]
      : ["uses"];
    const fault = error instanceof FieldError ? error : new FieldError(field, error);
    const failure = await failureOf(session, context, fault, given);
    return {
      outcome: "error",
      isRetryable: !(error instanceof EmbeddedError),
      failures: [failure],
      params,
      ...(req ? { request: req as Dict } : {}),
      ...(res ? { partial: res as Dict } : {}),
    };
  }
  session.addExchangedSecrets(answer.result.req);
  session.addExchangedSecrets(answer.result.res, step.action.responseFields);
  setAnswer(context, answer);
  const until = step.retry?.until;
  if (until) {
    const waits = { outcome: "failed" as const, isRetryable: true, answer, params };
    try {
      if (!isTrue(until, scope, ["retry", "until"])) return { ...waits, failures: [] };
    } catch (error) {
      return { ...waits, failures: [await failureOf(session, context, error, given)] };
    }
  }
  const { job } = answer.result;
  const inside = job && job.failed > 0
    ? [await (await explainer()).failureOfJob(session, context, job)]
    : [];
  const failures = [...inside];
  if (step.id !== undefined && step.outputs.length > 0) {
    for (const failure of await publishOutputs(session, context, step.id)) failures.push(failure);
  }
  // What a job that failed has published says nothing more.
  const judgement: Judgement = job && job.failed > 0
    ? { isGood: false, failures: [] }
    : judge(session, context, answer, given);
  for (const why of judgement.failures) failures.push(await why);
  const snapshot = step.snapshot && failures.length === 0
    ? await checkSnapshot(session, context, step.snapshot)
    : undefined;
  if (snapshot) failures.push(...snapshot.failures);
  const assertions = withSnapshot(judgement.assertions, snapshot);
  // A comparison with a snapshot counts as a test, regardless of the status.
  const isTested = step.snapshot !== undefined && judgement.failures.length === 0;
  const isGood = (judgement.isGood || isTested) && !snapshot?.failures.length;
  const outcome = isGood && inside.length === 0 ? "passed" : "failed";
  return {
    outcome,
    isRetryable: !until,
    failures,
    answer,
    params,
    ...assertions ? { assertions } : {},
    ...snapshot ? { snapshot } : {},
  };
}

async function checkSnapshot(
  session: Session,
  context: StepContext,
  snapshot: Snapshot,
): Promise<SnapshotCheck> {
  const code = await import("../snapshots/check_snapshot.ts");
  return await code.checkSnapshot(session, context, snapshot);
}

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

/** The timeout of each attempt, in milliseconds. */
export function timeoutOf({ step, scope }: StepContext): number {
  return evaluateDuration(step.timeout, scope, ["timeout"]) || STEP_TIMEOUT;
}

function setAnswer(context: StepContext, { result, elapsed }: Answer): void {
  const { names } = context;
  if (result.status !== 0) context.trouble = result.brief;
  names.req = result.req;
  names.res = result.res;
  names.status = result.status;
  // In whole nanoseconds: what the division adds below them is noise.
  names.rt = { duration: formatDuration(elapsed), sec: Math.round(elapsed * 1e6) / 1e9 };
}

/** Evaluates and publishes every output that can be evaluated; returns the failures of the others. */
async function publishOutputs(
  session: Session,
  context: StepContext,
  id: string,
): Promise<Failure[]> {
  const { step, scope, round } = context;
  const failures: Failure[] = [];
  const values: Record<string, Value> = Object.create(null);
  for (const { name, value } of step.outputs) {
    try {
      values[name] = inField(["outputs", name], () => value.evaluate(scope)) as Value;
    } catch (error) {
      failures.push(await failureOf(session, context, error));
    }
  }
  addOutputSecrets(values, session.secrets);
  try {
    round.outputs.publish(id, values);
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    const tooLarge = new StepError(`cannot publish the outputs of "${id}": ${error.message}`);
    failures.push(await failureOf(session, context, new FieldError(["outputs"], tooLarge)));
  }
  context.names.outputs = round.outputs.view;
  return failures;
}

/** The phases of the action that took any time. */
export function phasesOf({ answer }: Try): Pick<StepResult, "phases"> {
  const all = Object.entries(answer?.result.phases ?? {});
  const phases = all.map(([name, time]) => [name, roundDuration(time)] as const)
    .filter(([, time]) => time > 0);
  return phases.length === 0 ? {} : { phases: Object.fromEntries(phases) };
}

/** The outcome of the assertions of a step. */
interface Judgement {
  readonly isGood: boolean;
  /** One for each assertion that is not true. */
  readonly failures: readonly Promise<Failure>[];
  readonly assertions?: AssertionCount;
}

/** Whether the answer is good: by the test, or by the status of the action without one. */
function judge(
  session: Session,
  context: StepContext,
  answer: Answer,
  given: AttemptInput,
): Judgement {
  const { step: { test, maxTime }, scope } = context;
  const { violations = [], status } = answer.result;
  const broken = violations.map(async (violation) =>
    await (await explainer()).failureOfViolation(session, context, violation)
  );
  const late = maxTime ? tooLate(session, context, maxTime, answer) : [];
  if (!test && !maxTime) return { isGood: status === 0 && broken.length === 0, failures: broken };
  const untrue = (test ?? []).flatMap((assertion) => {
    try {
      if (isTrue(assertion.expression, scope, assertionPath(["test"], assertion))) return [];
      const why = explainer().then((code) =>
        code.failureOfTest(session, context, assertion, given)
      );
      return [why.catch((error) => failureOf(session, context, error))];
    } catch (error) {
      return [failureOf(session, context, error, given)];
    }
  });
  const failures = [...untrue, ...late, ...broken];
  const failed = untrue.length + late.length;
  const passed = (test?.length ?? 0) + (maxTime ? 1 : 0) - failed;
  const isGood = failures.length === 0 && (test !== undefined || status === 0);
  return { isGood, failures, assertions: { passed, failed } };
}

/** The failure of an action that took longer than it may. */
function tooLate(
  session: Session,
  context: StepContext,
  maxTime: Duration,
  { elapsed, result: { phases } }: Answer,
): readonly Promise<Failure>[] {
  try {
    const most = evaluateDuration(maxTime, context.scope, ["max_time"]);
    if (elapsed <= most) return [];
    const spent = { elapsed: roundDuration(elapsed), phases };
    return [explainer().then((code) => code.failureOfTime(session, context, most, spent))];
  } catch (error) {
    return [failureOf(session, context, error)];
  }
}
