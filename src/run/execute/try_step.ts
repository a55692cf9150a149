import { renderData } from "../../expr/template/template_data.ts";
import { StepError } from "../../source/errors.ts";
import { formatDuration } from "../../value/duration.ts";
import { LimitError } from "../../value/meter.ts";
import type { Dict, Value } from "../../value/value.ts";
import { STEP_TIMEOUT } from "../../workflow/decode/fields.ts";
import { EmbeddedError, evaluateDuration, FieldError, inField, isTrue } from "./evaluate_field.ts";
import type { Failure } from "../event.ts";
import { failedJob, failureOf, falseTest } from "../failure/lazy_failures.ts";
import type { AttemptInput } from "../failure/nil_parameters.ts";
import { addOutputSecrets } from "../mask/secrets.ts";
import { type Answer, runAttempt } from "./run_attempt.ts";
import type { Session } from "../session.ts";
import { forgetAnswer, type StepContext } from "./step_context.ts";

/** What one attempt at a step came to. */
export interface Try {
  readonly outcome: "passed" | "failed" | "error";
  /** Whether another attempt may do better: a mistake in the step itself would be made again. */
  readonly isRetryable: boolean;
  readonly failures: readonly Failure[];
  readonly answer?: Answer;
  /** The request, where there was one but no answer. */
  readonly request?: Dict;
  /** What there was of an answer when the action was ended. */
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
      path: step.path,
      ...(step.embedded === undefined ? {} : { embedded: step.embedded }),
    });
  } catch (error) {
    const { parameter, req, res } = error instanceof StepError ? error.details : {};
    for (const part of [req, res]) if (part) session.addExchangedSecrets(part as Dict);
    const field = parameter === undefined ? ["uses"] : ["with", parameter];
    const failure = await failureOf(session, context, new FieldError(field, error), given);
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
  const inside = job && job.failed > 0 ? [await failedJob(session, context, job)] : [];
  const failures = [...inside];
  if (step.id !== undefined && step.outputs.length > 0) {
    for (const failure of await publishOutputs(session, context, step.id)) failures.push(failure);
  }
  const [good, why] = judge(session, context, answer, given);
  if (why) failures.push(await why);
  const outcome = good && inside.length === 0 ? "passed" : "failed";
  return { outcome, isRetryable: !until, failures, answer, params };
}

/** The timeout of each attempt, in milliseconds. */
export function timeoutOf({ step, scope }: StepContext): number {
  return evaluateDuration(step.timeout, scope, ["timeout"]) || STEP_TIMEOUT;
}

function setAnswer({ names }: StepContext, { result, elapsed }: Answer): void {
  names.req = result.req;
  names.res = result.res;
  names.status = result.status;
  // In whole nanoseconds: what the division adds below them is noise.
  names.rt = { duration: formatDuration(elapsed), sec: Math.round(elapsed * 1e6) / 1e9 };
}

/** How many outputs may fail before the event loop has its turn. */
const OUTPUTS_A_TURN = 500;

function nextTurn({ host }: Session): Promise<void> {
  return new Promise((resolve) => host.clock.after(0, resolve));
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
      // Thousands of failures must not keep a signal from being heard.
      if (failures.length % OUTPUTS_A_TURN === OUTPUTS_A_TURN - 1) {
        await nextTurn(session);
        if (session.cancellation.reason !== undefined) break;
      }
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

/** Whether the answer is good: by the test, or by the status of the action without one. */
function judge(
  session: Session,
  context: StepContext,
  { result }: Answer,
  given: AttemptInput,
): [good: boolean, why?: Promise<Failure>] {
  const { step, scope } = context;
  if (!step.test) return [result.status === 0];
  try {
    if (isTrue(step.test, scope, "test")) return [true];
    const why = falseTest(session, context, step.test, given);
    return [false, why.catch((error) => failureOf(session, context, error))];
  } catch (error) {
    return [false, failureOf(session, context, error, given)];
  }
}
