import { StepError } from "../source/errors.ts";
import type { StepRun, StepWaiting } from "./event.ts";
import type { Session } from "./session.ts";

/** Sleeps, and says so. An interruption ends the sleep and is thrown. */
export async function pause(
  session: Session,
  run: StepRun,
  milliseconds: number,
  why: StepWaiting["why"],
): Promise<void> {
  if (milliseconds > 0) {
    const time = session.host.clock.now();
    session.emit({ type: "step_waiting", time, run, milliseconds, why });
    await session.interruption.sleep(milliseconds, session.deadlines);
  }
  const { reason } = session.interruption;
  if (reason !== undefined) throw new StepError(reason);
}
