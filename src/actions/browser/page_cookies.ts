import { StepError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import type { Value } from "../../action/action.ts";
import { choice, either, flag, list, map, mapOf, text, value } from "../../action/rule.ts";
import { textOf } from "../../action/parameter.ts";
import type { Tab } from "./tabs.ts";

const cookie = map({
  name: text("The name").required(),
  value: text("The value").required(),
  url: text("A URL that it is sent to"),
  domain: text("The host, or a domain with all its hosts"),
  path: text("The path that it is sent to").with({ default: "/" }),
  secure: flag("Whether it is sent only over HTTPS"),
  http_only: flag("Whether scripts cannot read it"),
  same_site: choice(["Strict", "Lax", "None"], "Whether it is sent with requests from other sites"),
  expires: value("number", "When it expires: seconds since 1970"),
}, "");

const SUMMARY =
  "Cookies to set first: names and values for the host of the first URL, or a list of maps";

/** A cookie that a step sets before its actions. */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly url?: string;
  readonly domain?: string;
  readonly path?: string;
  readonly secure?: boolean;
  readonly http_only?: boolean;
  readonly same_site?: string;
  readonly expires?: number;
}

/** Cookies as the step gives them. Their values are secrets. */
export const cookies = either(
  mapOf(value("any", ""), SUMMARY).as((values): readonly Cookie[] =>
    Object.entries(values).map(([name, value = ""]) => ({ name, value: textOf(value ?? "") }))
  ),
  list(cookie, SUMMARY).as((cookies): readonly Cookie[] => cookies),
).as((cookies, param) => {
  for (const { value } of cookies) param.secrets?.add(value);
  return cookies;
});

/** Sets cookies before the page of the first URL is opened. */
export async function setCookies(
  cookies: readonly Cookie[],
  firstUrl: string,
  { devtools }: Tab,
): Promise<void> {
  if (cookies.length === 0) return;
  const wanted = cookies.map(({ http_only, same_site, url, domain, ...cookie }) => {
    if (domain === undefined && url === undefined && !/^https?:/.test(firstUrl)) {
      throw problem(`the cookie "${cookie.name}" needs "url" or "domain"`);
    }
    const whose = domain === undefined ? { url: url ?? firstUrl } : { domain };
    return { ...cookie, ...whose, httpOnly: http_only, sameSite: same_site };
  });
  try {
    await devtools.send("Network.setCookies", { cookies: wanted });
  } catch (error) {
    throw problem(`a cookie is invalid: ${error instanceof Error ? error.message : error}`);
  }
}

function problem(message: string): StepError {
  return new StepError(`cannot run browser: ${message}`, undefined, { parameter: "cookies" });
}

export function hideCookieValues(cookies: Value, mask: string): Value {
  if (!Array.isArray(cookies)) return cookies;
  return cookies.map((one) => isDict(one) && one.value !== "" ? { ...one, value: mask } : one);
}
