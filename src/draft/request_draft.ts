import { tryParseJson } from "../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import {
  type Data,
  type DraftStep,
  filled,
  mapTexts,
  Template,
  type Text,
  writeText,
} from "./draft.ts";
import { Names } from "./names.ts";

/** Names and values in their order; a name may come again. */
export type Pairs = readonly (readonly [name: Text, value: Data])[];

/** The content type of a form. */
export const FORM = "application/x-www-form-urlencoded";

/** The test for a response about which nothing is known. */
export const NO_FAILURE = "res.code < 400";

/** A test that is longer is a list of expressions, each of which has a limit. */
const LONGEST_EXPRESSION = 9000;

const SHORTHANDS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** Headers that `http` sends by itself, and that a step can remove. */
export const REMOVABLE = /^(?:host|accept|accept-encoding|content-type|user-agent)$/i;

/** A request that is being translated. */
export class RequestDraft {
  name: Text = "";
  method: Text = "GET";
  url: Text = "";
  /** Null removes a header that `http` sends by itself. */
  readonly headers: (readonly [name: string, value: Text | null])[] = [];
  /**
   * The body, as `json`, `form`, `multipart`, `body`, `file` or `graphql`; a form and `multipart`
   * may be `Pairs`.
   */
  body: Readonly<Record<string, Data>> = {};
  /** The content type that the tool gives a text or file, null for none, if the headers have none. */
  type: Text | null | undefined;
  /** Other parameters; `query` is like a form. */
  readonly params: Record<string, Data> = {};
  /** Expressions that must all be true; without any, that the code is below 400. */
  readonly tests: string[] = [];
  /** Expressions by the names under which later steps read them. */
  readonly outputs: Record<string, string> = {};
  /** Other keys of the step. */
  readonly keys: Record<string, Data> = {};
  /** The parts that could not be translated, with reasons. */
  readonly notes: string[] = [];

  constructor(
    readonly names: Names = new Names(),
    /** Finds the variables in a text of the format. */
    readonly template: (text: string) => Text = (text) => names.template(text),
  ) {}

