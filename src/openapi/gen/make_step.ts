import { type Dict, isDict, isNumber, stepText, type Value } from "../../base/value/value.ts";
import type { ApiParameter, ApiResponse, Body, Operation, Success } from "./api.ts";
import { type ApiCredentials, headersOf } from "./credentials.ts";
import {
  filled,
  joinTemplate,
  literalText,
  mapTexts,
  quoteText,
  snakeCase,
  type TemplatePart,
  UniqueNames,
  writeText,
} from "../../draft/draft.ts";
import { type ApiLink, lastWord, singular } from "./links.ts";
import { ANY_SECRET, namesSecret, type Variables } from "./variables.ts";

/** The settings that most steps of a job share. */
export interface JobDefaults {
  readonly headers: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
  readonly accept: string | undefined;
}

/** Everything a step is made from besides its operation. */
interface StepSetting {
  readonly id: string;
  readonly links: ReadonlyMap<string, ApiLink>;
  /** Its outputs: their names, and their paths in the response. */
  readonly outputs: ReadonlyMap<string, readonly string[]>;
  readonly credentials: ApiCredentials;
  readonly defaults: JobDefaults;
  /** The expression that reads the output of a link. */
  readonly outputOf: (link: ApiLink) => string;
  readonly variables: Variables;
  /** The variable with the server URL, if it differs from the API's. */
  readonly server: string | undefined;
}

const SHORTHANDS = ["get", "post", "put", "patch", "delete", "head", "options"];

/** The step that carries out an operation. */
export function makeStep(operation: Operation, setting: StepSetting): Dict {
  const { defaults, outputs, id } = setting;
  const request = new RequestMaker(operation, setting);
  const path = joinTemplate(request.path());
  const query = request.query();
  const cookies = request.cookies();
  const headers = request.headers(cookies);
  const body = operation.body && request.body(operation.body.value);
  const server = setting.server === undefined ? "" : `{{vars.${setting.server}}}`;
  const target: Dict = SHORTHANDS.includes(operation.method)
    ? { [operation.method]: server + path }
    : { method: operation.method.toUpperCase(), url: (server || "{{vars.base_url}}") + path };
  for (const name of defaults.query.keys()) {
    if (!setting.credentials.query.has(name)) query[name] ??= null;
  }
  const kept = [...outputs].map(([name, field]) => [name, accessTo("res.body", field)] as const);
  return {
    name: literalText(nameOf(operation)),
    id,
    uses: "http",
    ...filled({ vars: request.vars }),
    with: {
      ...target,
      ...filled({ query, headers }),
      ...body === undefined ? {} : { body },
      ...redirects(operation) ? { follow_redirects: false } : {},
    },
    test: testOf(operation),
    ...filled({ outputs: Object.fromEntries(kept) }),
  };
}

const MAX_NAME = 80;

function nameOf({ summary, id, method, path }: Operation): string {
  const text = (summary ?? id ?? `${method.toUpperCase()} ${path}`).replace(/\s+/g, " ").trim();
  const characters = [...text];
  return characters.length <= MAX_NAME
    ? text
    : `${characters.slice(0, MAX_NAME - 1).join("").trimEnd()}…`;
}

/** A documented redirect is the expected response and must not be followed. */
function redirects({ success }: Operation): boolean {
  return success.kind === "codes" && success.codes[0]! >= 300 ||
    success.kind === "range" && success.from >= 300;
}

class RequestMaker {
  /** The variables of the step. */
  readonly vars: Record<string, Value> = {};
  readonly #names = new UniqueNames();

  constructor(readonly operation: Operation, readonly setting: StepSetting) {}

  path(): TemplatePart[] {
    const { path } = this.operation;
    return fillPath(path, (name) => {
      const link = this.setting.links.get(name);
      if (link) return { expression: this.setting.outputOf(link) };
      const parameter = this.operation.parameters.find((parameter) =>
        parameter.location === "path" && parameter.name === name
      );
      return { expression: `vars.${this.#pathVariable(name, parameter?.value ?? "text")}` };
    });
  }

