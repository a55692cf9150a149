import { EncodingError } from "./http_syntax.ts";
import { withoutPassword } from "../../../secrets/secrets.ts";
import { isDict } from "../../../base/value/value.ts";
import type { Dict, Value } from "../../../action/action.ts";

/** Why a text cannot be requested. */
export interface UrlProblem {
  readonly message: string;
  readonly hint?: string;
}

/**
 * The URL of a shorthand: a full URL is used as it is, anything else is appended to the path of
 * `base`. Texts are put together as they are, so that `%2F` and a last slash survive, and a host
 * in the target is a part of the path like any other.
 */
export function joinUrl(base: string, target: string): string {
  if (isFullUrl(target)) return target;
  const [start, baseQuery] = splitQuery(base);
  const [path, query = baseQuery] = splitQuery(target);
  const joined = path === "" ? start : `${trimEnd(start)}/${path.replace(/^[/\\]+/, "")}`;
  return query === undefined ? joined : `${joined}?${query}`;
}

/** Whether a target needs no URL to be appended to. */
export function isFullUrl(target: string): boolean {
  return /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(target);
}

/** The URL in a text, or what is wrong with it. */
export function readUrl(text: string): URL | UrlProblem {
  const url = URL.parse(text);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  const shown = withoutPassword(text);
  if (isFullUrl(text) && url) {
    return {
      message: `the scheme "${url.protocol}//" of "${shown}" is not supported`,
      hint: 'use "http://" or "https://"',
    };
  }
  const message = `invalid URL "${shown}"`;
  if (isFullUrl(text)) return { message };
  return { message, hint: 'begin it with "http://" or "https://"' };
}

/** The host of a URL as sockets take it: an IPv6 address has brackets in URLs only. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** The port of a URL, also where it is the usual one of its scheme. */
export function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

/** Appends `query` to what the URL asks for already. A list repeats its name. */
export function addQuery(url: URL, query: Dict): URL {
  const pairs = encodePairs("query", query);
  if (pairs === "") return url;
  const extended = new URL(url);
  extended.search = url.search === "" ? pairs : `${url.search}&${pairs}`;
  return extended;
}

/** Names and values as a query has them. Throws EncodingError on a value that has no such form. */
export function encodePairs(what: string, values: Dict): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    for (const item of isList(value) ? value : [value]) {
      if (item === null) continue;
      if (isDict(item) || isList(item)) {
        const kind = isDict(item) ? "a mapping" : "a list in a list";
        throw new EncodingError(
          `"${name}" in "${what}" must be text, a number, true or false, or a list of these, not ${kind}`,
        );
      }
      pairs.push(`${encode(name)}=${encode(String(item))}`);
    }
  }
  return pairs.join("&");
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Splits at the first `?`, without the fragment, which is never sent. */
function splitQuery(text: string): [path: string, query?: string] {
  const [sent = ""] = text.split("#", 1);
  const at = sent.indexOf("?");
  return at < 0 ? [sent] : [sent.slice(0, at), sent.slice(at + 1)];
}

function trimEnd(start: string): string {
  return start.replace(/\/+$/, "");
}
