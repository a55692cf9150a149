import { LoadError } from "../source/errors.ts";
import { placeOf, type Source, type Span } from "../source/source.ts";

/** Files put together as one text that YAML reads as one document. */
export interface JoinedText {
  readonly text: string;
  readonly files: readonly Source[];
  /** Where each file begins in the text. */
  readonly starts: readonly number[];
}

/** Puts files one after the other; what marks a document in them is blanked, in the same length. */
export function joinFiles(files: readonly Source[]): JoinedText {
  const starts: number[] = [];
  let text = "";
  for (const file of files) {
    starts.push(text.length);
    text += withoutMarkers(file);
    if (!text.endsWith("\n")) text += "\n";
  }
  return { text, files, starts };
}

/** A part of the joined text as a part of the file that it came from. */
export function spanAt({ files, starts }: JoinedText, start: number, end: number): Span {
  let index = starts.length - 1;
  while (index > 0 && starts[index]! > start) index--;
  const from = starts[index] ?? 0;
  const source = files[index]!;
  const inFile = (offset: number) => Math.min(offset - from, source.text.length);
  return { source, start: inFile(start), end: inFile(end) };
}

const MARKER = /(?<![^\n])(?:---|\.\.\.)(?=[ \t\r\n]|$)/g;
const BLANK = /^(?:[ \t\r]*(?:#[^\n]*)?(?:\n|$))*$/;
const HEAD = /^(?:[ \t\r]*(?:[#%][^\n]*)?(?:\n|$))*$/;

function withoutMarkers(file: Source): string {
  const { text } = file;
  if (!/^(?:---|\.\.\.)/.test(text) && !/\n(?:---|\.\.\.)/.test(text)) return text;
  let out = text;
  for (const { 0: marker, index } of text.matchAll(MARKER)) {
    const before = out.slice(0, index);
    const after = text.slice(index + marker.length);
    if (marker === "---" && HEAD.test(before)) {
      // %YAML says no more than we know; as a comment it keeps its length.
      out = before.replaceAll("%", "#") + "   " + after;
    } else if (marker === "..." && BLANK.test(after)) {
      out = before + "   " + after;
    } else {
      throw secondDocument(file, index, marker);
    }
  }
  return out;
}

function secondDocument(file: Source, offset: number, marker: string): LoadError {
  const span = { source: file, start: offset, end: offset + marker.length };
  const message = marker === "---"
    ? "a second document begins here"
    : "the document ends here, but the file goes on";
  return new LoadError(`YAML syntax error at line ${placeOf(span).line}`, [{
    severity: "error",
    code: "yaml",
    message,
    hint: "a workflow is one document: remove this line",
    span,
  }]);
}
