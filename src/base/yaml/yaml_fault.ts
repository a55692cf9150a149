import type { Diagnostic } from "../diagnostic.ts";
import { LoadError } from "../errors.ts";
import { excerptOf, type Path } from "../source.ts";
import type { DuplicateKey, FileValues } from "./document.ts";
import { findOpening } from "./find_opening.ts";
import {
  constructValues,
  NOT_A_MAPPING,
  type ParsedYaml,
  SECOND_DOCUMENT,
  spanAt,
  YamlFault,
} from "./parse_yaml.ts";
import { buildTree, type YamlNode } from "./yaml_tree.ts";

/** The reason of a fault that does not end the reading of a workflow. */
const DUPLICATE_KEY = "duplicated mapping key";

/** The parser's reason, and what to say about it. */
type FaultKind = readonly [reason: RegExp, explain: (at: FaultContext) => Explanation];

interface FaultContext {
  readonly reason: string;
  /** The line of the fault before and from the fault on. */
  readonly before: string;
  readonly after: string;
  readonly text: string;
  readonly offset: number;
}

interface Explanation {
  readonly message?: string;
  readonly hint?: string;
  /** The number of characters to mark. */
  readonly length?: number;
  /** Where in the line they begin, if not at the fault. */
  readonly start?: number;
}

/** Something that begins and does not end: the fault shows where the text after it does not fit. */
const UNCLOSED = /^deficient indentation|^unexpected end of the stream within/;

/** A line without ": ", which shows at the end of it, or at the next ":" below it. */
const KEYLESS = /^expected ':' after|a multiline key|^end of the stream or a document/;

const NBSP = 'a non-breaking space follows the ":": write a plain one';
const QUOTE_IT = "put the whole value in quotes";

/** The commonest mistakes; of all others, the parser's reason is the message. */
const KINDS: readonly FaultKind[] = [
  [new RegExp(`^${SECOND_DOCUMENT}`), () => ({
    message: "a second document begins here",
    hint: "a workflow is one document: remove this line",
    length: 3,
  })],
  [new RegExp(`^${NOT_A_MAPPING}`), ({ after }) => ({
    message: "only mappings can be joined with other files",
    hint: 'write "key: value" lines',
    length: after.trimEnd().length,
  })],
  [/tab characters/, ({ after }) => ({
    message: "a tab in the indentation",
    hint: "indent with spaces",
    length: after.length - after.trimStart().length,
  })],
  [/^unidentified alias/, ({ reason, after }) => {
    const name = /"(.*)"/.exec(reason)?.[1] ?? "";
    const message = `the alias "*${name}" has no anchor "&${name}" before it`;
    const hint = "text that begins with * must be in quotes";
    return { message, hint, length: /^\*?[^\s,\]}]*/.exec(after)![0].length };
  }],
  [/^unknown \w+ tag|^undeclared tag|^tag |tag name/, ({ after }) => {
    const tag = /^\S*/.exec(after)![0];
    const hint = 'text that begins with "!" must be in quotes';
    return { message: `unknown YAML tag "${tag}"`, hint, length: tag.length };
  }],
  [UNCLOSED, ({ after }) => ({
    message: /^["']/.test(after)
      ? "the text that begins here is not closed"
      : `this "${after[0] ?? "["}" is not closed`,
    hint: after.startsWith("{{")
      ? `for a template, ${QUOTE_IT}`
      : "close it, and indent the lines that belong to it",
  })],
  [/^unknown escape sequence/, ({ after }) => ({
    message: `unknown escape ${after.slice(0, 2)}`,
    hint: 'write "\\\\" for a backslash, or put the text in single quotes',
    length: 2,
  })],
  [KEYLESS, (at) => {
    const { after } = at;
    if (/^:(?:\s|$)/.test(after)) return explainIndentation(at);
    const hint = /\S:\S/.test(after) ? 'a space must follow the ":"' : 'write "key: value"';
    return { message: "a key without a value", hint, length: after.trimEnd().length };
  }],
  [/^bad indentation/, explainByText],
  [/^nesting exceeded/, () => ({ message: "the values are nested too deeply" })],
  [/./, () => ({})],
];

