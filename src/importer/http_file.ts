import { type Draft, type DraftStep, quoteText } from "../draft/draft.ts";
import { headerOf, keyOf } from "./expressions.ts";
import { Names, putVariables } from "../draft/names.ts";
import { type ImportFile, type ImportInput, type Line, linesOf, problemAt } from "./input.ts";
import { multipartOf, RequestDraft, withScheme } from "../draft/request_draft.ts";
import { translateBefore, translateScripts } from "./script_tests.ts";
import type { Dict } from "../base/value/value.ts";

const REFERENCE = /\{\{\s*([\w-]+)\.response\.(body|headers)\.([^{}]+?)\s*\}\}/g;

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;

/** Makes a workflow of a .http file, as the HTTP clients of editors read it. */
export function translateHttpFile({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  /** Variables that read a response, which vars cannot do: their texts replace them. */
  const late = new Map<string, string>();
  for (const { text } of linesOf(file!)) {
    const [, name, value = ""] = /^@([\w.-]+)\s*=\s*(.*)$/.exec(text.trim()) ?? [];
    if (name === undefined) continue;
    if (readsLate(value, late)) late.set(name, value.trim());
    else names.define(name, value.trim());
  }
  const parts = readHttpRequests(file!);
  const written = parts.filter(({ url }) => url !== "");
  const notes = parts.flatMap(({ url, notes }) => url === "" ? notes : []);
  const isOther = ({ method }: WrittenRequest) =>
    /^(?:WEBSOCKET|WSS?|SSE|EVENTSOURCE|GRPC|RSOCKET|MQTT|AMQP)$/.test(method);
  const requests = written.filter((one) => !isOther(one));
  for (const { method, url } of written.filter(isOther)) {
    notes.push(`${method} ${url}: see "runner actions"`);
  }
  if (requests.length === 0) throw problemAt(file!, 0, "there is no request in the file");
  // The values that other requests read from a response, by the name of its request.
  const read = new Map<string, Record<string, string>>();
  for (const [, ref = "", kind, path = ""] of file!.text.matchAll(REFERENCE)) {
    const expression = kind === "headers"
      ? headerOf(path)
      : path === "*"
      ? "res.body"
      : path.startsWith("/")
      ? `first(xpath(res.body, ${quoteText(path)}))`
      : path.startsWith("$")
      ? jsonPathOf(path, "first")
      : jsonPathOf(`$.${path}`, "first");
    const last = /[\w-]+(?=\W*$)/.exec(path)?.[0] ?? kind!;
    const output = names.capture(`${ref}.response.${kind}.${path}`, `${ref}_${last}`);
    read.set(ref, { ...read.get(ref), [output]: expression });
  }
  const title = file!.name.replace(/^.*[/\\]/, "").replace(/\.(?:http|rest)$/, "");
  const steps = requests.map((one) => stepOf(one, names, read.get(one.ref) ?? {}, late));
  return {
    name: title,
    vars: names.vars,
    jobs: [{ name: title, steps }],
    notes: [...notes, ...names.notes],
  };
}

/** Whether a text reads a response, or a variable that does. */
function readsLate(text: string, late: ReadonlyMap<string, string>): boolean {
  return text.search(REFERENCE) >= 0 ||
    [...text.matchAll(VARIABLE)].some(([, name]) => late.has(name!));
}

function stepOf(
  written: WrittenRequest,
  names: Names,
  read: Readonly<Record<string, string>>,
  late: ReadonlyMap<string, string>,
): DraftStep {
  const { name, method, url, body, file } = written;
  const request = new RequestDraft(names, (text) => names.template(putVariables(text, late)));
  const { template, notes } = request;
  Object.assign(request.params, written.params);
  notes.push(...written.notes);
  const before = written.before.join("\n");
  const endBefore = translateBefore(before, names);
  if (!endBefore) notes.push(noteOfBefore(before));
  for (const [header, value] of written.headers) addHeader(request, header, value);
  const isGraphql = method === "GRAPHQL" ||
    written.headers.some(([name, value]) =>
      /^x-request-type$/i.test(name) && /graphql/i.test(value)
    );
  if (isGraphql && file === "") {
    // A query, and below an empty line the JSON of its variables.
    const [query = "", variables = ""] = body.split(/\n\s*\n(?=\s*\{[^]*\}\s*$)/);
    request.setGraphql(query.trim(), variables);
  } else setBody(request, body, file);
  const host = written.headers.find(([one]) => /^host$/i.test(one))?.[1];
  const address = withScheme(url.startsWith("/") ? `${host ?? "localhost"}${url}` : url, names);
  const path = address.replace(/^https?:\/\/[^/]*/, "").replace(/^\{\{[^}]*\}\}/, "");
  request.name = template(name === "" ? `${method} ${path || "/"}` : name);
  request.method = method === "GRAPHQL" ? "POST" : method;
  request.url = template(address);
  if (written.isDisabled) request.keys.skipif = "true";
  Object.assign(request.outputs, read);
  translateScripts([written.script.join("\n")], request);
  endBefore?.();
  return request.step(name);
}

