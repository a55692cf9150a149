/** Called for white space with line breaks before a closing bracket. */
type OnBreak = (start: number, end: number) => void;

/**
 * Where the innermost quote or bracket of a YAML text begins that is still open at `end`;
 * undefined if none is open. The parser reports where it gave up, often many lines below the mistake.
 */
export function findOpening(text: string, end: number, onBreak?: OnBreak): number | undefined {
  return findOpenings(text, end, onBreak).at(-1);
}

/** Where the quotes and brackets of a YAML text begin that are still open at `end`. */
export function findOpenings(text: string, end: number, onBreak?: OnBreak): readonly number[] {
  let at = 0;
  while (at < end) {
    const lineStart = at;
    const content = skip(LEAD, text, at);
    const key = skip(KEY, text, content);
    const value = skip(PROPERTIES, text, key);
    const result = readValue(text, value, end, onBreak);
    if (result.open.length > 0) return result.open;
    at = skip(REST_OF_LINE, text, result.at);
    if (result.isText) {
      const owner = key > content ? content : lastDash(text, lineStart, content);
      at = skipDeeperLines(text, at, owner - lineStart);
    }
  }
  return [];
}

/** Spaces, and the dashes of lists. */
const LEAD = /[ \t]*(?:[-?:](?:[ \t]+|(?=[\r\n])))*/y;
const KEY =
  /(?:(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')[ \t]*|[^\s"'[\]{}#&*!|>%@`][^\n]*?):(?=[ \t\r\n]|$)/y;
/** The anchors and tags before a value. */
const PROPERTIES = /[ \t]*(?:[&!]\S*[ \t]+)*/y;
/** White space and comments between values. */
const GAP = /(?:\s+(?:#[^\n]*)?)+/y;
const REST_OF_LINE = /[^\n]*\n?/y;

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

/** Where a value ends, whether it is a text that lines below may belong to, and what is open. */
interface Read {
  readonly at: number;
  readonly isText: boolean;
  readonly open: readonly number[];
}

function readValue(text: string, at: number, end: number, onBreak?: OnBreak): Read {
  const first = text[at] ?? "\n";
  if (/["']/.test(first)) {
    const close = endOfQuoted(text, at, end);
    return close === undefined
      ? { at: end, isText: false, open: [at] }
      : { at: close, isText: false, open: [] };
  }
  if (/[[{]/.test(first)) return readFlow(text, at, end, onBreak);
  return { at, isText: !/[\s#]/.test(first), open: [] };
}

/** The end of a quoted text that begins at `at`; undefined if it is still open at `end`. */
function endOfQuoted(text: string, at: number, end: number): number | undefined {
  const quote = text[at];
  for (let i = at + 1; i < end; i++) {
    if (quote === '"' && text[i] === "\\") i++;
    else if (text[i] !== quote) continue;
    else if (quote === "'" && text[i + 1] === "'") i++;
    else return i + 1;
  }
  return undefined;
}

function readFlow(text: string, from: number, end: number, onBreak?: OnBreak): Read {
  const open: number[] = [];
  /** Whether a value may begin here; elsewhere a quote is a part of text. */
  let fresh = true;
  for (let at = from; at < end; at++) {
    const character = text[at]!;
    if (/[[{]/.test(character)) {
      open.push(at);
      fresh = true;
    } else if (/[\]}]/.test(character)) {
      open.pop();
      if (open.length === 0) return { at: at + 1, isText: false, open };
      fresh = false;
    } else if (fresh && /["']/.test(character)) {
      const close = endOfQuoted(text, at, end);
      if (close === undefined) return { at: end, isText: false, open: [...open, at] };
      at = close - 1;
      fresh = false;
    } else if (/\s/.test(character)) {
      const next = skip(GAP, text, at);
      if (onBreak && /[\]}]/.test(text[next] ?? "")) onBreak(at, next);
      at = next - 1;
    } else {
      fresh = /[,:]/.test(character);
    }
  }
  return { at: end, isText: false, open };
}

/** The dash before a text; without one, a continued text is indented at least as deep as it began. */
function lastDash(text: string, lineStart: number, content: number): number {
  const dash = text.lastIndexOf("-", content - 1);
  return content > lineStart && dash >= lineStart ? dash : content - 1;
}

/** A text goes on in the lines below that are indented deeper than the key that it belongs to. */
function skipDeeperLines(text: string, from: number, column: number): number {
  let at = from;
  while (at < text.length) {
    const content = skip(INDENTATION, text, at);
    const isBlank = /[\r\n]|^$/.test(text[content] ?? "");
    if (!isBlank && content - at <= column) return at;
    at = skip(REST_OF_LINE, text, at);
  }
  return at;
}

const INDENTATION = / */y;
