import type { Draft, DraftStep } from "../draft/draft.ts";
import { quoteText } from "../draft/templates.ts";
import { headerOf, jsonPathOf } from "./expressions.ts";
import { Names, putVariables } from "../draft/names.ts";
import { readHttpRequests, type WrittenRequest } from "./http_requests.ts";
import { type ImportInput, linesOf, problemAt } from "./input.ts";
import { multipartOf, RequestDraft, withScheme } from "../draft/request_draft.ts";
import { translateScripts } from "./script_tests.ts";

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
  return request.step(name);
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
