import { literalText } from "../openapi/make/literal.ts";
import { parseJson } from "../value/parse_json.ts";
import { type Dict, isDict, type Value } from "../value/value.ts";
import type { DraftStep } from "./draft.ts";

/** A request; its texts are templates. */
export interface DraftRequest {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The body, as `json`, `form`, `multipart`, `body`, `file` or `graphql`. */
  readonly body?: Dict;
  /** The content type that the tool gives a text, if the headers have none. */
  readonly type?: string | undefined;
  /** Other parameters. */
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

/** Headers that `http` sets itself. */
const OWN_HEADERS = /^(?:host|content-length|connection|accept-encoding|:.*)$/i;

/** The test for a response about which nothing is known. */
export const NO_FAILURE = "res.code < 400";

/** The step that sends a request. */
export function httpStep(request: DraftRequest): DraftStep {
  const { name, url, headers = [], body = {}, more = {}, tests = [], outputs = {}, id } = request;
  const method = request.method.toUpperCase() || "GET";
  const notes = [...request.notes ?? []];
  const kept: Record<string, string> = {};
  for (const [header, value] of headers) {
    if (OWN_HEADERS.test(header)) continue;
    if (more.auth !== undefined && /^authorization$/i.test(header)) {
      notes.push("the header Authorization: auth sends it");
      continue;
    }
    if (/^content-type$/i.test(header) && makesType(body, value)) continue;
    const known = Object.keys(kept).find((one) => one.toLowerCase() === header.toLowerCase());
    if (known !== undefined) {
      kept[known] += `${/^cookie$/i.test(header) ? "; " : ", "}${value}`;
    } else kept[header] = value;
  }
  // Templates are for values: a name that has one is sent as it is written, or refused.
  for (const header of Object.keys(kept).filter((name) => name.includes("{{"))) {
    notes.push(`the header ${header}: its name has a variable`);
    delete kept[header];
  }
  for (const fields of [body.form, body.multipart, more.query]) {
    for (const name of isDict(fields ?? null) ? Object.keys(fields as Dict) : []) {
      if (name.includes("{{")) notes.push(`the variable in the name of the field ${name}`);
    }
  }
  const hasType = Object.keys(kept).some((header) => /^content-type$/i.test(header));
  if (request.type !== undefined && body.body !== undefined && !hasType) {
    kept["Content-Type"] = request.type;
  }
  return {
    notes,
    data: {
      name: name === "" ? `${method} ${url}` : name,
      ...id === undefined ? {} : { id },
      uses: "http",
      with: {
        ...SHORTHANDS.includes(method) ? { [method.toLowerCase()]: url } : { method, url },
        ...Object.keys(kept).length === 0 ? {} : { headers: kept },
        ...body,
        ...more,
      },
      test: (tests.length === 0 ? [NO_FAILURE] : tests).join("\n&& "),
      ...Object.keys(outputs).length === 0 ? {} : { outputs },
      ...request.keys,
    },
  };
}

/** Whether a URL has nothing that a request could be sent to. */
export function isNoUrl(url: string): boolean {
  return /^(?:https?:\/\/)?\s*$/.test(url);
}

/** Whether `http` sets this content type for such a body by itself. */
function makesType(body: Dict, type: string): boolean {
  return body.json !== undefined && /^application\/json\b/i.test(type) ||
    body.form !== undefined && /^application\/x-www-form-urlencoded/i.test(type) ||
    body.multipart !== undefined && /^multipart\/form-data/i.test(type) ||
    body.graphql !== undefined && /^application\/json\b/i.test(type);
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
  if (type === undefined || /json/i.test(type)) {
    const json = jsonOf(text, translate);
    if (json !== undefined) {
      return type === undefined || /^application\/json\b/i.test(type)
        ? { json }
        : { body: translate(text) };
    }
  }
  if (type !== undefined && /^application\/x-www-form-urlencoded/i.test(type)) {
    const form = formOf(text, translate);
    if (form) return { form };
  }
  return { body: translate(text) };
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

/** Names that come again have a list. */
export function gather(pairs: readonly (readonly [name: string, value: Value])[]): Dict {
  const all: Record<string, Value> = {};
  for (const [name, value] of pairs) {
    all[name] = Object.hasOwn(all, name) ? [all[name]!, value].flat() : value;
  }
  return all;
}

/** JSON with templates in its texts; undefined if it is none, or a template is anywhere else. */
function jsonOf(text: string, translate: (text: string) => string): Value | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const json = parseJson(text) as Value;
    return hasTemplateKey(json) ? undefined : mapTexts(json, translate);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether the name of a field, which no template can make, has a variable. */
function hasTemplateKey(value: Value): boolean {
  if (Array.isArray(value)) return value.some(hasTemplateKey);
  return isDict(value) &&
    Object.entries(value).some(([name, field]) => name.includes("{{") || hasTemplateKey(field));
}

/**
 * The fields of a form; undefined if one is there twice, which a map cannot say, and for another
 * text, such as the JSON that curl sends as a form where nobody gave it a type.
 */
function formOf(text: string, translate: (text: string) => string): Dict | undefined {
  const form: Record<string, Value> = {};
  for (const pair of text.split("&")) {
    if (!/^[^=\s"<>]+=/.test(pair)) return undefined;
    const [name = "", value = ""] = pair.split(/=(.*)/s).map(decode);
    if (name === "" || Object.hasOwn(form, name)) return undefined;
    form[name] = translate(value);
  }
  return form;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
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
