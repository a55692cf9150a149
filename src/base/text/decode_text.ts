import { RunnerError } from "../errors.ts";

/** The charset of a file: UTF-8, unless it begins with a byte order mark of UTF-16. */
function charsetOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
}

/** The text of a file without its byte order mark. Throws RunnerError for what is not text. */
export function decodeText(bytes: Uint8Array): string {
  const charset = charsetOf(bytes);
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Reported below, together with text that has a NUL in it.
  }
  const at = offsetOfFault(bytes, charset);
  const byte = bytes[at]!.toString(16).padStart(2, "0");
  throw new RunnerError(
    `it is not ${charset.slice(0, 6).toUpperCase()} text: the byte at offset ${at} is 0x${byte}`,
    "save it as UTF-8",
  );
}

/** Where the first character is that no text has. */
function offsetOfFault(bytes: Uint8Array, charset: string): number {
  const text = new TextDecoder(charset, { ignoreBOM: true }).decode(bytes);
  const offsets = text.matchAll(/[\0\ufffd]/g).map(({ index }) =>
    charset === "utf-8" ? new TextEncoder().encode(text.slice(0, index)).length : 2 * index
  );
  // U+FFFD may be in a text, too.
  return offsets.find((at) => charset !== "utf-8" || bytes[at] !== 0xef || bytes[at + 1] !== 0xbf)!;
}
