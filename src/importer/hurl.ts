import { tryParseJson } from "../base/value/parse_json.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Draft, DraftStep } from "../openapi/gen/draft.ts";
import type { ImportFile, ImportInput, Line } from "./draft.ts";
import { headerOf, literal } from "./expressions.ts";
import { bodyOf, graphqlOf, httpStep, idOf } from "./http_step.ts";
import { type HurlEntry, readHurlEntries, unescape } from "./hurl_entries.ts";
import { assertOf, queryOf, textOf } from "./hurl_queries.ts";
import { Names } from "./import_names.ts";
import { problemAt } from "./import_problem.ts";

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
  const { method, url, request, response, code, version, comments } = entry;
  const sections = request.sections.filter(({ lines }) => lines.length > 0);
  const notes: string[] = [];
  const template = (text: string) => names.template(text);
  const more: Record<string, Value> = { follow_redirects: false };
  const keys: Record<string, Value> = {};
  for (const { name, lines } of sections) {
    // Options may define variables for what comes.
    for (const { text } of name === "Options" ? lines : []) {
      const variable = /^variable\s*:\s*([\w-]+)=(.*)$/.exec(text);
      if (variable) names.define(variable[1]!, variableOf(variable[2]!));
    }
  }
  const headers = request.headers.map(([name, value]) => [name, template(value)] as const);
  let body: Dict = {};
  let media: string | null | undefined;
  for (const { name, lines } of sections) {
    const pairs = () =>
      lines.map((line) => pairOf(file, line)).map(([key, value]) =>
        [key, template(value)] as const
      );
    switch (name) {
      case "QueryStringParams":
      case "Query":
        more.query = pairs();
        break;
      case "FormParams":
      case "Form":
        body = { form: pairs() };
        break;
      case "MultipartFormData":
      case "Multipart":
        body = {
          multipart: pairs().map(([key, value]) => {
            const [, path, type] = /^file,(.*?);\s*(.*)$/.exec(value) ?? [];
            const part = { file: path ?? "", ...type ? { type } : {} };
            return [key, path === undefined ? value : part];
          }),
        };
        break;
      case "Cookies":
        headers.push(["Cookie", pairs().map(([key, value]) => `${key}=${value}`).join("; ")]);
        break;
      case "BasicAuth": {
        const [[username, password] = ["", ""]] = pairs();
        more.auth = { basic: { username, password } };
        break;
      }
      case "Options":
        for (const [key, value] of pairs()) option(key, value, more, keys, notes);
        break;
    }
  }
  const type = headers.find(([name]) => /^content-type$/i.test(name))?.[1];
  if (request.body.length > 0) {
    ({ body, type: media } = bodyOfLines(file, request.body, type, template, notes));
  }
  const name = comments.at(-1) ??
    `${index + 1}. ${method} ${url.replace(/^https?:\/\/[^/]*|\{\{[^}]*\}\}/, "")}`;
  // Before what the response gives new values to.
  const [title, address] = [template(name), template(url)];
  const tests = code === undefined || code === "*" ? [] : [`res.code == ${code}`];
  if (version === "/2") {
    more.version = "auto";
    tests.push('res.version == "2"');
  } else if (version !== undefined && version !== "/1.1") notes.push(`HTTP${version}`);
  const all = response?.headers ?? [];
  for (const [name, value] of all) {
    const isRepeated = /^set-cookie$/i.test(name) ||
      all.filter(([one]) => one.toLowerCase() === name.toLowerCase()).length > 1;
    // Headers of one name are one text.
    const [actual, expected] = [headerOf(name), textOf(value, names)];
    tests.push(
      isRepeated
        ? `', ' + ${actual} + ', ' contains ', ' + ${expected} + ', '`
        : `${actual} == ${expected}`,
    );
  }
  const outputs: Record<string, string> = {};
  for (const { name, lines } of response?.sections ?? []) {
    for (const { text, offset } of lines) {
      if (name === "Captures") {
        const [, key = "", query = ""] = /^([\w-]+)\s*:\s*(.+)$/.exec(text) ?? [];
        if (key === "") throw problemAt(file, offset, "expected name: query");
        const value = queryOf(query, names);
        const isSecret = value?.rest === "redact";
        if (!value || value.rest !== "" && !isSecret) notes.push(`the capture ${text}`);
        else {
          outputs[names.captureAnew(key)] = isSecret
            ? `secret(${value.expression})`
            : value.expression;
        }
      } else {
        const test = assertOf(text, names);
        if (test === undefined) notes.push(`the assert ${text}`);
        else tests.push(test);
      }
    }
  }
  if (response && response.body.length > 0) {
    const [{ offset } = { offset: 0 }] = response.body;
    const { body: { json, body: text, file: path } } = bodyOfLines(
      file,
      [{ text: markVariables(response.body.map((line) => line.text).join("\n")), offset }],
      undefined,
      (text) => text,
      notes,
    );
    if (json !== undefined) tests.push(`res.body == ${literalOf(json, names)}`);
    else if (typeof text === "string") {
      tests.push(`(res.rawbody ?? res.body) == ${textOf(text, names)}`);
    } else if (path !== undefined) notes.push(`the body of the response: the file ${path}`);
  }
  if (code === "*" && tests.length === 0) tests.push("res.code > 0");
  return httpStep({
    name: title,
    method,
    url: address,
    headers,
    body,
    type: media,
    more,
    keys,
    tests,
    outputs,
    ...idOf(outputs, name),
    notes,
  });
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