  /** The `Content-Type` among its headers. */
  get contentType(): string | undefined {
    const [, type] = this.headers.find(([name]) => /^content-type$/i.test(name)) ?? [];
    return type ? writeText(type) : undefined;
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
        ...operation === undefined ? {} : { operation: this.template(operation) },
      },
    };
  }

  /** Sets the authentication by the names of Postman and Bruno. */
  setAuth(kind: string, field: (name: string) => string): void {
    if (["", "none", "noauth", "inherit"].includes(kind)) return;
    const value = (name: string) => this.template(field(name));
    const token = kind === "bearer" ? "token" : "accessToken";
    if (kind === "basic" || kind === "digest") {
      this.params.auth = { [kind]: { username: value("username"), password: value("password") } };
    } else if (kind === "apikey") {
      if (/^query/.test(field("in") || field("placement"))) {
        this.params.query = [[value("key"), value("value")]];
      } else if (field("key") !== "") this.headers.push([field("key"), value("value")]);
    } else if (field(token) !== "" && field("addTokenTo") !== "queryParams") {
      this.params.auth = { bearer: value(token) };
    } else this.notes.push(`the sign-in "${kind}": see the parameter auth of http`);
  }

  /** The step that sends the request. Its id, which outputs need, is made of the name of the tool. */
  step(toolName = nameOf(this.name)): DraftStep {
    const { tests, outputs, notes, params: { query: fields = {}, ...params } } = this;
    const [name, wanted, target] = [this.name, this.method, this.url].map(writeText) as [
      string,
      string,
      string,
    ];
    const method = (wanted.includes("{{") ? wanted : wanted.toUpperCase()) || "GET";
    const query = mapOf(pairsOf(fields));
    const mark = target.includes("?") ? "&" : "?";
    const url = query ? target : `${target}${mark}${encodePairs(pairsOf(fields))}`;
    const body = this.#body();
    const headers = this.#headers(body, target);
    const test = (tests.length === 0 ? [NO_FAILURE] : tests).join("\n&& ");
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
          ...write(params),
        },
        test: test.length < LONGEST_EXPRESSION ? test : tests,
        ...filled({ outputs }),
        ...write(this.keys),
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
    if (multipart === undefined) return write(others);
    const parts = pairsOf(multipart).filter(([name]) => typeof name === "string");
    for (const [name] of pairsOf(multipart)) {
      if (typeof name !== "string") {
        this.notes.push(`the part ${name.text}: its name has a variable`);
      }
    }
    const map = gather(parts);
    if (!hasOrder(map, parts)) {
      this.notes.push("the order of the parts: those of one name come together");
    }
    return { multipart: map };
  }

  #headers(body: Dict, url: string): Dict {
    const { notes, type, params } = this;
    const kept: Record<string, Value> = {};
    const [, host] = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(url) ?? [];
    for (const [header, text] of this.headers) {
      const value = text === null ? null : writeText(text);
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
      kept["Content-Type"] = media === null ? null : writeText(media);
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

function write(values: Readonly<Record<string, Data>>): Dict {
  return mapTexts(values, writeText) as Dict;
}

function pairsOf(fields: Data): Pairs {
  return Array.isArray(fields) ? fields as Pairs : Object.entries(fields as Record<string, Data>);
}

/** Pairs as a map; undefined if that would change their order, or a name has a variable. */
function mapOf(pairs: Pairs): Dict | undefined {
  const map = gather(pairs);
  const isPlain = pairs.every(([name]) => typeof name === "string");
  return isPlain && hasOrder(map, pairs) ? map : undefined;
}

/** The text of a name, which cannot have variables in the file. */
function nameOf(text: Text): string {
  return text instanceof Template ? text.text : text;
}

/** Whether a map has pairs in their order: numbers come first in it, and equal names together. */
function hasOrder(map: Dict, pairs: Pairs): boolean {
  const names = (all: Pairs) =>
    all.flatMap(([name, value]) => [value].flat().map(() => nameOf(name))).join("&");
  return names(Object.entries(map)) === names(pairs);
}

/** Names that come again have a list. */
function gather(pairs: Pairs): Dict {
  const all: Record<string, Value> = {};
  for (const [key, data] of pairs) {
    const name = nameOf(key);
    const value = mapTexts(data, writeText) as Value;
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
    [mapTexts(value, writeText)].flat().map((one) =>
      `${encode(writeText(name))}=${encode(String(one))}`
    )
  ).join("&");
}

/** Whether a URL has nothing that a request could be sent to. */
export function isNoUrl(url: string): boolean {
  return /^(?:https?:\/\/)?\s*$/.test(url);
}

/** A URL that may have no scheme, or begin with a variable whose value has none. */
export function withScheme(url: string, names: Names): string {
  return url === "" || /^(?:[a-z]+:\/\/|\{\{)/i.test(names.startOf(url)) ? url : `http://${url}`;
}

/** A URL with values for its parameters `:name`; one without a value is a variable. */
export function putParameters(url: string, values: ReadonlyMap<string, string>): string {
  const valueOf = (name: string) => values.get(name) || `{{${name}}}`;
  return url.replace(
    /^[^?#]*/,
    (path) => path.replace(/(?<!\/)\/:([^/:]+)/g, (_, name) => `/${valueOf(name)}`),
  );
}

/** The parameters of a body that was sent as text. */
function bodyOf(
  text: string,
  type: string | undefined,
  translate: (text: string) => Text,
): Readonly<Record<string, Data>> {
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

/**
 * The parts of a multipart body that is written as text; none if it is not one. `< file` in place
 * of a text is a file.
 */
export function multipartOf(
  body: string,
  type: string,
  template: (text: string) => Text,
): Pairs {
  const [, boundary = ""] = /boundary="?([^";\s]+)/i.exec(type) ?? [];
  const end = boundary === "" ? -1 : body.indexOf(`--${boundary}--`);
  if (end < 0) return [];
  const lines = `\n${body.slice(0, end)}`.split(`\n--${boundary}`).slice(1);
  return lines.flatMap((part): Pairs => {
    const [, head = "", content = ""] = /^\s*(.*?)(?:\r?\n[ \t]*\r?\n|$)([^]*)$/s
      .exec(part.replace(/\r?\n?$/, "")) ?? [];
    const field = (name: string) => new RegExp(`[;\\s]${name}="([^"]*)"`, "i").exec(head)?.[1];
    const name = field("name");
    if (name === undefined) return [];
    const [, media] = /^content-type\s*:\s*(.+)$/im.exec(head) ?? [];
    const filename = field("filename");
    const keys = {
      ...media ? { type: template(media.trim()) } : {},
      ...filename ? { filename: template(filename) } : {},
    };
    const [, file] = /^<@?\s+(\S.*)$/.exec(content.trim()) ?? [];
    if (file !== undefined) return [[template(name), { file: template(file.trim()), ...keys }]];
    const text = template(content);
    return [[template(name), Object.keys(keys).length === 0 ? text : { value: text, ...keys }]];
  });
}

/** JSON without the comments that Postman and Bruno do not send. */
export function withoutComments(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[^]*?\*\//g, "$1");
}

/** JSON with templates in its strings; undefined if it is not JSON or a template is elsewhere. */
function jsonOf(text: string, translate: (text: string) => Text): Data | undefined {
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
function formOf(text: string, translate: (text: string) => Text): Pairs | undefined {
  const decode = (part: string) => decodeURIComponent(part.replaceAll("+", " "));
  if (!/^[^=&\s"<>]+=[^&]*(?:&[^=&\s"<>]+=[^&]*)*$/.test(text)) return undefined;
  try {
    const pairs = text.split("&").map((pair) => pair.split(/=(.*)/s).map(decode));
    const fields = pairs.map(([name, value]) => [translate(name!), translate(value!)] as const);
    return mapOf(fields) && fields;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The id of a step that keeps values: its name, and the first of them. */
function idOf(outputs: Dict, name: string): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 30);
  return `${slug || "step"}_${Object.keys(outputs)[0]}`;
}
