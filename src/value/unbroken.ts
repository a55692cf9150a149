import { rewrite, type Rewritten } from "./rewritten.ts";

/**
 * A line break in the middle of base64, also as JSON writes it, with the indent of the next line.
 * Who breaks base64 makes long lines; most lines of other texts end in shorter words. What comes
 * before is looked at after the break was found, which is rare.
 */
const BREAK = /(?:\r?\n|(?:\\r)?\\n)(?<=[\w+/-]{16}(?:\r?\n|(?:\\r)?\\n))[ \t]*(?=[\w+/=-])/g;

/** Joins lines that may be pieces of one base64 text; undefined where there are none. */
export function joinBase64(text: string): Rewritten | undefined {
  if (!text.includes("\n") && !text.includes("\\n")) return undefined;
  return rewrite(text, BREAK, () => "");
}
