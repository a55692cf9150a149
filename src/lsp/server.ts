import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";
import { formatWorkflow } from "../workflow/format_workflow.ts";
import { completionsAt } from "./complete.ts";
import type { Catalog } from "./keys_at.ts";
import { type Checked, diagnose, overlay } from "./diagnose.ts";
import { hoverAt } from "./hover.ts";
import { definitionAt, fileLinksIn } from "./definition.ts";
import {
  type FileSymbol,
  makeOutline,
  type Outline,
  pairsOf,
  spotAt,
  symbolsOf,
  type TextRange,
} from "./outline.ts";
import { lineAt, lineStarts } from "../base/source.ts";
import { SUITE } from "../suite/decode_suite.ts";
import { suggest } from "../base/text/suggest.ts";
import { JOB_FILE, WORKFLOW } from "../workflow/decode/key_tree.ts";
import { pluginDirectory, pluginNames } from "../actions/plugin/plugin.ts";
import { ACTIONS } from "../actions/registry.ts";

const ROOT_KEYS = [WORKFLOW, JOB_FILE, SUITE].flatMap(({ form: { fields = [] } }) =>
  fields.map(({ name }) => name)
);

/** The time to wait for the next key before a file is checked, in milliseconds. */
const PAUSE = 20;

/** The numbers of the protocol. */
const SEVERITIES = { error: 1, warning: 2, hint: 3 } as const;
const COMPLETION_KINDS = {
  key: 10,
  action: 9,
  value: 12,
  function: 3,
  name: 6,
  output: 5,
  file: 17,
  directory: 19,
  snippet: 15,
} as const;
const SYMBOL_KINDS = { job: 5, step: 6, output: 7 } as const;

/** The capabilities of the server. */
const INITIALIZED = {
  serverInfo: { name: "runner" },
  capabilities: {
    textDocumentSync: 1 as const,
    completionProvider: { triggerCharacters: [".", ":", " ", "[", "{", "/"] },
    hoverProvider: true,
    documentLinkProvider: {},
    definitionProvider: true,
    documentSymbolProvider: true,
    codeActionProvider: { codeActionKinds: ["quickfix"] },
    documentFormattingProvider: true,
  },
};

type At = { readonly textDocument: { readonly uri: string }; readonly position: EditorPosition };

