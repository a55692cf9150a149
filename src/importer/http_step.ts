import { literalText } from "../openapi/gen/templates.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { DraftStep } from "../openapi/gen/draft.ts";

/** Names and values in their order; a name may come again. */
export type Pairs = readonly (readonly [name: string, value: Value])[];

/** A request; its texts are templates. */
export interface DraftRequest {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  /** Null removes a header that `http` sends by itself. */
  readonly headers?: readonly (readonly [name: string, value: string | null])[];
  /**
   * The body, as `json`, `form`, `multipart`, `body`, `file` or `graphql`; a form is a map, or
   * `Pairs` whose names are templates, too, and `multipart` may be `Pairs`.
   */
  readonly body?: Dict;
  /** The content type that the tool gives a text or file, null for none, if the headers have none. */
  readonly type?: string | null | undefined;
  /** Other parameters; `query` is like a form. */
  readonly more?: Dict;
  /** Expressions that must all be true; without any, that the code is below 400. */
  readonly tests?: readonly string[];
  /** Expressions by the names under which later steps read them. */
  readonly outputs?: Readonly<Record<string, string>>;
  readonly id?: string;
  /** Other keys of the step. */
  readonly keys?: Dict;
  readonly notes?: readonly string[];
}

const SHORTHANDS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** The content type of a form. */
export const FORM = "application/x-www-form-urlencoded";

/** Headers that `http` sends by itself, and that a step can remove. */
const REMOVABLE = /^(?:host|accept|accept-encoding|content-type|user-agent)$/i;

/** The test for a response about which nothing is known. */
export const NO_FAILURE = "res.code < 400";

/** The step that sends a request. */
export function httpStep(request: DraftRequest): DraftStep {
  const { name, tests = [], outputs = {}, id } = request;
  const isKnown = !request.method.includes("{{");
  const method = (isKnown ? request.method.toUpperCase() : request.method) || "GET";
  const notes = [...request.notes ?? []];
  const { query: fields = {}, ...more } = request.more ?? {};
  const query = mapOf(pairsOf(fields));
  const mark = request.url.includes("?") ? "&" : "?";
  const url = query ? request.url : `${request.url}${mark}${encodePairs(pairsOf(fields))}`;
  const body = bodyOfRequest(request, notes);
  const headers = headersOf(request, body, notes);
  return {
    notes,
    data: {
      name: name === "" ? `${method} ${url}` : name,
      ...id === undefined ? {} : { id },
      uses: "http",
      with: {
        ...SHORTHANDS.includes(method) ? { [method.toLowerCase()]: url } : { method, url },
        ...Object.keys(headers).length === 0 ? {} : { headers },
        ...body,
        ...query && Object.keys(query).length > 0 ? { query } : {},
        ...more,
      },
      test: (tests.length === 0 ? [NO_FAILURE] : tests).join("\n&& "),
      ...Object.keys(outputs).length === 0 ? {} : { outputs },
      ...request.keys,
    },
  };
}

/** The body, with a form as a text where its type or a map cannot say it. */
function bodyOfRequest({ body = {}, headers = [] }: DraftRequest, notes: string[]): Dict {
  const { form, multipart, ...others } = body;
  if (form !== undefined) {
    const type = headers.find(([name]) => /^content-type$/i.test(name))?.[1] ?? FORM;
    const map = type.toLowerCase().startsWith(FORM) ? mapOf(pairsOf(form)) : undefined;
    return map ? { form: map } : { body: encodePairs(pairsOf(form)) };
  }
  if (multipart === undefined) return others;
  const parts = pairsOf(multipart);
  for (const [name] of parts) {
    if (name.includes("{{")) notes.push(`the variable in the name of the part ${name}`);
  }
  const map = gather(parts);
  if (!hasOrder(map, parts)) notes.push("the order of the parts: those of one name come together");
  return { multipart: map };
}