function option(
  key: string,
  value: string,
  more: Record<string, Value>,
  keys: Record<string, Value>,
  notes: string[],
): void {
  switch (key) {
    case "location":
      if (value === "true") delete more.follow_redirects;
      return;
    case "insecure":
      if (value === "true") more.tls = { verify: false };
      return;
    case "retry":
      if (Number(value) < 0) notes.push("retry without an end: 1000 times");
      keys.retry = {
        interval: "1s",
        ...keys.retry as Dict,
        max_attempts: Number(value) < 0 ? 1000 : (Number(value) || 0) + 1,
      };
      return;
    case "skip":
      if (value === "true") keys.skipif = "true";
      return;
    case "user": {
      const [username = "", password = ""] = value.split(/:(.*)/s);
      more.auth = { basic: { username, password } };
      return;
    }
    case "retry-interval":
      keys.retry = { max_attempts: 1, ...keys.retry as Dict, interval: durationOf(value) };
      return;
    case "delay":
      keys.wait = durationOf(value);
      return;
    case "max-time":
      more.timeout = durationOf(value);
      return;
    case "proxy":
      more.proxy = value;
      return;
    case "max-redirs":
      more.max_redirects = Number(value) || 0;
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

interface Body {
  readonly body: Dict;
  /** The content type that Hurl sends with it, null for none. */
  readonly type?: string | null;
}

function bodyOfLines(
  place: ImportFile,
  lines: readonly Line[],
  type: string | undefined,
  translate: (text: string) => string,
  notes: string[],
): Body {
  const text = lines.map((line) => line.text).join("\n").trim();
  const file = /^file,(.*?);$/.exec(text);
  if (file) return { body: { file: file[1]!.trim() }, type: null };
  if (/^(?:base64|hex),/.test(text)) {
    notes.push(`the body ${text.slice(0, 40)}: http sends bytes only from files`);
    return { body: {} };
  }
  const block = /^```[ \t]*([\w-]*)[^\n]*\n(.*)```$/s.exec(text) ?? /^```()(.*)```$/s.exec(text);
  if (block?.[1] === "graphql") {
    const [, query = "", variables = ""] = /^(.*?)(?:\n\s*variables\s*(\{.*\}))?$/s
      .exec(block[2]!.trim())!;
    return graphqlOf(query.trim(), variables, translate);
  }
  const line = /^`(.*)`$/s.exec(text);
  const inner = block?.[2] ?? line?.[1] ?? text;
  const isJson = block?.[1] === "json" || block === null && line === null && /^[[{"]/.test(text);
  if (isJson) {
    const json = "application/json";
    const body = bodyOf(inner, type ?? json, translate);
    if (block === null && body.json === undefined && !inner.includes("{{")) {
      throw problemAt(place, lines[0]!.offset, "the body is not JSON", "a text is written `text`");
    }
    return { body, type: json };
  }
  const isXml = block?.[1] === "xml" || block === null && text.startsWith("<");
  return {
    body: bodyOf(inner, type ?? "text/plain", translate),
    type: isXml ? "application/xml" : null,
  };
}
