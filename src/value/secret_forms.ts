/** A secret shorter than this is left alone: masking it would blot out ordinary text. */
export const SHORTEST_SECRET = 6;

/** The texts to look for. */
export interface SecretForms {
  /** The secret and each of its lines, as they are and encoded. */
  readonly plain: ReadonlySet<string>;
  /** What base64 makes of them, which may be broken into lines. */
  readonly base64: ReadonlySet<string>;
}

/** Every form in which a secret may turn up. */
export function secretForms(secret: string): SecretForms {
  const texts = [...new Set([secret, secret.trim(), ...secret.split(/\r?\n/)])]
    .filter((text) => text.length >= SHORTEST_SECRET);
  return {
    plain: new Set(texts.flatMap((text) => ENCODERS.flatMap((encode) => [...encode(text)]))),
    base64: new Set(texts.flatMap((text) => [...base64Encoded(text)])),
  };
}

/** Each gives one or more ways to write a text. Most give the text itself when it is plain. */
const ENCODERS: readonly ((text: string) => Iterable<string>)[] = [
  (text) => [text],
  urlEncoded,
  jsonEscaped,
  htmlEscaped,
];

function* urlEncoded(text: string): Iterable<string> {
  const whole = text.toWellFormed();
  const form = new URLSearchParams({ "": whole }).toString().slice(1);
  const component = encodeURIComponent(whole);
  // What encodeURIComponent leaves alone, others encode.
  const strict = component.replace(
    /[!'()*~]/g,
    (mark) => "%" + mark.charCodeAt(0).toString(16).toUpperCase(),
  );
  for (const encoded of [component, strict, form, form.replaceAll("+", "%20"), encodeURI(whole)]) {
    yield encoded;
    yield encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  }
}

function* jsonEscaped(text: string): Iterable<string> {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = escapeUnits(plain, /[^\x20-\x7e]/g);
  for (const escaped of [plain, ascii, escapeUnits(plain, /[<>&'\u2028\u2029]/g)]) {
    yield escaped;
    yield escaped.replaceAll("/", "\\/");
    // JSON inside JSON, as in a logged body.
    yield JSON.stringify(escaped).slice(1, -1);
  }
}

function escapeUnits(text: string, which: RegExp): string {
  return text.replace(which, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
}

function* htmlEscaped(text: string): Iterable<string> {
  const base = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  for (const quote of ['"', "&quot;", "&#34;", "&#x22;"]) {
    for (const apostrophe of ["'", "&#39;", "&#x27;", "&apos;"]) {
      yield base.replaceAll('"', quote).replaceAll("'", apostrophe);
    }
  }
}

/**
 * Base64 of a text that has the secret in it, at any place: three bytes become four characters,
 * so there are three ways for the secret to lie. Characters that its neighbours share in are
 * left out.
 */
function* base64Encoded(text: string): Iterable<string> {
  const bytes = new TextEncoder().encode(text);
  for (const offset of [0, 1, 2]) {
    const padded = new Uint8Array(offset + bytes.length);
    padded.set(bytes, offset);
    const encoded = toBase64(padded);
    const core = encoded.slice(
      Math.ceil(offset * 8 / 6),
      Math.floor((offset + bytes.length) * 8 / 6),
    );
    if (core.length < SHORTEST_SECRET) continue;
    yield core;
    yield core.replaceAll("+", "-").replaceAll("/", "_");
  }
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
