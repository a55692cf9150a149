import { tryParseJson } from "../base/value/parse_json.ts";
import type { Value } from "../base/value/value.ts";
import type { Draft, DraftStep } from "../openapi/gen/draft.ts";
import { headerOf, literal } from "./expressions.ts";
import { type HurlEntry, readHurlEntries, unescape } from "./hurl_entries.ts";
import { assertOf, queryOf, textOf } from "./hurl_queries.ts";
import { Names } from "./import_names.ts";
import { type ImportFile, type ImportInput, type Line, problemAt } from "./input.ts";
import { RequestDraft } from "./request_draft.ts";
import type { Data } from "./template.ts";

/** Makes a workflow of a Hurl file: a step for each entry. */
export function translateHurl({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  const entries = readHurlEntries(file!);
  const title = file!.name.replace(/^.*[/\\]/, "").replace(/\.hurl$/, "");
  const steps = entries.map((entry, index) => stepOf(file!, entry, index, names));
  const job = { name: title, steps, keys: { on_failure: "stop" } };
  return { name: title, vars: names.vars, jobs: [job], notes: [] };
}

function stepOf(file: ImportFile, entry: HurlEntry, index: number, names: Names): DraftStep {
  const { method, url, request: sent, comments } = entry;
  const sections = sent.sections.filter(({ lines }) => lines.length > 0);
  const request = new RequestDraft(names);
  const { template } = request;
  request.method = method;
  request.params.follow_redirects = false;
  for (const { name, lines } of sections) {
    // Options may define variables for later entries.
    for (const { text } of name === "Options" ? lines : []) {
      const variable = /^variable\s*:\s*([\w-]+)=(.*)$/.exec(text);
      if (variable) names.define(variable[1]!, variableOf(variable[2]!));
    }
  }
  request.headers.push(...sent.headers.map(([name, value]) => [name, template(value)] as const));
  for (const { name, lines } of sections) {
    setSection(request, name, lines.map((line) => pairOf(file, line)));
  }
  if (sent.body.length > 0) setBody(request, file, sent.body);
  const name = comments.at(-1) ??
    `${index + 1}. ${method} ${url.replace(/^https?:\/\/[^/]*|\{\{[^}]*\}\}/, "")}`;
  // Before what the response gives new values to.
  request.name = template(name);
  request.url = template(url);
  addTests(request, file, entry);
  return request.step(name);
}

function setSection(
  request: RequestDraft,
  name: string,
  pairs: readonly (readonly [key: string, value: string])[],
): void {
  const { template } = request;
  const texts = pairs.map(([key, value]) => [template(key), template(value)] as const);
  switch (name) {
    case "QueryStringParams":
    case "Query":
      request.params.query = texts;
      break;
    case "FormParams":
    case "Form":
      request.body = { form: texts };
      break;
    case "MultipartFormData":
    case "Multipart":
      request.body = {
        multipart: pairs.map(([key, value]) => {
          const [, path, type] = /^file,(.*?);\s*(.*)$/.exec(value) ?? [];
          return [
            template(key),
            path === undefined
              ? template(value)
              : { file: template(path), ...type ? { type: template(type) } : {} },
          ];
        }),
      };
      break;
    case "Cookies":
      request.headers.push([
        "Cookie",
        template(pairs.map(([key, value]) => `${key}=${value}`).join("; ")),
      ]);
      break;
    case "BasicAuth": {
      const [[username, password] = ["", ""]] = texts;
      request.params.auth = { basic: { username, password } };
      break;
    }
    case "Options":
      for (const [key, value] of pairs) setOption(request, key, value);
      break;
  }
}

function addTests(request: RequestDraft, file: ImportFile, entry: HurlEntry): void {
  const { names, tests, notes } = request;
  const { response, code, version } = entry;
  if (code !== undefined && code !== "*") tests.push(`res.code == ${code}`);
  if (version === "/2") {
    request.params.version = "auto";
    tests.push('res.version == "2"');
  } else if (version !== undefined && version !== "/1.1") notes.push(`HTTP${version}`);
  const headers = response?.headers ?? [];
  for (const [name, value] of headers) {
    const isRepeated = /^set-cookie$/i.test(name) ||
      headers.filter(([one]) => one.toLowerCase() === name.toLowerCase()).length > 1;
    // Headers of one name are one text.
    const [actual, expected] = [headerOf(name), textOf(value, names)];
    tests.push(
      isRepeated
        ? `', ' + ${actual} + ', ' contains ', ' + ${expected} + ', '`
        : `${actual} == ${expected}`,
    );
  }
  for (const { name, lines } of response?.sections ?? []) {
    for (const { text, offset } of lines) {
      if (name === "Captures") {
        const [, key = "", query = ""] = /^([\w-]+)\s*:\s*(.+)$/.exec(text) ?? [];
        if (key === "") throw problemAt(file, offset, "expected name: query");
        const value = queryOf(query, names);
        const isSecret = value?.rest === "redact";
        if (!value || value.rest !== "" && !isSecret) notes.push(`the capture ${text}`);
        else {
          const { expression } = value;
          request.capture(key, isSecret ? `secret(${expression})` : expression);
        }
      } else {
        const test = assertOf(text, names);
        if (test === undefined) notes.push(`the assert ${text}`);
        else tests.push(test);
      }
    }
  }
  if (response && response.body.length > 0) addBodyTest(request, file, response.body);
  if (code === "*" && tests.length === 0) tests.push("res.code > 0");
}

function addBodyTest({ names, tests, notes }: RequestDraft, file: ImportFile, lines: Line[]) {
  const [{ offset } = { offset: 0 }] = lines;
  const text = markVariables(lines.map((line) => line.text).join("\n"));
  const expected = new RequestDraft(names, (text) => text);
  setBody(expected, file, [{ text, offset }]);
  notes.push(...expected.notes);
  const { json, body, file: path } = expected.body;
  if (json !== undefined) tests.push(`res.body == ${literalOf(json as Value, names)}`);
  else if (typeof body === "string") {
    tests.push(`(res.rawbody ?? res.body) == ${textOf(body, names)}`);
  } else if (path !== undefined) notes.push(`the body of the response: the file ${path}`);
}

function pairOf(file: ImportFile, { text, offset }: Line): readonly [key: string, value: string] {
  const [, key = "", value = ""] = /^(.+?)\s*:\s*(.*)$/.exec(text) ?? [];
  if (key === "") throw problemAt(file, offset, "expected name: value");
  return [key, unescape(value)];
}

/** The value of a variable, which is a number or a boolean without quotes. */
function variableOf(text: string): Value {
  return /^(?:true|false|-?\d.*|".*")$/.test(text) ? tryParseJson(text) ?? text : text;
}

/** Before the name of a variable that is a whole value of JSON. */
const MARK = "\ue000";

/** JSON whose variables outside of texts are texts with a mark, so that it can be parsed. */
function markVariables(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  return text.replace(
    /"(?:[^"\\]|\\.)*"|\{\{\s*([\w-]+)\s*\}\}/g,
    (whole, name) => name === undefined ? whole : JSON.stringify(MARK + name),
  );
}

