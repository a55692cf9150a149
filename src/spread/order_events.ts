import type { JobFinished, JobStarted, RunEvent } from "../run/event.ts";
import type { MergedLoad } from "./merge_load.ts";
import type { Piece } from "./piece_events.ts";
import type { RunFileJob } from "./run_file.ts";

/** A job of the run with the pieces that count. */
export interface MergedJob {
  readonly job: RunFileJob;
  readonly pieces: readonly Piece[];
  readonly started?: JobStarted;
  readonly finished: JobFinished;
  /** Where it is a load job in several parts. */
  readonly load?: MergedLoad | undefined;
}

/** Events with their places in the order of one time. */
interface Stream {
  readonly events: Iterator<RunEvent>;
  next: RunEvent | undefined;
}

/** All events of jobs by their times; those of one file stay in their order. */
export function* inOrder(
  pieces: readonly Piece[],
  jobs: readonly MergedJob[],
): Iterable<RunEvent> {
  const starts = jobs.flatMap(({ started }) => started ?? []).sort((a, b) => a.time - b.time);
  const ends = jobs.map(({ finished }) => finished).sort((a, b) => a.time - b.time);
  const merged = new Map(jobs.map((one) => [one.job.id, { ...one, of: new Set(one.pieces) }]));
  const streams = [
    starts,
    ...pieces.map((piece) =>
      keptEvents(
        piece,
        (id) => merged.get(id)?.of.has(piece) ?? false,
        (id) => merged.get(id)?.load !== undefined,
      )
    ),
    ...jobs.flatMap(({ load, finished: { time } }) => load ? [loadEvents(load, time)] : []),
    ends,
  ].map((events): Stream => {
    const iterator = (events as Iterable<RunEvent>)[Symbol.iterator]();
    return { events: iterator, next: iterator.next().value };
  });
  for (;;) {
    let first: Stream | undefined;
    // The first of those at one time wins: starts come before other events, and ends after them.
    for (const stream of streams) {
      if (stream.next && (!first || stream.next.time < first.next!.time)) first = stream;
    }
    if (!first) return;
    yield first.next!;
    first.next = first.events.next().value;
  }
}

function* loadEvents({ seconds, ended }: MergedLoad, time: number): Iterable<RunEvent> {
  yield* seconds();
  yield { ...ended, time };
}

/** The events of a piece but for those that are made anew, and those of jobs that do not count. */
function* keptEvents(
  { events }: Piece,
  counts: (job: string) => boolean,
  isMerged: (job: string) => boolean,
): Iterable<RunEvent> {
  for (const event of events()) {
    switch (event.type) {
      case "run_started":
      case "run_finished":
      case "job_started":
      case "job_finished":
      case "suite_started":
      case "suite_finished":
      case "rounds_tallied":
        continue;
      case "load_second":
      case "load_ended":
        if (counts(event.job) && !isMerged(event.job)) yield event;
        continue;
      case "round_finished":
        if (counts(event.job)) yield event;
        continue;
      case "note":
        if (event.run === undefined || counts(event.run.job)) yield event;
        continue;
      default:
        if (counts(event.run.job)) yield event;
    }
  }
}
