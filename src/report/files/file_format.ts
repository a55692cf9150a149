import type { Host } from "../../host/host.ts";
import type { RunEvent } from "../../run/event.ts";
import type { History } from "./history/history.ts";
import type { RunRecord, SuiteRecord } from "./run_record.ts";

/** A form of the report for machines, or for people elsewhere: it is written to a file. */
export type FileFormat = DocumentFormat | StreamFormat;

/** The name used by `--report` and by programs that use the library. */
export type FileFormatName =
  | "junit"
  | "tap"
  | "json"
  | "ndjson"
  | "ctrf"
  | "markdown"
  | "html"
  | "coverage"
  | "github";

interface Common {
  readonly name: FileFormatName;
  /** One line, for help and documents. */
  readonly summary: string;
  /** Its name in the directory of `--report-dir`; one without is printed after the text. */
  readonly file?: string;
  /** Whether `--report-dir` leaves it out. */
  readonly isOnlyByName?: true;
  /** Whether it shows details of steps that did not fail. */
  readonly detailed?: true;
}

/** One that is written as a whole when everything is over. */
export interface DocumentFormat extends Common {
  readonly kind: "document";
  /** Brings its code, which a run without it never loads. */
  readonly load: () => Promise<RenderRecords>;
}

/** One that grows while the run goes on. */
export interface StreamFormat extends Common {
  readonly kind: "stream";
  readonly load: (host: Host) => Promise<RenderEvent>;
}

/** The document about these runs, piece by piece so that it need not be in memory as a whole. */
export type RenderRecords = (
  records: readonly RunRecord[],
  suite?: SuiteRecord,
  history?: History,
) => Iterable<string>;

/** Renders the text that an event adds, which is often empty. */
export type RenderEvent = (event: RunEvent) => string;
