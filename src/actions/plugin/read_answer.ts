import { StepError } from "../../base/errors.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import type { ActionResult, Dict } from "../../action/action.ts";

/**
 * The answer of a plugin as the result of its action: `{status, res, req}`; `req` is the
 * parameters where it is left out. Throws `StepError` for an `error` and for an invalid answer.
 */
export function readAnswer(
  plugin: string,
  answer: unknown,
  params: Dict,
): ActionResult {
  const fail = (message: string) => {
    const hint = 'an answer is {"status": 0, "res": {…}}, or {"error": "why not"}';
    return new StepError(`the plugin "${plugin}" ${message}`, hint, { req: params });
  };
  if (!isDict(answer)) throw fail(`must answer with a mapping, not ${describeValue(answer)}`);
  const { status, res = null, req = null, error = null } = answer;
  if (req !== null && !isDict(req)) {
    throw fail(`must answer with a mapping as "req", not ${describeValue(req)}`);
  }
  const request = req ?? params;
  if (typeof error === "string") {
    const text = error.trim() || "it says nothing more";
    throw new StepError(`the plugin "${plugin}" failed: ${text}`, undefined, { req: request });
  }
  if (error !== null) throw fail(`must answer with text as "error", not ${describeValue(error)}`);
  if (status === undefined) throw fail('answered without "status"');
  if (!Number.isSafeInteger(status)) {
    throw fail(`must answer with a whole number as "status", not ${describeValue(status)}`);
  }
  if (res !== null && !isDict(res)) {
    throw fail(`must answer with a mapping as "res", not ${describeValue(res)}`);
  }
  return { req: request, res: res ?? {}, status: status as number, brief: `status ${status}` };
}