/** A misplaced character, most often in text that should be in quotes. */
function explainByText(at: FaultContext): Explanation {
  const { before, after } = at;
  const template = /(?<=[:-]\s+)\{\{.*?\}\}/.exec(before + after);
  if (template) {
    const { index: start, 0: { length } } = template;
    const message = "YAML reads {{ }} without quotes as a map";
    return { message, hint: `for a template, ${QUOTE_IT}`, length, start };
  }
  const hint = `${QUOTE_IT}, or begin a new line`;
  if (/^:(?:\s|$)/.test(after) && /:\s+[^"'\s]/.test(before)) {
    return { message: 'a second ": " in one line', hint };
  }
  if (before.trim() === "" || after.startsWith(":")) return explainIndentation(at);
  if (/^["']/.test(before.replace(/^.*?:\s+|^\s*-\s+/, ""))) {
    return { message: "text after the closing quote", hint: QUOTE_IT };
  }
  return /^[@`%]/.test(after)
    ? { message: `a value cannot begin with "${after[0]}"`, hint: QUOTE_IT }
    : { message: `unexpected "${after[0] ?? ""}"`, hint };
}

function explainIndentation({ before, text, offset }: FaultContext): Explanation {
  return {
    message: "this line does not fit the indentation above it",
    hint: columnHint(text, offset - before.length),
  };
}

/** At which columns, from 1 and the deepest first, the line at an offset could begin. */
function columnHint(text: string, offset: number): string | undefined {
  const columns: number[] = [];
  let shallowest = Infinity;
  for (const line of text.slice(0, offset).split("\n").reverse()) {
    const [, indent = "", dashes = "", rest = ""] = /^( *)((?:- +)*)(.*)/.exec(line) ?? [];
    if (rest.trim() === "" || rest.startsWith("#") || indent.length >= shallowest) continue;
    if (dashes !== "" && indent.length + dashes.length < shallowest) {
      columns.push(indent.length + dashes.length + 1);
    }
    columns.push(indent.length + 1);
    shallowest = indent.length;
    if (shallowest === 0) break;
  }
  return columns.length === 0 ? undefined : `begin it at column ${columns.join(" or ")}`;
}

/** Calls a reader of YAML, whose fault becomes a LoadError that explains it. */
export function orLoadError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    throw faultError(error);
  }
}

/** The values of files in spite of a fault: of keys that are there twice, if these are allowed. */
export function recover(
  fault: YamlFault,
  parsed: ParsedYaml | undefined,
  allowsDuplicates: boolean,
): FileValues {
  const duplicates = parsed && fault.reason === DUPLICATE_KEY ? findDuplicates(parsed) : [];
  if (!parsed || duplicates.length === 0) throw faultError(fault);
  if (!allowsDuplicates) throw duplicatesError(duplicates);
  const values = orLoadError(() => constructValues(parsed, true));
  return { filled: parsed.filled, values, duplicates };
}

/** The error for a text that is not YAML: the line, what is wrong there and what to do. */
function faultError(fault: YamlFault): LoadError {
  const { reason, source } = fault;
  const offset = bestOffset(fault);
  const { text } = source;
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const newline = text.indexOf("\n", offset);
  const line = text.slice(lineStart, newline < 0 ? undefined : newline).replace(/\r$/, "");
  const before = line.slice(0, offset - lineStart);
  const context = { reason, before, after: line.slice(before.length), text, offset };
  const [, explain] = KINDS.find(([pattern]) => pattern.test(reason))!;
  const explained = explain(context);
  const { message = reason, length = 1, start: column } = explained;
  // What looks like a key is text, which the line below it shows.
  const lines = text.slice(0, lineStart + line.length).split("\n").slice(-2);
  const hint = lines.some((line) => /^[-\s]*[\w-]+:\u00A0/.test(line)) ? NBSP : explained.hint;
  const start = column === undefined ? offset : lineStart + column;
  const span = { source, start, end: start + length };
  const diagnostic = { severity: "error", code: "yaml", message, hint, span } as const;
  return syntaxError([diagnostic]);
}

function syntaxError(diagnostics: readonly Diagnostic[]): LoadError {
  const { line } = excerptOf(diagnostics[0]!.span!);
  return new LoadError(`YAML syntax error at line ${line}`, diagnostics);
}

/** The place that shows the fault best; the parser sometimes stops a little later. */
function bestOffset({ reason, offset, source: { text } }: YamlFault): number {
  if (UNCLOSED.test(reason)) {
    const opening = findOpening(text, offset) ?? offset;
    return text.startsWith("{{", opening - 1) ? opening - 1 : opening;
  }
  if (/^[*\\]$/.test(text[offset - 1] ?? "")) return offset - 1;
  if (!KEYLESS.test(reason)) return offset;
  if (text[offset] === ":") return lastLine(text.slice(0, text.lastIndexOf("\n", offset) + 1));
  return /\S/.test(text[offset] ?? "") ? offset : lastLine(text.slice(0, offset));
}

/** What is to be reported of the keys that files have twice. */
function findDuplicates(parsed: ParsedYaml): readonly DuplicateKey[] {
  return [...duplicateKeys(buildTree(parsed.events, parsed.text).roots)].map(
    ({ path, key, first }) => {
      const span = spanAt(parsed, key.start, key.end);
      const { line } = excerptOf(spanAt(parsed, first.start, first.end));
      const message = `duplicate key "${path.at(-1)}"; the first one is in line ${line}`;
      return { path, message, hint: "keep one of the two", span };
    },
  );
}

/** The error for duplicate keys, if reading cannot go on. */
function duplicatesError(duplicates: readonly DuplicateKey[]): LoadError {
  return syntaxError(
    duplicates.map(({ path: _, ...diagnostic }) => ({
      ...{ severity: "error", code: "yaml" },
      ...diagnostic,
    })),
  );
}

/** The keys in nodes at a path that their mappings have more than once, each with the first. */
function* duplicateKeys(
  nodes: readonly YamlNode[],
  path: Path = [],
): Iterable<{ readonly path: Path; readonly key: YamlNode; readonly first: YamlNode }> {
  for (const node of nodes) {
    if (node.kind === "list") {
      for (const [at, { value }] of node.items.entries()) {
        yield* duplicateKeys([value], [...path, at]);
      }
    }
    const known = new Map<string, YamlNode>();
    for (const { key, value } of node.kind === "map" ? node.pairs : []) {
      const name = key.kind === "scalar" ? key.text : "";
      const first = known.get(name);
      if (!first) known.set(name, key);
      else if (key.kind === "scalar" && name !== "<<") yield { path: [...path, name], key, first };
      yield* duplicateKeys([value], [...path, name]);
    }
  }
}

/** Where the content of the last line begins that has any. */
function lastLine(text: string): number {
  const end = text.trimEnd();
  const lineStart = end.lastIndexOf("\n") + 1;
  return lineStart + /^[ \t]*/.exec(end.slice(lineStart))![0].length;
}
