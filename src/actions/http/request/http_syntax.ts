import type { Dict, Value } from "../../../action/action.ts";
import { isGiven } from "../../../action/parameter.ts";
import type { Endpoint } from "../../../action/net/endpoint.ts";
import { isDict } from "../../../base/value/value.ts";
import { withoutPassword } from "../../../secrets/secrets.ts";

/**
 * Whether a request may be sent again when the server closed the connection before any answer: only
 * if it changes nothing, because the server may have processed it already.
 */
export function isSafe(method: string): boolean {
  return SAFE.has(method);
}

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** The same few names come with each response. */
const canonicalNames = new Map<string, string>();
const MAX_NAMES = 1000;

/** A header's name as responses are keyed by it: `content-type` and `CONTENT-TYPE` are `Content-Type`. */
export function canonicalName(name: string): string {
  let canonical = canonicalNames.get(name);
  if (canonical !== undefined) return canonical;
  canonical = name.toLowerCase().replace(/(^|-)([a-z])/g, (part) => part.toUpperCase());
  if (canonicalNames.size < MAX_NAMES) canonicalNames.set(name, canonical);
  return canonical;
}

/** Whether a text can be the name of a header or a method. */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/** Parameters that give the method and the URL in one: `get: /pets`. */
export const SHORTHANDS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;

/** Parameters that give the method. */
export const METHODS = ["method", ...SHORTHANDS] as const;

/** Parameters that give a body. */
export const BODIES = ["body", "json", "form", "multipart", "file", "graphql"] as const;

/** The parameters in `params` that give the method; there should be one. */
export function methodKeys(params: Dict): string[] {
  return METHODS.filter((key) => isGiven(params, key));
}

/** A value that a query, a form or JSON cannot express; the message names the parameter. */
export class EncodingError extends Error {}

/** A text as node:http wants it for headers: a character for each byte of its UTF-8. */
export function toByteString(text: string): string {
  if (!hasBeyondAscii(text)) return text;
  let bytes = "";
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

export function basicHeader(username: string, password: string): string {
  return `Basic ${btoa(toByteString(`${username}:${password}`))}`;
}

/** The text of a header from node:http: UTF-8 if its bytes are valid UTF-8, otherwise Latin-1. */
export function fromByteString(bytes: string): string {
  if (!hasBeyondAscii(bytes)) return bytes;
  try {
    const raw = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    return bytes;
  }
}

function hasBeyondAscii(text: string): boolean {
  return /[^\0-\x7f]/.test(text);
}

/** Why a text cannot be requested. */
interface UrlProblem {
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
  if (/\/\/[^/@]*:[^/@]*[/#?][^@]*@/.test(text)) {
    return { message, hint: 'in a password, write "/" as %2F, "#" as %23 and "?" as %3F' };
  }
  if (isFullUrl(text)) return { message };
  return { message, hint: 'begin it with "http://" or "https://"' };
}

/** The host of a URL as sockets take it: an IPv6 address has brackets in URLs only. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** The port of a URL, or the default port of its scheme. */
export function portOf({ port, protocol }: URL): string {
  return port || (protocol === "https:" ? "443" : "80");
}

/** Appends `query` to the query of the URL. A list repeats its name. */
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

/** Reads `host:port`, or a host alone if there is a default port. */
export function readAddress(text: string, port?: number | string): Endpoint | undefined {
  const [, host, portText = port] = /^(\[[\da-f:.]+\]|[^\s:/@[\]]+)(?::(\d{1,5}))?$/i.exec(text) ??
    [];
  if (host === undefined || portText === undefined || Number(portText) > 65_535) return undefined;
  const name = URL.parse(`http://${host}`)?.hostname;
  // A key is compared with the host of a URL, brackets and all.
  return name === undefined
    ? undefined
    : { host: port === undefined ? name : name.replace(/^\[|\]$/g, ""), port: Number(portText) };
}

/** The media type of a `content-type` header, without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return contentType.split(";", 1)[0]!.trim().toLowerCase();
}

const PARAMETERS = {
  charset: /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i,
  boundary: /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i,
} as const;

/** A parameter of a `content-type` header. */
export function mediaParameter(
  contentType: string,
  name: keyof typeof PARAMETERS,
): string | undefined {
  const [, quoted, plain] = PARAMETERS[name].exec(contentType) ?? [];
  return quoted ?? plain;
}

/** Whether a media type is JSON, by name or by suffix. */
export function isJsonType(type: string): boolean {
  return type === "application/json" || type === "text/json" || type.endsWith("+json");
}