/** JSON that may have variables, as an expression. */
function literalOf(value: Value, names: Names): string {
  return literal(
    value,
    (text) => text.startsWith(MARK) ? names.read(text.slice(1)) : textOf(text, names),
  );
}

function setOption(
  { params, keys, notes, template }: RequestDraft,
  key: string,
  value: string,
): void {
  switch (key) {
    case "location":
      if (value === "true") delete params.follow_redirects;
      return;
    case "insecure":
      if (value === "true") params.tls = { verify: false };
      return;
    case "retry":
      if (Number(value) < 0) notes.push("retry without an end: 1000 times");
      keys.retry = {
        interval: "1s",
        ...keys.retry as Record<string, Data>,
        max_attempts: Number(value) < 0 ? 1000 : (Number(value) || 0) + 1,
      };
      return;
    case "skip":
      if (value === "true") keys.skipif = "true";
      return;
    case "user": {
      const [username = "", password = ""] = value.split(/:(.*)/s);
      params.auth = { basic: { username: template(username), password: template(password) } };
      return;
    }
    case "retry-interval":
      keys.retry = {
        max_attempts: 1,
        ...keys.retry as Record<string, Data>,
        interval: template(durationOf(value)),
      };
      return;
    case "delay":
      keys.wait = template(durationOf(value));
      return;
    case "max-time":
      params.timeout = template(durationOf(value));
      return;
    case "proxy":
      params.proxy = template(value);
      return;
    case "max-redirs":
      params.max_redirects = Number(value) || 0;
      return;
    case "variable":
    case "compressed":
    case "verbose":
    case "very-verbose":
      return;
    default:
      notes.push(`the option ${key}: ${value}`);
  }
}

function durationOf(value: string): string {
  return /^\d+$/.test(value) ? `${value}ms` : value;
}

function setBody(request: RequestDraft, file: ImportFile, lines: readonly Line[]): void {
  const text = lines.map((line) => line.text).join("\n").trim();
  const path = /^file,(.*?);$/.exec(text)?.[1]!;
  if (path !== undefined) {
    request.body = { file: path.trim() };
    request.type = null;
    return;
  }
  if (/^(?:base64|hex),/.test(text)) {
    request.notes.push(`the body ${text.slice(0, 40)}: http sends bytes only from files`);
    request.body = {};
    return;
  }
  const block = /^```[ \t]*([\w-]*)[^\n]*\n(.*)```$/s.exec(text) ?? /^```()(.*)```$/s.exec(text);
  if (block?.[1] === "graphql") {
    const [, query = "", variables = ""] = /^(.*?)(?:\n\s*variables\s*(\{.*\}))?$/s
      .exec(block[2]!.trim())!;
    return request.setGraphql(query.trim(), variables);
  }
  const line = /^`(.*)`$/s.exec(text);
  const inner = block?.[2] ?? line?.[1] ?? text;
  const isPlain = block === null && line === null;
  if (block?.[1] === "json" || isPlain && /^[[{"]/.test(text)) {
    request.type = "application/json";
    request.setText(inner, request.contentType ?? request.type);
    if (block === null && request.body.json === undefined && !inner.includes("{{")) {
      const hint = "a text is written `text`";
      throw problemAt(file, lines[0]!.offset, "the body is not JSON", hint);
    }
    return;
  }
  const isXml = block?.[1] === "xml" || block === null && text.startsWith("<");
  request.type = isXml ? "application/xml" : null;
  request.setText(inner, request.contentType ?? "text/plain");
}
