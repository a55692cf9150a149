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
export function writtenLength(written: string, at: number): number {
  const quote = written[0];
  if (quote === '"' && written[at] === "\\") return ESCAPE_LENGTHS[written[at + 1] ?? ""] ?? 2;
  return quote === "'" && written[at] === "'" ? 2 : 1;
}

const SPACES = /[ \t\r\n]*/y;
const ESCAPED_SPACES = /(?:[ \t\r\n]|\\(?:[nrt \t]|x20|\r?\n))*/y;

/** Escapes in double quotes that are longer than a backslash and a letter. */
const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };
const LONGEST_ESCAPE = 10;

/** A block begins with a header line, a quoted text with its quote. */
function contentStart(written: string): number {
  if (/^[|>]/.test(written)) return written.indexOf("\n") + 1 || written.length;
  return /^["']/.test(written) ? 1 : 0;
}

function matchLength(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.[0].length ?? 0;
}

function isSurrogate(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
