import { type Range, rewrite, type Rewritten } from "./rewritten.ts";

/** No more characters stand for one unit of a text that is encoded, also once more. */
export const LONGEST_CODE = 15;

/** One character in UTF-8, percent-encoded. */
const PERCENTS = [
  "%[0-7][0-9a-f]",
  "%[cd][0-9a-f]%[89ab][0-9a-f]",
  "%e[0-9a-f](?:%[89ab][0-9a-f]){2}",
  "%f[0-7](?:%[89ab][0-9a-f]){3}",
].join("|");
const ESCAPE = '\\\\(?:u[0-9a-f]{4}|["\\\\/bfnrt])';
const ENTITY = "&(?:amp|lt|gt|quot|apos|#\\d{1,7}|#x[0-9a-f]{1,6});";

const EACH = [["%", PERCENTS], ["\\", ESCAPE], ["&", ENTITY]].map(
  ([first, pattern]) => ({ first: first!, pattern: new RegExp(pattern!, "gi") }),
);
const ANY = new RegExp(`${PERCENTS}|${ESCAPE}|${ENTITY}`, "gi");

/**
 * A text without its percent-encoding, without its JSON escapes, without its HTML entities, and
 * without all of these, twice. There are too many ways to encode some characters of a text and
 * leave others alone to look for each of them. Only what differs from the text is given.
 */
export function* decodings(text: string): Iterable<Rewritten> {
  let differs = false;
  for (const { first, pattern } of EACH) {
    const decoded = text.includes(first) ? rewrite(text, pattern, decode) : undefined;
    if (!decoded) continue;
    differs = true;
    yield decoded;
  }
  const once = differs ? rewrite(text, ANY, decode) : undefined;
  const twice = once && rewrite(once.text, ANY, decode);
  if (twice) {
    yield { text: twice.text, origin: (range: Range) => once.origin(twice.origin(range)) };
  }
}

/** A text without percent-encoding, JSON escapes and HTML entities. */
export function decodedText(text: string): string {
  return text.replace(ANY, decode);
}

/** The character that a code stands for. */
function decode(code: string): string {
  switch (code[0]) {
    case "%":
      return decodePercents(code);
    case "&":
      return decodeEntity(code);
    default:
      return code.length > 2
        ? String.fromCharCode(parseInt(code.slice(2), 16))
        : CONTROLS.get(code[1]!) ?? code[1]!;
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
