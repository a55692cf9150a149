import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { ActionContext, Dict } from "../action.ts";
import { onAbort } from "../on_abort.ts";

/**
 * The signal that ends an action: when the attempt ends, or after the `timeout` that the step
 * gives to its action, in milliseconds. Undefined and 0 leave it to the attempt.
 */
export function limitAction(
  context: ActionContext,
  timeout: number | undefined,
): { readonly context: ActionContext; readonly release: () => void } {
  if (!timeout) return { context, release: () => {} };
  const abort = new AbortController();
  const forget = onAbort(context.signal, (reason) => abort.abort(reason));
  const limit = context.deadline.after(timeout, () => {
    abort.abort(new StepError(`timed out after ${formatDuration(timeout)}`));
  });
  return {
    context: Object.create(context, {
      signal: { value: abort.signal },
      onStop: { value: (stop: (reason: StepError) => void) => onAbort(abort.signal, stop) },
      // They read private fields, which only the context itself has.
      resolvePath: { value: (path: string) => context.resolvePath(path) },
      readCondition: {
        value: (parameter: string, source: string) => context.readCondition(parameter, source),
      },
      runJobFile: { value: (vars: Dict) => context.runJobFile(vars) },
      log: { value: (text: string) => context.log(text) },
      warn: { value: (text: string) => context.warn(text) },
    }),
    release: () => {
      forget();
      limit.cancel();
    },
  };
}
