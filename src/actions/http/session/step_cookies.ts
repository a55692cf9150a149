import type { ActionContext } from "../../../action/action.ts";
import type { Dict } from "../../../base/value/value.ts";
import type { CookieUse } from "../http_params.ts";
import { fromByteString } from "../request/http_syntax.ts";
import type { RawResponse } from "../transport/model.ts";
import type { Jar } from "./cookie_jar.ts";

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
    const { readCookieFile } = await import("./cookie_jar.ts");
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
    const made = await (await import("./cookie_jar.ts")).makeJar();
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
  const { readCookie } = await import("./cookie_jar.ts");
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
