import type { RunEvent } from "../../run/event.ts";
import { printableEvent } from "./printable_event.ts";
import type { Reporter } from "../reporter.ts";
import { StepNames } from "./step_names.ts";

/** A reporter whose lines call jobs and steps by their names. */
export function namedReport(
  linesOf: (event: RunEvent, names: StepNames) => readonly string[],
): Reporter {
  const runs = new Map<string, StepNames>();
  return {
    report(event) {
      const safe = printableEvent(event);
      let names = runs.get(safe.runId);
      if (!names) runs.set(safe.runId, names = new StepNames());
      names.update(safe);
      if (safe.type === "run_finished") runs.delete(safe.runId);
      return linesOf(safe, names).map((line) => `${line}\n`).join("");
    },
  };
}
