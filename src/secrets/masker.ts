import {
  decodedText,
  decodings,
  joinBase64,
  joinParts,
  LAYERS,
  type Range,
  type Rewritten,
  unwrapMail,
} from "./decodings.ts";
import { SHORTEST_SECRET } from "./secrets.ts";

/** The text that reports show instead of a secret. */
export const MASK = "***";

/** The number of secrets searched for in nested encodings: each response may add one. */
const MOST_THOROUGH = 500;

/** Longest expansion factor of an encoded secret. */
const EXPANSION = 6;

/** The password of each URL in a text. Templates are not passwords. */
const URL_PASSWORD =
  /(?<=:\/\/[^/?#@:\s"'<>{}]*:)(?:[^/?#\s"'<>{}]+|(?!\d*[?#])[^/?#@\s"'<>{}]+[?#][^/@\s"'<>{}]*)(?=@)/g;

const NOTHING: readonly Range[] = [];

/**
 * Knows the secrets of a run and masks them in texts, in any case and encoding. Secrets are added
 * during a run, so the cost of adding one must not depend on their number.
 */
export class Masker {
  readonly #known = new Set<string>();
  readonly #forms = new FormTable();
  #haveSpaces = false;

  get secrets(): readonly string[] {
    return [...this.#known];
  }

  /** Makes a text secret. One with fewer characters than `shortest` is ignored. */
  add(secret: string, shortest = SHORTEST_SECRET): void {
    if (secret.length < shortest || this.#known.has(secret)) return;
    this.#known.add(secret);
    if (/\s/.test(secret)) this.#haveSpaces = true;
    const isThorough = this.#known.size <= MOST_THOROUGH;
    for (const form of secretForms(secret, shortest, isThorough)) this.#forms.add(form);
  }

  /**
   * The part of a text between two offsets, with `***` for each secret, in one piece where secrets
   * overlap. A secret that goes over an end of the part is recognized all the same.
   */
  mask(text: string, from = 0, to = text.length): string {
    const start = Math.max(0, from);
    const stop = Math.min(text.length, to);
    const reach = EXPANSION * this.#forms.longest;
    const first = Math.max(0, start - reach);
    let out = "";
    let copied = start;
    const found = this.find(text.slice(first, stop + reach));
    if (found.length === 0) return text.slice(start, stop);
    for (const range of found) {
      const begin = first + range.start;
      const end = first + range.end;
      if (end <= start || begin >= stop) continue;
      out += text.slice(copied, Math.max(copied, begin)) + MASK;
      copied = end;
    }
    return copied < stop ? out + text.slice(copied, stop) : out;
  }

  /** The positions of secrets in a text, in order; overlapping ones are merged. */
  find(text: string): readonly Range[] {
    const hasAddress = text.includes("@");
    // In most runs nothing is secret.
    if (!hasAddress && this.#forms.longest === 0) return NOTHING;
    const found: Range[] = [];
    if (hasAddress) {
      for (const { index, 0: { length } } of text.matchAll(URL_PASSWORD)) {
        found.push({ start: index, end: index + length });
      }
    }
    if (this.#forms.longest > 0) {
      for (const range of this.#forms.find(foldCase(text))) found.push(range);
      const findIn = (rewritten: Rewritten) => {
        for (const range of this.#forms.find(foldCase(rewritten.text))) {
          found.push(rewritten.origin(range));
        }
      };
      for (const decoded of decodings(text)) findIn(decoded);
      const joined = [joinBase64(text), unwrapMail(text), joinParts(text, this.#haveSpaces)];
      for (const unbroken of joined) if (unbroken) findIn(unbroken);
    }
    return merge(found.sort((a, b) => a.start - b.start));
  }
}

function merge(sorted: Range[]): Range[] {
  if (sorted.length < 2) return sorted;
  const merged: Range[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && range.start < last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) };
    } else {
      merged.push(range);
    }
  }
  return merged;
}

/** The number of characters of a form that decide whether it is searched for at a place. */
const HEAD = 4;

/**
 * Finds texts in other texts, and takes no longer when it knows many: a table of the heads of all
 * forms decides at each place whether one can begin there, and only then forms of each length are
 * looked up.
 */
class FormTable {
  /** Undefined without secrets, as in most runs. */
  #heads: Uint8Array | undefined;
  /** By head, then by length, longest first. */
  readonly #forms = new Map<string, Map<number, Set<string>>>();
  #longest = 0;

  get longest(): number {
    return this.#longest;
  }

  /** Adds a text to look for, which must have four characters at least. */
  add(form: string): void {
    this.#heads ??= new Uint8Array(1 << 16);
    this.#heads[headHash(form, 0)] = 1;
    this.#longest = Math.max(this.#longest, form.length);
    const head = form.slice(0, HEAD);
    const lengths = this.#forms.get(head) ?? new Map<number, Set<string>>();
    const forms = lengths.get(form.length);
    if (forms) {
      forms.add(form);
      return;
    }
    lengths.set(form.length, new Set([form]));
    this.#forms.set(head, new Map([...lengths].sort(([a], [b]) => b - a)));
  }

  /** The positions of forms in a text, in order; some may overlap. */
  find(text: string): Range[] {
    const found: Range[] = [];
    const heads = this.#heads;
    if (!heads) return found;
    for (let start = 0; start <= text.length - HEAD; start++) {
      if (heads[headHash(text, start)] === 0) continue;
      const length = this.#lengthAt(text, start);
      if (length > 0) found.push({ start, end: start + length });
    }
    return found;
  }

  #lengthAt(text: string, at: number): number {
    const lengths = this.#forms.get(text.slice(at, at + HEAD));
    if (!lengths) return 0;
    for (const [length, forms] of lengths) {
      if (forms.has(text.slice(at, at + length))) return length;
    }
    return 0;
  }
}

function headHash(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1) * 961 +
    text.charCodeAt(at + 2) * 29791 + text.charCodeAt(at + 3) * 923521) & 0xffff;
}

/**
 * Every text to look for, in lower case: the secret and each of its lines, in hex and base64, also
 * after another encoding. URL, JSON and HTML encoding are undone in the text that is
 * searched, since each encoder leaves other characters alone. `isThorough` adds encodings of
 * encodings, which are many texts.
 */
const LONGEST_THOROUGH = 2000;

function secretForms(secret: string, shortest: number, isThorough: boolean): Set<string> {
  const forms = new Set<string>();
  const add = (form: string) => {
    if (form.length >= shortest) forms.add(foldCase(form));
  };
  for (const text of new Set([secret, secret.trim(), ...secret.split(/\r?\n/)])) {
    if (text.length < shortest) continue;
    for (const written of writings(text)) add(written);
    const isShort = text.length <= LONGEST_THOROUGH && !/\n/.test(secret);
    for (const inner of isThorough && isShort ? [text, ...encodings(text)] : [text]) {
      for (const outer of binaryEncodings(inner)) add(outer);
    }
  }
  return forms;
}

/** Text in which case makes no difference, and which is as long as it was. */
function foldCase(text: string): string {
  // The one character whose lower case is longer.
  return text.replaceAll("\u0130", "i").toLowerCase();
}

/** The text, its form in URLs, and the decoded forms of both. */
function writings(text: string): string[] {
  // A form has `+` for a space. Of a text that is put into a URL as it is, the fragment is not
  // sent, and the parser drops line breaks and turns backslashes.
  const inUrl = text.replace(/[\t\r\n]/g, "");
  return [
    text,
    text.toWellFormed(),
    text.replaceAll(" ", "+"),
    ...[inUrl, inUrl.split("#", 1)[0]!].flatMap((part) => [part, part.replaceAll("\\", "/")]),
  ].flatMap((written) => {
    // A part that looks encoded is decoded together with the text around it.
    const decoded = [written];
    for (let layer = 0; layer < LAYERS; layer++) decoded.push(decodedText(decoded[layer]!));
    return decoded;
  });
}

/** The text in every encoding. */
function encodings(text: string): Set<string> {
  const json = JSON.stringify(text).slice(1, -1);
  const html = text.replace(/[&<>"']/g, (mark) => ENTITIES[mark]!);
  const url = encodeURIComponent(text.toWellFormed());
  const form = new URLSearchParams([["", text]]).toString().slice(1);
  return new Set([
    text.toLowerCase(),
    text.toUpperCase(),
    json,
    html,
    html.replaceAll("&#39;", "'"),
    ...[url, form, encodeURI(text.toWellFormed())]
      .flatMap((text) => [text, text.replace(/%../g, (code) => code.toLowerCase())]),
    ...binaryEncodings(text),
    toHex(text).toUpperCase(),
  ]);
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Hex and base64 of a text that may be surrounded by other text. Base64 encodes three bytes as four
 * characters, so there are three possible alignments; characters that also depend on the
 * surrounding bytes are left out.
 */
function* binaryEncodings(text: string): Iterable<string> {
  yield toHex(text);
  const bytes = new TextEncoder().encode(text);
  for (const offset of [0, 1, 2]) {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const first = Math.ceil(offset * 8 / 6);
    const core = padded.toBase64().slice(first, Math.floor(padded.length * 8 / 6));
    yield core;
    yield core.replaceAll("+", "-").replaceAll("/", "_");
  }
}

function toHex(text: string): string {
  return new TextEncoder().encode(text).toHex();
}
