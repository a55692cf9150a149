import type {
  Failure,
  JobFinished,
  JobStarted,
  PieceHeader,
  PiecePart,
  RunEvent,
  RunFinished,
  RunStarted,
  SuiteFinished,
  SuiteStarted,
} from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
import { isDict } from "../base/value/value.ts";
import type { RunFile } from "./run_file.ts";

/** The events of a process, as a file has them; they are read several times. */
export interface PieceFile {
  /** The name used in messages. */
  readonly file: string;
  readonly events: () => Iterable<RunEvent>;
}

const EVENTS_SCHEMA = "runner.events/1";

/** The limit of GitHub for the jobs of a matrix. */
export const MAX_PARTS = 256;

/**
 * The header of the events of a piece, as a file has it; undefined if the events are of something
 * else. Throws RunnerError.
 */
function readHeader(header: unknown, file: string): PieceHeader | undefined {
  if (!isDict(header)) return undefined;
  const { schema, run, workflow, created, jobs, part } = header;
  if (schema !== EVENTS_SCHEMA) {
    throw new RunnerError(
      `the events in '${file}' have the schema ${JSON.stringify(schema)}, not "${EVENTS_SCHEMA}"`,
      "all processes of a run need the same version of runner",
    );
  }
  const isWhole = typeof run === "string" && typeof workflow === "string" &&
    typeof created === "number" && Array.isArray(jobs) &&
    jobs.every((job) => typeof job === "string") && (part === undefined || isPart(part));
  if (isWhole) return header as unknown as PieceHeader;
  throw new RunnerError(
    `'${file}' has an invalid "piece" in its first event`,
    "merge what --report ndjson=FILE has written",
  );
}

/** Whether a value is a part of the rounds of a job. */
export function isPart(value: unknown): value is PiecePart {
  if (!isDict(value)) return false;
  const { index, of } = value;
  return Number.isInteger(index) && Number.isInteger(of) && 1 <= Number(index) &&
    Number(index) <= Number(of) && Number(of) <= MAX_PARTS;
}

/** Throws RunnerError if a file is of another run, or of another version of its files. */
export function refuseOtherRun(
  file: string,
  found: Pick<PieceHeader, "run" | "workflow">,
  { run, sha256 }: Pick<RunFile, "run" | "sha256">,
): void {
  if (found.run !== run) {
    throw new RunnerError(`'${file}' is of another run`, `it is of ${found.run}, not of ${run}`);
  }
  if (found.workflow === sha256) return;
  throw new RunnerError(
    `'${file}' was made with another version of the files`,
    `they had the hash ${found.workflow.slice(0, 12)}, not ${sha256.slice(0, 12)}`,
  );
}

/** The events of one process. */
export interface Piece {
  readonly file: string;
  /** Undefined where the file does not begin with a run or a suite. */
  readonly start?: RunStarted | SuiteStarted;
  /** Where it is one of several processes of a run with a run file. */
  readonly header?: PieceHeader;
  /** Undefined where the file ends in the middle. */
  readonly end?: RunFinished | SuiteFinished;
  /** The time of its last event. */
  readonly ended: number;
  /** Why its run failed though no job did, or did not end. */
  readonly interrupted?: string;
  /** Its workflows, in the order in which they began. */
  readonly runs: readonly RunPart[];
}

/** The events of a workflow in one process. */
export interface RunPart {
  readonly piece: Pick<Piece, "file" | "header">;
  readonly start: RunStarted;
  /** Undefined where the file ends in the middle. */
  readonly end?: RunFinished;
  /** The time of its last event. */
  readonly ended: number;
  readonly jobs: ReadonlyMap<string, Readonly<JobEnds>>;
  readonly events: () => Iterable<RunEvent>;
}

/** When a process began one of its jobs, and how it ended. */
interface JobEnds {
  started?: JobStarted;
  finished?: JobFinished;
  /** Why it ended before its time, where it is a load job. */
  stopped?: string | undefined;
}

