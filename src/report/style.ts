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
  return colour ? (await import("./coloured.ts")).COLOURED : PLAIN;
}