  #pathVariable(name: string, value: ApiParameter["value"]): string {
    const { variables } = this.setting;
    const text = typeof value === "object" ? "text" : value;
    if (namesSecret(name)) return variables.fromEnvironment(name, quoteText("text"));
    const before = this.operation.path.split(`{${name}}`)[0]!;
    const qualifier = singular(lastWord(before) ?? "path");
    return variables.constant(name, typeof text === "string" ? forPath(text) : text, qualifier);
  }

  query(): Record<string, Value> {
    const query: [string, Value][] = this.#parametersIn("query").map((parameter) => [
      parameter.name,
      joinTemplate([{ expression: this.#variable(parameter) }]),
    ]);
    const { credentials, defaults } = this.setting;
    for (const [name, value] of credentials.query) {
      if (defaults.query.get(name) !== value) query.push([name, value]);
    }
    return Object.fromEntries(query);
  }

  cookies(): string[] {
    return this.#parametersIn("cookie").filter(({ value }) => value !== null).map((parameter) =>
      joinTemplate([`${parameter.name}=`, { expression: this.#variable(parameter) }])
    );
  }

  headers(cookies: readonly string[]): Record<string, Value> {
    const { credentials, defaults } = this.setting;
    const { accept, body } = this.operation;
    const headers: [string, Value][] = Object.entries(
      headersOver(headersOf(credentials, cookies), defaults.headers),
    );
    if (accept !== undefined && accept !== defaults.accept) {
      headers.push(["Accept", headerText(accept)]);
    }
    if (body && !isPlainJson(body)) headers.push(["Content-Type", headerText(body.contentType)]);
    for (const parameter of this.#parametersIn("header")) {
      headers.push([parameter.name, joinTemplate([{ expression: this.#variable(parameter) }])]);
    }
    return Object.fromEntries(headers);
  }

  /** A body in which secrets are variables that the environment sets. */
  body(value: Value): Value {
    if (Array.isArray(value)) return value.map((item) => this.body(item));
    if (!isDict(value)) return mapTexts(value, writeText) as Value;
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        typeof field === "string" && namesSecret(name)
          ? `{{vars.${this.setting.variables.fromEnvironment(name, ANY_SECRET)}}}`
          : this.body(field),
      ]),
    );
  }

  #parametersIn(location: ApiParameter["location"]): ApiParameter[] {
    const ofCredentials = this.setting.credentials;
    return this.operation.parameters.filter((parameter) =>
      parameter.location === location &&
      !(location === "header" && hasName(ofCredentials.headers, parameter.name)) &&
      !(location === "query" && ofCredentials.query.has(parameter.name))
    );
  }

  /** The expression of a parameter; `?? nil` marks an optional one that is omitted. */
  #variable(parameter: ApiParameter): string {
    const name = `vars.${this.#variableName(parameter)}`;
    return parameter.value === null ? `${name} ?? nil` : name;
  }

  /** A variable of the step, or of the workflow for a secret. */
  #variableName({ name, value, location }: ApiParameter): string {
    const { variables } = this.setting;
    if (namesSecret(name) && !isNumber(value) && typeof value !== "boolean") {
      return value === null
        ? variables.optional(name)
        : variables.fromEnvironment(name, ANY_SECRET);
    }
    const plain = snakeCase(name) ?? "value";
    const literal = mapTexts(value, writeText) as Value;
    const shared = variables.get(plain);
    if (shared !== undefined && shared === literal) return plain;
    const variable = this.#names.take(shared === undefined ? plain : `${location}_${plain}`);
    this.vars[variable] = literal;
    return variable;
  }
}

function hasName(headers: ReadonlyMap<string, string>, name: string): boolean {
  return [...headers.keys()].some((header) => header.toLowerCase() === name.toLowerCase());
}

function isPlainJson({ contentType, value }: Body): boolean {
  return contentType === "application/json" && typeof value === "object" && value !== null;
}

/** A header value as a template that renders to itself. */
function headerText(text: string): string {
  return literalText(text.replace(/[\r\n]+/g, " "));
}

/** A text as a path segment; an empty segment would disappear. */
function forPath(text: string): string {
  if (text === "" || text === "." || text === "..") return "text";
  return text.replace(/[^A-Za-z0-9._~!$&'()*+,;=:@-]+/gu, encodeURIComponent);
}

/** The test of a step: the documented status code and the required fields of the response. */
function testOf({ success, response, method }: Operation): string {
  const conditions = [codeTest(success)];
  if (response && method !== "head") conditions.push(...responseTests(response));
  const line = conditions.join(" && ");
  // A block is easier to read than quotes.
  const isPlain = line.length <= MAX_LINE && !line.includes(" #");
  return isPlain ? line : `${conditions.join(" &&\n")}\n`;
}

const MAX_LINE = 90;
/** Up to this many fields are tested one by one. */
const MAX_SINGLE_FIELDS = 4;

function codeTest(success: Success): string {
  switch (success.kind) {
    case "codes": {
      const [first, ...others] = success.codes;
      return others.length === 0
        ? `res.code == ${first}`
        : `res.code in [${success.codes.join(", ")}]`;
    }
    case "range":
      return `${success.from} <= res.code && res.code < ${success.from + 100}`;
    case "any":
      return "res.code < 400";
  }
}

function responseTests({ type, required }: ApiResponse): string[] {
  if (type === "array") return ['type(res.body) == "array"'];
  if (required.length > MAX_SINGLE_FIELDS) {
    const names = required.map(({ name }) => JSON.stringify(name));
    return [`all([${wrap(names)}], # in res.body)`];
  }
  return required.map(({ name, isNullable }) =>
    isNullable ? `${JSON.stringify(name)} in res.body` : `${accessTo("res.body", [name])} != nil`
  );
}

/** An expression that reads a field of a value by its path. */
export function accessTo(value: string, path: readonly string[]): string {
  return value + path.map(stepText).join("");
}

/** Words with commas, in lines that are not too long. */
function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    const longer = line === "" ? word : `${line}, ${word}`;
    if (longer.length > MAX_LINE && line !== "") {
      lines.push(`${line},`);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line].join("\n  ");
}

/** The headers that a step adds to those of the job's defaults. */
function headersOver(
  wanted: ReadonlyMap<string, string>,
  defaults: ReadonlyMap<string, string>,
): Record<string, string | null> {
  const headers: [string, string | null][] = [];
  for (const [name, value] of wanted) {
    if (defaults.get(name) !== value) headers.push([name, value]);
  }
  // Null removes a header of the defaults.
  for (const name of defaults.keys()) if (!wanted.has(name)) headers.push([name, null]);
  return Object.fromEntries(headers);
}

/** A path with its parameters replaced by the parts that `read` returns. */
function fillPath(path: string, read: (name: string) => TemplatePart): TemplatePart[] {
  return path.split(/(\{[^{}]+\})/).filter((part) => part !== "").map((part) =>
    /^\{[^{}]+\}$/.test(part) ? read(part.slice(1, -1)) : part
  );
}
