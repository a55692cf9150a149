/** Of which run a process carries out a part, and which. */
export interface PieceHeader {
  /** The name and number of the format. */
  readonly schema: "runner.events/1";
  /** The id of the run, which all its pieces share. */
  readonly run: string;
  /** SHA-256 of the files of the workflow. */
  readonly workflow: string;
  /** Milliseconds since 1970: of several pieces of one job the newest counts. */
  readonly created: number;
  /** The ids of the jobs that it runs. */
  readonly jobs: readonly string[];
  /** The name of the machine. */
  readonly host: string;
  /** The rounds of its only job that it runs, if others run elsewhere. */
  readonly part?: PiecePart;
}

/** A part of the rounds of a job: those whose index modulo `of` is `index` - 1. */
export interface PiecePart {
  /** From 1. */
  readonly index: number;
  /** The number of parts. */
  readonly of: number;
}
