import type { Dict } from "../base/value/value.ts";
import { type ImportFile, type Line, linesOf, problemAt } from "./input.ts";

/** A request as a .http file has it. */
export class WrittenRequest {
  /** The name by which other requests read its response. */
  ref = "";
  method = "GET";
  url = "";
  /** The file that is its body. */
  file = "";
  readonly headers: (readonly [name: string, value: string])[] = [];
  readonly bodyLines: string[] = [];
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
export function readHttpRequests(file: ImportFile): WrittenRequest[] {
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
  #state: "before" | "headers" | "body" | "script" | "after" = "before";
  /** The end of the lines that are left out; if empty, an empty line. */
  #closing: string | undefined;
  /** The offset of a script, which must be closed. */
  #scriptAt = 0;

  constructor(readonly file: ImportFile, title: string) {
    this.#request = new WrittenRequest(title);
  }

  /** The request, after its last line. */
  end(): WrittenRequest {
    if (this.#state === "script" || this.#closing) {
      const hint = `it ends with ${this.#closing ?? "%}"}`;
      throw problemAt(this.file, this.#scriptAt, "the script is not closed", hint);
    }
    return this.#request;
  }

  read(line: Line): void {
    const { text, offset } = line;
    const trimmed = text.trim();
    const { notes, script } = this.#request;
    if (this.#closing !== undefined) {
      const isEnd = this.#closing === "" ? trimmed === "" : trimmed.endsWith(this.#closing);
      if (isEnd) this.#closing = undefined;
    } else if (this.#state === "script") {
      script.push(trimmed.replace(/%\}$/, ""));
      if (trimmed.endsWith("%}")) this.#state = "body";
    } else if (this.#state === "after") return;
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
    if (trimmed.startsWith("<") && trimmed.includes("{%")) {
      request.notes.push("the script before the request");
      if (!trimmed.endsWith("%}")) this.#skipTo("%}", offset);
      return;
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
    const inline = /^>\s*\{%(.*?)(%\})?$/s.exec(trimmed);
    if (inline) {
      script.push(inline[1]!);
      if (inline[2]) return;
      this.#state = "script";
      this.#scriptAt = offset;
    } else if (/^>>!?\s/.test(trimmed)) notes.push(`${trimmed}: see "save" of http`);
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
