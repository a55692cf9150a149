import type { Action, ActionResult, RunAction } from "../action/action.ts";
import { StepError } from "../source/errors.ts";
import type { Dict } from "../value/value.ts";
import { Attempt, type AttemptOf } from "./attempt.ts";
import type { StepRun } from "./event.ts";
import type { Session } from "./session.ts";

/** What an action answered, and how long it took in milliseconds. */
export interface Answer {
  readonly result: ActionResult;
  readonly elapsed: number;
}

/** The code of actions that were used, or is on its way: ten thousand uses load it once. */
const loaded = new Map<string, Promise<RunAction>>();

/**
 * Carries an action out once. When the time is over or the run is interrupted, what the action
 * throws is the reason; it has ended what it began by then.
 */
export async function runAttempt(
  session: Session,
  action: Action,
  run: StepRun,
  params: Dict,
  step: AttemptOf,
): Promise<Answer> {
  const act = await codeOf(action);
  const { reason } = session.interruption;
  if (reason !== undefined) throw new StepError(reason); // It came while the code was loaded.
  const attempt = new Attempt(session, run, step);
  const { clock } = session.host;
  const began = clock.ticks();
  const answer = act(params, attempt);
  if (!(answer instanceof Promise)) return { result: answer, elapsed: clock.ticks() - began };
  attempt.watch();
  try {
    const result = await answer;
    return { result, elapsed: result.elapsed ?? clock.ticks() - began };
  } finally {
    attempt.end();
  }
}

function codeOf({ name, load }: Action): Promise<RunAction> {
  let code = loaded.get(name);
  if (!code) loaded.set(name, code = load());
  return code;
}
