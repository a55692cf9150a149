import { mediaParameter, mediaType } from "./content_type.ts";

/**
 * The text of a body; undefined where it is binary. The content decides, whatever the type says:
 * what decodes in the charset that it declares, or else in UTF-8, and has no NUL in it is text.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string | undefined {
  for (const label of declaredCharsets(bytes, contentType)) {
    const text = decodeAs(label, bytes);
    if (text !== undefined && !text.includes("\0")) return text;
  }
  return decodeUtf8(bytes);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined where the bytes are not in that charset, or the charset is unknown. */
function decodeAs(label: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Where documents declare their charset themselves, in bytes from the start. */
const DECLARATION_LENGTH = 1024;

/** The charsets that a body declares, except UTF-8, by precedence. */
function declaredCharsets(bytes: Uint8Array, contentType: string): string[] {
  const [first, second] = bytes;
  const charsets: string[] = [];
  if (first === 0xff && second === 0xfe) charsets.push("utf-16le");
  if (first === 0xfe && second === 0xff) charsets.push("utf-16be");
  const declared = mediaParameter(contentType, "charset");
  if (declared !== undefined) {
    if (!/^utf-?8$/i.test(declared)) charsets.push(declared);
    return charsets;
  }
  if (first !== 0x3c && !/html|xml/i.test(mediaType(contentType))) return charsets;
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_LENGTH));
  const [, xml] = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/i.exec(start) ?? [];
  const [, html] = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start) ?? [];
  const found = xml ?? html;
  // A declaration that can be read byte by byte is in no charset of two bytes.
  if (found !== undefined && !/^utf-?(8|16)/i.test(found)) charsets.push(found);
  return charsets;
}
