/** A text as node:http wants it for headers: a character for each byte of its UTF-8. */
export function toByteString(text: string): string {
  if (!hasBeyondAscii(text)) return text;
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

/** The text in a header from node:http: UTF-8 where its bytes are that, otherwise Latin-1. */
export function fromByteString(bytes: string): string {
  if (!hasBeyondAscii(bytes)) return bytes;
  try {
    const raw = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    return bytes;
  }
}

function hasBeyondAscii(text: string): boolean {
  return /[^\0-\x7f]/.test(text);
}
