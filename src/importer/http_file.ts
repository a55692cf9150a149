import type { Dict, Value } from "../base/value/value.ts";
import type { Draft, DraftStep } from "../openapi/gen/draft.ts";
import { quoteText } from "../openapi/gen/templates.ts";
import { headerOf, jsonPathOf } from "./expressions.ts";
import { Names, putVariables } from "./import_names.ts";
import { type ImportFile, type ImportInput, type Line, linesOf, problemAt } from "./input.ts";
import { RequestDraft } from "./request_draft.ts";
import { translateScripts } from "./script_tests.ts";

/** A request as the file has it. */
interface Written {
  readonly name: string;
  /** The name by which other requests read its response. */
  readonly ref: string;
  readonly method: string;
  readonly url: string;
  readonly headers: (readonly [name: string, value: string])[];
  readonly body: string;
  readonly file: string;
  readonly script: readonly string[];
  readonly notes: string[];
  /** Parameters that comments set. */
  readonly params: Dict;
  readonly isDisabled: boolean;
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
const REFERENCE = /\{\{\s*([\w-]+)\.response\.(body|headers)\.([^{}]+?)\s*\}\}/g;

const VARIABLE = /\{\{\s*([\w.-]+)\s*\}\}/g;

/** Makes a workflow of a file of requests as the HTTP clients of editors read it. */
export function translateHttpFile({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  /** Variables of what a response has, which vars cannot be: their texts are put in their places. */
  const late = new Map<string, string>();
  const parts = splitRequests(file!);
  for (const { lines } of parts) {
    for (const { text } of lines) {
      const [, name, value = ""] = /^@([\w.-]+)\s*=\s*(.*)$/.exec(text.trim()) ?? [];
      if (name === undefined) continue;
      if (readsLate(value, late)) late.set(name, value.trim());
      else names.define(name, value.trim());
    }
  }
  const notes: string[] = [];
  const written = parts.map((part) => readRequest(file!, part, notes))
    .filter((one) => one !== undefined);
  const isOther = ({ method }: Written) =>
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

interface Part {
  readonly title: string;
  readonly lines: Line[];
}

function splitRequests(file: ImportFile): Part[] {
  const parts: Part[] = [{ title: "", lines: [] }];
  for (const line of linesOf(file)) {
    const mark = /^###+\s*(.*)$/.exec(line.text);
    if (mark) parts.push({ title: mark[1]!.trim(), lines: [] });
    else parts.at(-1)!.lines.push(line);
  }
  return parts;
}

/** The request of a part; where there is none, its notes are put outside. */
function readRequest(
  file: ImportFile,
  { title, lines }: Part,
  outside: string[],
): Written | undefined {
  const headers: [string, string][] = [];
  const body: string[] = [];
  const script: string[] = [];
  const notes: string[] = [];
  let [ref, first, url, method, bodyFile] = ["", "", "", "GET", ""];
  let params: Dict = {};
  let isDisabled = false;
  let state: "before" | "headers" | "body" | "script" = "before";
  /** What ends the lines that are left out; an empty line where it is empty. */
  let closing: string | undefined;
  let scriptAt = 0;
  for (const { text, offset } of lines) {
    const trimmed = text.trim();
    if (closing !== undefined) {
      if (closing === "" ? trimmed === "" : trimmed.endsWith(closing)) closing = undefined;
      continue;
    }
    if (state === "script") {
      script.push(trimmed.replace(/%\}$/, ""));
      if (trimmed.endsWith("%}")) state = "body";
      continue;
    }
    // httpYac has tests and scripts of its own, and its requests follow each other without ###.
    if (/^\{\{[@+]?\w*$/.test(trimmed)) {
      notes.push("the script {{ … }} of httpYac");
      [closing, scriptAt] = ["}}", offset];
      continue;
    }
    const isNext = state === "body" && !isMultipart(headers) &&
      (/^HTTP\/[\d.]+ \d/.test(text) ||
        (body.at(-1) ?? "").trim() === "" && /^[A-Z]{3,} +(?:https?:|\{\{|\/)/.test(text));
    if (isNext || /^\?\? /.test(trimmed)) {
      notes.push(/^[A-Z]+ /.test(trimmed) ? `${trimmed}: begin it with ###` : trimmed);
      if (isNext) break;
      continue;
    }
    const comment = /^(?:#|\/\/)\s*(.*)$/.exec(trimmed);
    if (comment && (state !== "body" || /^@/.test(comment[1]!))) {
      const directive = /^@([\w-]+)\s*(.*)$/.exec(comment[1]!);
      if (directive?.[1] === "name") ref = directive[2]!.trim();
      else if (directive && Object.hasOwn(DIRECTIVES, directive[1]!)) {
        params = { ...params, ...DIRECTIVES[directive[1]!] };
        isDisabled ||= directive[1] === "disabled";
      } else if (directive) notes.push(`@${directive[1]} ${directive[2]}`.trim());
      else if (first === "") first = comment[1]!;
      continue;
    }
    // A script or a file may follow the headers at once.
    if (state === "headers" && /^[<>]/.test(trimmed)) state = "body";
    if (state === "before") {
      if (trimmed === "" || /^@[\w.-]+\s*=/.test(trimmed)) continue;
      if (trimmed.startsWith("<") && trimmed.includes("{%")) {
        notes.push("the script before the request");
        if (!trimmed.endsWith("%}")) [closing, scriptAt] = ["%}", offset];
        continue;
      }
      if (/^(?:curl|fragment|query|mutation|gql|import|run)\s/.test(trimmed)) {
        notes.push(`${trimmed}: it is no request of HTTP`);
        closing = "";
        continue;
      }
      const start = START.exec(trimmed);
      if (!start) {
        throw problemAt(file, offset, "expected a request", "it begins with GET http://…");
      }
      method = start[1] ?? "GET";
      url = start[2]!;
      state = "headers";
    } else if (state === "headers") {
      const header = /^([\w-]+)\s*:\s*(.*)$/.exec(trimmed);
      if (trimmed === "") state = "body";
      else if (/^\s/.test(text) && (!header || /^[?&/]/.test(trimmed))) url += trimmed;
      else if (header) headers.push([header[1]!, header[2]!]);
      else throw problemAt(file, offset, "expected a header", "headers are written Name: value");
    } else if (/^>>?!?\s/.test(trimmed) || /^>\s*\{%/.test(trimmed)) {
      const inline = /^>\s*\{%(.*?)(%\})?$/s.exec(trimmed);
      if (!inline) {
        notes.push(
          trimmed.startsWith(">>")
            ? `${trimmed}: see "save" of http`
            : `the script ${trimmed.slice(1).trim()}`,
        );
      } else {
        script.push(inline[1]!);
        if (!inline[2]) [state, scriptAt] = ["script", offset];
      }
    } else if (/^<>/.test(trimmed)) continue;
    else if (/^<@?\w*\s+\S/.test(trimmed) && !isMultipart(headers)) {
      if (bodyFile !== "") notes.push(`the body: ${trimmed}`);
      else bodyFile = trimmed.replace(/^<@?\w*\s+/, "");
      if (trimmed.startsWith("<@")) notes.push(`the variables in the file ${bodyFile}`);
    } else body.push(text);
  }
  if (state === "script" || closing) {
    throw problemAt(file, scriptAt, "the script is not closed", `it ends with ${closing ?? "%}"}`);
  }
  if (url === "") {
    outside.push(...notes);
    return undefined;
  }
  url = url.replace(/\s+HTTP\/[\d.]+$/, "");
  return {
    name: title || ref || first,
    ref,
    method,
    url,
    headers,
    body: body.join("\n").trim(),
    file: bodyFile,
    script,
    notes,
    params,
    isDisabled,
  };
}

function isMultipart(headers: readonly (readonly [name: string, value: string])[]): boolean {
  return headers.some(([name, value]) =>
    /^content-type$/i.test(name) && /^multipart\//i.test(value)
  );
}

function stepOf(
  written: Written,
  names: Names,
  read: Readonly<Record<string, string>>,
  late: ReadonlyMap<string, string>,
): DraftStep {
  const { name, method, url, body, file } = written;
  const request = new RequestDraft(names, (text) => names.template(putVariables(text, late)));
  const { template, notes } = request;
  Object.assign(request.params, written.params);
  notes.push(...written.notes);
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
  const address = /^(?:[a-z]+:\/\/|\{\{)/.test(url)
    ? url
    : `http://${url.startsWith("/") ? host ?? "localhost" : ""}${url}`;
  const path = address.replace(/^https?:\/\/[^/]*/, "").replace(/^\{\{[^}]*\}\}/, "");
  request.name = template(name === "" ? `${method} ${path || "/"}` : name);
  request.method = method === "GRAPHQL" ? "POST" : method;
  request.url = template(address);
  if (written.isDisabled) request.keys.skipif = "true";
  Object.assign(request.outputs, read);
  translateScripts([written.script.join("\n")], request);
  return request.step(name);
}

function addHeader(
  { headers, params, notes, template }: RequestDraft,
  name: string,
  value: string,
) {
  // `Basic user password` and `Basic user:password` are not encoded yet, a digest is not made.
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
    request.body = { file };
  } else if (type !== undefined && /^multipart\//i.test(type)) {
    const multipart = partsOf(body, type, request.template);
    if (multipart.length > 0) request.body = { multipart };
    else notes.push('the multipart body: write its parts in "multipart" of http');
  } else {
    const isForm = type !== undefined && /urlencoded/i.test(type);
    const text = isForm ? body.replace(/\n\s*/g, "") : body;
    request.setText(text, type ?? (/^[[{]/.test(body) ? undefined : "text/plain"));
  }
}

/** The parts of a multipart body; none if it is not written as one. */
function partsOf(
  body: string,
  type: string,
  template: (text: string) => string,
): (readonly [name: string, value: Value])[] {
  const [, boundary = ""] = /boundary="?([^";\s]+)/i.exec(type) ?? [];
  const end = boundary === "" ? -1 : body.indexOf(`--${boundary}--`);
  if (end < 0) return [];
  const parts = `\n${body.slice(0, end)}`.split(`\n--${boundary}\n`).slice(1);
  return parts.flatMap((part): (readonly [string, Value])[] => {
    const [head = "", content = ""] = part.trim().split(/\n[ \t]*\n([^]*)/);
    const field = (name: string) => new RegExp(`[;\\s]${name}="([^"]*)"`, "i").exec(head)?.[1];
    const name = field("name");
    if (name === undefined) return [];
    const [, media] = /^content-type\s*:\s*(.+)$/im.exec(head) ?? [];
    const filename = field("filename");
    const keys = { ...media ? { type: media.trim() } : {}, ...filename ? { filename } : {} };
    const [, file] = /^<@?\s+(\S.*)$/.exec(content.trim()) ?? [];
    if (file !== undefined) return [[name, { file: file.trim(), ...keys }]];
    const text = template(content.trim());
    return [[name, Object.keys(keys).length === 0 ? text : { value: text, ...keys }]];
  });
}
