import type { Checked } from "./diagnose.ts";
import type { LineIndex } from "./line_index.ts";
import { makeOutline, type Outline } from "./outline.ts";

/** A file that is open in the editor. */
export interface OpenFile {
  readonly uri: string;
  readonly path: string;
  readonly version: number;
  readonly text: string;
  readonly lines: LineIndex;
  /** What was found in this text, or is being looked for; undefined before it is asked for. */
  checked?: Promise<Checked>;
  outline?: Outline;
}

/** The outline of a file, which is made once. */
export function outlineOf(file: OpenFile): Outline {
  return file.outline ??= makeOutline(file.text);
}
