import type { Dict, Value } from "../../../action/action.ts";
import { isDict } from "../../../base/value/value.ts";
import type { Compression, HttpParams, Part } from "../http_params.ts";
import { encodePairs, EncodingError, mediaType } from "./http_syntax.ts";

/** A body: text in UTF-8, bytes, or the content of files. */
export type Content = string | Uint8Array | ContentStream;

/** A body that is read while it is sent, once for each time that it is sent. */
export interface ContentStream {
  /** In bytes; undefined if it is only known at the end. */
  readonly length: number | undefined;
  open(): AsyncIterable<Uint8Array>;
}

/** A body, and the type that it has if the step gives none. */
export interface RequestBody<T extends Content = Content> {
  readonly content: T;
  readonly contentType?: string;
  /** Whether it has that type whatever the step gives. */
  readonly ownType?: boolean;
  readonly contentEncoding?: string;
}

/** Whether a body is read while it is sent. */
export function isStream(content: Content | undefined): content is ContentStream {
  return typeof content === "object" && "open" in content;
}

/** The number of bytes in a body, if it is known. */
export function lengthOf(content: Content): number | undefined {
  return typeof content === "string" ? new TextEncoder().encode(content).length : content.length;
}

/**
 * Encodes `body`: text as it is, an object or a list as JSON, and an object as a form
 * where the content type of the step says so. Throws EncodingError on what JSON cannot express.
 */
function encodeBody(body: Value, contentType: string | undefined): RequestBody<string> {
  if (body === null || typeof body !== "object") return { content: String(body) };
  const isForm = contentType !== undefined && mediaType(contentType) === FORM_TYPE;
  return isForm && isDict(body) ? { content: encodePairs("body", body) } : encodeJson("body", body);
}

/** Any value as JSON. Throws EncodingError on what JSON cannot express. */
export function encodeJson(what: string, value: Value): RequestBody<string> {
  // JSON.stringify() would silently write NaN and infinities as null.
  const content = JSON.stringify(value);
  const wrong = content.includes("null") ? findEndless(value) : undefined;
  if (wrong === undefined) return { content, contentType: "application/json" };
  throw new EncodingError(`"${what}" contains ${wrong}, a number that JSON does not have`);
}

/** Names and values as a form. Throws EncodingError on a value that a form cannot express. */
function encodeForm(form: Dict, contentType: string | undefined): RequestBody<string> {
  // Defaults often give the type of JSON.
  const ownType = contentType !== undefined && mediaType(contentType) !== FORM_TYPE;
  return { content: encodePairs("form", form), contentType: FORM_TYPE, ownType };
}

const FORM_TYPE = "application/x-www-form-urlencoded";

