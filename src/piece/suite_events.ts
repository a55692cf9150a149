import type { RunEvent, SuiteFinished, SuiteStarted } from "../run/event.ts";
import { RunnerError } from "../source/errors.ts";
import type { PieceFile } from "./merge_pieces.ts";

/** The events of one process of a suite. */
export interface SuiteEvents {
  readonly start: SuiteStarted | undefined;
  /** Undefined where the file ends in the middle. */
  readonly end: SuiteFinished | undefined;
  /** The time of the last event. */
  readonly ended: number;
  /** The events of its workflows, by the ids of their runs. */
  readonly runs: ReadonlyMap<string, readonly RunEvent[]>;
}

/** Reads the events of a process. Throws RunnerError where there are those of another one, too. */
export function readSuiteEvents({ file, events }: PieceFile): SuiteEvents {
  let start: SuiteStarted | undefined;
  let end: SuiteFinished | undefined;
  let ended = 0;
  const runs = new Map<string, RunEvent[]>();
  for (const event of events()) {
    ended = Math.max(ended, event.time);
    if (event.type === "suite_started") {
      if (start) throw new RunnerError(`'${file}' has the events of more than one process`);
      start = event;
    } else if (event.type === "suite_finished") end = event;
    else {
      const run = runs.get(event.runId);
      if (run) run.push(event);
      else runs.set(event.runId, [event]);
    }
  }
  return { start, end, ended, runs };
}
