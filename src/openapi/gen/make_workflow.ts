import { countOf } from "../../base/text/count_of.ts";
import { type Dict, isDict, isNumber, stepText, type Value } from "../../base/value/value.ts";
import type { Api, ApiParameter, ApiResponse, Body, Operation, Success } from "./api.ts";
import { type ApiCredentials, CredentialMaker, headersOf, headersOver } from "./credentials.ts";
import {
  type Draft,
  type DraftJob,
  filled,
  joinTemplate,
  literalText,
  mapTexts,
  quoteText,
  renderDraft,
  snakeCase,
  type TemplatePart,
  UniqueNames,
  writeText,
} from "../../draft/draft.ts";
import { type FindSecrets, type FoundSecret, hideSecrets } from "../../draft/hide_secrets.ts";
import {
  type ApiLink,
  collectionOf,
  fillPath,
  findLinks,
  lastParameter,
  lastWord,
  type Links,
  pathKey,
  singular,
} from "./links.ts";
import { ANY_SECRET, namesSecret, Variables } from "./variables.ts";

/** A workflow file, and the parts of the description that could not be converted. */
interface MadeWorkflow {
  readonly text: string;
  readonly draft: Draft;
  /** The environment variables that it reads. */
  readonly environment: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Makes a workflow that calls every operation of an API once, and checks requests and responses by
 * the description at that path. `origin` is the name of the description, and `taken` are ids
 * that its steps must not have.
 */
export function makeWorkflow(
  api: Api,
  findSecrets: FindSecrets,
  description: string,
  origin: string,
  taken: readonly string[] = [],
): MadeWorkflow {
  const variables = new Variables();
  const base = variables.fromEnvironment("base_url", serverExpression(api.server, variables));
  const { jobs, links } = planJobs(api.operations, findLinks(api.operations));
  const credentials = new CredentialMaker(api.schemes, variables);
  const ids = stepIds(jobs, taken);
  const outputs = findOutputs(links);
  // Credentials are the first variables, because users have to set them.
  for (const operation of api.operations) credentials.credentialsOf(operation);
  const made = jobs.map((job): DraftJob => {
    const defaults = defaultsOf(job, credentials);
    const steps = job.operations.map((operation) => {
      return {
        notes: [],
        data: makeStep(operation, {
          id: ids.get(operation)!,
          links: links.get(operation)!,
          outputs: outputs.get(operation) ?? new Map(),
          credentials: credentials.credentialsOf(operation),
          defaults,
          outputOf: (link) => outputExpression(link, ids, outputs),
          variables,
          server: serverVariable(operation, api, variables),
        }),
      };
    });
    const name = job.name.replace(/\s+/g, " ");
    return { name, keys: keysOf(job, defaults, base, description), steps };
  });
  const name = api.title.replace(/\s+/g, " ").trim();
  const hidden = hideSecrets(
    { name, vars: variables.all(), jobs: made, notes: [] },
    findSecrets,
    fallbackFor,
  );
  const { draft } = hidden;
  const environment = [
    ...new Set([...variables.environment(), ...Object.keys(hidden.environment)]),
  ];
  const nulls = draft.jobs.some(({ steps }) =>
    steps.some(({ data: { vars = {} } }) => Object.values(vars as Dict).includes(null))
  );
  const head = [
    `Made by "runner gen" from ${origin.replace(/\p{C}/gu, "?")}.`,
    `Set in the environment: ${environment.join(", ")}.`,
    ...nulls ? ["Parameters whose value is null are not sent."] : [],
  ];
  return {
    text: renderDraft(draft, head),
    draft,
    environment,
    notes: [...credentials.refused].map(([reason, operations]) => noteOf(reason, operations)),
  };
}

function noteOf(reason: string, operations: readonly Operation[]): string {
  const [{ method, path }] = operations as [Operation];
  const count = operations.length - 1;
  const others = count === 0 ? "" : ` and to ${countOf(count, "more operation")}`;
  return `no credentials are sent to ${method.toUpperCase()} ${path}${others}: ${reason}`;
}

function keysOf(job: JobPlan, defaults: JobDefaults, base: string, description: string): Dict {
  const headers = [
    ...defaults.accept === undefined ? [] : [["Accept", literalText(defaults.accept)] as const],
    ...defaults.headers,
  ];
  return {
    id: job.id,
    ...job.needs.length === 0 ? {} : { needs: job.needs },
    defaults: {
      http: {
        url: `{{vars.${base}}}`,
        openapi: literalText(description),
        ...filled({
          headers: Object.fromEntries(headers),
          query: Object.fromEntries(defaults.query),
        }),
      },
    },
  };
}

/** The defaults for what most steps of a job send. */
function defaultsOf(job: JobPlan, maker: CredentialMaker): JobDefaults {
  const all = job.operations.map((operation) => maker.credentialsOf(operation));
  const common = mostCommon(all);
  return {
    headers: common ? headersOf(common) : new Map(),
    query: common?.query ?? new Map(),
    accept: mostCommon(job.operations.flatMap(({ accept }) => accept ?? [])),
  };
}

/** The most frequent value; the first of equally frequent ones. */
function mostCommon<T extends string | ApiCredentials>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

function stepIds(jobs: readonly JobPlan[], taken: readonly string[]): Map<Operation, string> {
  const names = new UniqueNames(taken);
  return new Map(
    jobs.flatMap(({ operations }) => operations).map((operation) => {
      const { id, method, path } = operation;
      const wanted = snakeCase(id ?? "") ?? snakeCase(`${method}_${path}`) ?? method;
      return [operation, names.take(wanted)];
    }),
  );
}

/** The fields that links read from responses, as named outputs. */
type Outputs = ReadonlyMap<Operation, ReadonlyMap<string, readonly string[]>>;

function findOutputs(links: Links): Outputs {
  const outputs = new Map<Operation, Map<string, readonly string[]>>();
  for (const { creator, field } of [...links.values()].flatMap((all) => [...all.values()])) {
    const fields = outputs.getOrInsertComputed(creator, () => new Map());
    if (nameOfField(fields, field) !== undefined) continue;
    const wanted = snakeCase(field.at(-1)!) ?? "id";
    fields.set(new UniqueNames(fields.keys()).take(wanted), field);
  }
  return outputs;
}

function outputExpression(
  { creator, field }: ApiLink,
  ids: ReadonlyMap<Operation, string>,
  outputs: Outputs,
): string {
  const name = nameOfField(outputs.get(creator)!, field)!;
  return accessTo("outputs", [ids.get(creator)!, name]);
}

function nameOfField(
  fields: ReadonlyMap<string, readonly string[]>,
  field: readonly string[],
): string | undefined {
  return [...fields].find(([, known]) => known.join("\0") === field.join("\0"))?.[0];
}

/** The variable for an operation with its own server. */
function serverVariable(
  { server }: Operation,
  api: Api,
  variables: Variables,
): string | undefined {
  if (server === undefined || server === api.server) return undefined;
  const [label = ""] = URL.parse(server)?.hostname.split(".") ?? [];
  const expression = serverExpression(server, variables);
  return variables.fromEnvironment(`${snakeCase(label) ?? "other"}_url`, expression);
}

/** A server URL; parts of it without a default are read from the environment, and must be set. */
function serverExpression(server: string, variables: Variables): string {
  const parts = server.split(/(?<!\{)\{([^{}]+)\}(?!\})/).map((part, index) =>
    index % 2 === 0 ? quoteText(part) : variables.requireEnvironment(`server_${part}`)
  );
  const sum = parts.filter((part, index) => index === 0 || part !== "''").join(" + ");
  return parts.length > 1 ? `(${sum})` : sum;
}

/** The value of a secret that the environment does not have. */
function fallbackFor({ path, text, range }: FoundSecret): string {
  const name = String(path.findLast((part) => typeof part === "string"));
  // A value that is a secret only by its name may be a keyword of the API: keep it as the default.
  const isWord = path[0] !== "vars" && range === undefined && !namesSecret(name);
  return isWord ? quoteText(text) : ANY_SECRET;
}

/** Operations that run in order. */
interface JobPlan {
  readonly id: string;
  readonly name: string;
  readonly needs: readonly string[];
  readonly operations: readonly Operation[];
}

/** Jobs, and the links between operations that they can use. */
interface JobPlans {
  readonly jobs: readonly JobPlan[];
  readonly links: Links;
}

interface JobDraft {
  readonly id: string;
  readonly name: string;
  readonly needs: Set<JobDraft>;
  operations: Operation[];
}

/**
 * Makes a job for each tag. A job needs the jobs that create what it uses; resources that other
 * jobs still use are deleted in a separate job afterwards.
 */
export function planJobs(operations: readonly Operation[], found: Links): JobPlans {
  const ids = new UniqueNames();
  const drafts = [...Map.groupBy(operations, ({ tag }) => tag)].map((
    [name, operations],
  ): JobDraft => ({
    id: ids.take(snakeCase(name) ?? "job"),
    name,
    needs: new Set(),
    operations: arrangeOperations(operations),
  }));
  const jobOf = new Map(
    drafts.flatMap((job) => job.operations.map((operation) => [operation, job])),
  );
  const links = followLinks(found, jobOf);
  const all = [...drafts, ...splitDeletions(drafts, links, ids)];
  return {
    links,
    jobs: all.filter((job) => job.operations.length > 0).map((job) => ({
      id: job.id,
      name: job.name,
      needs: [...job.needs].filter((need) => need.operations.length > 0).map(({ id }) => id),
      operations: job.operations,
    })),
  };
}

/** Adds needs between jobs for links, and drops the links that would cause a dependency cycle. */
function followLinks(found: Links, jobOf: ReadonlyMap<Operation, JobDraft>): Links {
  const links = new Map<Operation, Map<string, ApiLink>>();
  for (const [operation, all] of found) {
    const job = jobOf.get(operation)!;
    const kept = [...all].filter(([, { creator }]) => need(job, jobOf.get(creator)!));
    links.set(operation, new Map(kept));
  }
  return links;
}

/** Adds a need; false if it would cause a dependency cycle. */
function need(job: JobDraft, other: JobDraft): boolean {
  if (job === other || job.needs.has(other)) return true;
  if (reaches(other, job, new Set())) return false;
  job.needs.add(other);
  return true;
}

function reaches(from: JobDraft, to: JobDraft, seen: Set<JobDraft>): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...from.needs].some((next) => reaches(next, to, seen));
}

