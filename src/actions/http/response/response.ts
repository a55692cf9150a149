import { ignoreCase } from "../../../base/value/value.ts";
import { canonicalName, fromByteString } from "../request/http_syntax.ts";
import type { RawResponse } from "../transport/model.ts";

/** The head of a response as steps see it. */
export interface ResponseHead {
  readonly code: number;
  /** Code and text, as the server sent them. */
  readonly status: string;
  /** By canonical name, with values of the same name joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** The fields after a chunked body, like headers, if there are any. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/** Reads status line, headers and trailers. */
export function readHead({ code, reason, rawHeaders, rawTrailers }: RawResponse): ResponseHead {
  const headers = readFields(rawHeaders);
  const status = reason === "" ? String(code) : `${code} ${fromByteString(reason)}`;
  return {
    code,
    status,
    headers,
    ...rawTrailers.length === 0 ? {} : { trailers: readFields(rawTrailers) },
  };
}

/** Reads names and values in turn. */
function readFields(raw: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = ignoreCase(Object.create(null));
  for (let at = 0; at < raw.length; at += 2) {
    const name = canonicalName(raw[at]!);
    const value = fromByteString(raw[at + 1]!);
    const before = fields[name];
    fields[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return fields;
}
