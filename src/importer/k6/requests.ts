import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import { isDict } from "../../base/value/value.ts";
import type { DraftStep } from "../../openapi/gen/draft.ts";
import { joinTemplate, literalText, snakeCase, UniqueNames } from "../../openapi/gen/templates.ts";
import { withoutMaps } from "../expressions.ts";
import type { Names } from "../import_names.ts";
import { dictOf } from "../input.ts";
import { RequestDraft, withScheme } from "../request_draft.ts";
import { sourceOf, textOf } from "../script_values.ts";
import { callOf } from "./library.ts";
import {
  bind,
  bindParameters,
  type K6Step,
  literalNode,
  type Scope,
  type Thing,
  Untranslated,
  walk,
} from "./scope.ts";
import { K6Values } from "./values.ts";

/** A step, with what thresholds find it by. */
export interface JobStep extends K6Step {
  readonly tags: Readonly<Record<string, string>>;
  /** A step that only makes a value. */
  readonly made?: DraftStep;
}
const METHODS: Readonly<Record<string, string>> = {
  get: "GET",
  head: "HEAD",
  post: "POST",
  put: "PUT",
  patch: "PATCH",
  del: "DELETE",
  delete: "DELETE",
  options: "OPTIONS",
  request: "",
  asyncRequest: "",
};

/** The requests of a function, which become the steps of a job. */
export class K6Requests {
  readonly steps: JobStep[] = [];
  /** Parts that were not translated, until the next step takes them. */
  notes: string[] = [];
  /** Seconds until the next request. */
  pause = 0;
  readonly values: K6Values;
  /** The names of the groups around the part that is being translated. */
  protected group = "";
  /** When it does not run. */
  protected skips: readonly string[] = [];
  readonly #titles = new UniqueNames();

  constructor(readonly source: string, readonly names: Names) {
    this.values = new K6Values(source, names, (text) => this.note(text));
  }

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  text(node: SyntaxNode): string {
    const text = sourceOf(node, { text: this.source, aliases: new Map() }).replace(/;$/, "");
    return text.length > 160 ? `${text.slice(0, 157)}...` : text;
  }

  skipif(): { readonly skipif?: string } {
    return this.skips.length === 0 ? {} : { skipif: this.skips.join(" || ") };
  }

  /** The function of `http` that a name calls. */
  methodOf(name: string): string | undefined {
    const [, method] = /^http\.(\w+)$/.exec(name) ?? [];
    return method !== undefined && Object.hasOwn(METHODS, method) ? method : undefined;
  }

  batch(list: SyntaxNode, scope: Scope): Thing {
    const thing = this.values.resolve(list, scope);
    if (thing.type !== "node") throw new Untranslated(list);
    const entries = thing.node.type === "ArrayExpression"
      ? thing.node.elements.map((one, index) =>
        [String(index), { node: one!, scope: thing.scope }] as const
      )
      : [...this.values.fieldsOf(list, scope)];
    this.note("http.batch: its requests are sent one after another");
    const steps = entries.map(([key, { node, scope: inside }]) => {
      const one = this.values.resolve(node, inside);
      if (one.type !== "node") throw new Untranslated(node);
      const [kind] = [one.node.type];
      const sent = kind === "ArrayExpression"
        ? this.send("request", (one.node as { elements: SyntaxNode[] }).elements, one.scope)
        : kind === "ObjectExpression"
        ? this.#sendObject(one.node, one.scope)
        : this.send("get", [node], inside);
      return [key, (sent as Thing & { type: "response" }).step] as const;
    });
    return { type: "responses", steps };
  }