/** Answers an editor over standard input and output until it ends the connection. */
export async function serveEditor(host: Host): Promise<void> {
  const { default: library } = await import("vscode-languageserver/node");
  const { default: process } = await import("node:process");
  const connection = library.createConnection(
    new library.StreamMessageReader(process.stdin),
    new library.StreamMessageWriter(process.stdout),
  );
  const files = new Map<string, OpenFile>();
  const withOpenFiles = overlay(host, (path) => files.get(toFileUrl(path).href)?.text);
  let catalog: Promise<Catalog> | undefined;
  const actions = () => catalog ??= findActions(host);

  const at = ({ textDocument, position }: At) => {
    const file = files.get(textDocument.uri);
    return file && { file, offset: file.lines.offsetAt(position), outline: outlineOf(file) };
  };
  /** Checks a file once. */
  const checked = (file: OpenFile): Promise<Checked> =>
    file.checked ??= isOurs(outlineOf(file), file.path)
      ? diagnose(file.path, outlineOf(file), withOpenFiles).catch((error) => {
        connection.console.error(`cannot check ${file.path}: ${error}`);
        return { findings: [] };
      })
      : Promise.resolve({ findings: [] });
  let takesSnippets = false;
  connection.onInitialize(({ capabilities: { textDocument } }) => {
    takesSnippets = textDocument?.completion?.completionItem?.snippetSupport ?? false;
    return INITIALIZED;
  });

  // The first answer should not wait for them.
  connection.onInitialized(() => void actions());

  const open = (uri: string, version: number, text: string) => {
    if (!uri.startsWith("file:")) return;
    const path = fromFileUrl(uri);
    files.set(uri, { uri, path, version, text, lines: makeLineIndex(text) });
    check(uri);
    // Files that embed this file may have become valid or invalid.
    for (const each of files.values()) {
      if (each.text.includes("embedded")) check(each.uri);
    }
  };
  const waiting = new Map<string, () => void>();
  const check = (uri: string) => {
    const file = files.get(uri);
    if (file) file.checked = undefined;
    waiting.get(uri)?.();
    waiting.set(uri, host.clock.after(PAUSE, () => void publish(uri)));
  };
  const publish = async (uri: string) => {
    const file = files.get(uri);
    if (!file) return;
    const { findings } = await checked(file);
    // A newer text is checked on its own.
    if (files.get(uri) !== file) return;
    const diagnostics = findings.map(({ severity, code, message, ...range }) => ({
      ...{ source: "runner", severity: SEVERITIES[severity], code, message },
      range: file.lines.rangeOf(range),
    }));
    await connection.sendDiagnostics({ uri, version: file.version, diagnostics });
  };
  connection.onDidOpenTextDocument(({ textDocument: { uri, version, text } }) =>
    open(uri, version, text)
  );
  connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) => {
    const change = contentChanges.at(-1);
    if (change) open(uri, version ?? 0, change.text);
  });
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    files.delete(uri);
    waiting.get(uri)?.();
    return connection.sendDiagnostics({ uri, diagnostics: [] });
  });
  connection.onDidSaveTextDocument(({ textDocument: { uri } }) => check(uri));

  connection.onCompletion(async (params) => {
    const found = at(params);
    if (!found) return null;
    const { file: { text, path }, offset } = found;
    const catalog = await actions();
    const { items, ...range } = await completionsAt(text, offset, path, catalog, withOpenFiles);
    return items.map(({ label, kind, detail, documentation, insert, isSnippet }, index) => ({
      label,
      // In the order of the tables, which have first what is used most.
      sortText: String(index).padStart(4, "0"),
      kind: COMPLETION_KINDS[kind],
      detail,
      documentation: documentation === undefined
        ? undefined
        : { kind: "markdown" as const, value: documentation },
      insertTextFormat: isSnippet && takesSnippets ? 2 as const : 1 as const,
      textEdit: {
        range: found.file.lines.rangeOf(range),
        newText: isSnippet && !takesSnippets ? insert.replace(/[\n[][^]*$/, "") : insert,
      },
    }));
  });

  connection.onHover(async (params) => {
    const found = at(params);
    const hover = found &&
      await hoverAt(found.outline, found.offset, await actions(), () => checked(found.file));
    if (!hover) return null;
    const { markdown, ...range } = hover;
    return {
      contents: { kind: "markdown", value: markdown },
      range: found.file.lines.rangeOf(range),
    };
  });

  connection.onDocumentLinks(async ({ textDocument: { uri } }) => {
    const file = files.get(uri);
    return file
      ? fileLinksIn(outlineOf(file), file.path, await actions()).map(({ path, ...range }) => ({
        range: file.lines.rangeOf(range),
        target: toFileUrl(path).href,
      }))
      : null;
  });

  connection.onDefinition(async (params) => {
    const found = at(params);
    if (!found) return null;
    const { file, offset, outline } = found;
    const { model } = await checked(file);
    const spot = spotAt(outline.root, offset);
    const definition = model && spot && definitionAt(model, spot, offset);
    if (!definition) return null;
    const { source: { name, text }, ...range } = definition;
    return { uri: toFileUrl(name).href, range: makeLineIndex(text).rangeOf(range) };
  });

  connection.onDocumentSymbol(({ textDocument: { uri } }) => {
    const file = files.get(uri);
    if (!file) return null;
    const render = (symbol: FileSymbol): DocumentSymbol => ({
      name: symbol.name || " ",
      kind: SYMBOL_KINDS[symbol.kind],
      range: file.lines.rangeOf(symbol.range),
      selectionRange: file.lines.rangeOf(symbol.selection),
      children: symbol.children.map(render),
    });
    return symbolsOf(outlineOf(file)).map(render);
  });

  connection.onCodeAction(async ({ textDocument: { uri }, range }) => {
    const file = files.get(uri);
    if (!file) return null;
    const { findings } = await checked(file);
    const [from, to] = [file.lines.offsetAt(range.start), file.lines.offsetAt(range.end)];
    return findings.flatMap(({ fix, message, start, end }) =>
      fix === undefined || end < from || to < start ? [] : {
        title: `Change to ${fix}`,
        kind: "quickfix",
        isPreferred: true,
        diagnostics: [{ message, range: file.lines.rangeOf({ start, end }) }],
        edit: { changes: { [uri]: [{ range: file.lines.rangeOf({ start, end }), newText: fix }] } },
      }
    );
  });

  connection.onDocumentFormatting(async ({ textDocument: { uri } }) => {
    const file = files.get(uri);
    if (!file) return null;
    try {
      const newText = await formatWorkflow({ name: file.path, text: file.text });
      const range = file.lines.rangeOf({ start: 0, end: file.text.length });
      return newText === file.text ? [] : [{ range, newText }];
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      return new library.ResponseError(-32803, error.message);
    }
  });

  const ended = Promise.withResolvers<void>();
  connection.onExit(() => ended.resolve());
  // An editor that has crashed says nothing.
  process.stdin.once("close", () => ended.resolve());
  process.stdin.once("end", () => ended.resolve());
  connection.listen();
  await ended.promise;
}

