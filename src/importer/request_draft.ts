import { tryParseJson } from "../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import { type DraftStep, filled } from "../openapi/gen/draft.ts";
import { Names } from "./import_names.ts";

/** Names and values in their order; a name may come again. */
export type Pairs = readonly (readonly [name: string, value: Value])[];

/** The content type of a form. */
export const FORM = "application/x-www-form-urlencoded";

/** The test for a response about which nothing is known. */
export const NO_FAILURE = "res.code < 400";

const SHORTHANDS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** Headers that `http` sends by itself, and that a step can remove. */
const REMOVABLE = /^(?:host|accept|accept-encoding|content-type|user-agent)$/i;

/** A request that is being translated. Its texts are templates. */
export class RequestDraft {
  name = "";
  method = "GET";
  url = "";
  /** Null removes a header that `http` sends by itself. */
  readonly headers: (readonly [name: string, value: string | null])[] = [];
  /**
   * The body, as `json`, `form`, `multipart`, `body`, `file` or `graphql`; a form is a map, or
   * `Pairs` whose names are templates, too, and `multipart` may be `Pairs`.
   */
  body: Dict = {};
  /** The content type that the tool gives a text or file, null for none, if the headers have none. */
  type: string | null | undefined;
  /** Other parameters; `query` is like a form. */
  readonly params: Record<string, Value> = {};
  /** Expressions that must all be true; without any, that the code is below 400. */
  readonly tests: string[] = [];
  /** Expressions by the names under which later steps read them. */
  readonly outputs: Record<string, string> = {};
  /** Other keys of the step. */
  readonly keys: Record<string, Value> = {};
  /** The parts that could not be translated, with reasons. */
  readonly notes: string[] = [];

  constructor(
    readonly names: Names = new Names(),
    /** Makes a template of a text of the format. */
    readonly template: (text: string) => string = (text) => names.template(text),
  ) {}

  /** The `Content-Type` among its headers. */
  get contentType(): string | undefined {
    return this.headers.find(([name]) => /^content-type$/i.test(name))?.[1] ?? undefined;
  }

  /** Keeps a value of the response under a name of the tool. */
  capture(name: string, expression: string): void {
    this.outputs[this.names.captureAnew(name)] = expression;
  }

  /** Sets a body that is sent as text of this type; undefined for one that its content shows. */
  setText(text: string, type: string | undefined): void {
    this.body = bodyOf(text, type, this.template);
  }

  /** Sets a GraphQL request. Variables with a template outside of strings make it a text of JSON. */
  setGraphql(query: string, variables: string, operation?: string): void {
    const parsed = variables.trim() === "" ? {} : jsonOf(variables, this.template);
    if (parsed === undefined) {
      const rest = operation === undefined ? "" : `, "operationName": ${JSON.stringify(operation)}`;
      const text = `{"query": ${JSON.stringify(query)}, "variables": ${variables}${rest}}`;
      this.body = { body: this.template(text) };
      this.type = "application/json";
      return;
    }
    this.body = {
      graphql: {
        query: this.template(query),
        ...variables.trim() === "" ? {} : { variables: parsed },
        ...operation === undefined ? {} : { operation },
      },
    };
  }

  /** Sets the authentication by the names of Postman and Bruno. */
  setAuth(kind: string, field: (name: string) => string): void {
    if (["", "none", "noauth", "inherit"].includes(kind)) return;
    const token = field(kind === "bearer" ? "token" : "accessToken");
    if (kind === "basic" || kind === "digest") {
      this.params.auth = { [kind]: { username: field("username"), password: field("password") } };
    } else if (kind === "apikey") {
      if (/^query/.test(field("in") || field("placement"))) {
        this.params.query = { [field("key")]: field("value") };
      } else if (field("key") !== "") this.headers.push([field("key"), field("value")]);
    } else if (token !== "" && field("addTokenTo") !== "queryParams") {
      this.params.auth = { bearer: token };
    } else this.notes.push(`the sign-in "${kind}": see the parameter auth of http`);
  }

