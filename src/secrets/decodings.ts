/** The maximum number of encodings of a text: JSON in JSON in a query in HTML. */
export const LAYERS = 4;

/** One character in UTF-8, percent-encoded. */
const PERCENTS = [
  "%[0-7][0-9a-f]",
  "%[cd][0-9a-f]%[89ab][0-9a-f]",
  "%e[0-9a-f](?:%[89ab][0-9a-f]){2}",
  "%f[0-7](?:%[89ab][0-9a-f]){3}",
].join("|");
const ESCAPE = '\\\\(?:u[0-9a-f]{4}|["\\\\/bfnrt])';
const ENTITY = "&(?:amp|lt|gt|quot|apos|#\\d{1,7}|#x[0-9a-f]{1,6});";

const KINDS = [["%", PERCENTS], ["\\", ESCAPE], ["&", ENTITY]].map(
  ([first, pattern]) => ({ first: first!, pattern: new RegExp(pattern!, "gi") }),
);
const ANY = new RegExp(`${PERCENTS}|${ESCAPE}|${ENTITY}`, "gi");

/**
 * A text without its percent-encoding, without its JSON escapes, without its HTML entities, and
 * without all of these, up to four times. Only what differs from the text is given.
 */
export function* decodings(text: string): Iterable<Rewritten> {
  const alone = KINDS.flatMap(({ first, pattern }) =>
    text.includes(first) ? rewrite(text, pattern, decode) ?? [] : []
  );
  yield* alone;
  let outer = alone.length > 1 ? rewrite(text, ANY, decode) : alone[0];
  if (outer && alone.length > 1) yield outer;
  for (let layer = 1; outer && layer < LAYERS; layer++) {
    outer = inside(outer);
    if (outer) yield outer;
  }
}

/** Removes one more layer of encoding from a decoded text. */
function inside(outer: Rewritten): Rewritten | undefined {
  const inner = rewrite(outer.text, ANY, decode);
  return inner && { text: inner.text, origin: (range) => outer.origin(inner.origin(range)) };
}

/** A text without percent-encoding, JSON escapes and HTML entities. */
export function decodedText(text: string): string {
  return text.replace(ANY, decode);
}

function decode(code: string): string {
  switch (code[0]) {
    case "%":
      return decodePercents(code);
    case "&":
      return decodeEntity(code);
    default:
      return code.length > 2
        ? String.fromCharCode(parseInt(code.slice(2), 16))
        : CONTROLS.get(code[1]!.toLowerCase()) ?? code[1]!;
  }
}

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

function decodePercents(code: string): string {
  if (code.length === 3) return String.fromCharCode(parseInt(code.slice(1), 16));
  try {
    return decodeURIComponent(code);
  } catch {
    return code;
  }
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

function decodeEntity(code: string): string {
  const name = code.slice(1, -1).toLowerCase();
  const known = ENTITIES.get(name);
  if (known !== undefined) return known;
  const point = name[1] === "x" ? parseInt(name.slice(2), 16) : Number(name.slice(1));
  return point <= 0x10ffff ? String.fromCodePoint(point) : code;
}

/** A decoded text, and how its offsets map to the original. */
export interface Rewritten {
  readonly text: string;
  /** The original range of a range; a rewritten part counts as a whole. */
  origin(range: Range): Range;
}

/** A part of a text, in UTF-16 offsets; `end` is not part of it. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Rewrites every match of a global pattern; undefined if there is none. */
function rewrite(
  text: string,
  pattern: RegExp,
  write: (match: string) => string,
): Rewritten | undefined {
  /** Where each match was, and where what was written for it is. */
  const parts: { readonly from: Range; readonly to: Range }[] = [];
  let out = "";
  let copied = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    out += text.slice(copied, index);
    const start = out.length;
    out += write(match);
    copied = index + match.length;
    parts.push({ from: { start: index, end: copied }, to: { start, end: out.length } });
  }
  if (parts.length === 0) return undefined;
  /** The part that a character is in, or that comes before it. */
  const partAt = (offset: number) => parts.findLast(({ to }) => to.start <= offset);
  const startOf = (offset: number): number => {
    const { from, to } = partAt(offset) ?? { from: { start: 0, end: 0 }, to: { start: 0, end: 0 } };
    return offset < to.end ? from.start : from.end + offset - to.end;
  };
  const endOf = (offset: number): number => {
    const { from, to } = partAt(offset) ?? { from: { start: 0, end: 0 }, to: { start: 0, end: 0 } };
    return offset < to.end ? from.end : from.end + offset - to.end + 1;
  };
  return {
    text: out + text.slice(copied),
    origin: ({ start, end }) => ({ start: startOf(start), end: endOf(end - 1) }),
  };
}

const MAIL_SIGNS = ["=?", "=\n", "=\r", "=\\n", "=\\r", "quoted-printable"];

/** What a mail adds: breaks in quoted-printable and between encoded words, and bytes in hex. */
const MAIL_CODES = /\?=(?:\s|\\[rn])*=\?[\w-]+\?[bq]\?|=(?:\r?\n|(?:\\r)?\\n)|=[2-7][0-9a-f]/gi;

/** The ASCII text of a mail, unwrapped; undefined if it is not a mail. */
export function unwrapMail(text: string): Rewritten | undefined {
  if (!MAIL_SIGNS.some((sign) => text.includes(sign))) return undefined;
  const write = (code: string) =>
    /^=\w/.test(code) ? String.fromCharCode(parseInt(code.slice(1), 16)) : "";
  return rewrite(text, MAIL_CODES, write);
}

/**
 * A line break in the middle of base64, also as JSON writes it, with the indent of the next line.
 * Wrapped base64 has long lines; most lines of other texts end in shorter words. What comes
 * before is looked at after the break was found, which is rare.
 */
const BREAK = /(?:\r?\n|(?:\\r)?\\n)(?<=[\w+/-]{16}(?:\r?\n|(?:\\r)?\\n))[ \t]*(?=[\w+/=-])/g;

/** Joins lines that may be pieces of one base64 text; undefined if there are none. */
export function joinBase64(text: string): Rewritten | undefined {
  if (!text.includes("\n") && !text.includes("\\n")) return undefined;
  return rewrite(text, BREAK, () => "");
}

/** Control characters, which UTF-16 that is read as UTF-8 has between its letters. */
// deno-lint-ignore no-control-regex
const CONTROLS_AMONG = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufffe\uffff]+/g;
const GAPS = new RegExp(`${CONTROLS_AMONG.source}|\\s{2,}|[\\t\\n]`, "g");

/**
 * A text without control characters and, for secrets with a space in them, on one line as reports
 * show it; undefined if it is that.
 */
export function joinParts(text: string, onOneLine: boolean): Rewritten | undefined {
  const gaps = onOneLine ? GAPS : CONTROLS_AMONG;
  return rewrite(text, gaps, (gap) => gap.trim() === "" ? " " : "");
}