/** Moves deletions of resources that other jobs use into later jobs. */
function splitDeletions(jobs: readonly JobDraft[], links: Links, ids: UniqueNames): JobDraft[] {
  const users = new Map<Operation, Set<JobDraft>>();
  for (const job of jobs) {
    for (const { creator } of job.operations.flatMap((operation) => linksOf(operation, links))) {
      users.getOrInsertComputed(creator, () => new Set()).add(job);
    }
  }
  const later: JobDraft[] = [];
  for (const job of jobs) {
    const isLate = (operation: Operation) => {
      const creator = isDeletion(operation) ? deletedBy(operation, links) : undefined;
      return creator !== undefined && [...users.get(creator) ?? []].some((user) => user !== job);
    };
    const late = job.operations.filter(isLate);
    if (late.length === 0) continue;
    job.operations = job.operations.filter((operation) => !late.includes(operation));
    const id = ids.take(`${job.id}_cleanup`);
    later.push({ id, name: `${job.name}: clean up`, needs: new Set([job]), operations: late });
  }
  for (const job of later) {
    const deleted = job.operations.flatMap((operation) => deletedBy(operation, links) ?? []);
    for (const other of [...jobs, ...later]) {
      const uses = other.operations.flatMap((operation) => linksOf(operation, links));
      if (other !== job && uses.some(({ creator }) => deleted.includes(creator))) need(job, other);
    }
  }
  return later;
}

