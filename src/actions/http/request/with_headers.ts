import { ignoreCase } from "../../../base/value/value.ts";
import type { HttpRequest } from "./read_request.ts";

/** A request with further headers, which replace those of the same name; undefined removes one. */
export function withHeaders(
  request: HttpRequest,
  headers: Readonly<Record<string, string | undefined>>,
): HttpRequest {
  const all: Record<string, string | readonly string[]> = ignoreCase(Object.create(null));
  Object.assign(all, request.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  return { ...request, headers: all };
}
