import type { Action, ActionContext, ActionResult, Dict } from "../../src/action/action.ts";

/** Carries an action out as a run does. */
export function runnerOf(
  action: Action,
): (params: Dict, context: ActionContext) => Promise<ActionResult> {
  return async (params, context) => await (await action.load())(params, context);
}
