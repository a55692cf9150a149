import { formatJson } from "../../base/value/format_value.ts";
import { pathText, readInteger, type Value } from "../../base/value/value.ts";
import { jsonOrText, parseJson } from "../../base/value/parse_json.ts";
import {
  type Description,
  isJson,
  type Location,
  mapOf,
  type Part,
  rawText,
} from "../read/description.ts";
import { type Content, type DescribedParameter, schemaOf } from "../read/operations.ts";
import { type Schemas, type Side, WRITE_ONLY } from "./schemas.ts";

/** A request and its response, as they were sent. */
export interface ContractExchange {
  readonly method: string;
  readonly url: URL;
  /** The path of the server, if the step gives it separately from the operation. */
  readonly basePath?: string;
  /** Names in lower case. */
  readonly requestHeaders: ReadonlyMap<string, string>;
  /** Undefined if there is none, or if it is not text. */
  readonly requestBody: string | undefined;
  readonly hasRequestBody: boolean;
  readonly code: number;
  /** Whether only the status of the response is known. */
  readonly isStatusOnly: boolean;
  readonly responseHeaders: ReadonlyMap<string, string>;
  /** Undefined if it is not text. */
  readonly responseBody: string | undefined;
  readonly responseSize: number;
}

/** A difference between an exchange and the description. */
export interface FoundViolation {
  readonly side: Side;
  /** With the location in the description at its end. */
  readonly message: string;
  /** The value in the message, which may be long. */
  readonly value?: string;
  readonly hint?: string;
  /** The part of the request, for its position in the workflow. */
  readonly part?: "path" | "query" | "header" | "cookie" | "body";
  readonly path?: readonly (string | number)[];
  /** The described and the received value, if both are values. */
  readonly sides?: ViolationSides & { readonly place: string };
}

interface ViolationSides {
  /** The part of the message: `body.price`. */
  readonly part: string;
  readonly expected: string;
  readonly received: string;
}

/** What an exchange is compared with. */
export interface ContractApi {
  readonly description: Description;
  readonly schemas: Schemas;
  readonly hits: OperationHits;
}

/** How often requests have used the parts of an operation. */
export interface OperationHits {
  requests: number;
  readonly statuses: Map<string, number>;
  readonly parameters: Map<DescribedParameter, number>;
}

export function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** A violation without the text of its location. */
export interface ViolationDraft extends Omit<FoundViolation, "message" | "sides"> {
  readonly text: string;
  readonly sides?: ViolationSides;
  readonly at: Location;
}

/** The described media type that matches a `Content-Type`. */
export function mediaKey({ types }: Content, type: string | undefined): string | undefined {
  const plain = (text: string) => text.split(";", 1)[0]!.trim().toLowerCase();
  const sent = plain(type ?? "");
  const family = sent.split("/", 1)[0];
  const find = (wanted: string) => types.find((one) => plain(one) === wanted);
  // Versions of a type may differ by a parameter.
  const whole = (text: string) => text.replaceAll(/\s/g, "").toLowerCase();
  const same = types.find((one) => whole(one) === whole(type ?? ""));
  return same ?? find(sent) ?? find(`${family}/*`) ?? find("*/*");
}

/** Compares a body of JSON with its schema; `owner` is the part that has the schema. */
export function checkJson(
  api: ContractApi,
  schema: Part,
  text: string,
  side: Side,
  owner: Part,
): ViolationDraft[] {
  let value: Value;
  try {
    value = parseJson(text) as Value;
  } catch (error) {
    const isDeep = (error as Error).message.includes("levels deep");
    const problem = isDeep ? "the body is nested too deeply" : "the body is not JSON";
    return [{ side, text: problem, at: owner.at, part: "body" }];
  }
  return checkBodyValue(api, schema, value, side);
}

/** Compares the value of a body with its schema. */
export function checkBodyValue(
  { schemas }: ContractApi,
  schema: Part,
  value: Value,
  side: Side,
): ViolationDraft[] {
  return schemas.check(schema, value, side).map((problem) => ({
    side,
    ...describeProblem(`body${pathText(problem.path)}`, problem),
    at: problem.at,
    part: "body",
    path: problem.path,
  }));
}

interface Problem {
  readonly expected: string | undefined;
  readonly actual?: Value | undefined;
}

/** A problem as a message, and as two sides. */
export function describeProblem(
  part: string,
  problem: Problem,
): Pick<ViolationDraft, "text" | "value" | "sides"> {
  const { expected = "", actual } = problem;
  const received = actual === undefined ? "missing" : formatJson(actual);
  const value = received.replaceAll(/\s+/g, " ");
  return {
    text: `${part} ${messageOf(problem, value)}`,
    ...actual === undefined ? {} : { value },
    sides: {
      part,
      expected: expected === "no such property" ? "not described" : expected,
      received: expected === "required" ? "missing" : received,
    },
  };
}

/** The problem with a value: `is "12", expected type number`. */
function messageOf({ expected, actual }: Problem, value: string): string {
  if (expected === "required") return "is missing";
  if (expected === "no such property") return "is not described";
  if (expected === WRITE_ONLY) return "is only for requests (writeOnly)";
  return `is ${actual === undefined ? "missing" : value}, expected ${expected}`;
}