function noteOfBefore(script: string): string {
  return `the script before the request: ${script.replace(/\s+/g, " ").trim()}`;
}

function addHeader(
  { headers, params, notes, template }: RequestDraft,
  name: string,
  value: string,
) {
  // `Basic user password` and `Basic user:password` are not encoded yet.
  const [, scheme = "", username = "", password = ""] =
    /^(Basic|Digest)\s+([^\s:]+)[\s:]+(\S+)$/i.exec(value) ?? [];
  const isAuthorization = /^authorization$/i.test(name);
  if (isAuthorization && scheme !== "") {
    const pair = { username: template(username), password: template(password) };
    params.auth = { [scheme.toLowerCase()]: pair };
  } else if (isAuthorization && /^AWS\s/i.test(value)) {
    notes.push("the sign-in AWS: see auth.aws of http");
  } else headers.push([name, template(value)]);
}

function setBody(request: RequestDraft, body: string, file: string): void {
  const { notes, contentType: type } = request;
  if (file !== "") {
    if (body !== "") notes.push(`the body: the lines beside the file ${file}`);
    request.body = { file: request.template(file) };
  } else if (type !== undefined && /^multipart\//i.test(type)) {
    const multipart = multipartOf(body, type, request.template);
    if (multipart.length > 0) request.body = { multipart };
    else notes.push('the multipart body: write its parts in "multipart" of http');
  } else {
    const isForm = type !== undefined && /urlencoded/i.test(type);
    const text = isForm ? body.replace(/\n\s*/g, "") : body;
    request.setText(text, type ?? (/^[[{]/.test(body) ? undefined : "text/plain"));
  }
}

/** A request as a .http file has it. */
class WrittenRequest {
  /** The name by which other requests read its response. */
  ref = "";
  method = "GET";
  url = "";
  file = "";
  readonly headers: (readonly [name: string, value: string])[] = [];
  readonly bodyLines: string[] = [];
  /** The scripts before and after it. */
  readonly before: string[] = [];
  readonly script: string[] = [];
  readonly notes: string[] = [];
  /** Parameters that comments set. */
  params: Dict = {};
  isDisabled = false;
  firstComment = "";

  constructor(readonly title: string) {}

  get name(): string {
    return this.title || this.ref || this.firstComment;
  }

  get body(): string {
    return this.bodyLines.join("\n").trim();
  }

  get isMultipart(): boolean {
    return this.headers.some(([name, value]) =>
      /^content-type$/i.test(name) && /^multipart\//i.test(value)
    );
  }
}

/** The parts of a file between `###`, those without a request too: they may have notes. */
function readHttpRequests(file: ImportFile): WrittenRequest[] {
  let reader = new RequestReader(file, "");
  const requests: WrittenRequest[] = [];
  for (const line of linesOf(file)) {
    const [, title] = /^###+\s*(.*)$/.exec(line.text) ?? [];
    if (title === undefined) reader.read(line);
    else {
      requests.push(reader.end());
      reader = new RequestReader(file, title.trim());
    }
  }
  return [...requests, reader.end()];
}

/** What comments such as `# @no-redirect` set. */
const DIRECTIVES: Readonly<Record<string, Dict>> = {
  "no-redirect": { follow_redirects: false },
  "no-cookie-jar": { cookies: false },
  "no-reject-unauthorized": { tls: { verify: false } },
  "no-log": {},
  "no-auto-encoding": {},
  disabled: {},
};

const START = /^(?:([A-Z]{2,})\s+)?((?:[a-z]+:\/\/|\{\{|\/|(?<=^[A-Z]+\s+)[\w-]+[.:][\w-])\S.*)$/;
const VERSION = /\s+HTTP\/[\d.]+$/;

/** Reads the lines of a request. */
class RequestReader {
  readonly #request: WrittenRequest;
  #state: "before" | "headers" | "body" | "after" = "before";
  /** The end of the lines that are left out; if empty, an empty line. */
  #closing: string | undefined;
  /** The script that is read, and its offset: it must be closed. */
  #script: string[] | undefined;
  #scriptAt = 0;

  constructor(readonly file: ImportFile, title: string) {
    this.#request = new WrittenRequest(title);
  }

  /** The request, after its last line. */
  end(): WrittenRequest {
    if (this.#script || this.#closing) {
      const hint = `it ends with ${this.#closing ?? "%}"}`;
      throw problemAt(this.file, this.#scriptAt, "the script is not closed", hint);
    }
    const { url, before, notes } = this.#request;
    if (url === "" && before.length > 0) notes.push(noteOfBefore(before.join(" ")));
    return this.#request;
  }

  read(line: Line): void {
    const { text, offset } = line;
    const trimmed = text.trim();
    const { notes } = this.#request;
    if (this.#closing !== undefined) {
      const isEnd = this.#closing === "" ? trimmed === "" : trimmed.endsWith(this.#closing);
      if (isEnd) this.#closing = undefined;
    } else if (this.#script) this.#readScript(this.#script, trimmed, offset);
    else if (this.#state === "after") return;
    else if (/^\{\{[@+]?\w*$/.test(trimmed)) {
      // httpYac has its own tests and scripts, and its requests follow each other without ###.
      notes.push("the script {{ … }} of httpYac");
      this.#skipTo("}}", offset);
    } else if (this.#isNext(text)) {
      notes.push(/^[A-Z]+ /.test(trimmed) ? `${trimmed}: begin it with ###` : trimmed);
      this.#state = "after";
    } else if (/^\?\? /.test(trimmed)) notes.push(trimmed);
    else if (this.#isComment(trimmed)) this.#readComment(trimmed.replace(/^(?:#|\/\/)\s*/, ""));
    else if (this.#state === "before") this.#readStart(trimmed, offset);
    // A script or a file may follow the headers at once.
    else if (this.#state === "headers" && !/^[<>]/.test(trimmed)) this.#readHeader(line);
    else {
      this.#state = "body";
      this.#readBody(text, offset);
    }
  }

  /** Reads lines of a script until it is closed. */
  #readScript(script: string[], text: string, offset: number): void {
    if (!this.#script) this.#scriptAt = offset;
    this.#script = text.endsWith("%}") ? undefined : script;
    script.push(text.replace(/%\}$/, ""));
  }

  #skipTo(closing: string, offset: number): void {
    this.#closing = closing;
    this.#scriptAt = offset;
  }

  /** Whether a line begins another request or a response. */
  #isNext(text: string): boolean {
    const { isMultipart, bodyLines } = this.#request;
    return this.#state === "body" && !isMultipart &&
      (/^HTTP\/[\d.]+ \d/.test(text) ||
        (bodyLines.at(-1) ?? "").trim() === "" && /^[A-Z]{3,} +(?:https?:|\{\{|\/)/.test(text));
  }

  #isComment(trimmed: string): boolean {
    return /^(?:#|\/\/)/.test(trimmed) &&
      (this.#state !== "body" || /^(?:#|\/\/)\s*@/.test(trimmed));
  }

  #readComment(comment: string): void {
    const request = this.#request;
    const [, name, value = ""] = /^@([\w-]+)\s*(.*)$/.exec(comment) ?? [];
    if (name === undefined) request.firstComment ||= comment;
    else if (name === "name") request.ref = value.trim();
    else if (Object.hasOwn(DIRECTIVES, name)) {
      request.params = { ...request.params, ...DIRECTIVES[name] };
      request.isDisabled ||= name === "disabled";
    } else request.notes.push(`@${name} ${value}`.trim());
  }

  #readStart(trimmed: string, offset: number): void {
    const request = this.#request;
    if (trimmed === "" || /^@[\w.-]+\s*=/.test(trimmed)) return;
    const [, inline, file] = /^<\s*(?:\{%(.*)|(\S.*))$/.exec(trimmed) ?? [];
    if (inline !== undefined) return this.#readScript(request.before, inline, offset);
    if (file !== undefined) {
      return void request.notes.push(`the script before the request: ${file}`);
    }
    if (/^(?:curl|fragment|query|mutation|gql|import|run)\s/.test(trimmed)) {
      request.notes.push(`${trimmed}: it is no request of HTTP`);
      this.#closing = "";
      return;
    }
    const [, method = "GET", url] = START.exec(trimmed) ?? [];
    if (url === undefined) {
      throw problemAt(this.file, offset, "expected a request", "it begins with GET http://…");
    }
    request.method = method;
    request.url = url.replace(VERSION, "");
    this.#state = "headers";
  }

  #readHeader({ text, offset }: Line): void {
    const request = this.#request;
    const trimmed = text.trim();
    const header = /^([\w-]+)\s*:\s*(.*)$/.exec(trimmed);
    if (trimmed === "") this.#state = "body";
    else if (/^\s/.test(text) && (!header || /^[?&/]/.test(trimmed))) {
      request.url += trimmed.replace(VERSION, "");
    } else if (header) request.headers.push([header[1]!, header[2]!]);
    else throw problemAt(this.file, offset, "expected a header", "headers are written Name: value");
  }

  #readBody(text: string, offset: number): void {
    const { notes, script, bodyLines, isMultipart } = this.#request;
    const trimmed = text.trim();
    const [, inline] = /^>\s*\{%(.*)$/.exec(trimmed) ?? [];
    if (inline !== undefined) this.#readScript(script, inline, offset);
    else if (/^>>!?\s/.test(trimmed)) notes.push(`${trimmed}: see "save" of http`);
    else if (/^>!?\s/.test(trimmed)) notes.push(`the script ${trimmed.slice(1).trim()}`);
    else if (/^<>/.test(trimmed)) return;
    else if (/^<@?\w*\s+\S/.test(trimmed) && !isMultipart) {
      if (this.#request.file !== "") notes.push(`the body: ${trimmed}`);
      else this.#request.file = trimmed.replace(/^<@?\w*\s+/, "");
      if (trimmed.startsWith("<@")) {
        notes.push(`the variables in the file ${this.#request.file}`);
      }
    } else bodyLines.push(text);
  }
}

/**
 * The value that a JSONPath finds; a simple path becomes keys. A path that may find several values
 * gives their list, as in most tools, or the first.
 */
function jsonPathOf(path: string, several: "list" | "first" = "list"): string {
  const whole = "res.body";
  const simple = /^\$?((?:\.[A-Za-z_]\w*|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*)$/.exec(path.trim());
  if (!simple) {
    const all = `json_path(${whole}, ${quoteText(path)})`;
    return several === "list" && findsSeveral(path) ? all : `first(${all})`;
  }
  return whole + simple[1]!.replace(/\[(['"])(.*?)\1\]/g, (_, _quote, name) => keyOf(name));
}

/** Whether a JSONPath has a wildcard, a slice, a filter, a list of keys or looks at any depth. */
function findsSeveral(path: string): boolean {
  return /\.\.|\*|[?:,]/.test(path.replace(/'[^']*'|"[^"]*"/g, ""));
}
