import type { ActionContext, ActionResult, RunAction } from "../action/action.ts";
import { StepError } from "../source/errors.ts";
import { formatDuration } from "../value/duration.ts";
import type { Dict } from "../value/value.ts";
import type { Step } from "../workflow/model.ts";
import type { StepRun } from "./event.ts";
import type { Session } from "./session.ts";

/** What an action answered, and how long it took in milliseconds. */
export interface Answer {
  readonly result: ActionResult;
  readonly elapsed: number;
}

/** The code of actions that were used, so that only the first use waits for it. */
const loaded = new Map<string, RunAction>();

/**
 * Carries an action out once. When the time is over or the run is interrupted the action is told
 * to stop, and what it throws then is the reason; it has ended what it began by then.
 */
export async function runAttempt(
  session: Session,
  step: Step,
  run: StepRun,
  label: string,
  params: Dict,
  timeout: number,
): Promise<Answer> {
  const { host, deadlines, interruption } = session;
  let act = loaded.get(step.action.name);
  if (!act) loaded.set(step.action.name, act = await step.action.load());

  let reason: StepError | undefined;
  const stops = new Set<(reason: StepError) => void>();
  const stop = (error: StepError) => {
    if (reason) return;
    reason = error;
    for (const each of [...stops]) each(error);
  };
  const context: ActionContext = {
    host,
    deadlines,
    run: session,
    label,
    timeout,
    onStop(each) {
      if (reason) each(reason);
      else stops.add(each);
      return () => stops.delete(each);
    },
    onRunEnd: (end) => session.ends.push(end),
    addSecret: (text) => session.secrets.add(text),
    debug(text) {
      if (!session.detail.all) return;
      session.emit({ type: "note", time: host.clock.now(), level: "debug", text, run });
    },
  };
  const began = host.clock.ticks();
  const answer = act(params, context);
  const result = answer instanceof Promise ? await bounded(answer) : answer;
  return { result, elapsed: result.elapsed ?? host.clock.ticks() - began };

  /** Waits for an answer as long as the attempt may take. */
  async function bounded(answer: Promise<ActionResult>): Promise<ActionResult> {
    const deadline = deadlines.add(
      timeout,
      () => stop(new StepError(`timed out after ${formatDuration(timeout)}`)),
    );
    const forget = interruption.add(stop);
    try {
      return await answer;
    } finally {
      deadline.cancel();
      forget();
    }
  }
}
