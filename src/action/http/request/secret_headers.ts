import type { Dict } from "../../action.ts";
import { fromByteString, SHORTHANDS } from "./http_syntax.ts";
import type { Headers } from "./request_headers.ts";
import { passwordsIn } from "./request_url.ts";
import type { Reply } from "../transport/send.ts";

/** What no report may show of the URLs that a step asks for. */
export function urlSecrets(params: Dict): string[] {
  return ["url", ...SHORTHANDS].flatMap((name) => {
    const text = params[name];
    return typeof text === "string" ? passwordsIn(text) : [];
  });
}

/** What no report may show of the headers of a request. */
export function requestSecrets(headers: Headers): string[] {
  const secrets: string[] = [];
  for (const name of ["Authorization", "Proxy-Authorization"]) {
    const value = headers[name];
    if (value !== undefined) secrets.push(value, ...credentials(value));
  }
  const cookie = headers.Cookie;
  if (cookie !== undefined) secrets.push(cookie, ...cookie.split(";").flatMap(cookieValue));
  return secrets;
}

/** What no report may show of the headers of a response. */
export function replySecrets({ rawHeaders }: Reply): string[] {
  const secrets: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at]!;
    if (length !== "set-cookie".length && length !== "location".length) continue;
    const name = rawHeaders[at]!.toLowerCase();
    if (name !== "set-cookie" && name !== "location") continue;
    const value = fromByteString(rawHeaders[at + 1]!);
    if (name === "location") secrets.push(...passwordsIn(value));
    else secrets.push(value, ...cookieValue(value.split(";", 1)[0]!));
  }
  return secrets;
}

/** What follows the scheme, and the password in it where the scheme is Basic. */
function credentials(value: string): string[] {
  const [, scheme, credential] = /^([^\s]+)\s+(.+)$/.exec(value) ?? [];
  if (credential === undefined) return [];
  if (scheme!.toLowerCase() !== "basic") return [credential];
  const password = basicPassword(credential);
  return password === undefined ? [credential] : [credential, password];
}

function basicPassword(credential: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(credential), (character) => character.charCodeAt(0));
    return /^[^:]*:(.+)$/s.exec(new TextDecoder().decode(bytes))?.[1];
  } catch {
    return undefined;
  }
}

/** The value in `name=value`, also without the quotes that may stand around it. */
function cookieValue(pair: string): string[] {
  const value = pair.slice(pair.indexOf("=") + 1).trim();
  const [, quoted] = /^"(.*)"$/.exec(value) ?? [];
  return quoted === undefined ? [value] : [value, quoted];
}
