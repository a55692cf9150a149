import { markCleanup } from "../../workflow/mark_cleanup.ts";
import type { Step } from "../../workflow/model.ts";
import type { Session } from "../session.ts";
import {
  type Entry,
  evaluateName,
  evaluateStepVars,
  makeStepContext,
  type Round,
  type StepContext,
} from "./step_context.ts";

/** Emits the events of a step, or of an entry of its iteration, that does not start. */
export function emitSkipped(
  session: Session,
  round: Round,
  step: Step,
  entry?: Entry,
  reason = `not started: ${session.draining.reason}`,
): void {
  const { emit, tally, host: { clock } } = session;
  const uses = step.action.name;
  const context = makeStepContext(session, round, step, entry);
  const { run } = context;
  const name = markCleanup(round.job, step, nameOf(session, context) || uses);
  const started = clock.now();
  tally.steps.skipped++;
  emit({ type: "step_started", time: started, run, name, uses });
  const outcome = { state: "skipped", attempts: [], failures: [], reason } as const;
  const place = session.spotOf?.(step);
  const result = { name, uses, ...place ? { place } : {}, started, duration: 0, ...outcome };
  emit({ type: "step_finished", time: started, run, result });
}

/** The name of a step; its template as it is written where that needs what did not run. */
function nameOf(session: Session, context: StepContext): string {
  try {
    context.names.vars = evaluateStepVars(session, context);
    return evaluateName(context);
  } catch {
    return context.step.name?.source.trim() ?? "";
  }
}
