import { EncodingError } from "./http_syntax.ts";
import type { Dict, Value } from "../../../action/action.ts";
import { mediaType } from "../response/content_type.ts";
import { encodePairs } from "./request_url.ts";
import { isDict } from "../../../base/value/value.ts";

/** A body: text in UTF-8, bytes, or the content of files. */
export type Content = string | Uint8Array | ContentStream;

/** A body that is read while it is sent, once for each time that it is sent. */
export interface ContentStream {
  /** In bytes; undefined if it is only known at the end. */
  readonly length: number | undefined;
  open(): AsyncIterable<Uint8Array>;
}

/** A body, and the type that it has if the step gives none. */
export interface RequestBody<T extends Content = Content> {
  readonly content: T;
  readonly contentType?: string;
  /** Whether it has that type whatever the step gives. */
  readonly ownType?: boolean;
  /** The compression of the content. */
  readonly contentEncoding?: string;
}

/** Whether a body is read while it is sent. */
export function isStream(content: Content | undefined): content is ContentStream {
  return typeof content === "object" && "open" in content;
}

/** The number of bytes in a body, if it is known. */
export function lengthOf(content: Content): number | undefined {
  return typeof content === "string" ? new TextEncoder().encode(content).length : content.length;
}

/**
 * Encodes `body`: text as it is, an object or a list as JSON, and an object as a form
 * where the content type of the step says so. Throws EncodingError on what JSON cannot express.
 */
export function encodeBody(body: Value, contentType: string | undefined): RequestBody<string> {
  if (body === null || typeof body !== "object") return { content: String(body) };
  const isForm = contentType !== undefined && mediaType(contentType) === FORM_TYPE;
  return isForm && isDict(body) ? { content: encodePairs("body", body) } : encodeJson("body", body);
}

/** Any value as JSON. Throws EncodingError on what JSON cannot express. */
export function encodeJson(what: string, value: Value): RequestBody<string> {
  // JSON.stringify() would silently write NaN and infinities as null.
  const content = JSON.stringify(value);
  const wrong = content.includes("null") ? findEndless(value) : undefined;
  if (wrong === undefined) return { content, contentType: "application/json" };
  throw new EncodingError(`"${what}" contains ${wrong}, a number that JSON does not have`);
}

/** Names and values as a form. Throws EncodingError on a value that a form cannot express. */
export function encodeForm(form: Dict, contentType: string | undefined): RequestBody<string> {
  // Defaults often give the type of JSON.
  const ownType = contentType !== undefined && mediaType(contentType) !== FORM_TYPE;
  return { content: encodePairs("form", form), contentType: FORM_TYPE, ownType };
}

const FORM_TYPE = "application/x-www-form-urlencoded";

function findEndless(value: Value): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const part of Object.values(value)) {
    const wrong = findEndless(part);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
