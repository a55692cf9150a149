import { roundDuration } from "../../value/duration.ts";
import { assertionPath } from "../../workflow/assertion_path.ts";
import type { Duration } from "../../workflow/model.ts";
import type { AssertionCount, Failure } from "../event.ts";
import { explainer, failureOf } from "../failure/lazy_failures.ts";
import type { AttemptInput } from "../failure/nil_parameters.ts";
import type { Session } from "../session.ts";
import { evaluateDuration, isTrue } from "./evaluate_field.ts";
import type { Answer } from "./run_attempt.ts";
import type { StepContext } from "./step_context.ts";

/** The outcome of the assertions of a step. */
export interface Judgement {
  readonly isGood: boolean;
  /** One for each assertion that is not true. */
  readonly failures: readonly Promise<Failure>[];
  readonly assertions?: AssertionCount;
}

/** Whether the answer is good: by the test, or by the status of the action without one. */
export function judge(
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
