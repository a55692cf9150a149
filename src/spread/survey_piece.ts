import type { JobFinished, JobStarted, PieceHeader, RunEvent, RunFinished } from "../run/event.ts";
import { readHeader } from "./read_header.ts";
import { RunnerError } from "../base/errors.ts";

/** The events of one process, and what must be known of them before they are merged. */
export interface Piece {
  readonly file: string;
  readonly header: PieceHeader;
  /** Milliseconds since 1970. */
  readonly began: number;
  /** The time of its last event. */
  readonly ended: number;
  readonly jobs: ReadonlyMap<string, Readonly<JobEnds>>;
  /** Why its run failed though no job did, or did not end. */
  readonly interrupted: string | undefined;
  /** The part of APIs that it used. */
  readonly coverage: RunFinished["coverage"] | undefined;
  readonly events: () => Iterable<RunEvent>;
}

/** When a piece began one of its jobs, and how it ended. */
interface JobEnds {
  started?: JobStarted;
  finished?: JobFinished;
  /** The times of its rounds that are over, in milliseconds. */
  readonly rounds?: Readonly<Record<"passed" | "failed", number[]>>;
}

/** Reads the events of a piece once; undefined if they are those of something else. */
export function surveyPiece(file: string, events: () => Iterable<RunEvent>): Piece | undefined {
  let header: PieceHeader | undefined;
  let [began, ended] = [0, 0];
  let end: RunFinished | undefined;
  const jobs = new Map<string, JobEnds>();
  for (const event of events()) {
    if (event.type === "run_started") {
      if (header) throw new RunnerError(`'${file}' has the events of more than one process`);
      header = readHeader(event.piece, file);
      began = event.time;
    }
    if (!header) return undefined;
    ended = Math.max(ended, event.time);
    if (event.type === "run_finished") end = event;
    if (event.type === "job_started") {
      jobs.set(event.job, { started: event, rounds: { passed: [], failed: [] } });
    }
    if (event.type === "round_finished" && event.state !== "skipped") {
      jobs.get(event.job)?.rounds?.[event.state].push(event.duration ?? 0);
    }
    if (event.type === "job_finished") {
      jobs.set(event.job, { ...jobs.get(event.job), finished: event });
    }
  }
  if (!header) return undefined;
  return {
    file,
    header,
    began,
    ended,
    jobs,
    events,
    interrupted: end ? end.interrupted : endsInTheMiddle(file),
    coverage: end?.coverage,
  };
}

/** What is said of a piece whose last event is missing: only that says whether it passed. */
export function endsInTheMiddle(file: string): string {
  return `'${file}' ends in the middle: its machine was lost`;
}
