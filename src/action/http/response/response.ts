import { parseJson } from "../../../value/parse_json.ts";
import type { Dict, Value } from "../../action.ts";
import { canonicalName, fromByteString } from "../request/http_syntax.ts";
import { charset, isJsonType, isTextType, mediaType } from "./content_type.ts";
import type { Reply } from "../transport/send.ts";

/** The head of a response as steps see it. */
export interface ResponseHead {
  readonly code: number;
  /** Code and text, as the server sent them. */
  readonly status: string;
  /** By canonical name, with values of the same name joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** The `Set-Cookie` headers one by one, if there are any. */
  readonly cookies?: readonly string[];
}

/** Reads status line and headers. */
export function readHead({ code, reason, rawHeaders }: Reply): ResponseHead {
  const headers: Record<string, string> = Object.create(null);
  let cookies: string[] | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = canonicalName(rawHeaders[at]!);
    const value = fromByteString(rawHeaders[at + 1]!);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    if (name === "Set-Cookie") (cookies ??= []).push(value);
  }
  const status = reason === "" ? String(code) : `${code} ${fromByteString(reason)}`;
  return cookies ? { code, status, headers, cookies } : { code, status, headers };
}

/** The text of a body; undefined where it is not text and belongs in a file. */
export function bodyText(bytes: Uint8Array, contentType: string | undefined): string | undefined {
  if (contentType === undefined || contentType === "") return certainText(bytes);
  if (!isTextType(contentType)) return bytes.length === 0 ? "" : undefined;
  return decoderFor(charset(contentType)).decode(bytes);
}

/** `body`, and `rawbody` where the body is data. */
export function readText(text: string, contentType: string | undefined): Dict {
  const isJson = contentType !== undefined && isJsonType(mediaType(contentType));
  if (!isJson && !looksLikeData(text)) return { body: text };
  try {
    return { body: parseJson(text) as Value, rawbody: text };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return { body: text };
    throw error;
  }
}

/** Whether a text is bracketed like an object or a list. */
function looksLikeData(text: string): boolean {
  const inner = text.trim();
  return inner.startsWith("{") && inner.endsWith("}") ||
    inner.startsWith("[") && inner.endsWith("]");
}

const utf8 = new TextDecoder();

function decoderFor(label: string | undefined): TextDecoder {
  if (label === undefined || label.toLowerCase() === "utf-8") return utf8;
  try {
    return new TextDecoder(label);
  } catch {
    // A charset that nobody knows is most likely a misspelt UTF-8.
    return utf8;
  }
}

/** A body of no type is text if it can be nothing else. */
function certainText(bytes: Uint8Array): string | undefined {
  try {
    return bytes.includes(0) ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
