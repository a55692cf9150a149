import type { Paint, Style } from "./style.ts";

/**
 * A style with colours. Whoever asks for it has decided: unlike colours of a library, these do not
 * ask `NO_COLOR` again.
 */
export const COLOURED: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  blue: paint(34, 39),
  cyan: paint(36, 39),
};

/** Starts a look with one code and ends it with another, also behind looks inside it that end so. */
function paint(start: number, end: number): Paint {
  const [before, after] = [`\x1b[${start}m`, `\x1b[${end}m`];
  return (text) => text === "" ? "" : before + text.replaceAll(after, before) + after;
}
