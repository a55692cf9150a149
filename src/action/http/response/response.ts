import { ignoreCase } from "../../../value/plain.ts";
import { canonicalName, fromByteString } from "../request/http_syntax.ts";
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
  const headers: Record<string, string> = ignoreCase(Object.create(null));
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
