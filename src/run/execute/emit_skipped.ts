import { markCleanup } from "../../workflow/mark_cleanup.ts";
import type { Step } from "../../workflow/model.ts";
import type { Session } from "../session.ts";
import { makeStepRun, type Round } from "./step_context.ts";

/** Emits the events of a step, or of an entry of its iteration, that does not start. */
export function emitSkipped(
  session: Session,
  round: Round,
  step: Step,
  entry?: number,
  reason = `not started: ${session.draining.reason}`,
): void {
  const { emit, tally, host: { clock } } = session;
  const uses = step.action.name;
  const name = markCleanup(round.job, step, step.name?.source.trim() || uses);
  const run = makeStepRun(round, step, entry);
  const started = clock.now();
  tally.steps.skipped++;
  emit({ type: "step_started", time: started, run, name, uses });
  const outcome = { state: "skipped", attempts: [], failures: [], reason } as const;
  const place = session.spotOf?.(step);
  const result = { name, uses, ...place ? { place } : {}, started, duration: 0, ...outcome };
  emit({ type: "step_finished", time: started, run, result });
}
