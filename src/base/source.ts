/** A text with a name: a workflow file, or an expression inside one. */
export interface Source {
  /** The name of the file. */
  readonly name: string;
  /** All of it. */
  readonly text: string;
  /** Where in its file an inner text was written; what it holds may be written otherwise there. */
  readonly origin?: Span;
}

/** A part of a source, in UTF-16 offsets; `end` is not part of it. */
export interface Span {
  /** The text that it is a part of. */
  readonly source: Source;
  /** Where it begins. */
  readonly start: number;
  /** Where it ends. */
  readonly end: number;
}

/** The way from the root of a document to a value: keys of mappings, indexes of lists. */
export type Path = readonly (string | number)[];

/** A position in a file for people. */
export interface Position {
  /** The name of the file. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
}

/** A position with the line that it is in, and the part of that line to mark. */
export interface SourceExcerpt extends Position {
  /** The text to show, and where in it the marked part lies (UTF-16 offsets). */
  readonly text: string;
  /** Where the marked part begins. */
  readonly from: number;
  /** Where the marked part ends. */
  readonly to: number;
}

/** The line of its file in which a span begins; an inner text is followed to its origin. */
export function excerptOf(span: Span): SourceExcerpt {
  const outer = spanInFile(span);
  const at = lineExcerpt(outer);
  if (outer.exact) return at;
  // Escapes changed the text beyond recognition: show it as it was decoded.
  const { text, from, to } = lineExcerpt(span);
  return { ...at, text, from, to };
}

/** An excerpt with at most `longest` characters of its line, around the start of the mark. */
export function shortenExcerpt(excerpt: SourceExcerpt, longest: number): SourceExcerpt {
  const { text, from, to } = excerpt;
  if (text.length <= longest) return excerpt;
  const start = Math.max(0, Math.min(from - (longest >> 2), text.length - longest));
  const end = start + longest;
  const before = start > 0 ? "…" : "";
  const after = end < text.length ? "…" : "";
  const moved = (offset: number) => Math.min(offset, end) - start + before.length;
  return {
    ...excerpt,
    text: `${before}${text.slice(start, end)}${after}`,
    from: moved(from),
    to: moved(to),
  };
}

/** An excerpt without secrets; the mark stays on its text, which may have become shorter. */
export function maskExcerpt(excerpt: SourceExcerpt, mask: (text: string) => string): SourceExcerpt {
  const text = mask(excerpt.text);
  const file = mask(excerpt.file);
  if (text === excerpt.text) return file === excerpt.file ? excerpt : { ...excerpt, file };
  const from = Math.min(mask(excerpt.text.slice(0, excerpt.from)).length, text.length);
  const to = Math.min(mask(excerpt.text.slice(0, excerpt.to)).length, text.length);
  return { ...excerpt, file, text, from, to: Math.max(from, to) };
}

/** A part of a file; `exact` is false if it is only the text around the requested part. */
interface FileSpan extends Span {
  readonly exact: boolean;
}

/** The same part in the file itself: offsets in an inner text become offsets in its file. */
export function spanInFile(span: Span): FileSpan {
  const { source, start, end } = span;
  const { origin } = source;
  if (!origin) return { source, start, end, exact: true };
  const written = origin.source.text.slice(origin.start, origin.end);
  const from = writtenOffset(written, source.text, start);
  if (from === undefined) return { ...spanInFile(origin), exact: false };
  const last = end > start ? writtenOffset(written, source.text, end - 1) : undefined;
  const to = last === undefined ? from : last + writtenLength(written, last);
  return spanInFile({
    source: origin.source,
    start: origin.start + from,
    end: origin.start + Math.max(from, to),
  });
}

function lineExcerpt({ source, start, end }: Span): SourceExcerpt {
  const from = Math.min(start, source.text.length);
  const starts = lineStartsOf(source);
  const line = lineAt(starts, from) + 1;
  const lineStart = starts[line - 1]!;
  const lineEnd = (starts[line] ?? source.text.length + 1) - 1;
  const isCrlf = lineEnd > lineStart && source.text[lineEnd - 1] === "\r";
  const text = source.text.slice(lineStart, isCrlf ? lineEnd - 1 : lineEnd);
  const column = countCharacters(source.text.slice(lineStart, from)) + 1;
  const to = Math.max(from, Math.min(end, lineEnd)) - lineStart;
  return { file: source.name, line, column, text, from: from - lineStart, to };
}

/** Where the lines of sources begin: found once for each, since a broken file has many mistakes. */
const LINE_STARTS = new WeakMap<Source, readonly number[]>();

function lineStartsOf(source: Source): readonly number[] {
  const starts = LINE_STARTS.get(source) ?? lineStarts(source.text);
  LINE_STARTS.set(source, starts);
  return starts;
}

/** Where the lines of a text begin. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The number of characters; a surrogate pair is one. */
function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** The index of the last line that begins at or before an offset. */
export function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The offset of a character of a decoded YAML scalar in the scalar as written, from the
 * quote or the block header on. Undefined where the two do not match.
 *
 * Folding and indentation change white space only, so a run of it in one text is passed together
 * with the run in the other.
 */
export function writtenOffset(
  written: string,
  decoded: string,
  offset: number,
): number | undefined {
  const quote = written[0];
  let at = contentStart(written);
  let done = 0;
  while (at <= written.length) {
    const spaces = matchLength(SPACES, decoded, done);
    // A place after the last word, like the newline that ends a block, is not useful to show.
    if (done + spaces > offset || done + spaces === decoded.length) return at;
    done += spaces;
    at += matchLength(quote === '"' ? ESCAPED_SPACES : SPACES, written, at);
    if (done >= offset) return at;
    const length = writtenLength(written, at);
    if (quote === '"' && written[at] === "\\") {
      done += length === LONGEST_ESCAPE && isSurrogate(decoded, done) ? 2 : 1;
    } else if (written[at] === decoded[done]) done++;
    else return undefined;
    at += length;
  }
  return undefined;
}

/** The length of a character as it is written in a scalar: an escape, two quotes, or itself. */
function writtenLength(written: string, at: number): number {
  const quote = written[0];
  if (quote === '"' && written[at] === "\\") return ESCAPE_LENGTHS[written[at + 1] ?? ""] ?? 2;
  return quote === "'" && written[at] === "'" ? 2 : 1;
}

const SPACES = /[ \t\r\n]*/y;
const ESCAPED_SPACES = /(?:[ \t\r\n]|\\(?:[nrt \t]|x20|\r?\n))*/y;

const BACKSLASH = 0x5c;

/** Escapes in double quotes that are longer than a backslash and a letter. */
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };
const LONGEST_ESCAPE = 10;

/** A block begins with a header line, a quoted text with its quote. */
function contentStart(written: string): number {
  if (/^[|>]/.test(written)) return written.indexOf("\n") + 1 || written.length;
  return /^["']/.test(written) ? 1 : 0;
}

function matchLength(pattern: RegExp, text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first > 0x20 && first !== BACKSLASH) return 0;
  pattern.lastIndex = from;
  return pattern.exec(text)?.[0].length ?? 0;
}

function isSurrogate(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
