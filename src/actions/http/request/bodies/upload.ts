import type { Dict, Value } from "../../../../action/action.ts";
import { StepError } from "../../../../base/errors.ts";
import { describeValue, isDict } from "../../../../base/value/value.ts";
import { encodeBody, encodeForm, encodeJson, type RequestBody } from "../request_body.ts";
import type { Values } from "../../../../action/schema.ts";
import type { REQUEST_PARAMS } from "../../http_params.ts";
import type { BODIES } from "../http_syntax.ts";
import { graphqlText } from "./graphql.ts";

/** The parameters that give a body. */
type BodyParams = Partial<
  Pick<
    Values<typeof REQUEST_PARAMS>,
    typeof BODIES[number] | "compress"
  >
>;

type Graphql = NonNullable<BodyParams["graphql"]>;

/** The supported compressions of a body. */
export const COMPRESSIONS = ["gzip", "deflate", "br"] as const;
export type Compression = typeof COMPRESSIONS[number];

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
    | { readonly kind: "graphql"; readonly path: string; readonly graphql: Graphql };
  readonly compress?: Compression;
}

/** The body of a step: data, or a source that is opened when it is sent. */
export type GivenBody = RequestBody<string> | Upload;

/** Whether files have to be read before the request is sent, or something compressed. */
export function isUpload(body: GivenBody): body is Upload {
  return "source" in body;
}

/** The body of the step. Throws EncodingError on a value that has no form in such a body. */
export function readUpload(
  params: BodyParams,
  contentType: string | undefined,
): GivenBody | undefined {
  const source = readSource(params, contentType);
  const compress = readCompression(params.compress);
  if (source === undefined) return undefined;
  if (source.kind === "ready" && compress === undefined) return source.body;
  return { source, ...compress === undefined ? {} : { compress } };
}

function readSource(
  { body, json, form, multipart, file, graphql }: BodyParams,
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
  if (graphql.query === undefined) {
    const message = '"graphql" needs "query" or "file"';
    throw new StepError(`cannot run http: ${message}`, undefined, { parameter: "graphql" });
  }
  return ready(graphqlText(graphql.query, graphql));
}

function readCompression(compression: string | undefined): Compression | undefined {
  const known = COMPRESSIONS.find((name) => name === compression);
  if (known !== undefined || compression === undefined) return known;
  throw new StepError(
    `cannot run http: ${compressionProblem(compression)}`,
    undefined,
    { parameter: "compress" },
  );
}

/** The problem of the name of a compression. */
export function compressionProblem(compression: string): string {
  return `"compress" must be gzip, deflate or br, not "${compression}"`;
}

/** The keys of a part that is a map. */
const PART_KEYS = ["file", "value", "type", "filename"];

/** The problem of a part of a multipart body; undefined if there is none. */
export function partProblem(name: string, part: Value): string | undefined {
  if (Array.isArray(part)) return `"multipart.${name}" must not be a list in a list`;
  if (!isDict(part)) return undefined;
  const unknown = Object.keys(part).find((key) => !PART_KEYS.includes(key));
  if (unknown !== undefined) return `unknown key "${unknown}" in "multipart.${name}"`;
  const sources = ["file", "value"].filter((key) => part[key] !== undefined && part[key] !== null);
  return sources.length === 1
    ? undefined
    : `"multipart.${name}" must have either "file" or "value", not ${
      sources.length === 0 ? "none of them" : "both"
    }`;
}

/** The hint for a part that is a map with other keys. */
export const PART_HINT = `a part is text, { file, type, filename }, or { value, type, filename }`;

/** The parts of a multipart body. A list repeats its name; null is left out. */
function readParts(multipart: Dict): UploadPart[] {
  return Object.entries(multipart).flatMap(([name, value]) =>
    [value].flat().filter((item) => item !== null).map((item: Value) => readPart(name, item))
  );
}

function readPart(name: string, part: Value): UploadPart {
  const problem = partProblem(name, part);
  if (problem !== undefined) {
    throw new StepError(`cannot run http: ${problem}`, PART_HINT, { parameter: "multipart" });
  }
  if (!isDict(part)) return { name, content: { text: String(part) } };
  const { file, value = null, type, filename } = part;
  const isData = typeof value === "object" && value !== null;
  return {
    name,
    content: file === undefined || file === null
      ? { text: isData ? encodeJson(`multipart.${name}`, value).content : String(value) }
      : { file: textOf(`multipart.${name}.file`, file) },
    ...isGiven(type)
      ? { type: textOf(`multipart.${name}.type`, type) }
      : isData
      ? { type: "application/json" }
      : {},
    ...isGiven(filename) ? { filename: textOf(`multipart.${name}.filename`, filename) } : {},
  };
}

function isGiven(value: Value | undefined): value is Exclude<Value, null> {
  return value !== undefined && value !== null;
}

function textOf(what: string, value: Value): string {
  if (typeof value !== "object") return String(value);
  const message = `"${what}" must be text, not ${describeValue(value)}`;
  throw new StepError(`cannot run http: ${message}`, undefined, { parameter: "multipart" });
}
