import type { RunEvent } from "../run/event.ts";

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

/** Gives a text a look, or leaves it as it is. */
export type Paint = (text: string) => string;

/** The looks that a report uses. A text to paint is one line. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly blue: Paint;
  readonly cyan: Paint;
}

const asIs: Paint = (text) => text;

/** Adds nothing to any text. */
export const PLAIN: Style = {
  bold: asIs,
  dim: asIs,
  red: asIs,
  green: asIs,
  yellow: asIs,
  blue: asIs,
  cyan: asIs,
};

/** A style with colours, or one that adds nothing to any text. */
export async function loadStyle(colour: boolean): Promise<Style> {
  if (!colour) return PLAIN;
  const { setColorEnabled, bold, dim, red, green, yellow, blue, cyan } = await import(
    "@std/fmt/colors"
  );
  // The library reads NO_COLOR itself; the options of the program have decided already.
  setColorEnabled(true);
  const unlessEmpty = (paint: Paint): Paint => (text) => text === "" ? "" : paint(text);
  return {
    bold: unlessEmpty(bold),
    dim: unlessEmpty(dim),
    red: unlessEmpty(red),
    green: unlessEmpty(green),
    yellow: unlessEmpty(yellow),
    blue: unlessEmpty(blue),
    cyan: unlessEmpty(cyan),
  };
}
