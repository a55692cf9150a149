import type { ActionContext, Dict } from "../../../action/action.ts";
import { runResources } from "../../../action/run_resources.ts";
import { StepError } from "../../../base/errors.ts";
import { tryParseJson } from "../../../base/value/parse_json.ts";
import { ignoreCase } from "../../../base/value/value.ts";
import { explainDenial } from "../../../host/explain_denial.ts";
import {
  canonicalName,
  fromByteString,
  isJsonType,
  mediaParameter,
  mediaType,
} from "../request/http_syntax.ts";
import type { BodyFacts, Phases, RawResponse } from "../transport/model.ts";
import { decodeBody } from "./decode_content.ts";

const SUFFIXES: ReadonlyMap<string, string> = new Map([
  ["application/gzip", ".gz"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  ["application/x-tar", ".tar"],
  ["audio/mpeg", ".mp3"],
  ["image/jpeg", ".jpg"],
  ["image/vnd.microsoft.icon", ".ico"],
  ["image/x-icon", ".ico"],
  ["video/quicktime", ".mov"],
]);

const { createHash, hash } = await import("node:crypto");

interface ReadBody {
  /** The fields of `res` about it. */
  readonly fields: Dict;
  /** Where a binary one is. */
  readonly filepath?: string;
  /** Its bytes after decoding content encodings, whose digests are not among the fields. */
  readonly bytes?: Uint8Array;
}

class MemoryBody implements ReadBody {
  constructor(readonly fields: Dict, readonly bytes: Uint8Array) {}
}

/** Reads a body: its `size`, and its text or data in `body`; a binary one is written to a file. */
export function readBody(
  { body, saved }: RawResponse,
  { headers }: ResponseHead,
  maxBody: number,
  context: ActionContext,
): ReadBody | Promise<ReadBody> {
  if (saved) return { fields: { body: null, ...saved } };
  const contentType = headers["Content-Type"] ?? "";
  const encoding = headers["Content-Encoding"];
  const read = (bytes: Uint8Array) => readBytes(bytes, contentType, context);
  return encoding === undefined ? read(body) : decodeBody(body, encoding, maxBody).then(read);
}

function readBytes(
  bytes: Uint8Array,
  contentType: string,
  context: ActionContext,
): ReadBody | Promise<ReadBody> {
  const text = decodeText(bytes, contentType);
  const size = bytes.length;
  if (text !== undefined) return new MemoryBody(textFields(text, contentType, size), bytes);
  return saveBody(bytes, contentType, context)
    .then((filepath) => ({ fields: { body: null, size }, filepath, bytes }));
}

/** `body`, and `rawbody` if the body is data. */
export function textFields(text: string, contentType: string, size: number): Dict {
  const isData = isJsonType(mediaType(contentType)) || looksLikeData(text);
  const body = isData ? tryParseJson(text) : undefined;
  return body === undefined
    ? { ...NO_TEXT, body: text, size }
    : { ...NO_DATA, body, rawbody: text, size };
}

const NO_TEXT = { body: "", size: 0 };
const NO_DATA = { body: "", rawbody: "", size: 0 };

/** Whether a text is bracketed like an object or a list. */
function looksLikeData(text: string): boolean {
  const inner = text.trim();
  return inner.startsWith("{") && inner.endsWith("}") ||
    inner.startsWith("[") && inner.endsWith("]");
}

/** Writes a body to a file that is removed when the run ends, and gives the path of the file. */
async function saveBody(
  bytes: Uint8Array,
  contentType: string,
  context: ActionContext,
): Promise<string> {
  try {
    const path = await runResources(context).newFile(fileSuffix(mediaType(contentType)));
    await Deno.writeFile(path, bytes, { mode: 0o600 });
    return path;
  } catch (error) {
    const denial = explainDenial(error);
    if (denial) {
      throw new StepError(`cannot save the body of the response: ${denial.message}`, denial.hint);
    }
    if (!(error instanceof Error)) throw error;
    const hint = error instanceof StepError ? error.hint : undefined;
    throw new StepError(`cannot save the body of the response: ${error.message}`, hint);
  }
}

/** The head of a response as steps see it. */
export interface ResponseHead {
  readonly code: number;
  /** Code and text, as the server sent them. */
  readonly status: string;
  /** By canonical name, with values of the same name joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** The values of repeated fields, if any. */
  readonly repeated_headers?: Readonly<Record<string, readonly string[]>>;
  /** The fields after a chunked body, like headers, if there are any. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/** Reads status line, headers and trailers. */
export function readHead({ code, reason, rawHeaders, rawTrailers }: RawResponse): ResponseHead {
  const headers = readFields(rawHeaders);
  const status = reason === "" ? String(code) : `${code} ${fromByteString(reason)}`;
  const head = { ...NO_HEAD, code, status, headers };
  const isRepeated = Object.keys(headers).length * 2 < rawHeaders.length;
  if (!isRepeated && rawTrailers.length === 0) return head;
  return {
    ...head,
    ...isRepeated ? { repeated_headers: repeatedFields(rawHeaders) } : {},
    ...rawTrailers.length === 0 ? {} : { trailers: readFields(rawTrailers) },
  };
}

const NO_HEAD: ResponseHead = { code: 0, status: "", headers: {} };

/** Reads names and values in turn. */
export function readFields(raw: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = ignoreCase(Object.create(null));
  for (let at = 0; at < raw.length; at += 2) {
    const name = canonicalName(raw[at]!);
    const value = fromByteString(raw[at + 1]!);
    const before = fields[name];
    fields[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return fields;
}

function repeatedFields(raw: readonly string[]): Record<string, string[]> {
  const repeated: Record<string, string[]> = ignoreCase(Object.create(null));
  for (let at = 0; at < raw.length; at += 2) {
    (repeated[canonicalName(raw[at]!)] ??= []).push(fromByteString(raw[at + 1]!));
  }
  for (const [name, { length }] of Object.entries(repeated)) if (length < 2) delete repeated[name];
  return repeated;
}

/** The fields of `res` about the connection, and about the time in milliseconds. */
export function connectionFacts(
  { version, tls }: RawResponse,
  phases: Phases | undefined,
  total: number,
): Dict {
  return {
    ...tls ? { version, tls } : { version },
    ...phases ? { timing: describeTiming(phases, total) } : {},
  };
}

/** In seconds; the rest of the time was a wait before something was sent. */
function describeTiming(phases: Phases, total: number): Dict {
  const { dns, connect, tls, first_byte, download } = phases;
  const measured = dns + connect + tls + first_byte + download;
  return {
    ...NO_TIMING,
    queue: seconds(Math.max(0, total - measured)),
    dns: seconds(dns),
    connect: seconds(connect),
    tls: seconds(tls),
    first_byte: seconds(first_byte),
    download: seconds(download),
    total: seconds(Math.max(total, measured)),
  };
}

const NO_TIMING = {
  ...{ queue: 0, dns: 0, connect: 0, tls: 0, first_byte: 0, download: 0, total: 0 },
};

function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1e6;
}

/** The digests of a body, in hexadecimal. */
export const DIGESTS = ["sha256", "sha1", "md5"] as const;

export function digestsOf(bytes: Uint8Array): Omit<BodyFacts, "size"> {
  return {
    sha256: hash("sha256", bytes, "hex"),
    sha1: hash("sha1", bytes, "hex"),
    md5: hash("md5", bytes, "hex"),
  };
}

/** Finds the facts of a body that comes chunk by chunk. */
export function bodyDigests(): {
  readonly add: (chunk: Uint8Array) => void;
  readonly facts: () => BodyFacts;
} {
  const sha256 = createHash("sha256");
  const sha1 = createHash("sha1");
  const md5 = createHash("md5");
  let size = 0;
  return {
    add(chunk) {
      size += chunk.length;
      for (const digest of [sha256, sha1, md5]) digest.update(chunk);
    },
    facts: () => ({
      size,
      sha256: sha256.digest("hex"),
      sha1: sha1.digest("hex"),
      md5: md5.digest("hex"),
    }),
  };
}

/**
 * The text of a body; undefined if it is binary. The content decides, whatever the type says:
 * bytes without NUL that decode in the declared charset, or else in UTF-8, are text.
 */
export function decodeText(bytes: Uint8Array, contentType: string): string | undefined {
  for (const label of declaredCharsets(bytes, contentType)) {
    const text = decodeAs(label, bytes);
    if (text !== undefined && !text.includes("\0")) return text;
  }
  return decodeUtf8(bytes);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined if the bytes are not in that charset, or the charset is unknown. */
function decodeAs(label: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Where documents declare their charset themselves, in bytes from the start. */
const DECLARATION_LENGTH = 1024;

/** The charsets that a body declares, except UTF-8, by precedence. */
function declaredCharsets(bytes: Uint8Array, contentType: string): string[] {
  const [first, second] = bytes;
  const charsets: string[] = [];
  if (first === 0xff && second === 0xfe) charsets.push("utf-16le");
  if (first === 0xfe && second === 0xff) charsets.push("utf-16be");
  const declared = mediaParameter(contentType, "charset");
  if (declared !== undefined) {
    if (!/^utf-?8$/i.test(declared)) charsets.push(declared);
    return charsets;
  }
  if (first !== 0x3c && !/html|xml/i.test(mediaType(contentType))) return charsets;
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, DECLARATION_LENGTH));
  const [, xml] = /^<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)["']/i.exec(start) ?? [];
  const [, html] = /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start) ?? [];
  const found = xml ?? html;
  // A declaration that can be read byte by byte is in no charset of two bytes.
  if (found !== undefined && !/^utf-?(8|16)/i.test(found)) charsets.push(found);
  return charsets;
}

/** The file extension for a binary body of that media type. */
function fileSuffix(type: string): string {
  if (type.startsWith("text/") || isJsonType(type)) return ".bin";
  const suffix = SUFFIXES.get(type);
  if (suffix !== undefined) return suffix;
  const [, subtype = ""] = type.split("/", 2);
  return /^[a-z0-9]{2,5}$/.test(subtype) ? `.${subtype}` : ".bin";
}
