import type { RunEvent } from "../run/event.ts";
import type { Style } from "./style.ts";

/** Turns the events of a run into text. It writes nothing itself. */
export interface Reporter {
  /** The text that an event adds to the report, often none. */
  report(event: RunEvent): string;
  /** Temporary lines below the report that are redrawn repeatedly. */
  live?(now: number, columns: number, rows: number): readonly LiveLine[];
}

/** A line on a terminal. */
export interface LiveLine {
  readonly text: string;
  /** Its width in columns. */
  readonly width: number;
}

/** The user's options for the look of a report. */
export interface ReportOptions {
  readonly timing: boolean;
  /** Columns of the terminal now; absent where the report goes elsewhere. */
  readonly columns?: () => number;
  readonly style: Style;
  /** Folds a part of the text behind a title, where what shows the text can. */
  readonly fold?: (title: string, text: string) => string;
}
