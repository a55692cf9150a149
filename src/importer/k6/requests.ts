import { literalText, snakeCase, UniqueNames } from "../../openapi/gen/templates.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { dictOf } from "../input.ts";
import { RequestDraft, withScheme } from "../request_draft.ts";
import type { K6Step, Known } from "./known.ts";
import { K6Reader } from "./reader.ts";
import { sourceIn } from "./values.ts";

/** The functions of `http` that send a request. */
const METHODS: Readonly<Record<string, string>> = {
  get: "GET",
  head: "HEAD",
  post: "POST",
  put: "PUT",
  patch: "PATCH",
  del: "DELETE",
  options: "OPTIONS",
};

/** The requests of a function, which become the steps of a job. */
export abstract class K6Requests extends K6Reader {
  readonly steps: K6Step[] = [];
  /** Parts that were not translated, until the next step takes them. */
  notes: string[] = [];
  /** Seconds until the next request. */
  pause = 0;
  /** The names of the groups around the part that is being translated. */
  protected group = "";
  readonly #titles = new UniqueNames();

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  /** Makes the step of `http.post(url, body, params)`; undefined for another function of `http`. */
  protected send(name: string, args: readonly Known[]): Known | undefined {
    if (name === "request") {
      const verb = args[0] && this.constantOf(args[0]);
      return typeof verb === "string" ? this.#send(verb, args.slice(1)) : undefined;
    }
    if (!Object.hasOwn(METHODS, name)) return undefined;
    return /^(?:get|head)$/.test(name)
      ? this.#send(METHODS[name]!, [args[0]!, NOTHING, ...args.slice(1)])
      : this.#send(METHODS[name]!, args);
  }

  /** Makes the steps of `http.batch([…])`; undefined for requests that are not known. */
  protected batch(requests: Known | undefined): Known | undefined {
    const calls = requests?.type === "list" ? requests.items.map(batched) : [undefined];
    if (calls.includes(undefined)) return undefined;
    this.note("http.batch: its requests are sent one after another");
    return { type: "list", items: calls.map((args) => this.send("request", args!) ?? NOTHING) };
  }

  #send(method: string, [url, body, params]: readonly Known[]): Known | undefined {
    if (!url || url.type === "unknown") return undefined;
    const fields: ReadonlyMap<string, Known> = params?.type === "map" ? params.fields : new Map();
    const tags = dictOf(fields.has("tags") ? this.constantOf(fields.get("tags")!) : {});
    const request = new RequestDraft(this.names, asText);
    const step: K6Step = {
      request,
      captured: new Map(),
      tags: Object.fromEntries(
        Object.entries(tags).map(([name, value]) => [name, String(value)]),
      ),
    };
    request.method = method.toUpperCase();
    request.url = withScheme(this.templateOf(url));
    if (params && params.type !== "map" && !isNothing(params)) {
      request.notes.push(`the parameters: ${sourceIn(params)}`);
    }
    for (const [key, value] of fields) {
      if (!this.#setParameter(request, key, value)) {
        request.notes.push(`${key} of the request: ${sourceIn(value)}`);
      }
    }
    if (body && !isNothing(body) && !this.#setBody(request, body)) {
      request.notes.push(`the body: ${sourceIn(body)}`);
    }
    setCredentials(request);
    request.name = literalText(this.#title(step));
    if (this.pause > 0) request.keys.wait = formatDuration(this.pause * 1000);
    this.pause = 0;
    request.notes.unshift(...this.takeNotes());
    this.steps.push(step);
    return { type: "response", step };
  }

  /** A title that no other step has. */
  #title({ request: { method, url }, tags }: K6Step): string {
    const readable = url.replace(/\{\{(.*?)\}\}/g, (_, expression) => `{${lastName(expression)}}`);
    const path = readable.replace(/^(?:[^/]*:\/\/)?[^/?]*|\?.*$/gs, "") || "/";
    const group = this.group === "" ? "" : `${this.group}: `;
    const wanted = tags.name ?? `${group}${method} ${path}`;
    const free = this.#titles.take(wanted);
    return free === wanted ? wanted : `${wanted} ${free.slice(wanted.length + 1)}`;
  }

  /** Whether a parameter of a request could be translated. */
  #setParameter(request: RequestDraft, key: string, value: Known): boolean {
    const constant = () => this.constantOf(value);
    switch (key) {
      case "headers":
        if (value.type !== "map") return false;
        for (const [name, field] of value.fields) {
          request.headers.push([name, this.templateOf(field)]);
        }
        return true;
      case "timeout": {
        const timeout = constant();
        if (timeout === undefined) return false;
        request.params.timeout = typeof timeout === "number" ? `${timeout}ms` : timeout;
        return true;
      }
      case "redirects":
        if (constant() !== 0) return false;
        request.params.follow_redirects = false;
        return true;
      case "auth": {
        const kind = constant();
        if (kind !== "basic" && kind !== "digest") return false;
        request.params.auth = { [kind]: {} };
        return true;
      }
    }
    return key === "tags" || key === "responseType";
  }

  /** Whether the body of a request could be translated. */
  #setBody(request: RequestDraft, body: Known): boolean {
    switch (body.type) {
      case "unknown":
      case "list":
        return false;
      case "json":
        request.body = { json: this.valueOf(body.value) };
        return true;
      case "file":
        request.body = { file: body.path };
        return true;
      case "map": {
        const isForm = [...body.fields.values()].every((field) =>
          field.type !== "map" &&
          !(field.type === "unknown" && field.source.startsWith("http.file("))
        );
        if (isForm) request.body = { form: this.valueOf(body) };
        return isForm;
      }
    }
    request.setText(this.templateOf(body), request.contentType ?? "text/plain");
    return true;
  }

  protected takeNotes(): string[] {
    const { notes } = this;
    this.notes = [];
    return notes;
  }
}

export const NOTHING: Known = { type: "unknown", source: "undefined" };

function isNothing(value: Known): boolean {
  return value.type === "plain" && value.value === null ||
    value.type === "text" && value.parts.length === 0 ||
    value.type === "map" && value.fields.size === 0 ||
    value.type === "expression" && value.text === "nil" || value === NOTHING;
}

/** The arguments of `http.request` that an entry of `http.batch` has. */
function batched(entry: Known): readonly Known[] | undefined {
  if (entry.type === "list") return entry.items;
  const get: Known = { type: "text", parts: ["GET"] };
  if (entry.type === "text" || entry.type === "variable") return [get, entry];
  if (entry.type !== "map") return undefined;
  return ["method", "url", "body", "params"].map((name) => entry.fields.get(name) ?? NOTHING);
}

/** A template in a text, which gives a text there, also where it is all of a string of JSON. */
function asText(template: string): string {
  return template.replace(/^\{\{((?:(?!\}\}).)+)\}\}$/s, "{{string($1)}}");
}

/** Moves a user and a password from a URL into `auth`. */
function setCredentials(request: RequestDraft): void {
  const [, scheme, username, password, rest] = /^(https?:\/\/)([^:/@]+):([^/@]+)@(.*)$/s
    .exec(request.url) ?? [];
  const [kind = "basic"] = Object.keys(dictOf(request.params.auth));
  if (password === undefined) return;
  request.url = scheme! + rest;
  request.params.auth = { [kind]: { username: username!, password } };
}

/** The last name in an expression: `outputs.order_id` is `order_id`. */
function lastName(expression: string): string {
  return snakeCase(/([A-Za-z_]\w*)\W*$/.exec(expression)?.[1] ?? "") ?? "value";
}
