import { ignoreCase } from "../../../base/value/value.ts";
import { StepError } from "../../../base/errors.ts";
import type { Dict } from "../../../action/action.ts";
import { canonicalName, isToken, toByteString } from "./http_syntax.ts";
import { lengthOf, type RequestBody } from "./request_body.ts";
import { decodePercents } from "../../../secrets/secrets.ts";

/** The headers of a request by canonical name; a list repeats its header. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The default headers. */
export const ALWAYS: Readonly<Record<string, string>> = {
  Accept: "*/*",
  "User-Agent": "runner",
  "Accept-Encoding": "gzip, deflate, br",
};

/** The body determines these, whatever a step gives. */
const FRAMING: ReadonlySet<string> = new Set(["Content-Length", "Transfer-Encoding"]);

/*
 * "Expect" is not sent: the body would have to wait for a response that many servers never send.
 */

/** Without a body, these methods need no "Content-Length". */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

/** All headers of a request: those that the step asks for, over those that every request has. */
export function requestHeaders(
  method: string,
  url: URL,
  asked: Dict,
  body: RequestBody | undefined,
): Headers {
  const headers: Record<string, string | readonly string[]> = ignoreCase(Object.create(null));
  headers.Host = url.host;
  for (const name in ALWAYS) headers[name] = ALWAYS[name]!;
  if (url.username !== "" || url.password !== "") headers.Authorization = basic(url);
  if (body?.contentType !== undefined) headers["Content-Type"] = body.contentType;
  for (const [name, value] of Object.entries(asked)) {
    if (!isToken(name)) {
      throw new StepError(`cannot send the header "${name}": invalid header name`);
    }
    const canonical = canonicalName(name);
    if (FRAMING.has(canonical) || canonical === "Expect") continue;
    if (canonical === "Content-Type" && body?.ownType) continue;
    const texts = [value].flat().filter((item) => item !== null)
      .map((item) => headerText(canonical, item));
    if (texts.length === 0) delete headers[canonical];
    else headers[canonical] = Array.isArray(value) ? texts : texts[0]!;
  }
  if (body) {
    const { content, contentEncoding } = body;
    const length = lengthOf(content);
    if (length === undefined) headers["Transfer-Encoding"] = "chunked";
    else headers["Content-Length"] = String(length);
    if (contentEncoding !== undefined) headers["Content-Encoding"] = contentEncoding;
  } else if (!BODILESS.has(method)) headers["Content-Length"] = "0";
  return headers;
}

/** Names and values in turn, as they are sent: a character for each byte. */
export function wireHeaders(headers: Headers): string[] {
  const wire: string[] = [];
  for (const name in headers) {
    for (const value of [headers[name]!].flat()) wire.push(name, wireValue(name, value));
  }
  if (headers.Connection === undefined) wire.push("Connection", "keep-alive");
  return wire;
}

/** The value of a header as it is sent. Throws `StepError` where it would end the header. */
export function wireValue(name: string, value: string): string {
  checkCharacters(name, value);
  return toByteString(value);
}

function headerText(name: string, value: Dict[string]): string {
  if (typeof value === "object") {
    throw new StepError(`cannot send the header "${name}": it must be text or a list of texts`);
  }
  // Texts from files and block scalars end in a line break that is not part of the value.
  const text = String(value).trim();
  checkCharacters(name, text);
  return text;
}

function checkCharacters(name: string, text: string): void {
  // deno-lint-ignore no-control-regex
  if (!/[\0-\x08\x0a-\x1f\x7f]/.test(text)) return;
  throw new StepError(
    `cannot send the header "${name}": there is a line break or a control character in it`,
  );
}

function basic({ username, password }: URL): string {
  const credentials = toByteString(`${decodePercents(username)}:${decodePercents(password)}`);
  return `Basic ${btoa(credentials)}`;
}
