import { StepError } from "../base/errors.ts";
import type { Dict, RunAction } from "./action.ts";
import { Attempt } from "./attempt.ts";
import { onConnection, withoutConnection } from "./connection.ts";
import type { Shape } from "./schema.ts";
import { type ActionSpec, readRun, type ResponseShape } from "./spec.ts";

/** Carries an action out: what a run needs besides the rules. */
export function runnerOf<S extends Shape, F extends ResponseShape, C>(
  spec: ActionSpec<S, F, C>,
): RunAction {
  const { name, connection, refusals, run } = spec;
  return async (raw, context) => {
    const params = readRun(spec, raw, context.secrets);
    // One that reaches nothing needs no permission.
    const target = await spec.target?.(params) ?? { program: name };
    const { timeout }: { readonly timeout?: number } = spec.limitsParts ? {} : params;
    const begin = () => new Attempt(context, target, refusals, timeout);
    const req = spec.request?.(params, raw) ?? {};
    const carryOut = () =>
      connection
        ? onConnection(
          connection,
          { action: name, params, raw, context, begin },
          (connection, attempt) => run(connection, params, attempt, raw),
        )
        : withoutConnection(begin(), (attempt) => run(undefined as C, params, attempt, raw));
    const release = await spec.acquire?.(context);
    try {
      const response = await carryOut();
      return { status: 0, req, ...response, res: response.res as Dict };
    } catch (error) {
      if (!spec.request || !(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint, { req, ...error.details });
    } finally {
      release?.();
    }
  };
}
