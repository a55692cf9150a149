import type { ActionContext } from "../../../action/action.ts";
import { StepError } from "../../../base/errors.ts";
import type { Dict } from "../../../base/value/value.ts";
import { cookieSecrets } from "../../../secrets/secrets.ts";
import type { Cookie } from "tough-cookie";
import { readStepText } from "../../../action/step_file.ts";

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

/** Puts the cookies of a Netscape cookie file into a jar, once. */
export async function readCookieFile(
  path: string,
  jar: Jar,
  context: ActionContext,
): Promise<void> {
  if (jar.files.has(path)) return;
  const file = { path, what: "the cookie file", parameter: "cookie_file" };
  const text = await readStepText(file, context);
  jar.files.add(path);
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const cookie = parseLine(line);
    if (cookie === "none") continue;
    if (cookie === "malformed") {
      throw new StepError(
        `cannot read the cookie file "${path}": line ${index + 1} is not a cookie`,
        "each line has 7 fields, separated by tabs: " +
          "domain, subdomains, path, secure, expiry, name, value",
        { parameter: "cookie_file" },
      );
    }
    for (const secret of cookieSecrets(cookie.header)) context.secrets.add(secret);
    const rejected = jar.keep(cookie.header, cookie.url);
    if (rejected !== undefined) {
      context.warn(`line ${index + 1} of the cookie file "${path}" is not used: ${rejected}`);
    }
  }
}

/** The prefix of a cookie that scripts of a page cannot read. */
const HTTP_ONLY = "#HttpOnly_";

/** A line as the header `Set-Cookie` that a server would have sent, and its URL. */
function parseLine(line: string): { header: string; url: URL } | "none" | "malformed" {
  const isHttpOnly = line.startsWith(HTTP_ONLY);
  const content = isHttpOnly ? line.slice(HTTP_ONLY.length) : line;
  if (content.trim() === "" || content.startsWith("#")) return "none";
  const [domain = "", subdomains, path = "/", secure, expiry, name, value = ""] = content.split(
    "\t",
  );
  const host = domain.replace(/^\./, "");
  const isSecure = secure?.toUpperCase() === "TRUE";
  const url = URL.parse(`${isSecure ? "https" : "http"}://${host}${path}`);
  const expires = Number(expiry);
  if (name === undefined || !Number.isFinite(expires) || !url || host === "") return "malformed";
  const header = [
    `${name}=${value}`,
    `Path=${path}`,
    ...subdomains?.toUpperCase() === "TRUE" ? [`Domain=${host}`] : [],
    ...expires > 0 ? [`Expires=${new Date(expires * 1000).toUTCString()}`] : [],
    ...isSecure ? ["Secure"] : [],
    ...isHttpOnly ? ["HttpOnly"] : [],
  ].join("; ");
  return { header, url };
}
