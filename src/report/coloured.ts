import { blue, bold, cyan, dim, green, red, setColorEnabled, yellow } from "@std/fmt/colors";

// The library has an opinion of its own; who asks for colours has decided.
setColorEnabled(true);

/** A `Style` with colours; that file brings this one. */
export const COLOURED = {
  bold: unlessEmpty(bold),
  dim: unlessEmpty(dim),
  red: unlessEmpty(red),
  green: unlessEmpty(green),
  yellow: unlessEmpty(yellow),
  blue: unlessEmpty(blue),
  cyan: unlessEmpty(cyan),
};

function unlessEmpty(paint: (text: string) => string) {
  return (text: string) => text === "" ? "" : paint(text);
}
