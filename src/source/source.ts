/** A text with a name: a workflow file, or an expression that stands inside one. */
export interface Source {
  readonly name: string;
  readonly text: string;
  /** Where in its file an inner text was written; what it holds may be written otherwise there. */
  readonly origin?: Span;
}

/** A part of a source, in UTF-16 offsets; `end` is not part of it. */
export interface Span {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

/** The way from the root of a document to a value: keys of mappings, indexes of lists. */
export type Path = readonly (string | number)[];

/** A spot for people: line and column count from 1, the column in characters. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The text to show, and where in it the marked part lies (UTF-16 offsets). */
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Where a span begins, as a place in the file; an inner text is followed to its origin. */
export function placeOf(span: Span): Place {
  const { source, start, end } = span;
  if (source.origin) {
    const outer = inOrigin(source, source.origin, start, end);
    if (outer) return placeOf(outer);
    // Escapes or folding changed the text: name the place of the whole, show the text as decoded.
    const at = placeOf(source.origin);
    const { text, from, to } = lineAt(source.text, start, end);
    return { ...at, text, from, to };
  }
  const { line, text, from, to } = lineAt(source.text, start, end);
  return { file: source.name, line, column: [...text.slice(0, from)].length + 1, text, from, to };
}

function lineAt(text: string, start: number, end: number) {
  const from = Math.min(start, text.length);
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const newline = text.indexOf("\n", lineStart);
  const lineEnd = newline < 0 ? text.length : newline;
  let line = 1;
  for (let i = text.indexOf("\n"); i >= 0 && i < lineStart; i = text.indexOf("\n", i + 1)) line++;
  return {
    line,
    text: text.slice(lineStart, lineEnd).replace(/\r$/, ""),
    from: from - lineStart,
    to: Math.max(from, Math.min(end, lineEnd)) - lineStart,
  };
}

/** The same part in the file, when the text stands there as it is or as an indented block. */
function inOrigin(source: Source, origin: Span, start: number, end: number): Span | undefined {
  const written = origin.source.text.slice(origin.start, origin.end);
  const whole = written.indexOf(source.text.replace(/\n$/, ""));
  if (whole >= 0) {
    const base = origin.start + whole;
    return { source: origin.source, start: base + start, end: base + end };
  }
  // A literal block: find each line of the text in turn, each after its indent.
  const { line, from, to } = lineAt(source.text, start, end);
  let at = 0;
  const lines = source.text.split("\n");
  for (let i = 0; i < line; i++) {
    const wanted = lines[i] ?? "";
    const found = wanted === "" ? written.indexOf("\n", at) : written.indexOf(wanted, at);
    if (found < 0) return undefined;
    at = found + (i < line - 1 ? wanted.length : 0);
  }
  const base = origin.start + at;
  return { source: origin.source, start: base + from, end: base + to };
}