/** The operation that created the resource that this one deletes, if known. */
function deletedBy(operation: Operation, links: Links): Operation | undefined {
  const name = lastParameter(operation.path);
  return name === undefined ? undefined : links.get(operation)?.get(name)?.creator;
}

function linksOf(operation: Operation, links: Links): ApiLink[] {
  return [...links.get(operation)?.values() ?? []];
}

/**
 * Orders the operations of a job: create a resource, then read and change it, then the resources
 * below it; deletions are last, starting with the innermost.
 */
function arrangeOperations(operations: readonly Operation[]): Operation[] {
  const groups = Map.groupBy(operations, ({ path }) => pathKey(collectionOf(path)));
  const ordered = parentsFirst([...groups.keys()]).map((key) => groups.get(key)!);
  const others = ordered.flatMap((group) =>
    group.filter((operation) => !isDeletion(operation)).toSorted(byRank(group))
  );
  const deletions = ordered.toReversed().flatMap((group) =>
    group.filter(isDeletion).toSorted((a, b) => depthOf(b) - depthOf(a))
  );
  return [...others, ...deletions];
}

/** Whether an operation ends a thing. */
function isDeletion({ method }: Operation): boolean {
  return method === "delete";
}

function depthOf({ path }: Operation): number {
  return path.split("/").length;
}

/** Keeps the order of paths, but puts each after its parents. */
function parentsFirst(keys: readonly string[]): string[] {
  const known = new Set(keys);
  const children = Map.groupBy(keys, (key) => nearestParent(key, known));
  const withChildren = (key: string): string[] => [
    key,
    ...(children.get(key) ?? []).flatMap(withChildren),
  ];
  return (children.get(undefined) ?? []).flatMap(withChildren);
}

function nearestParent(key: string, known: ReadonlySet<string>): string | undefined {
  for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
    const parent = key.slice(0, end);
    if (known.has(parent)) return parent;
  }
  return undefined;
}

/** Creating, listing, reading, replacing, changing, and then everything else. */
function byRank(group: readonly Operation[]): (a: Operation, b: Operation) => number {
  const hasPost = group.some((operation) => rankOf(operation, false) === 0);
  return (a, b) => rankOf(a, !hasPost) - rankOf(b, !hasPost);
}

function rankOf({ method, path, success }: Operation, putCreates: boolean): number {
  const isItem = lastParameter(path) !== undefined;
  const is201 = success.kind === "codes" && success.codes.includes(201);
  switch (method) {
    case "post":
      return isItem ? 6 : 0;
    case "put":
      return putCreates && is201 ? 0 : 3;
    case "get":
    case "head":
    case "options":
      return isItem ? 2 : 1;
    case "patch":
      return 4;
    default:
      return 5;
  }
}

/** The settings that most steps of a job share. */
interface JobDefaults {
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
function makeStep(operation: Operation, setting: StepSetting): Dict {
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
function accessTo(value: string, path: readonly string[]): string {
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
