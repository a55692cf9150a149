import { StepError } from "../../base/errors.ts";
import { SHORTEST_SECRET } from "../../secrets/secrets.ts";
import { isDict } from "../../base/value/value.ts";
import type { ActionContext, Dict, Parameter, Value } from "../../action/action.ts";
import { checkValue } from "../../action/parameters.ts";
import { textOf } from "../../action/text_of.ts";
import type { Order } from "./order.ts";
import type { Tab } from "./tabs.ts";

/** Cookies that a step sets before its actions. */
export const COOKIES_PARAMETER: Parameter = {
  name: "cookies",
  type: ["map", "list"],
  summary:
    "Cookies to set first: names and values for the host of the first URL, or a list of maps",
  items: [
    { name: "name", type: "string", summary: "The name", required: true },
    { name: "value", type: "string", summary: "The value", required: true },
    { name: "url", type: "string", summary: "A URL that it is sent to" },
    { name: "domain", type: "string", summary: "The host, or a domain with all its hosts" },
    { name: "path", type: "string", summary: "The path that it is sent to", default: "/" },
    { name: "secure", type: "boolean", summary: "Whether HTTPS alone carries it" },
    { name: "http_only", type: "boolean", summary: "Whether scripts cannot read it" },
    {
      name: "same_site",
      type: "string",
      summary: "Whether other sites' requests carry it",
      values: ["Strict", "Lax", "None"],
    },
    { name: "expires", type: "number", summary: "When it ends: seconds since 1970" },
  ],
};

/** Reads the cookies of a step. Their values are secrets. */
export function readCookies(list: Value, { secrets }: ActionContext): readonly Dict[] {
  if (list === null) return [];
  const [wrong] = checkValue(COOKIES_PARAMETER, list, ["cookies"]);
  if (wrong) throw problem(wrong.message, wrong.hint);
  const cookies = isDict(list)
    ? Object.entries(list).map(([name, value]): Dict => ({ name, value: textOf(value ?? "") }))
    : list as readonly Dict[];
  for (const { value } of cookies) {
    if (String(value).length >= SHORTEST_SECRET) secrets.add(String(value));
  }
  return cookies;
}

/** Sets cookies before the first page is opened. */
export async function setCookies(
  cookies: readonly Dict[],
  orders: readonly Order[],
  { page, devtools }: Tab,
): Promise<void> {
  if (cookies.length === 0) return;
  const first = orders.find(({ url }) => url !== undefined)?.url ?? page.url();
  const wanted = cookies.map((one) => toCookie(one, first));
  try {
    await devtools.send("Network.setCookies", { cookies: wanted });
  } catch (error) {
    throw problem(`a cookie is invalid: ${error instanceof Error ? error.message : error}`);
  }
}

function toCookie(cookie: Dict, first: string): Dict {
  const fields = Object.fromEntries(
    Object.entries(cookie).filter(([, value]) => value !== null),
  );
  const { name, value = "", url, domain, path, secure, http_only, same_site, expires } = fields;
  if (domain === undefined && url === undefined && !/^https?:/.test(first)) {
    throw problem(`the cookie "${name}" needs "url" or "domain"`);
  }
  return {
    name: String(name),
    value: String(value),
    ...domain === undefined ? { url: String(url ?? first) } : { domain: String(domain) },
    ...path === undefined ? {} : { path: String(path) },
    ...secure === undefined ? {} : { secure: String(secure) === "true" },
    ...http_only === undefined ? {} : { httpOnly: String(http_only) === "true" },
    ...same_site === undefined ? {} : { sameSite: same_site },
    ...expires === undefined ? {} : { expires: Number(expires) },
  };
}

function problem(message: string, hint?: string): StepError {
  return new StepError(`cannot run browser: ${message}`, hint, { parameter: "cookies" });
}

/** The cookies that a page would send, as `res` has them. */
export async function cookiesOf({ devtools }: Tab): Promise<readonly Dict[]> {
  const { cookies } = await devtools.send("Network.getCookies") as {
    readonly cookies: readonly {
      readonly name: string;
      readonly value: string;
      readonly domain: string;
      readonly path: string;
      readonly expires: number;
      readonly httpOnly: boolean;
      readonly secure: boolean;
    }[];
  };
  return cookies.map(({ name, value, domain, path, expires, httpOnly, secure }) => ({
    name,
    value,
    domain,
    path,
    expires: expires < 0 ? null : new Date(expires * 1000).toISOString(),
    http_only: httpOnly,
    secure,
  }));
}

/** The cookies without their values. */
export function hideCookieValues(cookies: Value, mask: string): Value {
  if (!Array.isArray(cookies)) return cookies;
  return cookies.map((one) => isDict(one) && one.value !== "" ? { ...one, value: mask } : one);
}
