import { quoteText } from "../openapi/make/literal.ts";
import type { Dict, Value } from "../value/value.ts";
import type { Draft, DraftStep, ImportFile, ImportInput } from "./draft.ts";
import { headerOf, literal } from "./expressions.ts";
import { bodyOf, httpStep, idOf } from "./http_step.ts";
import { assertOf, queryOf, textOf } from "./hurl_queries.ts";
import { Names } from "./names.ts";
import { problemAt } from "./problem.ts";

/** A line of a file, without its comment, with its place. */
interface Line {
  readonly text: string;
  readonly offset: number;
}

/** A part of an entry: `[Asserts]` and its lines. */
interface Section {
  readonly name: string;
  readonly lines: Line[];
}

interface Message {
  readonly headers: (readonly [name: string, value: string])[];
  readonly sections: Section[];
  /** The lines of the body, as they are. */
  readonly body: Line[];
}

interface Entry {
  readonly method: string;
  readonly url: string;
  readonly request: Message;
  /** The code that the response must have, or `*`. */
  readonly code?: string;
  readonly response?: Message;
  readonly comments: readonly string[];
}

const METHOD = /^([A-Z]{3,})\s+(\S.*)$/;
const RESPONSE = /^HTTP(?:\/[\d.]+)?\s+(\d{3}|\*)\s*$/;
const HEADER = /^([\w!#$%&'*+.^`|~{}-]+)\s*:\s*(.*)$/;

/** Makes a workflow of a Hurl file: a step for each entry. */
export function translateHurl({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  const entries = readEntries(file!);
  const title = file!.name.replace(/^.*[/\\]/, "").replace(/\.hurl$/, "");
  const steps = entries.map((entry, index) => stepOf(file!, entry, index, names));
  return { name: title, vars: names.vars, jobs: [{ name: title, steps }], notes: [] };
}

function readEntries(file: ImportFile): Entry[] {
  let offset = 0;
  const lines = file.text.split("\n").map((raw): Line => {
    const line = { text: raw.replace(/\r$/, ""), offset };
    offset += raw.length + 1;
    return line;
  });
  const entries: Entry[] = [];
  let at = 0;
  let comments: string[] = [];
  for (; at < lines.length; at++) {
    const text = lines[at]!.text.trim();
    if (text.startsWith("#")) comments.push(text.replace(/^#+\s*/, ""));
    if (text === "" || text.startsWith("#")) continue;
    const start = METHOD.exec(text);
    if (!start) {
      throw problemAt(
        file,
        lines[at]!.offset,
        "expected a request",
        "an entry begins with GET http://…",
      );
    }
    const [request, afterRequest] = readMessage(file, lines, at + 1);
    const status = RESPONSE.exec(lines[afterRequest]?.text.trim() ?? "");
    const [response, after] = status
      ? readMessage(file, lines, afterRequest + 1)
      : [undefined, afterRequest] as const;
    entries.push({
      method: start[1]!,
      url: withoutComment(start[2]!),
      request,
      ...status ? { code: status[1]! } : {},
      ...response ? { response } : {},
      comments,
    });
    comments = [];
    at = after - 1;
  }
  if (entries.length === 0) throw problemAt(file, 0, "there is no request in the file");
  return entries;
}

/** Reads headers, sections and a body from a line on; the number is that of the line after them. */
function readMessage(
  file: ImportFile,
  lines: readonly Line[],
  from: number,
): [message: Message, next: number] {
  const message: Message = { headers: [], sections: [], body: [] };
  let at = from;
  const ends = (text: string) => METHOD.test(text) || RESPONSE.test(text);
  for (; at < lines.length; at++) {
    const { text, offset } = lines[at]!;
    const trimmed = withoutComment(text.trim());
    if (trimmed === "") continue;
    if (ends(trimmed)) return [message, at];
    const section = /^\[(\w+)\]$/.exec(trimmed);
    if (section) message.sections.push({ name: section[1]!, lines: [] });
    else if (/^(?:[[{`<]|"|base64,|hex,|file,)/.test(trimmed)) {
      at = readBody(file, lines, at, message);
    } else if (message.sections.length > 0) {
      message.sections.at(-1)!.lines.push({
        text: trimmed,
        offset: offset + text.indexOf(trimmed),
      });
    } else {
      const header = HEADER.exec(trimmed);
      if (!header) {
        throw problemAt(
          file,
          offset,
          `expected a header, a section or a body`,
          "headers are written Name: value",
        );
      }
      message.headers.push([header[1]!, header[2]!]);
    }
  }
  return [message, at];
}

/** Takes the lines of a body; the number is that of its last line. */
function readBody(
  file: ImportFile,
  lines: readonly Line[],
  from: number,
  { body }: Message,
): number {
  const first = lines[from]!.text.trim();
  body.push(lines[from]!);
  if (first.startsWith("```")) {
    if (/^```.*```$/.test(first) && first.length > 5) return from;
    for (let at = from + 1; at < lines.length; at++) {
      body.push(lines[at]!);
      if (lines[at]!.text.trim().endsWith("```")) return at;
    }
    throw problemAt(file, lines[from]!.offset, "the body ``` is not closed");
  }
  if (/^(?:`|"|base64,|hex,|file,)/.test(first)) return from;
  let at = from;
  while (at + 1 < lines.length) {
    const next = lines[at + 1]!.text.trim();
    if (METHOD.test(next) || RESPONSE.test(next)) break;
    body.push(lines[++at]!);
  }
  return at;
}

/** A comment begins with a # after a blank. */
function withoutComment(text: string): string {
  return text.startsWith("#") ? "" : text.replace(/\s+#(?![^"]*"\s*$).*$/, "");
}

function stepOf(file: ImportFile, entry: Entry, index: number, names: Names): DraftStep {
  const { method, url, request, response, code, comments } = entry;
  const notes: string[] = [];
  const template = (text: string) => names.template(text);
  const more: Record<string, Value> = { follow_redirects: false };
  const keys: Record<string, Value> = {};
  for (const { name, lines } of request.sections) {
    // Options may define variables for what comes.
    for (const { text } of name === "Options" ? lines : []) {
      const variable = /^variable\s*:\s*([\w-]+)=(.*)$/.exec(text);
      if (variable) names.define(variable[1]!, variable[2]!.replace(/^"(.*)"$/, "$1"));
    }
  }
  const headers = request.headers.map(([name, value]) => [name, template(value)] as const);
  let body: Dict = {};
  for (const { name, lines } of request.sections) {
    const pairs = () =>
      lines.map((line) => pairOf(file, line)).map(([key, value]) =>
        [key, template(value)] as const
      );
    switch (name) {
      case "QueryStringParams":
      case "Query":
        more.query = gather(pairs());
        break;
      case "FormParams":
      case "Form":
        body = { form: gather(pairs()) };
        break;
      case "MultipartFormData":
      case "Multipart":
        body = {
          multipart: Object.fromEntries(
            pairs().map(([key, value]) => {
              const [, path, type] = /^file,(.*?);\s*(.*)$/.exec(value) ?? [];
              return [key, path === undefined ? value : { file: path, ...type ? { type } : {} }];
            }),
          ),
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
      default:
        notes.push(`[${name}] of the request: it is not known`);
    }
  }
  const type = headers.find(([name]) => /^content-type$/i.test(name))?.[1];
  if (request.body.length > 0) body = bodyOfLines(request.body, type, template, notes);
  const name = comments.at(-1) ??
    `${index + 1}. ${method} ${url.replace(/^https?:\/\/[^/]*|\{\{[^}]*\}\}/, "")}`;
  // Before what the response gives new values to.
  const [title, address] = [template(name), template(url)];
  const tests = code === undefined || code === "*" ? [] : [`res.code == ${code}`];
  for (const [name, value] of response?.headers ?? []) {
    tests.push(`${headerOf(name)} == ${textOf(value, names)}`);
  }
  const outputs: Record<string, string> = {};
  for (const { name, lines } of response?.sections ?? []) {
    for (const { text, offset } of lines) {
      if (name === "Captures") {
        const [, key = "", query = ""] = /^([\w-]+)\s*:\s*(.+)$/.exec(text) ?? [];
        if (key === "") throw problemAt(file, offset, "expected name: query");
        const value = queryOf(query);
        if (value === undefined || value.rest !== "") notes.push(`the capture ${text}`);
        else outputs[names.captureAnew(key)] = value.expression;
      } else if (name === "Asserts") {
        const test = assertOf(text, names);
        if (test === undefined) notes.push(`the assert ${text}`);
        else tests.push(test);
      } else notes.push(`[${name}] of the response: it is not known`);
    }
  }
  if (response && response.body.length > 0) {
    const expected = bodyOfLines(response.body, undefined, (text) => text, notes);
    if (expected.json !== undefined) tests.push(`res.body == ${literal(expected.json)}`);
    else if (typeof expected.body === "string") {
      tests.push(`(res.rawbody ?? res.body) == ${quoteText(expected.body)}`);
    }
  }
  return httpStep({
    name: title,
    method,
    url: address,
    headers,
    body,
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
  return [key, value];
}

/** Names that come again have a list. */
function gather(pairs: readonly (readonly [key: string, value: string])[]): Dict {
  const all: Record<string, Value> = {};
  for (const [key, value] of pairs) {
    const known = all[key];
    all[key] = known === undefined ? value : [known, value].flat();
  }
  return all;
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
      keys.retry = {
        interval: "1s",
        ...keys.retry as Dict ?? {},
        max_attempts: (Number(value) || 0) + 1,
      };
      return;
    case "retry-interval":
      keys.retry = { max_attempts: 1, ...keys.retry as Dict ?? {}, interval: durationOf(value) };
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

function bodyOfLines(
  lines: readonly Line[],
  type: string | undefined,
  translate: (text: string) => string,
  notes: string[],
): Dict {
  const text = lines.map((line) => line.text).join("\n").trim();
  const file = /^file,(.*?);$/.exec(text);
  if (file) return { file: file[1]!.trim() };
  if (/^(?:base64|hex),/.test(text)) {
    notes.push(`the body ${text.slice(0, 40)}: http sends bytes only from files`);
    return {};
  }
  const block = /^```[ \t]*([\w-]*)[^\n]*\n(.*)```$/s.exec(text) ?? /^```()(.*)```$/s.exec(text);
  if (block?.[1] === "graphql") return { graphql: { query: translate(block[2]!.trim()) } };
  const line = /^`(.*)`$/s.exec(text);
  const inner = block?.[2] ?? line?.[1] ?? text;
  if (type === undefined && block === null && line === null && /^[[{"]/.test(text)) {
    return bodyOf(text, "application/json", translate);
  }
  return bodyOf(
    inner,
    type ?? (block?.[1] === "json" ? "application/json" : "text/plain"),
    translate,
  );
}
