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
  bold: look(1, 22),
  dim: look(2, 22),
  red: look(31, 39),
  green: look(32, 39),
  yellow: look(33, 39),
  blue: look(34, 39),
  cyan: look(36, 39),
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
  return colour ? COLOURED : PLAIN;
}

/** A look by the codes that begin and end it. What ends a look inside it must not end it too. */
function look(begin: number, end: number): Paint {
  const on = `\x1b[${begin}m`;
  const off = `\x1b[${end}m`;
  return (text) => text === "" ? "" : on + text.replaceAll(off, on) + off;
}
