import type { ImportFile, Line } from "./input.ts";
import { linesOf, problemAt } from "./input.ts";

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

export interface HurlEntry {
  readonly method: string;
  readonly url: string;
  readonly request: Message;
  /** The code that the response must have, or `*`. */
  readonly code?: string;
  /** The version of HTTP that the response must have: `/2`. */
  readonly version?: string;
  readonly response?: Message;
  readonly comments: readonly string[];
}

const METHOD = /^(?!HTTP\b)([A-Z]{3,})\s+(\S.*)$/;
const METHODS =
  /^(?:GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH|LINK|UNLINK|PURGE|LOCK|UNLOCK|PROPFIND|PROPPATCH|MKCOL|COPY|MOVE|VIEW|REPORT|SEARCH|QUERY)$/;
const SECTIONS = {
  request:
    "Options Query QueryStringParams Form FormParams Multipart MultipartFormData Cookies BasicAuth",
  response: "Captures Asserts",
};
const RESPONSE = /^HTTP(\/[\d.]+)?\s+(\d{3}|\*)\s*$/;
const HEADER = /^([\w!#$%&'*+.^`|~{}-]+)\s*:\s*(.*)$/;

/** The entries of a Hurl file: requests with their responses. */
export function readHurlEntries(file: ImportFile): HurlEntry[] {
  const lines = linesOf(file);
  const entries: HurlEntry[] = [];
  let at = 0;
  let comments: string[] = [];
  for (; at < lines.length; at++) {
    const text = lines[at]!.text.trim();
    if (text.startsWith("#")) comments.push(text.replace(/^#+\s*/, ""));
    if (text === "" || text.startsWith("#")) continue;
    const start = METHOD.exec(text);
    if (!start || !METHODS.test(start[1]!)) {
      throw problemAt(
        file,
        lines[at]!.offset,
        start ? `unknown method ${start[1]}` : "expected a request",
        "an entry begins with GET http://…",
      );
    }
    const [request, afterRequest] = readMessage(file, lines, at + 1, "request");
    const status = RESPONSE.exec(withoutComment(lines[afterRequest]?.text.trim() ?? ""));
    const [response, after] = status
      ? readMessage(file, lines, afterRequest + 1, "response")
      : [undefined, afterRequest] as const;
    entries.push({
      method: start[1]!,
      url: withoutComment(start[2]!),
      request,
      ...status ? { code: status[2]! } : {},
      ...status?.[1] ? { version: status[1] } : {},
      response,
      comments,
    });
    comments = [];
    at = after - 1;
    // Comments right above a request are its name.
    while (lines[at]!.text.trim().startsWith("#")) at--;
  }
  if (entries.length === 0) throw problemAt(file, 0, "there is no request in the file");
  return entries;
}

/** Reads headers, sections and a body; returns the number of the line after them, too. */
function readMessage(
  file: ImportFile,
  lines: readonly Line[],
  from: number,
  kind: "request" | "response",
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
    if (section) {
      const [, name = ""] = section;
      if (!SECTIONS[kind].split(" ").includes(name)) {
        const known = `a ${kind} has ${SECTIONS[kind].replaceAll(" ", ", ")}`;
        throw problemAt(file, offset, `unknown section [${name}] of a ${kind}`, known);
      }
      message.sections.push({ name, lines: [] });
    } else if (/^(?:[[{`<]|"|base64,|hex,|file,)/.test(trimmed)) {
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
          "expected a header, a section or a body",
          /^HTTP\b/.test(trimmed)
            ? "a response begins with HTTP 200 or HTTP *"
            : "headers are written Name: value",
        );
      }
      message.headers.push([header[1]!, unescape(header[2]!)]);
    }
  }
  return [message, at];
}

/** Reads the lines of a body; returns the number of its last line. */
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
    const next = withoutComment(lines[at + 1]!.text.trim());
    if (METHOD.test(next) || RESPONSE.test(next)) break;
    body.push(lines[++at]!);
  }
  // Comments below a body are about what follows.
  while (/^(?:#.*)?$/.test(body.at(-1)!.text.trim())) {
    body.pop();
    at--;
  }
  return at;
}

/** Removes a comment, which begins with # after a space, outside of quotes. */
function withoutComment(text: string): string {
  if (text.startsWith("#")) return "";
  return /^(?:"(?:[^"\\]|\\.)*"|`[^`]*`|(?<!\s)#|[^#])*/.exec(text)![0].trimEnd();
}

/** Resolves the escapes of #, which would begin a comment. */
export function unescape(text: string): string {
  return text.replaceAll("\\#", "#");
}
