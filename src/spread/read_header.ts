import type { PieceHeader, PiecePart } from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
import { isDict } from "../base/value/value.ts";
import { MOST_PARTS } from "./choose_piece.ts";

const SCHEMA = "runner.events/1";

/**
 * The header of the events of a piece, as a file has it; undefined if the events are of something
 * else. Throws RunnerError.
 */
export function readHeader(header: unknown, file: string): PieceHeader | undefined {
  if (!isDict(header)) return undefined;
  const { schema, run, workflow, created, jobs, part } = header;
  if (schema !== SCHEMA) {
    throw new RunnerError(
      `the events in '${file}' have the schema ${JSON.stringify(schema)}, not "${SCHEMA}"`,
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
    Number(index) <= Number(of) && Number(of) <= MOST_PARTS;
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
