import type { Cookie } from "tough-cookie";
import type { ActionContext } from "../../../action/action.ts";
import { readStepText } from "../../../action/step_file.ts";
import { StepError } from "../../../base/errors.ts";
import type { Dict } from "../../../base/value/value.ts";
import { cookieSecrets } from "../../../secrets/secrets.ts";
import type { CookieUse } from "../http_params.ts";
import { fromByteString } from "../request/http_syntax.ts";
import type { RawResponse } from "../transport/model.ts";

interface Jars {
  readonly byName: Map<string, Jar>;
  readonly byJob: WeakMap<object, Jar>;
}

/** The cookies of a step. Its jar is made when there is a cookie to put into it. */
export class Cookies {
  readonly #use: CookieUse;
  readonly #context: ActionContext;
  readonly #jars: Jars;

  constructor(use: CookieUse, context: ActionContext) {
    this.#use = use;
    this.#context = context;
    this.#jars = context.scope.run.resource("http cookies", makeJars);
  }

  /** The header `Cookie` of a request: that of the step, and the stored cookies of other names. */
  header(url: URL, given: string | readonly string[] | undefined): string | undefined {
    const stored = this.#use.isSent ? this.#find()?.header(url) : undefined;
    if (stored === undefined || given === undefined) return stored;
    const nameOf = (cookie: string) => cookie.split("=", 1)[0]!.trim();
    const all = [given].flat();
    const names = new Set(all.flatMap((text) => text.split(";").map(nameOf)));
    return [...all, ...stored.split("; ").filter((one) => !names.has(nameOf(one)))].join("; ");
  }

  /** Keeps the cookies of a response, which it returns. */
  keep(reply: RawResponse, url: URL): RawResponse | Promise<RawResponse> {
    const headers = setCookies(reply);
    return headers.length === 0 ? reply : this.#keepAll(headers, url).then(() => reply);
  }

  async #keepAll(headers: readonly string[], url: URL): Promise<void> {
    const jar = await this.#open();
    for (const header of headers) {
      const rejected = jar.keep(header, url);
      if (rejected === undefined) continue;
      this.#context.log(`a cookie that ${url.host} sets is not kept: ${rejected}`);
    }
  }

  /** Puts the cookies of a file into the jar. */
  async readFile(path: string): Promise<void> {
    await readCookieFile(path, await this.#open(), this.#context);
  }

  #find(): Jar | undefined {
    const { jar } = this.#use;
    const { byName, byJob } = this.#jars;
    return jar === undefined ? byJob.get(this.#owner) : byName.get(jar);
  }

  get #owner(): object {
    const { session, job } = this.#context.scope;
    return session ?? job;
  }

  async #open(): Promise<Jar> {
    const existing = this.#find();
    if (existing) return existing;
    const made = await makeJar();
    // Another step may have made it meanwhile.
    const jar = this.#find() ?? made;
    const { byName, byJob } = this.#jars;
    if (this.#use.jar === undefined) byJob.set(this.#owner, jar);
    else byName.set(this.#use.jar, jar);
    return jar;
  }
}

function makeJars(): Jars {
  return { byName: new Map(), byJob: new WeakMap() };
}

/** The cookies that a response sets, as steps see them. */
export function cookieRecords(
  reply: RawResponse,
  url: URL,
): readonly Dict[] | Promise<readonly Dict[]> {
  const headers = setCookies(reply);
  return headers.length === 0 ? NO_COOKIES : readCookies(headers, url);
}

async function readCookies(headers: readonly string[], url: URL): Promise<readonly Dict[]> {
  return await Promise.all(headers.map((header) => readCookie(header, url)));
}

const NO_COOKIES: readonly Dict[] = [];

function setCookies({ rawHeaders }: RawResponse): string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 10 && name.toLowerCase() === "set-cookie") {
      found.push(fromByteString(rawHeaders[at + 1]!));
    }
  }
  return found;
}

/** The cookies of a session, by the rules of RFC 6265 and the public suffix list. */
interface Jar {
  /** The header `Cookie` for a URL; undefined if no cookie belongs there. */
  header(url: URL): string | undefined;
  /** Keeps a `Set-Cookie` header of a response from a URL. Why one is rejected is returned. */
  keep(header: string, url: URL): string | undefined;
  /** The names of the files that were read into it. */
  readonly files: Set<string>;
}

/** A jar without cookies. */
async function makeJar(): Promise<Jar> {
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
async function readCookie(raw: string, { hostname, pathname }: URL): Promise<Dict> {
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
async function readCookieFile(
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
