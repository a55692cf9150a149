import { blue, bold, cyan, dim, green, red, setColorEnabled, yellow } from "@std/fmt/colors";
import type { Paint, Style } from "./style.ts";

// The library has an opinion of its own; who asks for colours has decided.
setColorEnabled(true);

/** A style with colours. */
export const COLOURED: Style = {
  bold: unlessEmpty(bold),
  dim: unlessEmpty(dim),
  red: unlessEmpty(red),
  green: unlessEmpty(green),
  yellow: unlessEmpty(yellow),
  blue: unlessEmpty(blue),
  cyan: unlessEmpty(cyan),
};

function unlessEmpty(paint: Paint): Paint {
  return (text) => text === "" ? "" : paint(text);
}
