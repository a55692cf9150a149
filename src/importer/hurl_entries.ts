import { type ImportFile, problemAt } from "./input.ts";

/** A text: literal parts, and variables by their names. */
export type Parts = readonly (string | Variable)[];

export interface Variable {
  readonly variable: string;
  /** Whether it is inside a string of JSON, which its value must not end. */
  readonly isInJson?: true;
}

/** A part of an assert or a capture, or a body. */
export type Token =
  | { readonly kind: "word"; readonly word: string }
  | { readonly kind: "text"; readonly parts: Parts; readonly language?: string }
  | { readonly kind: "graphql"; readonly query: Parts; readonly variables: string }
  | { readonly kind: "json"; readonly json: string }
  | { readonly kind: "pattern"; readonly pattern: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "file"; readonly path: Parts }
  | { readonly kind: "variable"; readonly name: string };

/** A line of a section or a header. */
export interface Pair {
  readonly key: Parts;
  /** The value as it is written; for a query, with its filters. */
  readonly raw: string;
  readonly value: Parts;
  readonly tokens: readonly Token[];
}

/** A request or a response. */
export interface Message {
  readonly headers: readonly Pair[];
  readonly sections: readonly { readonly name: string; readonly lines: readonly Pair[] }[];
  readonly body?: Token;
}

export interface HurlEntry {
  readonly method: string;
  readonly url: string;
  readonly request: Message;
  /** The code that the response must have, or `*`, and its version: `/2`. */
  readonly code?: string;
  readonly version?: string;
  readonly response?: Message;
  readonly comment?: string;
}

const SECTIONS = {
  request:
    "Options Query QueryStringParams Form FormParams Multipart MultipartFormData Cookies BasicAuth",
  response: "Captures Asserts",
};

const KEY =
  /((?!\[)(?:\{\{[^}\n]*\}\}|\\u\{[\da-fA-F]+\}|\\[^\n]|[\p{L}\p{N}_.@$!%&'*+^|~[\]/-])+)[ \t]*:/uy;
const VARIABLE = /\{\{\s*([\w-]+)\s*\}\}/;

/** The entries of a Hurl file: requests with their responses. */
export function readHurlEntries(file: ImportFile): HurlEntry[] {
  return new Reader(file).entries();
}

export function writePart(part: string | Variable): string {
  return typeof part === "string" ? part : `{{${part.variable}}}`;
}

/** The parts of a text, without escapes in it. */
export function partsOf(text: string): Parts {
  return text.split(VARIABLE).map((part, index) => index % 2 === 1 ? { variable: part } : part)
    .filter((part) => part !== "");
}

/** The parts of a text with escapes; an escaped brace does not begin a variable. */
export function unescape(text: string): Parts {
  return joined(
    text.split(/(\\u\{[\da-fA-F]{1,6}\}|\\.)/s).flatMap((part, index) =>
      index % 2 === 0 ? partsOf(part) : part.replace(/^\\(?:u\{(\w+)\}|(.))/s, resolveEscape)
    ),
  );
}

/** Parts with texts that follow each other as one. */
function joined(parts: Parts): Parts {
  const all: (string | Variable)[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (typeof part === "string" && typeof last === "string") all[all.length - 1] = last + part;
    else all.push(part);
  }
  return all;
}

function resolveEscape(_: string, code: string | undefined, letter: string): string {
  if (code !== undefined) return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff));
  return { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }[letter] ?? letter;
}

/** The exact text of JSON: whatever the values of its variables are, its strings stay strings. */
export function jsonParts(json: string): Parts {
  return joined(
    json.split(/("(?:[^"\\]|\\.)*")/s).flatMap((text, index) =>
      partsOf(text).map((part) =>
        index % 2 === 0 || typeof part === "string" ? part : { ...part, isInJson: true as const }
      )
    ),
  );
}

/** Reads a file from its start to its end. */
class Reader {
  #at = 0;
  /** What could have followed where nothing that is known does. */
  #expected = "";

  constructor(readonly file: ImportFile) {}

