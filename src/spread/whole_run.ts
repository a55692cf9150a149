import type { JobFinished, RunEvent, RunStarted } from "../run/event.ts";
import { RunTotals } from "../run/count_steps.ts";
import { lost, type MergedPieces, type PieceFile } from "./piece_events.ts";

/**
 * The run whose events a file has, undefined where it is no run by itself. One that ends in its
 * middle, since the program was killed, has failed, and so have its jobs that were under way.
 */
export function wholeRun({ file, events }: PieceFile): MergedPieces | undefined {
  const [start] = events();
  if (start?.type !== "run_started" || start.piece || start.suite) return undefined;
  let passed = false;
  let isOver = false;
  for (const event of events()) {
    if (event.type !== "run_finished") continue;
    passed = event.state === "passed";
    isOver = true;
  }
  const why = `'${file}' ends in the middle: the program was killed`;
  const all = () => isOver ? events()[Symbol.iterator]() : withEnd(start, events(), why);
  return { events: { [Symbol.iterator]: all }, passed, warnings: isOver ? [] : [why] };
}

function* withEnd(
  start: RunStarted,
  events: Iterable<RunEvent>,
  why: string,
): Generator<RunEvent, void> {
  const { runId } = start;
  const totals = new RunTotals();
  const open = new Map<string, { readonly name: string; readonly started?: number }>(
    start.jobs.map(({ id, name }) => [id, { name }]),
  );
  let time = start.time;
  for (const event of events) {
    time = Math.max(time, event.time);
    if (event.type === "job_started") {
      open.set(event.job, { name: event.name, started: event.time });
    } else if (event.type === "job_finished") open.delete(event.job);
    totals.take(event);
    yield event;
  }
  for (const [job, { name, started }] of open) {
    const end: JobFinished = {
      ...{ type: "job_finished", runId, time, job, name },
      ...started === undefined
        ? { state: "skipped", duration: 0, reason: "not started", blocked: true, failures: [] }
        : { state: "failed", duration: time - started, failures: [lost(why)] },
    };
    totals.take(end);
    yield end;
  }
  yield {
    ...{ type: "run_finished", runId, time, duration: time - start.time, state: "failed" },
    interrupted: why,
    ...totals.all(),
  };
}
