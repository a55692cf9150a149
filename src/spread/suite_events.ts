import type { RunEvent, SuiteFinished, SuiteStarted } from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
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
  const all = [...events()];
  const starts = all.filter((event) => event.type === "suite_started");
  if (starts.length > 1) {
    throw new RunnerError(`'${file}' has the events of more than one process`);
  }
  const inner = all.filter(({ type }) => type !== "suite_started" && type !== "suite_finished");
  return {
    start: starts[0],
    end: all.findLast((event) => event.type === "suite_finished"),
    ended: all.reduce((latest, { time }) => Math.max(latest, time), 0),
    runs: Map.groupBy(inner, ({ runId }) => runId),
  };
}
