import type { Headers } from "./request_headers.ts";

/** Shorter values of cookies, like a language, say nothing secret and turn up everywhere. */
const SHORTEST_COOKIE = 16;

/** What no report may show of a request. */
export function requestSecrets(headers: Headers): string[] {
  const secrets: string[] = [];
  for (const name of ["Authorization", "Proxy-Authorization"]) {
    const value = headers[name];
    if (value !== undefined) secrets.push(value, ...credentials(value));
  }
  const cookie = headers.Cookie;
  if (cookie !== undefined) {
    secrets.push(cookie);
    for (const pair of cookie.split(";")) secrets.push(...cookieValue(pair));
  }
  return secrets;
}

/** What no report may show of `Set-Cookie` headers. */
export function cookieSecrets(cookies: readonly string[] = []): string[] {
  return cookies.flatMap((cookie) => [cookie, ...cookieValue(cookie.split(";", 1)[0]!)]);
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

function cookieValue(pair: string): string[] {
  const value = pair.slice(pair.indexOf("=") + 1).trim();
  return value.length < SHORTEST_COOKIE ? [] : [value];
}
