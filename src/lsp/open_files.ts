import { lineAt, lineStarts } from "../base/source.ts";
import type { Checked } from "./diagnose.ts";
import type { TextRange } from "./loose_yaml.ts";
import { makeOutline, type Outline } from "./outline.ts";

/** A file that is open in the editor. */
export interface OpenFile {
  readonly uri: string;
  readonly path: string;
  readonly version: number;
  readonly text: string;
  readonly lines: LineIndex;
  /** The check of this text; undefined until it is needed. */
  checked?: Promise<Checked>;
  outline?: Outline;
}

/** The outline of a file, made once. */
export function outlineOf(file: OpenFile): Outline {
  return file.outline ??= makeOutline(file.text);
}

/** A position in a file as editors count: lines and UTF-16 units from 0. */
export interface EditorPosition {
  readonly line: number;
  readonly character: number;
}

export interface EditorRange {
  readonly start: EditorPosition;
  readonly end: EditorPosition;
}

/** Translates the positions in a text. */
export interface LineIndex {
  offsetAt(position: EditorPosition): number;
  rangeOf(range: TextRange): EditorRange;
}

export function makeLineIndex(text: string): LineIndex {
  const starts = lineStarts(text);
  const positionAt = (offset: number): EditorPosition => {
    const line = lineAt(starts, offset);
    return { line, character: offset - starts[line]! };
  };
  return {
    offsetAt: ({ line, character }) =>
      Math.min(
        (starts[line] ?? text.length) + character,
        (starts[line + 1] ?? text.length + 1) - 1,
      ),
    rangeOf: ({ start, end }) => ({ start: positionAt(start), end: positionAt(end) }),
  };
}
