import type { Alternatives, Dict } from "../../../action/action.ts";
import { isGiven } from "../../../action/parameters.ts";

/** The problem of a method; undefined if there is none. */
export function methodProblem(method: string): string | undefined {
  if (!isToken(method)) return `invalid method "${method}"`;
  // It asks a proxy for a tunnel, and what follows is not a response.
  if (method.toUpperCase() === "CONNECT") return `the method "${method}" is not supported`;
  return undefined;
}

/**
 * Whether a request may be sent again when the server closed the connection before any answer: only
 * where it changes nothing, since the server may have carried it out already.
 */
export function isSafe(method: string): boolean {
  return SAFE.has(method);
}

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** The same few names come with each response. */
const known = new Map<string, string>();
const MAX_KNOWN = 1000;

/** A header's name as responses are keyed by it: `content-type` and `CONTENT-TYPE` are `Content-Type`. */
export function canonicalName(name: string): string {
  let canonical = known.get(name);
  if (canonical !== undefined) return canonical;
  canonical = name.toLowerCase().replace(/(^|-)([a-z])/g, (part) => part.toUpperCase());
  if (known.size < MAX_KNOWN) known.set(name, canonical);
  return canonical;
}

/** The headers of node:http2 as node:http gives them: names and values in turn. */
export function namesAndValues(headers: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => [name, String(one)])
  );
}

/** Whether a text can be the name of a header or a method. */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/** Parameters that give the method and where it goes in one: `get: /pets`. */
export const SHORTHANDS = ["get", "post", "put", "patch", "delete", "head", "options"] as const;

/** Parameters that give a body. */
export const BODIES = ["body", "json", "form", "multipart", "file", "graphql"] as const;

/** Parameters with the same meaning: one of a step replaces all of them in the defaults. */
export const SAME_MEANING: readonly Alternatives[] = [
  { names: ["method", ...SHORTHANDS], required: true },
  { names: BODIES },
  { names: ["verify_ssl", "insecure"] },
];

/** The parameters in `params` that give the method; there should be one. */
export function methodKeys(params: Dict): string[] {
  return ["method", ...SHORTHANDS].filter((key) => isGiven(params, key));
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

/** The header of a user and a password. */
export function basicHeader(username: string, password: string): string {
  return `Basic ${btoa(toByteString(`${username}:${password}`))}`;
}

/** The text in a header from node:http: UTF-8 where its bytes are that, otherwise Latin-1. */
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
