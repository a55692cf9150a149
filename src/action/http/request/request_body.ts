import type { Value } from "../../action.ts";
import { mediaType } from "../response/content_type.ts";
import { encodePairs } from "./request_url.ts";
import { isDict } from "../../../value/value.ts";

/** A body as text, and the type it has where the step gives none. */
export interface RequestBody {
  readonly text: string;
  readonly contentType?: string;
}

/**
 * What is sent for `body`: text as it is, an object or a list as JSON, and an object as a form
 * where the content type of the step says so. Throws RangeError on what JSON cannot express.
 */
export function encodeBody(body: Value, contentType: string | undefined): RequestBody {
  if (body === null || typeof body !== "object") return { text: String(body) };
  if (contentType === undefined) {
    return { text: jsonText(body), contentType: "application/json" };
  }
  const isForm = mediaType(contentType) === "application/x-www-form-urlencoded";
  if (isForm && isDict(body)) return { text: encodePairs("body", body) };
  return { text: jsonText(body) };
}

/** JSON.stringify() would silently write NaN and infinities as null. */
function jsonText(body: Value): string {
  const text = JSON.stringify(body);
  const wrong = text.includes("null") ? findEndless(body) : undefined;
  if (wrong === undefined) return text;
  throw new RangeError(`"body" contains ${wrong}, a number that JSON does not have`);
}

function findEndless(value: Value): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const part of Object.values(value)) {
    const wrong = findEndless(part);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
