import type {
  Failure,
  JobFinished,
  JobStarted,
  PieceHeader,
  PiecePart,
  RunEvent,
  RunFinished,
  SuiteFinished,
  SuiteStarted,
} from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
import { isDict } from "../base/value/value.ts";

/** The events of a process, as a file has them; they are read several times. */
export interface PieceFile {
  /** The name used in messages. */
  readonly file: string;
  readonly events: () => Iterable<RunEvent>;
}

/** The events of all pieces as those of one process, and what should be said of them. */
export interface MergedPieces {
  /** Made while they are taken. */
  readonly events: Iterable<RunEvent>;
  readonly passed: boolean;
  readonly warnings: readonly string[];
}

const EVENTS_SCHEMA = "runner.events/1";

/** The limit of GitHub for the jobs of a matrix. */
export const MAX_PARTS = 256;

/**
 * The header of the events of a piece, as a file has it; undefined if the events are of something
 * else. Throws RunnerError.
 */
export function readHeader(header: unknown, file: string): PieceHeader | undefined {
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

/** The run that a file must be of. */
export interface ExpectedRun {
  /** Its id. */
  readonly run: string;
  /** SHA-256 of the files of its workflows. */
  readonly sha256: string;
  readonly what: "workflow" | "suite";
}

/** Throws RunnerError if a file is of another run, or of another version of its files. */
export function refuseOtherRun(
  file: string,
  found: Pick<PieceHeader, "run" | "workflow">,
  { run, sha256, what }: ExpectedRun,
): void {
  if (found.run !== run) {
    throw new RunnerError(`'${file}' is of another run`, `it is of ${found.run}, not of ${run}`);
  }
  if (found.workflow === sha256) return;
  throw new RunnerError(
    `'${file}' is of another version of the ${what}`,
    `its files had the hash ${found.workflow.slice(0, 12)}, not ${sha256.slice(0, 12)}`,
  );
}

/** The facts about the process of a piece, whether of a workflow or of a suite. */
export interface AnyPiece {
  readonly file: string;
  readonly header: PieceHeader;
  /** Milliseconds since 1970. */
  readonly began: number;
  /** The time of its last event. */
  readonly ended: number;
  /** Why its run failed though no job did, or did not end. */
  readonly interrupted: string | undefined;
}

/** The pieces that count. */
interface ChosenPieces<P> {
  /** Those of a job or of a workflow of a suite, by its id or name. */
  readonly byName: ReadonlyMap<string, readonly P[]>;
  readonly counted: ReadonlySet<P>;
  /** When the first of them began, and the last one ended. */
  readonly from: number;
  readonly to: number;
  readonly warnings: string[];
}

/**
 * Reads the files of pieces and chooses the newest for each name. Throws RunnerError where events
 * are of another run.
 */
export function choosePieces<P extends AnyPiece>(
  files: readonly PieceFile[],
  read: (file: PieceFile) => P | undefined,
  expected: ExpectedRun & { readonly created: number },
  names: readonly string[],
): ChosenPieces<P> {
  const isSuite = expected.what === "suite";
  const warnings: string[] = [];
  const pieces = files.flatMap((file) => {
    const piece = read(file);
    const events = isSuite ? "events of this suite" : "events of a piece of a run";
    if (!piece) warnings.push(`'${file.file}' was left out: it has no ${events}`);
    return piece ?? [];
  });
  for (const { file, header } of pieces) refuseOtherRun(file, header, expected);
  const byName = new Map(names.map((name) => {
    const all = pieces.filter(({ header }) => header.jobs.includes(name));
    const what = isSuite ? `'${name}'` : `the job "${name}"`;
    return [
      name,
      newestParts(all, ({ header }) => header, (newer, older) =>
        warnings.push(
          `${what} was run more than once: '${newer.file}' counts, '${older.file}' does not`,
        )),
    ];
  }));
  const counted = new Set([...byName.values()].flat());
  const [from, to] = counted.size === 0 ? [expected.created, expected.created] : [
    Math.min(...[...counted].map(({ began }) => began)),
    Math.max(...[...counted].map(({ ended }) => ended)),
  ];
  return { byName, counted, from, to, warnings };
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

/** The events of one process of a workflow, and what must be known of them before they are merged. */
export interface Piece extends AnyPiece {
  readonly jobs: ReadonlyMap<string, Readonly<JobEnds>>;
  /** The part of APIs that it used. */
  readonly coverage: RunFinished["coverage"] | undefined;
  readonly events: () => Iterable<RunEvent>;
}

/** When a piece began one of its jobs, and how it ended. */
interface JobEnds {
  started?: JobStarted;
  finished?: JobFinished;
  /** Why it ended before its time, where it is a load job. */
  stopped?: string | undefined;
}

/** Reads the events of a piece once; undefined if they are those of something else. */
export function surveyPiece({ file, events }: PieceFile): Piece | undefined {
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
    if (event.type === "job_started") jobs.set(event.job, { started: event });
    if (event.type === "load_ended") {
      jobs.set(event.job, { ...jobs.get(event.job), stopped: event.stopped });
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

/** The message about a piece whose last event, with its result, is missing. */
export function endsInTheMiddle(file: string): string {
  return `'${file}' ends in the middle: its machine was lost`;
}

/** The failure of a job whose events did not come back. */
export function lost(message: string): Failure {
  return { kind: "interrupted", field: "", message };
}

/** The events of one process of a suite. */
interface SuiteEvents {
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
