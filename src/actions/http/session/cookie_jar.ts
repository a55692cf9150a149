import type { Cookie } from "tough-cookie";
import type { Dict } from "../../../base/value/value.ts";

/** The cookies of a session, by the rules of RFC 6265 and the public suffix list. */
export interface Jar {
  /** The header `Cookie` for a URL; undefined if no cookie belongs there. */
  header(url: URL): string | undefined;
  /** Keeps a `Set-Cookie` header of a response from a URL. Why one is rejected is returned. */
  keep(header: string, url: URL): string | undefined;
  /** The names of the files that were read into it. */
  readonly files: Set<string>;
}

/** A jar without cookies. */
export async function makeJar(): Promise<Jar> {
  const { CookieJar } = await import("tough-cookie");
  const jar = new CookieJar();
  return {
    files: new Set(),
    header(url) {
      const header = jar.getCookieStringSync(url.href);
      return header === "" ? undefined : header;
    },
    keep(header, url) {
      try {
        return jar.setCookieSync(header, url.href)
          ? undefined
          : "its attributes do not fit its name";
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return error.message;
      }
    },
  };
}

/** A cookie that a response sets, as steps see it. */
export async function readCookie(raw: string, { hostname, pathname }: URL): Promise<Dict> {
  const { Cookie, defaultPath } = await import("tough-cookie");
  const cookie = Cookie.parse(raw, { loose: true });
  if (!cookie) return { name: "", value: raw, raw };
  return {
    name: cookie.key,
    value: cookie.value,
    domain: cookie.domain ?? hostname,
    path: cookie.path ?? defaultPath(pathname),
    expires: expiryOf(cookie),
    http_only: cookie.httpOnly,
    secure: cookie.secure,
    same_site: sameSiteOf(cookie),
    raw,
  };
}

/** When a cookie expires, in UTC; null if it ends with the session. */
function expiryOf(cookie: Cookie): string | null {
  const { maxAge, expires } = cookie;
  if (maxAge === null && !(expires instanceof Date)) return null;
  const date = cookie.expiryDate();
  const isDate = date !== undefined && Math.abs(date.getTime()) < LAST_DATE;
  return isDate ? date.toISOString() : null;
}

/** The last moment that a `Date` has, in milliseconds. */
const LAST_DATE = 8.64e15;

function sameSiteOf({ sameSite }: Cookie): string | null {
  if (sameSite === undefined || sameSite === "") return null;
  return sameSite.charAt(0).toUpperCase() + sameSite.slice(1);
}
