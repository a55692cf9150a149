import { decodedText, LAYERS } from "./decodings.ts";

/**
 * Every text to look for, in lower case: the secret and each of its lines, in hex and base64, also
 * of what another encoding made of it. URL, JSON and HTML encoding are undone in the text that is
 * searched, since each encoder leaves other characters alone. `isThorough` adds the encodings in
 * encodings, which are many texts.
 */
const LONGEST_THOROUGH = 2000;

export function secretForms(secret: string, shortest: number, isThorough: boolean): Set<string> {
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
export function foldCase(text: string): string {
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
 * Hex and base64 of a text that may have other text round it. In base64 three bytes become four
 * characters, so there are three ways for it to lie, and the characters that its neighbors share in
 * are left out.
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
