import { decodedText, LAYERS } from "./decoded.ts";

/** A secret shorter than this is left alone: masking it would blot out ordinary text. */
export const SHORTEST_SECRET = 6;

/** The texts to look for. */
export interface SecretForms {
  /** The secret and each of its lines, as they are and as URLs have them. */
  readonly plain: ReadonlySet<string>;
  /** What base64 makes of them, which may be broken into lines. */
  readonly base64: ReadonlySet<string>;
}

/** Every form in which a secret may turn up, where the masker undoes other encodings itself. */
export function secretForms(secret: string): SecretForms {
  const texts = [...new Set([secret, secret.trim(), ...secret.split(/\r?\n/)])]
    .filter((text) => text.length >= SHORTEST_SECRET);
  return {
    plain: new Set(texts.flatMap(writings)),
    base64: new Set(texts.flatMap((text) => [...base64Encoded(text)])),
  };
}

/** The text, what is left of it in URLs, and what decoding makes of these. */
function writings(text: string): string[] {
  // A form has `+` for a space. Of a text that is put into a URL as it is, a fragment is not sent,
  // and the parser drops line breaks and turns backslashes.
  const inUrl = text.replace(/[\t\r\n]/g, "");
  return [
    text,
    text.toWellFormed(),
    text.replaceAll(" ", "+"),
    ...[inUrl, inUrl.split("#", 1)[0]!].flatMap((part) => [part, part.replaceAll("\\", "/")]),
  ].flatMap((written) => {
    // What looks encoded in it is taken to be so where other characters are encoded.
    const decoded = [written];
    for (let layer = 0; layer < LAYERS; layer++) decoded.push(decodedText(decoded[layer]!));
    return decoded;
  }).filter((written) => written.length >= SHORTEST_SECRET);
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

const SECRET_WORDS: ReadonlySet<string> = new Set([
  "token",
  "secret",
  "password",
  "passwd",
  "pass",
  "key",
  "apikey",
  "credential",
  "credentials",
  "auth",
]);

/** What every one of them has in it: the names of most variables need no closer look. */
const SUSPICIOUS = /token|secret|pass|key|credential|auth/i;

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
]);

/** Whether the name of a variable says that its value is secret: one of its words does. */
export function isSecretName(name: string): boolean {
  return SUSPICIOUS.test(name) &&
    name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z0-9]+/)
      .some((word) => SECRET_WORDS.has(word));
}

const SECRET_HEADER_LENGTHS = new Set(Array.from(SECRET_HEADERS, (name) => name.length));

/** Whether the values of a header are never shown. */
export function isSecretHeader(name: string): boolean {
  // It is asked of every header of every request, and few are as long as one of these.
  return SECRET_HEADER_LENGTHS.has(name.length) && SECRET_HEADERS.has(name.toLowerCase());
}
