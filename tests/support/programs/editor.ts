import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import { BUILT } from "../run/run_cli.ts";

const CLI = fromFileUrl(new URL("../../../cli.ts", import.meta.url));

/** A place in a file of the editor: lines and characters from 0. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

/** The diagnostics that the server has published for a file. */
export interface Published {
  readonly uri: string;
  readonly version: number;
  readonly diagnostics: readonly {
    readonly message: string;
    readonly code: string;
    readonly severity: number;
    readonly range: { readonly start: Position; readonly end: Position };
  }[];
}

interface EditorOptions {
  readonly env?: Record<string, string>;
  /** The arguments with which Deno runs the program. */
  readonly program?: readonly string[];
}

/** Talks to `runner lsp` over its standard input and output, as an editor does. */
export class Editor {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #texts = new Map<string, { version: number; text: string }>();
  readonly #published = new Map<string, Published>();
  #heard = Promise.withResolvers<void>();
  #id = 0;
  readonly #reading: Promise<void>;

  constructor({ env = {}, program = ["run", "-A", BUILT ?? CLI] }: EditorOptions = {}) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [...program, "lsp", "--stdio"],
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  /** Begins as the protocol wants it, and gives the abilities of the server. */
  async initialize(root?: string): Promise<Record<string, unknown>> {
    const { capabilities } = await this.ask<{ capabilities: Record<string, unknown> }>(
      "initialize",
      {
        processId: Deno.pid,
        rootUri: root ? toFileUrl(root).href : null,
        capabilities: {
          textDocument: { completion: { completionItem: { snippetSupport: true } } },
        },
      },
    );
    await this.notify("initialized", {});
    return capabilities;
  }

  /** Asks for an answer. */
  async ask<T>(method: string, params: unknown): Promise<T> {
    const id = ++this.#id;
    const answer = Promise.withResolvers<unknown>();
    this.#answers.set(id, answer);
    await this.#send({ jsonrpc: "2.0", id, method, params });
    return await answer.promise as T;
  }

  async notify(method: string, params: unknown): Promise<void> {
    await this.#send({ jsonrpc: "2.0", method, params });
  }

  /** Opens a file, or changes its text, and gives what the server finds in it. */
  async write(path: string, text: string): Promise<Published> {
    const uri = toFileUrl(path).href;
    const before = this.#texts.get(uri);
    const version = (before?.version ?? 0) + 1;
    this.#texts.set(uri, { version, text });
    if (before) {
      await this.notify("textDocument/didChange", {
        textDocument: { uri, version },
        contentChanges: [{ text }],
      });
    } else {
      await this.notify("textDocument/didOpen", {
        textDocument: { uri, languageId: "yaml", version, text },
      });
    }
    for (;;) {
      const published = this.#published.get(uri);
      if (published?.version === version) return published;
      await this.#heard.promise;
    }
  }

  /** Asks about the place of a file where a text is, some characters into it. */
  async askAt<T>(method: string, path: string, near: string, into = 0, rest = {}): Promise<T> {
    const uri = toFileUrl(path).href;
    const position = positionOf(this.#texts.get(uri)!.text, near, into);
    return await this.ask<T>(`textDocument/${method}`, {
      textDocument: { uri },
      position,
      ...rest,
    });
  }

  /** Ends the server, and gives its exit code. */
  async end(): Promise<number> {
    await this.ask("shutdown", undefined);
    await this.notify("exit", undefined);
    await this.#writer.close().catch(() => {});
    await this.#reading;
    return (await this.#child.status).code;
  }

  async #send(message: unknown): Promise<void> {
    const body = new TextEncoder().encode(JSON.stringify(message));
    const head = new TextEncoder().encode(`Content-Length: ${body.length}\r\n\r\n`);
    await this.#writer.write(new Uint8Array([...head, ...body]));
  }

  async #read(): Promise<void> {
    let buffer = new Uint8Array();
    for await (const chunk of this.#child.stdout) {
      buffer = new Uint8Array([...buffer, ...chunk]);
      for (;;) {
        const head = new TextDecoder().decode(buffer.subarray(0, 200));
        const [all, length] = /^Content-Length: (\d+)\r\n(?:.*\r\n)*?\r\n/.exec(head) ?? [];
        if (all === undefined || buffer.length < all.length + Number(length)) break;
        const end = all.length + Number(length);
        this.#take(JSON.parse(new TextDecoder().decode(buffer.subarray(all.length, end))));
        buffer = buffer.slice(end);
      }
    }
  }

  #take(message: { id?: number; method?: string; params?: unknown; [key: string]: unknown }): void {
    if (message.method === "textDocument/publishDiagnostics") {
      const published = message.params as Published;
      this.#published.set(published.uri, published);
      const heard = this.#heard;
      this.#heard = Promise.withResolvers();
      heard.resolve();
    }
    const answer = message.id === undefined ? undefined : this.#answers.get(message.id);
    if (!answer || message.method !== undefined) return;
    if (message.error) answer.reject(new Error((message.error as { message: string }).message));
    else answer.resolve(message.result);
  }
}

/** The position of a text, some characters into it. */
export function positionOf(text: string, near: string, into = 0): Position {
  const at = text.indexOf(near);
  if (at < 0) throw new Error(`"${near}" is not in the text`);
  const before = text.slice(0, at + into).split("\n");
  return { line: before.length - 1, character: before.at(-1)!.length };
}

/** A text with edits of an editor carried out. */
export function applyEdits(
  text: string,
  edits: readonly {
    readonly range: { readonly start: Position; readonly end: Position };
    readonly newText: string;
  }[],
): string {
  const lines = text.split("\n");
  const offset = ({ line, character }: Position) =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return edits.toSorted((a, b) => offset(b.range.start) - offset(a.range.start)).reduce(
    (done, { range, newText }) =>
      done.slice(0, offset(range.start)) + newText + done.slice(offset(range.end)),
    text,
  );
}