function headersOf(
  { url, headers = [], body: given = {}, type, more = {} }: DraftRequest,
  body: Dict,
  notes: string[],
): Dict {
  const kept: Record<string, Value> = {};
  const [, host] = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(url) ?? [];
  for (const [header, value] of headers) {
    const known = Object.keys(kept).find((one) => one.toLowerCase() === header.toLowerCase());
    if (header.includes("{{")) {
      // Templates are for values: a name that has one is sent as it is written, or refused.
      notes.push(`the header ${header}: its name has a variable`);
    } else if (more.auth !== undefined && /^authorization$/i.test(header)) {
      notes.push("the header Authorization: auth sends it");
    } else if (value === null) {
      if (REMOVABLE.test(header)) kept[known ?? header] ??= null;
    } else if (/^(?:expect|transfer-encoding)$/i.test(header)) {
      notes.push(`the header ${header}: ${value}: http frames the body itself`);
    } else if (isImplied(header.toLowerCase(), value, body, host)) continue;
    else if (known === undefined || kept[known] === null) kept[known ?? header] = value;
    else if (/^cookie$/i.test(header)) kept[known] = `${kept[known]}; ${value}`;
    else kept[known] = [kept[known]!, value].flat();
  }
  const hasType = Object.keys(kept).some((header) => /^content-type$/i.test(header));
  const media = given.form === undefined ? type : FORM;
  if (media !== undefined && (body.body ?? body.file) !== undefined && !hasType) {
    kept["Content-Type"] = media;
  }
  return kept;
}

/** Whether `http` sends such a header by itself, or asks for as much. */
function isImplied(name: string, value: string, body: Dict, host: string | undefined): boolean {
  switch (name) {
    case "host":
      return value === host;
    case "connection":
      return value.toLowerCase() === "keep-alive";
    case "accept-encoding":
      // What http can read: a server must not be asked for more.
      return /\b(?:br|zstd)\b/.test(value);
    case "content-type": {
      const type = value.trim().toLowerCase();
      if (body.multipart !== undefined) return type.startsWith("multipart/form-data");
      const isJson = (body.json ?? body.graphql) !== undefined;
      return type === (isJson ? "application/json" : body.form && FORM);
    }
    default:
      return name === "content-length" || name.startsWith(":");
  }
}

function pairsOf(fields: Value): Pairs {
  return Array.isArray(fields) ? fields as unknown as Pairs : Object.entries(fields as Dict);
}

/** Pairs as a map; undefined if that would change their order, or a name is a template. */
function mapOf(pairs: Pairs): Dict | undefined {
  const map = gather(pairs);
  return hasOrder(map, pairs) && !pairs.some(([name]) => name.includes("{{")) ? map : undefined;
}

/** Whether a map has pairs in their order: numbers come first in it, and equal names together. */
function hasOrder(map: Dict, pairs: Pairs): boolean {
  const names = (all: Pairs) =>
    all.flatMap(([name, value]) => [value].flat().map(() => name)).join("&");
  return names(Object.entries(map)) === names(pairs);
}

/** Names that come again have a list. */
function gather(pairs: Pairs): Dict {
  const all: Record<string, Value> = {};
  for (const [name, value] of pairs) {
    all[name] = Object.hasOwn(all, name) ? [all[name]!, value].flat() : value;
  }
  return all;
}

/** Pairs as a form or a query has them, in a template. */
function encodePairs(pairs: Pairs): string {
  const encode = (template: string) =>
    template.split(/(\{\{.*?\}\})/s).map((part, index) =>
      index % 2 === 0
        ? encodeURIComponent(part.toWellFormed())
        : `{{encode_url(string(${part.slice(2, -2).trim()}))}}`
    ).join("");
  return pairs.flatMap(([name, value]) =>
    [value].flat().map((one) => `${encode(name)}=${encode(String(one))}`)
  ).join("&");
}

/** Whether a URL has nothing that a request could be sent to. */
export function isNoUrl(url: string): boolean {
  return /^(?:https?:\/\/)?\s*$/.test(url);
}

/**
 * The parameters of a body that was sent as text. `translate` makes a template of a text.
 */