  #sendObject(node: SyntaxNode, scope: Scope): Thing {
    const fields = this.values.fieldsOf(node, scope);
    const part = (name: string) => fields.get(name)?.node;
    const nothing = literalNode(null, node);
    const url = part("url");
    if (!url) throw new Untranslated(node);
    const args = [
      part("method") ?? nothing,
      url,
      part("body") ?? nothing,
      part("params") ?? nothing,
    ];
    return this.send("request", args, scope);
  }

  /** Translates `check(res, { name: (r) => … })` into tests of the step of the response. */
  check(node: SyntaxNode & { readonly type: "CallExpression" }, scope: Scope): void {
    const [subject, checks] = node.arguments as readonly SyntaxNode[];
    if (!subject || !checks) throw new Untranslated(node);
    for (const [name, { node: one, scope: outside }] of this.values.fieldsOf(checks, scope)) {
      try {
        const found = this.values.functionOf(one, outside);
        const inside = found ? bindParameters(found, [subject], scope) : outside;
        const [test, seen] = found ? this.#returned(found.node.body, inside) : [one, inside];
        const about = this.#ownerOf(subject, test, scope, seen);
        if (!about) throw new Untranslated(one);
        about.request.tests.push(withoutMaps(this.values.test(test, seen, about)));
      } catch (error) {
        if (!(error instanceof Untranslated)) throw error;
        const known = this.steps.at(-1)?.request.notes ?? this.notes;
        known.push(`the check "${name}": ${this.text(one)}`);
      }
    }
  }

  /** What a function returns, with the variables before that. */
  #returned(body: SyntaxNode, before: Scope): [SyntaxNode, Scope] {
    if (body.type !== "BlockStatement") return [body, before];
    let scope = before;
    for (const one of body.body) {
      if (one.type === "ReturnStatement" && one.argument) return [one.argument, scope];
      if (one.type === "TryStatement") return this.#returned(one.block, scope);
      if (one.type !== "VariableDeclaration") break;
      scope = one.declarations.reduce<Scope>(
        (all, { id, init }) =>
          id.type === "Identifier" && init
            ? bind(id.name, { type: "node", node: init, scope: all }, all)
            : all,
        scope,
      );
    }
    throw new Untranslated(body);
  }

  /** The step that a check is about: that of its response, or else of the last request. */
  #ownerOf(subject: SyntaxNode, test: SyntaxNode, scope: Scope, seen: Scope): K6Step | undefined {
    const thing = this.values.resolve(subject, scope);
    if (thing.type === "response") return thing.step;
    const owners = new Set<K6Step>();
    walk(test, (one) => {
      if (one.type !== "Identifier" && one.type !== "MemberExpression") return;
      const thing = this.values.resolve(one, seen);
      if (thing.type === "response") owners.add(thing.step);
    });
    const last = this.steps.findLast(({ made }) => !made);
    return [...owners].at(-1) ??
      (callOf(test) === "" && test.type === "Literal" ? undefined : last);
  }

  /** Makes the step of a request: `http.post(url, body, params)`. */
  send(method: string, args: readonly SyntaxNode[], scope: Scope): Thing {
    const { values } = this;
    const names = METHODS[method] === ""
      ? ["method", "url", "body", "params"]
      : /^(?:get|head)$/.test(method)
      ? ["url", "params"]
      : ["url", "body", "params"];
    const given = new Map(names.map((name, index) => [name, args[index]]));
    const request = new RequestDraft(this.names, asText);
    const step: JobStep = {
      request,
      captured: new Map(),
      tags: this.#tagsOf(given.get("params"), scope),
    };
    const url = given.get("url");
    if (!url) throw new Untranslated(args[0]!);
    const verb = given.get("method");
    request.method = METHODS[method] || String(verb && values.constant(verb, scope) || "GET");
    request.url = withScheme(this.#url(url, scope));
    const attempt = (
      what: string,
      node: SyntaxNode | undefined,
      add: (node: SyntaxNode) => void,
    ) => {
      const isNull = node?.type === "Literal" && node.value === null;
      if (!node || isNull || /^(?:undefined|\{\}|""|'')$/.test(this.text(node))) return;
      try {
        add(node);
      } catch (error) {
        if (!(error instanceof Untranslated)) throw error;
        request.notes.push(`${what}: ${this.text(node)}`);
      }
    };
    attempt(
      "the parameters",
      given.get("params"),
      (node) => this.#setParameters(request, node, scope, attempt),
    );
    attempt("the body", given.get("body"), (node) => this.#setBody(request, node, scope));
    setCredentials(request);
    const path = request.url.replace(/^(?:[^/]*:\/\/)?[^/?]*|\?.*$/gs, "") || "/";
    const title = step.tags.name ?? `${request.method} ${path}`;
    const named = this.group === "" || step.tags.name !== undefined
      ? title
      : `${this.group}: ${title}`;
    request.name = literalText(
      this.title(named.replace(/\{\{(.*?)\}\}/g, (_, text) => `{${lastName(text)}}`)),
    );
    if (this.pause > 0) request.keys.wait = secondsText(this.pause);
    this.pause = 0;
    Object.assign(request.keys, this.skipif());
    request.notes.unshift(...this.takeNotes());
    this.steps.push(step);
    return { type: "response", step };
  }

  /** A title that no other step has. */
  title(wanted: string): string {
    const free = this.#titles.take(wanted);
    return free === wanted ? wanted : `${wanted} ${free.slice(wanted.length + 1)}`;
  }

  #url(node: SyntaxNode, scope: Scope): string {
    const thing = this.values.resolve(node, scope);
    const isTagged = thing.type === "node" && thing.node.type === "TaggedTemplateExpression";
    return isTagged
      ? this.values.template((thing.node as { quasi: SyntaxNode }).quasi, thing.scope)
      : joinTemplate(this.values.known(node, scope));
  }

  #setBody(request: RequestDraft, node: SyntaxNode, scope: Scope): void {
    const { values } = this;
    const thing = values.resolve(node, scope);
    if (thing.type !== "node") throw new Untranslated(node);
    const { node: body, scope: inside } = thing;
    const [first] = body.type === "CallExpression" ? body.arguments : [];
    if (callOf(body) === "JSON.stringify" && first) {
      request.body = { json: values.value(first, inside) };
    } else if (callOf(body) === "open" && textOf(first)) {
      request.body = { file: textOf(first)! };
    } else if (body.type === "ObjectExpression") {
      const fields = values.value(body, inside);
      if (!isDict(fields) || Object.values(fields).some((one) => isDict(one))) {
        throw new Untranslated(node);
      }
      request.body = /http\.file\(/.test(this.text(body)) ? {} : { form: fields };
      if (request.body.form === undefined) throw new Untranslated(node);
    } else request.setText(values.template(node, scope), request.contentType ?? "text/plain");
  }

  #tagsOf(params: SyntaxNode | undefined, scope: Scope): Readonly<Record<string, string>> {
    const tags: Record<string, string> = {
      ...this.group === "" ? {} : { group: this.group },
    };
    try {
      const field = params && this.values.fieldsOf(params, scope).get("tags");
      const own = field && this.values.constant(field.node, field.scope);
      for (const [name, value] of Object.entries(isDict(own ?? null) ? own as object : {})) {
        tags[name] = String(value);
      }
    } catch (error) {
      if (!(error instanceof Untranslated)) throw error;
    }
    return tags;
  }

  #setParameters(
    request: RequestDraft,
    node: SyntaxNode,
    scope: Scope,
    attempt: (what: string, node: SyntaxNode, add: (node: SyntaxNode) => void) => void,
  ): void {
    const { values } = this;
    for (const [key, { node: one, scope: inside }] of values.fieldsOf(node, scope)) {
      attempt(`${key} of the request`, one, () => {
        switch (key) {
          case "headers":
            for (const [name, field] of values.fieldsOf(one, inside)) {
              attempt(`the header ${name}`, field.node, () => {
                request.headers.push([name, values.template(field.node, field.scope)]);
              });
            }
            return;
          case "cookies": {
            const pairs = [...values.fieldsOf(one, inside)].map(([name, field]) =>
              `${name}=${values.template(field.node, field.scope)}`
            );
            request.headers.push(["Cookie", pairs.join("; ")]);
            return;
          }
          case "timeout": {
            const value = values.constant(one, inside);
            if (value === undefined) throw new Untranslated(one);
            request.params.timeout = typeof value === "number" ? `${value}ms` : value;
            return;
          }
          case "redirects":
            if (values.constant(one, inside) !== 0) throw new Untranslated(one);
            request.params.follow_redirects = false;
            return;
          case "auth": {
            const kind = values.constant(one, inside);
            if (kind !== "basic" && kind !== "digest") throw new Untranslated(one);
            request.params.auth = { [kind]: {} };
            return;
          }
          case "tags":
          case "responseType":
            return;
          default:
            throw new Untranslated(one);
        }
      });
    }
  }
  takeNotes(): string[] {
    const { notes } = this;
    this.notes = [];
    return notes;
  }
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

/** `1.5s` */
export function secondsText(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)}ms` : `${Number(seconds.toFixed(3))}s`;
}

/** The last name in an expression: `outputs.order_id` is `order_id`. */
function lastName(expression: string): string {
  return snakeCase(/([A-Za-z_]\w*)\W*$/.exec(expression)?.[1] ?? "") ?? "value";
}
