import { PLAIN, type Style } from "./style.ts";

/** A style with colours, or one that adds nothing to any text. */
export async function loadStyle(colour: boolean): Promise<Style> {
  return colour ? (await import("./coloured.ts")).COLOURED : PLAIN;
}