  entries(): HurlEntry[] {
    const entries: HurlEntry[] = [];
    const { text } = this.file;
    this.#take(/\ufeff/y);
    while (true) {
      const comment = this.#skipLines();
      if (this.#at >= text.length) break;
      const [, method, url] =
        this.#take(/(?!HTTP\b)([A-Z]+)[ \t]+((?:https?:\/\/|\{\{)(?:\{\{.*?\}\}|[^\s#])*)/y) ?? [];
      if (method === undefined || url === undefined) throw this.#unknownLine(entries.length > 0);
      this.#endLine();
      const request = this.#message("request");
      const before = this.#at;
      this.#skipLines();
      const status = this.#take(/HTTP(\/[\d.]+)?(?:\/\*)?[ \t]+(\d{3}|\*)(?=[\s#]|$)/y);
      if (status) this.#endLine();
      else this.#at = before;
      entries.push({
        method,
        url,
        request,
        code: status?.[2],
        response: status ? this.#message("response") : undefined,
        version: status?.[1],
        comment,
      });
    }
    if (entries.length === 0) throw this.#problem("there is no request in the file", undefined, 0);
    return entries;
  }

  #unknownLine(isInEntry: boolean): Error {
    if (!isInEntry) return this.#problem("expected a request", "an entry begins with GET http://…");
    const isResponse = this.file.text.startsWith("HTTP", this.#at);
    if (this.#expected !== "" && !isResponse) return this.#problem(this.#expected);
    return this.#problem(
      "expected a header, a section or a body",
      isResponse
        ? "a response begins with HTTP 200 or HTTP *"
        : "headers are written Name: value, and an entry begins with GET http://…",
    );
  }

  #message(kind: keyof typeof SECTIONS): Message {
    this.#expected = "";
    const headers = this.#lines("");
    const sections: { name: string; lines: Pair[] }[] = [];
    while (true) {
      const before = this.#at;
      this.#skipLines();
      const start = this.#at;
      const [, name] = this.#take(/\[([A-Z]\w*)\](?=[ \t]*(?:#|\r?\n|$))/y) ?? [];
      if (name === undefined) {
        this.#at = before;
        break;
      }
      if (!SECTIONS[kind].split(" ").includes(name)) {
        const known = `a ${kind} has ${SECTIONS[kind].replaceAll(" ", ", ")}`;
        throw this.#problem(`unknown section [${name}] of a ${kind}`, known, start);
      }
      this.#endLine();
      this.#expected = name === "Captures" ? "expected name: query" : "expected name: value";
      sections.push({ name, lines: this.#lines(name) });
    }
    const before = this.#at;
    this.#skipLines();
    const body = this.#body();
    if (body === undefined) this.#at = before;
    else this.#endLine();
    return { headers, sections, ...body && { body } };
  }

  /** The headers, or the lines of a section. */
  #lines(section: string): Pair[] {
    const lines: Pair[] = [];
    while (true) {
      const before = this.#at;
      this.#skipLines();
      const isAssert = section === "Asserts" &&
        this.#see(/(?!(?:true|false|null)\s|(?:base64|hex|file),)[a-z]/y);
      const [, key = ""] = section === "Asserts" ? [] : this.#take(KEY) ?? [];
      if (!isAssert && key === "") {
        this.#at = before;
        return lines;
      }
      const hasQuery = isAssert || section === "Captures";
      lines.push({ key: unescape(key), ...hasQuery ? this.#tokens() : this.#value() });
    }
  }

  #value(): Omit<Pair, "key"> {
    const [, text = ""] = this.#take(/[ \t]*((?:\\u\{\w*\}|\\[^\r\n]|[^\\#\r\n])*)/y) ?? [];
    this.#endLine();
    const raw = text.trimEnd();
    return { raw, value: unescape(raw), tokens: [] };
  }

  /** The tokens up to the end of the line, and their text. */
  #tokens(): Omit<Pair, "key"> {
    const tokens: Token[] = [];
    this.#take(/[ \t]*/y);
    const start = this.#at;
    let end = start;
    while (!this.#take(/[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y)) {
      this.#take(/[ \t]*/y);
      tokens.push(this.#token());
      end = this.#at;
    }
    return { raw: this.file.text.slice(start, end), value: [], tokens };
  }

  #token(): Token {
    const [, quoted] = this.#take(/"((?:[^"\\\n]|\\.)*)"/y) ?? [];
    if (quoted !== undefined) return { kind: "text", parts: unescape(quoted) };
    const [, pattern] = this.#take(/\/((?:[^/\\\n]|\\.)*)\//y) ?? [];
    if (pattern !== undefined) return { kind: "pattern", pattern: pattern.replaceAll("\\/", "/") };
    const [, name] = this.#take(/\{\{\s*([\w-]+)\s*\}\}/y) ?? [];
    if (name !== undefined) return { kind: "variable", name };
    const value = this.#rawText() ?? this.#bytes();
    if (value) return value;
    const [word = ""] = this.#take(/[=!<>]=|[<>]|[^\s#"`]+|./yu) ?? [];
    return { kind: "word", word };
  }

  /** A text between backticks, on one line or on several. */
  #rawText(): Token | undefined {
    const start = this.#at;
    const [, head, language = ""] = this.#take(/```(([ \t\w,-]*)\r?\n)?/y) ?? [];
    if (this.#at > start) {
      const end = this.file.text.indexOf("```", this.#at);
      if (end < 0) throw this.#problem("the body ``` is not closed", undefined, start);
      const text = this.file.text.slice(this.#at, end);
      this.#at = end + 3;
      const words = head === undefined ? [] : language.split(/[\s,]+/);
      if (words.includes("graphql")) {
        const [, query = "", variables = ""] = /^(.*?)(?:\n\s*variables\s*(\{.*\}))?$/s
          .exec(text.trim())!;
        return { kind: "graphql", query: partsOf(query.trim()), variables };
      }
      const isPlain = words.some((word) => /^(?:raw|novariable)$/.test(word));
      const parts = isPlain ? [text] : words.includes("escape") ? unescape(text) : partsOf(text);
      return { kind: "text", parts, ...words[0] ? { language: words[0] } : {} };
    }
    const [, line] = this.#take(/`((?:[^`\\\n]|\\.)*)`/y) ?? [];
    return line === undefined ? undefined : { kind: "text", parts: unescape(line) };
  }

  #bytes(): Token | undefined {
    const start = this.#at;
    const [, kind, written = ""] =
      this.#take(/(hex|base64|file),[ \t]*((?:\{\{.*?\}\}|\\.|[^;\\])*?)[ \t]*;/ys) ?? [];
    if (kind === undefined) return undefined;
    if (kind === "file") return { kind: "file", path: unescape(written) };
    try {
      const text = written.replace(/\s/g, "");
      const bytes = kind === "hex" ? Uint8Array.fromHex(text) : Uint8Array.fromBase64(text);
      return { kind: "bytes", bytes };
    } catch {
      throw this.#problem(`this is not ${kind}`, undefined, start);
    }
  }

  #body(): Token | undefined {
    const start = this.#at;
    const value = this.#rawText() ?? this.#bytes();
    if (value) return value;
    if (this.#see(/</y)) {
      const text = this.#balanced(XML_PART, "XML");
      return { kind: "text", parts: [text], language: "xml" };
    }
    if (this.#see(/[[{]/y) && !this.#see(/\{\{/y)) {
      return { kind: "json", json: this.#json(this.#balanced(JSON_PART, "JSON"), start) };
    }
    const [scalar] = this.#take(
      /(?:"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|\{\{[^}\n]*\}\})(?=[ \t]*(?:#|\r?\n|$))/y,
    ) ?? [];
    return scalar === undefined ? undefined : { kind: "json", json: this.#json(scalar, start) };
  }

  #json(text: string, start: number): string {
    try {
      JSON.parse(markVariables(text));
      return text;
    } catch {
      throw this.#problem("the body is not JSON", "a text is written `text`", start);
    }
  }

  /** The text up to where everything that was opened is closed. */
  #balanced(part: RegExp, name: string): string {
    const start = this.#at;
    for (let depth = 0;;) {
      const [text] = this.#take(part) ?? [];
      if (text === undefined) {
        throw this.#problem(`the body is not ${name}`, "a text is written `text`", start);
      }
      if (/^(?:[\]}]|<\/)/.test(text)) depth--;
      else if (/^(?:[[{]$|<[^!?].*[^/]>$|<[^!?/]>$)/s.test(text)) depth++;
      if (depth === 0 && /^(?:[\]}]|<[^!?])/.test(text)) {
        return this.file.text.slice(start, this.#at);
      }
    }
  }

  /** Skips lines that are empty or comments; returns the last comment. */
  #skipLines(): string | undefined {
    const start = this.#at;
    this.#take(/(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:#[^\n]*$)?/y);
    const comments = this.file.text.slice(start, this.#at).match(/#[^\n]*/g);
    return comments?.at(-1)?.replace(/^#+\s*/, "").trimEnd();
  }

  #endLine(): void {
    if (!this.#take(/[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y)) {
      throw this.#problem("expected the end of the line");
    }
  }

  #see(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.file.text);
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.file.text);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #problem(message: string, hint?: string, at = this.#at): Error {
    return problemAt(this.file, at, message, hint);
  }
}

const JSON_PART = /\{\{[^}\n]*\}\}|"(?:[^"\\]|\\.)*"|[[\]{}]|[^[\]{}"]+/ys;
const XML_PART =
  /<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!(?:[^>[]|\[.*?\])*>|<(?:[^>"']|"[^"]*"|'[^']*')+>|[^<]+/ys;

/** Before the name of a variable that is a whole value of JSON. */
export const MARK = "\ue000";

/** JSON whose variables outside of strings are strings with a mark, so that it can be parsed. */
export function markVariables(json: string): string {
  return json.replace(
    /"(?:[^"\\]|\\.)*"|\{\{\s*([\w-]+)\s*\}\}/g,
    (whole, name) => name === undefined ? whole : JSON.stringify(MARK + name),
  );
}
