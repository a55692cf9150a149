import type { ActionContext, Dict, ResourceScope } from "../../../action/action.ts";
import { fromByteString } from "../request/http_syntax.ts";
import type { RawResponse } from "../transport/model.ts";
import type { CookieUse } from "./cookie_use.ts";
import type { Jar } from "./cookie_jar.ts";

/** The cookies of a step. Its jar is made when there is a cookie to put into it. */
export interface Cookies {
  /** The header `Cookie` of a request. */
  header(url: URL): string | undefined;
  /** Keeps the cookies of a response. */
  keep(reply: RawResponse, url: URL): Promise<void>;
}

/** The jars of a run. */
interface Jars {
  readonly byName: Map<string, Jar>;
  readonly byJob: WeakMap<ResourceScope, Jar>;
}

/** Opens the cookies of a step, with those of its file. */
export async function openCookies(use: CookieUse, context: ActionContext): Promise<Cookies> {
  const { scope } = context;
  const { byName, byJob } = scope.run.resource("http cookies", (): Jars => ({
    byName: new Map(),
    byJob: new WeakMap(),
  }));
  const find = () => use.jar === undefined ? byJob.get(scope.job) : byName.get(use.jar);
  const open = async () => {
    const known = find();
    if (known) return known;
    const { makeJar } = await import("./cookie_jar.ts");
    const made = await makeJar();
    // Another step may have made it meanwhile.
    const jar = find() ?? made;
    if (use.jar === undefined) byJob.set(scope.job, jar);
    else byName.set(use.jar, jar);
    return jar;
  };
  if (use.file !== undefined) {
    const { readCookieFile } = await import("./cookie_file.ts");
    await readCookieFile(use.file, await open(), context);
  }
  return {
    header: (url) => use.isSent ? find()?.header(url) : undefined,
    async keep(reply, url) {
      for (const header of setCookies(reply)) {
        const rejected = (await open()).keep(header, url);
        if (rejected === undefined) continue;
        context.log(`a cookie that ${url.host} sets is not kept: ${rejected}`);
      }
    },
  };
}

/** The cookies that a response sets, as steps see them. */
export async function cookieRecords(reply: RawResponse, url: URL): Promise<readonly Dict[]> {
  const headers = setCookies(reply);
  if (headers.length === 0) return NO_COOKIES;
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
