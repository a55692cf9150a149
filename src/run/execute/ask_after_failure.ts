import type { Value } from "../../base/value/value.ts";
import { loadAllFunctions } from "../../expr/functions/registry.ts";
import { explained } from "../../expr/hints.ts";
import { parseExpression } from "../../expr/parse_expression.ts";
import type { BareEvent, StepFinished } from "../event.ts";
import { maskEvent } from "../mask_event.ts";
import type { FailureDecision, StepExecution } from "../run_state.ts";

/** The characters of a value of an expression that are shown. */
const SHOWN_CHARACTERS = 100_000;

/** Asks how to go on after a step that has failed. What is shown for that has no secrets in it. */
export async function askAfterFailure(
  step: StepExecution,
  event: BareEvent<StepFinished>,
): Promise<FailureDecision> {
  const { run, round, scope, names } = step;
  await loadAllFunctions();
  step.completeResponse();
  const { result } = maskEvent({ runId: "", ...event }, run.secrets) as StepFinished;
  return await run.options.onFailedStep!({
    job: round.job.id,
    result,
    names: Object.keys(names),
    evaluate(text) {
      try {
        const value: Value = parseExpression(text).evaluate(scope);
        return run.bound({ value }, SHOWN_CHARACTERS) as { value: Value };
      } catch (error) {
        throw explained(error);
      }
    },
    mask: (text) => run.secrets.mask(text),
  });
}