export function bodyOf(
  text: string,
  type: string | undefined,
  translate: (text: string) => string = literalText,
): Dict {
  if (text === "") return {};
  if (type === undefined || /\bjson\b(?!-seq)/i.test(type)) {
    const json = jsonOf(text, translate);
    if (json !== undefined) return { json };
  }
  if (type?.toLowerCase().startsWith(FORM)) {
    const form = formOf(text, translate);
    if (form) return { form };
  }
  return { body: translate(text) };
}

/** JSON without the comments that Postman and Bruno do not send. */
export function withoutComments(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[^]*?\*\//g, "$1");
}

/** A request of GraphQL. Variables with a template outside of texts make it a text of JSON. */
export function graphqlOf(
  query: string,
  variables: string,
  translate: (text: string) => string,
  operation?: string,
): { readonly body: Dict; readonly type?: string } {
  const parsed = variables.trim() === "" ? {} : jsonOf(variables, translate);
  if (parsed === undefined) {
    const rest = operation === undefined ? "" : `, "operationName": ${JSON.stringify(operation)}`;
    const text = `{"query": ${JSON.stringify(query)}, "variables": ${variables}${rest}}`;
    return { body: { body: translate(text) }, type: "application/json" };
  }
  return {
    body: {
      graphql: {
        query: translate(query),
        ...variables.trim() === "" ? {} : { variables: parsed },
        ...operation === undefined ? {} : { operation },
      },
    },
  };
}

/** JSON with templates in its texts; undefined if it is none, or a template is anywhere else. */
function jsonOf(text: string, translate: (text: string) => string): Value | undefined {
  const json = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined;
  return json === undefined || hasTemplateKey(json) ? undefined : mapTexts(json, translate);
}

/** Whether the name of a field, which no template can make, has a variable. */
function hasTemplateKey(value: Value): boolean {
  if (Array.isArray(value)) return value.some(hasTemplateKey);
  return isDict(value) &&
    Object.entries(value).some(([name, field]) => name.includes("{{") || hasTemplateKey(field));
}

/**
 * The fields of a form; undefined for one that a map cannot say, for one whose escapes are not UTF-8,
 * and for another text, such as the JSON that curl sends as a form where nobody gave it a type.
 */
function formOf(text: string, translate: (text: string) => string): Dict | undefined {
  const decode = (part: string) => decodeURIComponent(part.replaceAll("+", " "));
  if (!/^[^=&\s"<>]+=[^&]*(?:&[^=&\s"<>]+=[^&]*)*$/.test(text)) return undefined;
  try {
    const pairs = text.split("&").map((pair) => pair.split(/=(.*)/s).map(decode));
    return mapOf(pairs.map(([name, value]) => [name!, translate(value!)]));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Adds the sign-in of a request to its headers and parameters, by the names of Postman and Bruno. */
export function addAuth(
  kind: string,
  field: (name: string) => string,
  headers: (readonly [name: string, value: string])[],
  more: Record<string, Value>,
  notes: string[],
): void {
  if (["", "none", "noauth", "inherit"].includes(kind)) return;
  const token = field(kind === "bearer" ? "token" : "accessToken");
  if (kind === "basic" || kind === "digest") {
    more.auth = { [kind]: { username: field("username"), password: field("password") } };
  } else if (kind === "apikey") {
    if (/^query/.test(field("in") || field("placement"))) {
      more.query = { [field("key")]: field("value") };
    } else if (field("key") !== "") headers.push([field("key"), field("value")]);
  } else if (token !== "" && field("addTokenTo") !== "queryParams") more.auth = { bearer: token };
  else notes.push(`the sign-in "${kind}": see the parameter auth of http`);
}

/** A value with each of its texts changed. */
export function mapTexts(value: Value, change: (text: string) => string): Value {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (!isDict(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, mapTexts(field, change)]),
  );
}

/** A step that keeps values needs an id. */
export function idOf(outputs: object, name: string): { readonly id?: string } {
  const [first] = Object.keys(outputs);
  if (first === undefined) return {};
  const words = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 30);
  return { id: `${words || "step"}_${first}` };
}
