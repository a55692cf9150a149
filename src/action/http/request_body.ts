import type { Value } from "../action.ts";
import { mediaType } from "./content_type.ts";
import { encodePairs } from "./request_url.ts";
import { isDict } from "../../value/value.ts";

/** A body as text, and the type it has where the step gives none. */
export interface RequestBody {
  readonly text: string;
  readonly contentType?: string;
}

/**
 * What is sent for `body`: text as it is, an object or a list as JSON, and an object as a form
 * where the content type of the step says so.
 */
export function encodeBody(body: Value, contentType: string | undefined): RequestBody {
  if (body === null || typeof body !== "object") return { text: String(body) };
  if (contentType === undefined) {
    return { text: JSON.stringify(body), contentType: "application/json" };
  }
  const isForm = mediaType(contentType) === "application/x-www-form-urlencoded";
  if (isForm && isDict(body)) return { text: encodePairs("body", body) };
  return { text: JSON.stringify(body) };
}
