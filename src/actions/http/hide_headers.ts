import { isSecretHeader, withoutCookieValues } from "../../secrets/secrets.ts";
import { isDict, type Value } from "../../base/value/value.ts";

/** Headers without the values of secret ones; most messages have none and are returned as is. */
export function hideHeaders(headers: Value, mask: string): Value {
  if (!isDict(headers) || !Object.keys(headers).some(isSecretHeader)) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretHeader(name) ? hideHeader(name, String(value), mask) : value,
    ]),
  );
}

/** A secret header as it may be shown: cookies without their values. */
export function hideHeader(name: string, value: string, mask: string): string {
  return /cookie$/i.test(name) ? withoutCookieValues(value, mask) : mask;
}

/** The cookies of a response without their values. */
export function hideCookies(cookies: Value, mask: string): Value {
  return Array.isArray(cookies) ? cookies.map((cookie) => hideCookie(cookie, mask)) : cookies;
}

function hideCookie(cookie: Value, mask: string): Value {
  if (!isDict(cookie) || typeof cookie.raw !== "string") return cookie;
  const { value, raw } = cookie;
  return { ...cookie, value: value === "" ? "" : mask, raw: withoutCookieValues(raw, mask) };
}