/** Reads the events of a process once. Those of a suite are kept, since its workflows run at once. */
export function surveyPiece({ file, events }: PieceFile): Piece {
  let first: RunStarted | SuiteStarted | undefined;
  let header: PieceHeader | undefined;
  let end: RunFinished | SuiteFinished | undefined;
  let ended = 0;
  const surveys = new Map<string, RunSurvey>();
  for (const event of events()) {
    ended = Math.max(ended, event.time);
    if (!first) {
      if (event.type !== "run_started" && event.type !== "suite_started") break;
      first = event;
      header = readHeader(event.piece, file);
    } else if (event.type === first.type) {
      throw new RunnerError(`'${file}' has the events of more than one process`);
    }
    if (event.type === "suite_finished") end = event;
    if (event.type === "suite_started" || event.type === "suite_finished") continue;
    const isKept = first.type === "suite_started";
    let survey = surveys.get(event.runId);
    if (!survey) {
      if (event.type !== "run_started") continue;
      survey = new RunSurvey(event, { file, header }, isKept ? undefined : events);
      surveys.set(event.runId, survey);
    }
    survey.take(event);
  }
  const runs = [...surveys.values()];
  if (first?.type === "run_started") end = runs[0]?.end;
  const interrupted = end ? end.interrupted : endsInTheMiddle(file);
  return { file, start: first, header, end, ended, interrupted, runs };
}

/** Collects the facts about a workflow that merging needs. */
class RunSurvey implements RunPart {
  readonly start: RunStarted;
  readonly piece: RunPart["piece"];
  end: RunFinished | undefined;
  ended = 0;
  readonly jobs = new Map<string, JobEnds>();
  readonly events: () => Iterable<RunEvent>;
  readonly #kept: RunEvent[] | undefined;

  /** Without `events`, it keeps those that it takes. */
  constructor(start: RunStarted, piece: RunPart["piece"], events?: () => Iterable<RunEvent>) {
    this.start = start;
    this.piece = piece;
    const kept = events ? undefined : [] as RunEvent[];
    this.#kept = kept;
    this.events = events ?? (() => kept!);
  }

  take(event: RunEvent): void {
    this.#kept?.push(event);
    this.ended = Math.max(this.ended, event.time);
    switch (event.type) {
      case "job_started":
        this.jobs.set(event.job, { started: event });
        return;
      case "load_ended":
        this.jobs.set(event.job, { ...this.jobs.get(event.job), stopped: event.stopped });
        return;
      case "job_finished":
        this.jobs.set(event.job, { ...this.jobs.get(event.job), finished: event });
        return;
      case "run_finished":
        this.end = event;
    }
  }
}

/** The data by which pieces of one job differ. */
type PartHeader = Pick<PieceHeader, "created" | "part">;

/**
 * Of each part of a job the newest, since engines repeat lost tasks, in the order of the parts.
 * Parts of another number of parts than the newest has are of a split that was given up.
 */
export function newestParts<P>(
  pieces: readonly P[],
  headerOf: (piece: P) => PartHeader,
  onOlder: (newer: P, older: P) => void,
): readonly P[] {
  const partOf = (piece: P) => headerOf(piece).part ?? { index: 1, of: 1 };
  const newest = new Map<number, P>();
  const [first, ...others] = pieces.toSorted((a, b) => headerOf(b).created - headerOf(a).created);
  if (!first) return [];
  newest.set(partOf(first).index, first);
  for (const piece of others) {
    const { index, of } = partOf(piece);
    const newer = of === partOf(first).of ? newest.get(index) : first;
    if (newer) onOlder(newer, piece);
    else newest.set(index, piece);
  }
  return [...newest.values()].sort((a, b) => partOf(a).index - partOf(b).index);
}

/** The message about a file whose last event, with its result, is missing. */
export function endsInTheMiddle(file: string): string {
  return `'${file}' ends in the middle: its process was killed or its machine was lost`;
}

/** The failure of a job whose events did not come back. */
export function lost(message: string): Failure {
  return { kind: "interrupted", field: "", message };
}