function findEndless(value: Value): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : value;
  if (typeof value !== "object" || value === null) return undefined;
  for (const part of Object.values(value)) {
    const wrong = findEndless(part);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** A part of a multipart body: a value or a file. */
export interface UploadPart {
  readonly name: string;
  readonly content: { readonly text: string } | { readonly file: string };
  readonly type?: string;
  readonly filename?: string;
}

/** A body that is not known before files are read or something is compressed. */
export interface Upload {
  readonly source:
    | { readonly kind: "ready"; readonly body: RequestBody<string> }
    | { readonly kind: "file"; readonly path: string }
    | { readonly kind: "multipart"; readonly parts: readonly UploadPart[] }
    | {
      readonly kind: "graphql";
      readonly path: string;
      readonly graphql: NonNullable<HttpParams["graphql"]>;
    };
  readonly compress?: Compression;
}

/** The body of a step: data, or a source that is opened when it is sent. */
type GivenBody = RequestBody<string> | Upload;

/** Whether files have to be read before the request is sent, or something compressed. */
export function isUpload(body: GivenBody): body is Upload {
  return "source" in body;
}

/** The body of the step. Throws EncodingError on a value that has no form in such a body. */
export function readUpload(
  params: HttpParams,
  contentType: string | undefined,
): GivenBody | undefined {
  const source = readSource(params, contentType);
  const { compress } = params;
  if (source === undefined) return undefined;
  if (source.kind === "ready" && compress === undefined) return source.body;
  return { source, compress };
}

function readSource(
  { body, json, form, multipart, file, graphql }: HttpParams,
  contentType: string | undefined,
): Upload["source"] | undefined {
  const ready = (body: RequestBody<string>) => ({ kind: "ready", body }) as const;
  if (body !== undefined) return ready(encodeBody(body, contentType));
  if (json !== undefined) return ready(encodeJson("json", json));
  if (form) return ready(encodeForm(form, contentType));
  if (multipart) return { kind: "multipart", parts: readParts(multipart) };
  if (file !== undefined) return { kind: "file", path: file };
  if (!graphql) return undefined;
  if (graphql.file !== undefined) return { kind: "graphql", path: graphql.file, graphql };
  return ready(graphqlText(graphql.query!, graphql));
}

function readParts(multipart: NonNullable<HttpParams["multipart"]>): UploadPart[] {
  return Object.entries(multipart).flatMap(([name, parts]) =>
    parts.map((part) => readPart(name, part))
  );
}

function readPart(name: string, { file, value = null, type, filename }: Part): UploadPart {
  if (file !== undefined) return { name, content: { file }, type, filename };
  const isData = typeof value === "object";
  const text = isData ? encodeJson(`multipart.${name}`, value).content : String(value);
  return {
    name,
    content: { text },
    type: type ?? (isData ? "application/json" : undefined),
    filename,
  };
}

/** The media types of responses to GraphQL requests. */
export const GRAPHQL_ACCEPT = "application/graphql-response+json, application/json";

/** The body of a GraphQL request over HTTP. */
export function graphqlText(
  query: string,
  { variables, operation }: { readonly variables?: Dict; readonly operation?: string },
): RequestBody<string> {
  return encodeJson("graphql", {
    query,
    ...variables && { variables },
    ...operation !== undefined && { operationName: operation },
  });
}

/** The media type of a file by its extension, for uploads. */
export function typeByExtension(path: string): string {
  const [, extension = ""] = /\.([^./\\]+)$/.exec(path) ?? [];
  return TYPES.get(extension.toLowerCase()) ?? "application/octet-stream";
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ["7z", "application/x-7z-compressed"],
  ["avif", "image/avif"],
  ["bmp", "image/bmp"],
  ["bz2", "application/x-bzip2"],
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["deb", "application/vnd.debian.binary-package"],
  ["doc", "application/msword"],
  ["docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["gif", "image/gif"],
  ["graphql", "application/graphql"],
  ["gz", "application/gzip"],
  ["htm", "text/html"],
  ["html", "text/html"],
  ["ics", "text/calendar"],
  ["jar", "application/java-archive"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["js", "text/javascript"],
  ["json", "application/json"],
  ["jsonl", "application/jsonl"],
  ["log", "text/plain"],
  ["md", "text/markdown"],
  ["mjs", "text/javascript"],
  ["mp3", "audio/mpeg"],
  ["mp4", "video/mp4"],
  ["ndjson", "application/x-ndjson"],
  ["odt", "application/vnd.oasis.opendocument.text"],
  ["ogg", "audio/ogg"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["rpm", "application/x-rpm"],
  ["sql", "application/sql"],
  ["svg", "image/svg+xml"],
  ["tar", "application/x-tar"],
  ["tgz", "application/gzip"],
  ["tif", "image/tiff"],
  ["tiff", "image/tiff"],
  ["txt", "text/plain"],
  ["wasm", "application/wasm"],
  ["wav", "audio/wav"],
  ["webm", "video/webm"],
  ["webp", "image/webp"],
  ["xls", "application/vnd.ms-excel"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  ["xml", "application/xml"],
  ["xz", "application/x-xz"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["zip", "application/zip"],
  ["zst", "application/zstd"],
]);