  /** The step that sends the request. Its id, which outputs need, is made of the name of the tool. */
  step(toolName = this.name): DraftStep {
    const { name, tests, outputs, notes, params: { query: fields = {}, ...params } } = this;
    const isKnown = !this.method.includes("{{");
    const method = (isKnown ? this.method.toUpperCase() : this.method) || "GET";
    const query = mapOf(pairsOf(fields));
    const mark = this.url.includes("?") ? "&" : "?";
    const url = query ? this.url : `${this.url}${mark}${encodePairs(pairsOf(fields))}`;
    const body = this.#body();
    const headers = this.#headers(body);
    return {
      notes,
      data: {
        name: name === "" ? `${method} ${url}` : name,
        ...Object.keys(outputs).length === 0 ? {} : { id: idOf(outputs, toolName) },
        uses: "http",
        with: {
          ...SHORTHANDS.includes(method) ? { [method.toLowerCase()]: url } : { method, url },
          ...filled({ headers }),
          ...body,
          ...filled({ query: query ?? {} }),
          ...params,
        },
        test: (tests.length === 0 ? [NO_FAILURE] : tests).join("\n&& "),
        ...filled({ outputs }),
        ...this.keys,
      },
    };
  }

  /** The body, with a form as a text where its type or a map cannot express it. */
  #body(): Dict {
    const { form, multipart, ...others } = this.body;
    if (form !== undefined) {
      const isPlain = (this.contentType ?? FORM).toLowerCase().startsWith(FORM);
      const map = isPlain ? mapOf(pairsOf(form)) : undefined;
      return map ? { form: map } : { body: encodePairs(pairsOf(form)) };
    }
    if (multipart === undefined) return others;
    const parts = pairsOf(multipart);
    for (const [name] of parts) {
      if (name.includes("{{")) this.notes.push(`the variable in the name of the part ${name}`);
    }
    const map = gather(parts);
    if (!hasOrder(map, parts)) {
      this.notes.push("the order of the parts: those of one name come together");
    }
    return { multipart: map };
  }

  #headers(body: Dict): Dict {
    const { notes, type, params } = this;
    const kept: Record<string, Value> = {};
    const [, host] = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(this.url) ?? [];
    for (const [header, value] of this.headers) {
      const known = Object.keys(kept).find((one) => one.toLowerCase() === header.toLowerCase());
      if (header.includes("{{")) {
        // Templates are for values: a name that has one is sent as it is written, or refused.
        notes.push(`the header ${header}: its name has a variable`);
      } else if (params.auth !== undefined && /^authorization$/i.test(header)) {
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
    const media = this.body.form === undefined ? type : FORM;
    if (media !== undefined && (body.body ?? body.file) !== undefined && !hasType) {
      kept["Content-Type"] = media;
    }
    return kept;
  }
}

/** Whether `http` sends an equivalent header by itself. */
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

/** A URL that may have no scheme, or begin with a variable. */
export function withScheme(url: string): string {
  return url === "" || /^(?:https?:\/\/|\{\{)/.test(url) ? url : `http://${url}`;
}

/** A URL with a value for its parameter `:name`. */
export function putParameter(url: string, name: string, value: string): string {
  return url.replace(/\/:[^/?]+/g, (part) => part === `/:${name}` ? `/${value}` : part);
}

/** The parameters of a body that was sent as text. */
function bodyOf(
  text: string,
  type: string | undefined,
  translate: (text: string) => string,
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

/** JSON with templates in its strings; undefined if it is not JSON or a template is elsewhere. */
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
 * The fields of a form; undefined for one that is not a map, for one whose escapes are not UTF-8,
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

/** A value with each of its texts changed. */
export function mapTexts(value: Value, change: (text: string) => string): Value {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (!isDict(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, mapTexts(field, change)]),
  );
}

/** The id of a step that keeps values: its name, and the first of them. */
function idOf(outputs: Dict, name: string): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 30);
  return `${slug || "step"}_${Object.keys(outputs)[0]}`;
}
