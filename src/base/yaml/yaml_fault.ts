import { LoadError } from "../errors.ts";
import { excerptOf, type Path } from "../source.ts";
import type { Document } from "./document.ts";
import { findOpening } from "./find_opening.ts";
import {
  NOT_A_MAPPING,
  type ParsedYaml,
  parseYaml,
  SECOND_DOCUMENT,
  spanAt,
  type YamlFault,
} from "./parse_yaml.ts";
import { buildTree, type YamlNode } from "./yaml_tree.ts";

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

/** Two values where there can be one. */
const BAD_INDENTATION = /^bad indentation/;

const KEEP_ONE = "keep one of the two";
const NBSP = 'a non-breaking space follows the ":": write a plain one';
const QUOTE_IT = "put the whole value in quotes";

const KINDS: readonly FaultKind[] = [
  [/^duplicated mapping key/, ({ after, text, offset }) => {
    const key = /^(?:"[^"]*"|'[^']*'|[^:\s"']+)/.exec(after)?.[0] ?? after.trim();
    const found = duplicateKeys(buildTree(parseYaml([{ name: "", text }]).events, text).roots);
    const again = [...found].find(({ start, end }) => start <= offset && offset < end);
    const first = again ? `; the first one is in line ${lineAt(text, again.first)}` : "";
    const message = `duplicate key ${/^["']/.test(key) ? key : `"${key}"`}${first}`;
    return { message, hint: KEEP_ONE, length: key.length };
  }],
  [new RegExp(`^${SECOND_DOCUMENT}`), ({ after }) => ({
    message: after.startsWith("---")
      ? "a second document begins here"
      : "the document ends here, but the file goes on",
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
  [/^nesting exceeded/, () => ({ message: "the values are nested too deeply" })],
  [/^merge keys exceeded/, () => ({ message: '"<<" brings in too many keys' })],
  [/^cannot merge mappings/, () => ({
    message: '"<<" can merge mappings only',
    hint: "write <<: *anchor or <<: [*one, *other]",
    length: 2,
  })],
  [/^unidentified alias/, ({ reason, after }) => {
    const name = /"(.*)"/.exec(reason)?.[1] ?? "";
    const message = `the alias "*${name}" has no anchor "&${name}" before it`;
    const hint = "text that begins with * must be in quotes";
    return { message, hint, length: /^\*?[^\s,\]}]*/.exec(after)![0].length };
  }],
  [/^unknown \w+ tag|^undeclared tag|^tag |tag name/, ({ after }) => ({
    message: `unknown YAML tag "${firstWord(after)}"`,
    hint: 'text that begins with "!" must be in quotes',
    length: firstWord(after).length,
  })],
  [UNCLOSED, ({ after }) => ({
    message: /^["']/.test(after)
      ? "the text that begins here is not closed"
      : `this "${after[0] ?? "["}" is not closed`,
    hint: after.startsWith("{{")
      ? `for a template, ${QUOTE_IT}`
      : "close it, and indent the lines that belong to it",
  })],
  [/^cannot resolve a node/, ({ after }) => ({
    message: `what follows does not fit the tag "${firstWord(after)}"`,
    length: firstWord(after).length,
  })],
  [/^unknown escape sequence/, ({ after }) => ({
    message: `unknown escape ${after.slice(0, 2)}`,
    hint: 'write "\\\\" for a backslash, or put the text in single quotes',
    length: 2,
  })],
  [
    /^missed comma/,
    ({ after }) =>
      after === "" || /^[\]}]/.test(after)
        ? { message: "a closing bracket is missing before this, or it is another one" }
        : {
          message: 'a "," or a closing bracket is missing before this',
          hint: "a value with brackets, quotes or commas in it must be in quotes",
        },
  ],
  [/^expected the node content/, ({ after }) => ({
    message: `a value is missing before this "${after[0] ?? ""}"`,
  })],
  [/non-printable|valid JSON character/, ({ after }) => ({
    message: `a character that YAML does not allow: U+${codePoint(after)}`,
    hint: "write it as an escape in double quotes",
  })],
  [KEYLESS, (at) => {
    const { after } = at;
    if (/^[@`%]|:(?:\s|$)/.test(after)) return explainByText(at);
    const hint = /\S:\S/.test(after) ? 'a space must follow the ":"' : 'write "key: value"';
    return { message: "a key without a value", hint, length: after.trimEnd().length };
  }],
  [/./, explainByText],
];

function firstWord(text: string): string {
  return /^\S*/.exec(text)![0];
}

function codePoint(text: string): string {
  return (text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

/** A misplaced character, most often in text that should be in quotes. */
function explainByText({ reason, before, after, text, offset }: FaultContext): Explanation {
  const line = before + after;
  const template = /(?<=[:-]\s+)\{\{.*?\}\}/.exec(line);
  if (template) {
    const { index: start, 0: { length } } = template;
    const message = "YAML reads {{ }} without quotes as a map";
    return { message, hint: `for a template, ${QUOTE_IT}`, length, start };
  }
  if (/^:(?:\s|$)/.test(after) && /:\s+[^"'\s]/.test(before)) {
    return { message: 'a second ": " in one line', hint: `${QUOTE_IT}, or begin a new line` };
  }
  if (/^[@`%]/.test(after)) {
    return { message: `a value cannot begin with "${after[0]}"`, hint: QUOTE_IT };
  }
  if (after.startsWith(":")) {
    return {
      message: "this line is indented as if it belonged to the value above it",
      hint: columnHint(text, offset - before.length),
    };
  }
  if (/^-(?:\s|$)/.test(after) && /:\s+$/.test(before)) {
    return { message: "a list cannot begin here", hint: "begin it on a line of its own" };
  }
  if (before.trim() === "") {
    return {
      message: "this line does not fit the indentation above it",
      hint: columnHint(text, offset - before.length),
    };
  }
  if (/^["']/.test(before.replace(/^.*?:\s+|^\s*-\s+/, ""))) {
    return { message: "text after the closing quote", hint: QUOTE_IT };
  }
  if (/^[\]}]/.test(after)) {
    const isCall = /(?::|-)\s+[\w.]+\(/.test(before);
    const hint = isCall ? `for an expression with ": ", ${QUOTE_IT}` : undefined;
    return { message: `unexpected "${after[0]}"`, hint };
  }
  return BAD_INDENTATION.test(reason)
    ? { message: "this does not belong to the value before it", hint: QUOTE_IT }
    : {};
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

/** The error for a text that is not YAML: the line, what is wrong there and what to do. */
export function faultError(fault: YamlFault): LoadError {
  const { reason, source } = fault;
  const offset = bestOffset(fault);
  const { text } = source;
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const newline = text.indexOf("\n", offset);
  const line = text.slice(lineStart, newline < 0 ? undefined : newline).replace(/\r$/, "");
  const before = line.slice(0, offset - lineStart);
  const context = { reason, before, after: line.slice(before.length), text, offset };
  const [, explain] = KINDS.find(([pattern]) => pattern.test(reason))!;
  // What looks like a key is text, which the line below it shows.
  const lines = text.slice(0, lineStart + line.length).split("\n").slice(-2);
  const space = lines.some((line) => /^[-\s]*[\w-]+:\u00A0/.test(line));
  const explained = explain(context);
  const { message = reason, length = 1, start: column } = explained;
  const hint = space ? NBSP : explained.hint;
  const start = column === undefined ? offset : lineStart + column;
  const span = { source, start, end: start + length };
  const diagnostic = { severity: "error", code: "yaml", message, hint, span } as const;
  return new LoadError(`YAML syntax error at line ${excerptOf(span).line}`, [diagnostic]);
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

/** A key that its mapping has before, and the offset of the first. */
interface AgainKey {
  readonly path: Path;
  readonly start: number;
  readonly end: number;
  readonly first: number;
}

/** The keys in nodes at a path that their mappings have more than once. */
function* duplicateKeys(nodes: readonly YamlNode[], path: Path = []): Iterable<AgainKey> {
  for (const node of nodes) {
    if (node.kind === "list") {
      for (const [at, { value }] of node.items.entries()) {
        yield* duplicateKeys([value], [...path, at]);
      }
    }
    const known = new Map<string, number>();
    for (const { key, value } of node.kind === "map" ? node.pairs : []) {
      const name = key.kind === "scalar" ? key.text : "";
      const { start, end } = key;
      const first = known.get(name);
      if (first === undefined) known.set(name, start);
      else if (key.kind === "scalar" && name !== "<<") {
        yield { path: [...path, name], start, end, first };
      }
      yield* duplicateKeys([value], [...path, name]);
    }
  }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** What is to be reported of the keys that files have twice: of each its path and a message. */
export function explainDuplicates(parsed: ParsedYaml): Document["duplicates"] {
  const found = duplicateKeys(buildTree(parsed.events, parsed.text).roots);
  return [...found].map(({ path, first }) => {
    const { source: { text }, start } = spanAt(parsed, first, first);
    const message = `duplicate key "${path.at(-1)}"; the first one is in line ${
      lineAt(text, start)
    }`;
    return { path, message, hint: KEEP_ONE };
  });
}

/** Where the content of the last line begins that has any. */
function lastLine(text: string): number {
  const end = text.trimEnd();
  const lineStart = end.lastIndexOf("\n") + 1;
  return lineStart + /^[ \t]*/.exec(end.slice(lineStart))![0].length;
}
