import { tryParseJson } from "../base/value/parse_json.ts";
import { type Data, type Draft, type DraftStep, mapTexts, Template } from "../draft/draft.ts";
import { headerOf } from "./expressions.ts";
import {
  type HurlEntry,
  jsonParts,
  MARK,
  markVariables,
  type Pair,
  type Parts,
  partsOf,
  readHurlEntries,
  type Token,
  unescape,
  writePart,
} from "./hurl_entries.ts";
import { BODY, bodyHash, hashOf, QueryReader, SENT_ONCE } from "./hurl_queries.ts";
import { Variables } from "./hurl_variables.ts";
import { Names } from "../draft/names.ts";
import type { ImportInput } from "./input.ts";
import { RequestDraft } from "../draft/request_draft.ts";

/** Makes a workflow of a Hurl file: a step for each entry. */
export function translateHurl({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  const variables = new Variables(names);
  const entries = readHurlEntries(file!);
  const title = file!.name.replace(/^.*[/\\]/, "").replace(/\.hurl$/, "");
  const steps = entries.map((entry, index) => stepOf(entry, index, variables));
  // Hurl follows no redirect, and asks for no compression, unless an entry says so.
  const defaults = { http: { follow_redirects: false, headers: { "Accept-Encoding": null } } };
  const job = { name: title, steps, keys: { on_failure: "stop", defaults } };
  return { name: title, vars: names.vars, jobs: [job], notes: [] };
}

function stepOf(entry: HurlEntry, index: number, variables: Variables): DraftStep {
  const { method, url, request: sent, comment } = entry;
  const request = new RequestDraft(variables.names);
  const sections = sent.sections.filter(({ lines }) => lines.length > 0);
  const options = sections.flatMap(({ name, lines }) => name === "Options" ? lines : []);
  for (const { raw } of options.filter(({ key }) => key.join("") === "variable")) {
    const [, name, value] = /^([\w-]+)\s*=\s*(.*)$/s.exec(raw) ?? [];
    if (name === undefined) request.notes.push(`the option variable: ${raw}`);
    else variables.define(name, value!);
  }
  request.method = method;
  for (const { key, value } of sent.headers) {
    request.headers.push([key.map(writePart).join(""), variables.dataOf(value)]);
  }
  for (const { name, lines } of sections) setSection(request, name, lines, variables);
  for (const option of options) setOption(request, option, variables);
  if (sent.body) setBody(request, sent.body, variables);
  const path = url.replace(/^(?:https?:\/\/[^/]*|\{\{.*?\}\})/, "").replaceAll(
    /\{(\{.*?\})\}/g,
    "$1",
  );
  request.name = comment ?? `${index + 1}. ${method} ${path}`;
  // Before what the response gives new values to.
  request.url = variables.dataOf(partsOf(url));
  addTests(request, entry, variables);
  return request.step();
}

function setSection(
  request: RequestDraft,
  name: string,
  lines: readonly Pair[],
  variables: Variables,
): void {
  const write = (parts: Parts) => variables.dataOf(parts);
  const pairs = lines.map(({ key, value }) => [write(key), write(value)] as const);
  switch (name) {
    case "QueryStringParams":
    case "Query":
      request.params.query = pairs;
      break;
    case "FormParams":
    case "Form":
      request.body = { form: pairs };
      break;
    case "MultipartFormData":
    case "Multipart":
      request.body = {
        multipart: lines.map(({ key, raw, value }) => {
          const [, path, type] = /^file,\s*((?:\\.|[^;\\])*?)\s*;\s*(.*)$/s.exec(raw) ?? [];
          const file = path !== undefined && {
            file: write(unescape(path)),
            ...type ? { type: write(partsOf(type)) } : {},
          };
          return [write(key), file || write(value)];
        }),
      };
      break;
    case "Cookies":
      request.headers.push([
        "Cookie",
        write(lines.flatMap(({ key, value }, index) => [
          ...index > 0 ? ["; "] : [],
          ...key,
          "=",
          ...value,
        ])),
      ]);
      break;
    case "BasicAuth": {
      const [[username, password] = ["", ""]] = pairs;
      request.params.auth = { basic: { username, password } };
      break;
    }
  }
}

function addTests(request: RequestDraft, entry: HurlEntry, variables: Variables): void {
  const { tests, notes } = request;
  const { response, code, version } = entry;
  if (code !== undefined && code !== "*") tests.push(`res.code == ${code}`);
  if (version === "/2" || version === "/1.1") {
    request.params.version = "auto";
    tests.push(`res.version == "${version.slice(1)}"`);
  } else if (version !== undefined) notes.push(`HTTP${version}`);
  const linesOf = (section: string) =>
    (response?.sections ?? []).flatMap(({ name, lines }) => name === section ? lines : []);
  const captured: string[] = [];
  for (const { key, raw, tokens } of linesOf("Captures")) {
    const name = key.map(writePart).join("");
    const capture = new QueryReader(tokens, variables).capture();
    if (capture) {
      if (capture.found !== undefined) tests.push(capture.found);
      request.capture(name, capture.value);
      variables.capture(name, capture.value);
      captured.push(name);
    } else notes.push(`the capture ${name}: ${raw}`);
  }
  variables.endCaptures(captured);
  for (const { key, value } of response?.headers ?? []) {
    tests.push(headerTest(key.map(writePart).join(""), variables.textOf(value)));
  }
  if (response?.body) addBodyTest(request, response.body, variables);
  for (const { raw, tokens } of linesOf("Asserts")) {
    const test = new QueryReader(tokens, variables).assert();
    if (test === undefined) notes.push(`the assert ${raw}`);
    else tests.push(test);
  }
  // Without a response, any will do.
  if (tests.length === 0) tests.push("res.code > 0");
}

/** Tests that a header has a value, among others if it was sent several times. */
function headerTest(name: string, expected: string): string {
  if (/^set-cookie$/i.test(name)) return `${expected} in map(res.cookies, .raw)`;
  const value = headerOf(name);
  const values = value.replace("res.headers", "res.repeated_headers?.");
  return SENT_ONCE.test(name)
    ? `${value} == ${expected}`
    : `${expected} in (${values} ?? [${value}])`;
}

/** A longer one would leave an expression no room. */
const LONGEST_TEXT = 5000;

function addBodyTest({ tests, notes }: RequestDraft, body: Token, variables: Variables): void {
  const hash = bodyHash(body);
  const parts = textIn(body);
  if (hash !== undefined) tests.push(`res.sha256 == ${hash}`);
  else if (parts === undefined) notes.push("the body of the response");
  else {
    const expected = variables.textOf(parts);
    const isShort = expected.length < LONGEST_TEXT;
    const hashed = parts.every((part) => typeof part === "string") && hashOf(parts.join(""));
    if (parts.length === 0) tests.push("res.size == 0");
    else if (isShort) tests.push(`${BODY} == ${expected}`);
    else if (hashed) tests.push(`sha256${BODY} == ${hashed}`);
    else notes.push("the body of the response, which is long and has variables");
  }
}

/** The exact text of a body that is one. */
function textIn(body: Token): Parts | undefined {
  if (body.kind === "text") return body.parts;
  if (body.kind === "json") return jsonParts(body.json);
  if (body.kind !== "graphql") return undefined;
  const { query, variables } = body;
  const written = JSON.stringify(query.map(writePart).join(""));
  return jsonParts(`{"query":${written}${variables && `,"variables":${variables}`}}`);
}

function setOption(request: RequestDraft, { key, raw, value }: Pair, variables: Variables): void {
  const { params, keys, notes } = request;
  const name = key.join("");
  const constant = value.map((part) =>
    typeof part === "string" ? part : variables.constant(part.variable) ?? null
  );
  const [only] = value;
  const text = constant.join("");
  const isKnown = !constant.includes(null) || /^(?:user|proxy|variable)$/.test(name);
  switch (isKnown ? name : "") {
    case "location":
      if (text === "true") {
        Object.assign(params, { max_redirects: 50, ...params, follow_redirects: true });
      }
      return;
    case "max-redirs":
      params.max_redirects = Number(text);
      return;
    case "insecure":
      if (text === "true") params.tls = { verify: false };
      return;
    case "compressed":
      if (text === "true") request.headers.push(["Accept-Encoding", "gzip, deflate"]);
      return;
    case "retry":
    case "retry-interval": {
      const count = Number(text);
      if (count < 0) notes.push("retry without an end: 1000 times");
      keys.retry = {
        ...{ max_attempts: 1, interval: "1s", ...keys.retry as Record<string, Data> },
        ...name === "retry"
          ? { max_attempts: count < 0 ? 1000 : count + 1 }
          : { interval: durationOf(text, "ms") },
      };
      return;
    }
    case "skip":
      if (text === "true") keys.skipif = "true";
      return;
    case "delay":
      keys.wait = durationOf(text, "ms");
      return;
    case "max-time":
      params.timeout = durationOf(text, "s");
      return;
    case "user": {
      const [username = "", password = ""] = raw.split(/:(.*)/s)
        .map((part) => variables.dataOf(unescape(part)));
      params.auth = { basic: { username, password } };
      return;
    }
    case "proxy":
      params.proxy = variables.dataOf(value);
      return;
    case "variable":
    case "verbose":
    case "very-verbose":
      return;
    default:
      if (name === "skip" && value.length === 1 && typeof only === "object") {
        keys.skipif = variables.valueOf(only.variable);
      } else notes.push(`the option ${name}: ${raw}`);
  }
}

function durationOf(value: string, unit: string): string {
  return /^\d+$/.test(value) ? `${value}${unit}` : value;
}

function setBody(request: RequestDraft, body: Token, variables: Variables): void {
  if (body.kind === "file") {
    request.body = { file: variables.dataOf(body.path) };
    request.type = null;
    return;
  }
  if (body.kind === "bytes") {
    request.type = null;
    try {
      request.body = { body: new TextDecoder("utf-8", { fatal: true }).decode(body.bytes) };
    } catch {
      request.notes.push("the body in bytes: http sends them from files");
    }
    return;
  }
  const isJson = body.kind !== "text" || body.language === "json";
  request.type = isJson
    ? "application/json"
    : body.kind === "text" && body.language === "xml"
    ? "application/xml"
    : null;
  if (body.kind === "graphql") {
    const data = body.variables === "" ? undefined : dataIn(body.variables, variables);
    if (body.variables === "" || data !== undefined) {
      const query = variables.dataOf(body.query);
      request.body = { graphql: { query, ...data === undefined ? {} : { variables: data } } };
      return;
    }
  }
  const json = body.kind === "json" ? dataIn(body.json, variables) : undefined;
  request.body = json === undefined || json === null
    ? { body: variables.dataOf(textIn(body)!) }
    : { json };
}

/** JSON as data; undefined if the same data would be written in another way. */
function dataIn(json: string, variables: Variables): Data | undefined {
  const marked = markVariables(json);
  const value = tryParseJson(marked);
  const plain = marked.replace(/("(?:[^"\\]|\\.)*")|\s+/gs, "$1");
  const hasVariableKey = /\}\}(?:[^"\\]|\\.)*"\s*:/s.test(marked);
  if (value === undefined || JSON.stringify(value) !== plain || hasVariableKey) return undefined;
  return mapTexts(value as Data<string>, (text) => {
    if (!text.startsWith(MARK)) return variables.dataOf(partsOf(text), true);
    const name = text.slice(1);
    const read = variables.read(name);
    const isText = typeof (variables.constant(name) ?? "") === "string";
    // One from outside that is not set is an error.
    const value = variables.isKnown(name) ? `${read} ?? 'null'` : read;
    return new Template(`{{${isText ? `fromJSON(string(${value}))` : read}}}`);
  });
}