/** The parts of a request that contain parameters. */
export interface RequestParts {
  readonly path: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  /** In lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly cookies: ReadonlyMap<string, string>;
  /** Undefined if the body is not a form. */
  readonly form: URLSearchParams | undefined;
}

/** The schema of a parameter or header, and its value as data; undefined if it is not sent. */
interface ReadParameter {
  readonly schema: Part | undefined;
  readonly value: Value | undefined;
}

/** Reads the value of a parameter from a request. */
export function readParameter(
  api: ContractApi,
  { location, name, part }: DescribedParameter,
  parts: RequestParts,
): ReadParameter {
  const texts = textsOf(location, name, parts);
  const schema = schemaOf(api.description, part);
  const fields = location === "query" ? objectFields(api, schema, part, name, parts) : [];
  if (fields.length > 0) return { schema, value: readFields(api, schema, fields) };
  if (texts.length === 0) return { schema, value: undefined };
  return { schema, value: readValue(api, schema, part.value, texts) };
}

/** Reads the fields of an object; a repeated field becomes a list if its schema allows one. */
export function readFields(
  api: ContractApi,
  schema: Part | undefined,
  fields: readonly (readonly [name: string, text: string])[],
): Value {
  const texts = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries([...texts].map(([name, those]) => {
    const property = schema && api.schemas.propertyOf(schema, name);
    const all = those.map(([, text]) => text);
    if (!property) return [name, all[0]!];
    return [name, readValue(api, property, { in: "query" }, all)];
  }));
}

/** Reads the value of a header of a response. */
export function readHeader(api: ContractApi, header: Part, text: string): ReadParameter {
  const schema = schemaOf(api.description, header);
  return { schema, value: readValue(api, schema, header.value, [text]) };
}

function textsOf(location: string, name: string, parts: RequestParts): readonly string[] {
  const { path, query, headers, cookies, form } = parts;
  switch (location) {
    case "path":
      return [path.get(name)].flatMap((text) => text ?? []);
    case "query":
      return query.has(name) ? query.getAll(name) : query.getAll(`${name}[]`);
    case "header":
      return [headers.get(name.toLowerCase())].flatMap((text) => text ?? []);
    case "cookie":
      return [cookies.get(name)].flatMap((text) => text ?? []);
    case "formData":
      return form?.getAll(name) ?? [];
    default:
      return [];
  }
}

/** The fields of an object in the query: `filter[name]=x`, or one parameter for each. */
function objectFields(
  { description }: ContractApi,
  schema: Part | undefined,
  parameter: Part,
  name: string,
  { query }: RequestParts,
): (readonly [string, string])[] {
  const { style, explode } = mapOf(parameter.value);
  if (style === "deepObject") {
    return [...query].flatMap(([key, text]) =>
      key.startsWith(`${name}[`) && key.endsWith("]")
        ? [[key.slice(name.length + 1, -1), text] as const]
        : []
    );
  }
  const properties = schema && description.child(schema, "properties");
  const isObject = mapOf(schema?.value).type === "object" && properties !== undefined;
  if (!isObject || explode === false || query.has(name)) return [];
  return Object.keys(mapOf(properties.value)).flatMap((key) =>
    query.getAll(key).map((text) => [key, text] as const)
  );
}

const SEPARATORS: Readonly<Record<string, RegExp>> = {
  spaceDelimited: / |%20/,
  pipeDelimited: /\|/,
  ssv: / /,
  tsv: /\t/,
  pipes: /\|/,
};

/** Reads the texts of a parameter, which is the value of its part. */
function readValue(
  { description, schemas }: ContractApi,
  schema: Part | undefined,
  parameter: unknown,
  texts: readonly string[],
): Value {
  const raw = mapOf(parameter);
  const [type] = Object.keys(mapOf(raw.content));
  if (type !== undefined && isJson(type)) return jsonOrText(texts[0]!);
  if (!schema) return texts[0]!;
  const types = schemas.typesOf(schema);
  if (!types.has("array")) return convert(texts[0]!, types);
  const style = rawText(raw.collectionFormat) ?? rawText(raw.style) ?? "";
  const [only = ""] = texts;
  const isOne = texts.length === 1 && raw.explode !== true && style !== "multi";
  const isRepeatable = raw.in === "query" || raw.in === "formData";
  const parts = isOne || !isRepeatable ? only.split(SEPARATORS[style] ?? ",") : texts;
  const items = description.child(schema, "items");
  const itemTypes = items ? schemas.typesOf(items) : new Set<string>();
  const isInUrl = raw.in === "query" || raw.in === "path";
  return parts.map((part) => convert(isInUrl ? part : part.trim(), itemTypes));
}

/** Converts a text to one of these types; it stays a text if they allow strings. */
function convert(text: string, types: ReadonlySet<string>): Value {
  if (types.has("string") || types.size === 0) return text;
  if (types.has("integer") || types.has("number")) {
    if (/^-?\d+$/.test(text)) return readInteger(text) ?? text;
    if (/^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text)) return Number(text);
  }
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.has("null") && (text === "" || text === "null")) return null;
  return types.has("object") ? jsonOrText(text) : text;
}
