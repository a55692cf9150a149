import { isPrintable, printable } from "../base/text/printable.ts";
import type { RunEvent } from "../run/event.ts";
import type { Change } from "./record.ts";

/**
 * Turns the events of a run, each with the record as it is then, into text. It writes nothing
 * itself, and expects printable events.
 */
export interface Reporter {
  /** The text that an event adds to the report, often none. */
  report(change: Change): string;
  /** It shows every step of every round of repeated jobs, not only their tally. */
  readonly takesRounds?: true;
  /** What takes long, said every `PROGRESS_TIME` where there are no live lines. */
  progress?(now: number): string;
  /** Temporary lines below the report that are redrawn repeatedly. */
  live?(now: number, columns: number, rows: number): readonly string[];
  /** Milliseconds between two drawings of these, where they are not as many as usual. */
  frameTime?(): number;
}

/** Milliseconds after which a report that has no live lines says what is still under way. */
export const PROGRESS_TIME = 10_000;

/** The user's options for the look of a report. */
export interface ReportOptions {
  readonly timing: boolean;
  /** Columns of the terminal now; absent where the report goes elsewhere. */
  readonly columns?: () => number;
  readonly style: Style;
  /** Whether to show all about what passed. */
  readonly verbose?: boolean;
  /** Folds a part of the text behind a title, where what shows the text can. */
  readonly fold?: (title: string, text: string) => string;
}

/** Applies ANSI styling to a text of one line, or returns it as it is. */
export type Paint = (text: string) => string;

const STYLES = ["bold", "dim", "red", "green", "yellow", "blue", "cyan"] as const;

/** The styling that reports use. */
export type Style = Readonly<Record<typeof STYLES[number], Paint>>;

/** Adds nothing to any text. */
export const PLAIN = makeStyle(() => (text) => text);

/** A style with colours, or one that adds nothing to any text. */
export async function loadStyle(colour: boolean): Promise<Style> {
  if (!colour) return PLAIN;
  const colors = await import("@std/fmt/colors");
  // The library reads NO_COLOR itself; the options of the program have decided already.
  colors.setColorEnabled(true);
  return makeStyle((name) => (text) => text === "" ? "" : colors[name](text));
}

function makeStyle(paintOf: (name: typeof STYLES[number]) => Paint): Style {
  return Object.fromEntries(STYLES.map((name) => [name, paintOf(name)])) as Style;
}

/**
 * An event without control characters in its texts. Names, bodies and outputs come from outside,
 * and must not move the cursor of a terminal.
 */
export function printableEvent(event: RunEvent): RunEvent {
  // Nearly all events are printable, and finding that out need not copy them.
  return isPrintableData(event) ? event : printableData(event) as RunEvent;
}

function isPrintableData(data: unknown): boolean {
  if (typeof data === "string") return isPrintable(data);
  if (typeof data !== "object" || data === null) return true;
  if (Array.isArray(data)) return data.every(isPrintableData);
  return Object.keys(data).every((key) =>
    isPrintable(key) && isPrintableData(data[key as keyof typeof data])
  );
}

/** Plain data without control characters in its texts. */
export function printableData(data: unknown): unknown {
  if (typeof data === "string") return printable(data);
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) return data.map(printableData);
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [printable(key), printableData(value)]),
  );
}
