import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import { type ApiCredentials, headersOf, headersOver, headerText } from "./credentials.ts";
import { joinTemplate, literalText, quoteText, type TemplatePart } from "./literal.ts";
import type { ApiLink } from "../read/links.ts";
import type { ApiParameter, Body, Operation } from "../read/api.ts";
import { singular, snakeCase, UniqueNames } from "../read/names.ts";
import { fillPath, lastWord } from "../read/paths.ts";
import { accessTo, testOf } from "./test_of.ts";
import type { StepData } from "./workflow_data.ts";
import { ANY_SECRET, literalValue, namesSecret, type Variables } from "./variables.ts";

/** The settings that most steps of a job share. */
export interface JobDefaults {
  readonly headers: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
  readonly accept: string | undefined;
}

/** Everything a step is made from besides its operation. */
export interface StepSetting {
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
  readonly server?: string;
}

const SHORTHANDS = ["get", "post", "put", "patch", "delete", "head", "options"];

/** The step that carries out an operation. */
export function makeStep(operation: Operation, setting: StepSetting): StepData {
  const { defaults, outputs, id } = setting;
  const request = new RequestMaker(operation, setting);
  const path = joinTemplate(request.path());
  const query = request.query();
  const cookies = request.cookies();
  const headers = request.headers(cookies);
  const body = operation.body && request.body(operation.body);
  const server = setting.server === undefined ? "" : `{{vars.${setting.server}}}`;
  const isShort = SHORTHANDS.includes(operation.method);
  const target: [string, Value][] = isShort
    ? [[operation.method, server + path]]
    : [["method", operation.method.toUpperCase()], [
      "url",
      (server || "{{vars.base_url}}") + path,
    ]];
  for (const name of defaults.query.keys()) {
    if (!setting.credentials.query.has(name)) query[name] ??= null;
  }
  const vars = request.vars();
  const data: Record<string, Value> = {
    name: literalText(nameOf(operation)),
    id,
    uses: "http",
    ...(isEmpty(vars) ? {} : { vars }),
    with: {
      ...Object.fromEntries(target),
      ...(isEmpty(query) ? {} : { query }),
      ...(isEmpty(headers) ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      ...(redirects(operation) ? { follow_redirects: false } : {}),
    },
    test: testOf(operation),
  };
  if (outputs.size > 0) {
    data.outputs = Object.fromEntries(
      [...outputs].map(([name, field]) => [name, accessTo("res.body", field)]),
    );
  }
  return data;
}

const LONGEST_NAME = 80;

function nameOf({ summary, id, method, path }: Operation): string {
  const text = (summary ?? id ?? `${method.toUpperCase()} ${path}`).replace(/\s+/g, " ").trim();
  const characters = [...text];
  return characters.length <= LONGEST_NAME
    ? text
    : `${characters.slice(0, LONGEST_NAME - 1).join("").trimEnd()}…`;
}

/** A documented redirect is the expected response and must not be followed. */
function redirects({ success }: Operation): boolean {
  return success.kind === "codes" && success.codes[0]! >= 300 ||
    success.kind === "range" && success.from >= 300;
}

class RequestMaker {
  readonly #vars: [string, Value][] = [];
  readonly #names: UniqueNames;

  constructor(readonly operation: Operation, readonly setting: StepSetting) {
    this.#names = new UniqueNames();
  }

  vars(): Record<string, Value> {
    return Object.fromEntries(this.#vars);
  }

  path(): TemplatePart[] {
    const { path } = this.operation;
    return fillPath(path, (name) => {
      const link = this.setting.links.get(name);
      if (link) return { expression: this.setting.outputOf(link) };
      const parameter = this.operation.parameters.find((parameter) =>
        parameter.place === "path" && parameter.name === name
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
    const query: [string, Value][] = this.#of("query").map((parameter) => [
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
    return this.#of("cookie").filter(({ value }) => value !== null).map((parameter) =>
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
    for (const parameter of this.#of("header")) {
      headers.push([parameter.name, joinTemplate([{ expression: this.#variable(parameter) }])]);
    }
    return Object.fromEntries(headers);
  }

  /** A body in which secrets are variables that the environment sets. */
  body({ value }: Body): Value {
    return this.#withoutSecrets(value);
  }

  #withoutSecrets(value: Value): Value {
    if (Array.isArray(value)) return value.map((item) => this.#withoutSecrets(item));
    if (!isDict(value)) return literalValue(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        typeof field === "string" && namesSecret(name)
          ? `{{vars.${this.setting.variables.fromEnvironment(name, ANY_SECRET)}}}`
          : this.#withoutSecrets(field),
      ]),
    );
  }

  #of(place: ApiParameter["place"]): ApiParameter[] {
    const ofCredentials = this.setting.credentials;
    return this.operation.parameters.filter((parameter) =>
      parameter.place === place &&
      !(place === "header" && hasName(ofCredentials.headers, parameter.name)) &&
      !(place === "query" && ofCredentials.query.has(parameter.name))
    );
  }

  /** The expression of a parameter; `?? nil` marks an optional one that is omitted. */
  #variable(parameter: ApiParameter): string {
    const name = `vars.${this.#variableName(parameter)}`;
    return parameter.value === null ? `${name} ?? nil` : name;
  }

  /** A variable of the step, or of the workflow for a secret. */
  #variableName({ name, value, place }: ApiParameter): string {
    const { variables } = this.setting;
    if (namesSecret(name) && !isNumber(value) && typeof value !== "boolean") {
      return value === null
        ? variables.optional(name)
        : variables.fromEnvironment(name, ANY_SECRET);
    }
    const plain = snakeCase(name) ?? "value";
    const literal = literalValue(value);
    const shared = variables.get(plain);
    if (shared !== undefined && shared === literal) return plain;
    const own = this.#names.take(shared === undefined ? plain : `${place}_${plain}`);
    this.#vars.push([own, literal]);
    return own;
  }
}

function hasName(headers: ReadonlyMap<string, string>, name: string): boolean {
  return [...headers.keys()].some((header) => header.toLowerCase() === name.toLowerCase());
}

function isPlainJson({ contentType, value }: Body): boolean {
  return contentType === "application/json" && typeof value === "object" && value !== null;
}

/** A text as a path segment; an empty segment would disappear. */
function forPath(text: string): string {
  if (text === "" || text === "." || text === "..") return "text";
  return text.replace(/[^A-Za-z0-9._~!$&'()*+,;=:@-]+/gu, encodeURIComponent);
}

function isEmpty(map: object): boolean {
  return Object.keys(map).length === 0;
}