interface DocumentSymbol {
  name: string;
  kind: (typeof SYMBOL_KINDS)[keyof typeof SYMBOL_KINDS];
  range: ReturnType<LineIndex["rangeOf"]>;
  selectionRange: ReturnType<LineIndex["rangeOf"]>;
  children: DocumentSymbol[];
}

interface OpenFile {
  readonly uri: string;
  readonly path: string;
  readonly version: number;
  readonly text: string;
  readonly lines: LineIndex;
  /** The check of this text; undefined until it is needed. */
  checked?: Promise<Checked>;
  outline?: Outline;
}

/** The outline of a file, made once. */
function outlineOf(file: OpenFile): Outline {
  return file.outline ??= makeOutline(file.text);
}

/** A position in a file as editors count: lines and UTF-16 units from 0. */
interface EditorPosition {
  readonly line: number;
  readonly character: number;
}

interface EditorRange {
  readonly start: EditorPosition;
  readonly end: EditorPosition;
}

/** Translates the positions in a text. */
interface LineIndex {
  offsetAt(position: EditorPosition): number;
  rangeOf(range: TextRange): EditorRange;
}

function makeLineIndex(text: string): LineIndex {
  const starts = lineStarts(text);
  const positionAt = (offset: number): EditorPosition => {
    const line = lineAt(starts, offset);
    return { line, character: offset - starts[line]! };
  };
  return {
    offsetAt: ({ line, character }) =>
      Math.min(
        (starts[line] ?? text.length) + character,
        (starts[line + 1] ?? text.length + 1) - 1,
      ),
    rangeOf: ({ start, end }) => ({ start: positionAt(start), end: positionAt(end) }),
  };
}

/**
 * Whether a file is a workflow, a job file or a suite, or becomes one: an editor opens the YAML of
 * other programs, too.
 */
function isOurs({ root, text }: Outline, path: string): boolean {
  if (/[\\/]\.github[\\/]/.test(path) || root?.kind === "list") return false;
  const keys = pairsOf(root).map(({ key }) => key.text);
  if (keys.length === 0) return /^\s*[^\s#]/m.test(text);
  return keys.some((key) => ["jobs", "steps", "workflows"].includes(key)) ||
    keys.every((key) => key.startsWith("x-") || suggest(key, ROOT_KEYS) !== undefined);
}

/** Finds all actions, and runs no code of plugins. */
export async function findActions(host: Host): Promise<Catalog> {
  const actions = await Promise.all(ACTIONS.map(({ load }) => load()));
  const directory = pluginDirectory(host);
  const plugins = directory ? await pluginNames(directory, host).catch(() => undefined) : undefined;
  return {
    actions: new Map(actions.map((action) => [action.name, action])),
    plugins: plugins ?? [],
  };
}
