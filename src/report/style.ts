import { blue, bold, cyan, dim, green, red, setColorEnabled, yellow } from "@std/fmt/colors";

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

const COLOURED: Style = {
  bold: unlessEmpty(bold),
  dim: unlessEmpty(dim),
  red: unlessEmpty(red),
  green: unlessEmpty(green),
  yellow: unlessEmpty(yellow),
  blue: unlessEmpty(blue),
  cyan: unlessEmpty(cyan),
};

const asIs: Paint = (text) => text;

const PLAIN: Style = {
  bold: asIs,
  dim: asIs,
  red: asIs,
  green: asIs,
  yellow: asIs,
  blue: asIs,
  cyan: asIs,
};

/** A style with colours, or one that adds nothing to any text. */
export function makeStyle(colour: boolean): Style {
  // The library has an opinion of its own; the decision was made before.
  if (colour) setColorEnabled(true);
  return colour ? COLOURED : PLAIN;
}

function unlessEmpty(paint: Paint): Paint {
  return (text) => text === "" ? "" : paint(text);
}
