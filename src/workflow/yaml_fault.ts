import { LoadError } from "../source/errors.ts";
import { placeOf } from "../source/source.ts";
import { type JoinedText, spanAt } from "./join_files.ts";
import type { JsYaml } from "./js_yaml.ts";
import { parseExactly, type YamlFault } from "./parse_exactly.ts";

/** What is told of a kind of fault, given the text from the fault on and its line. */
interface FaultKind {
  readonly reason: RegExp;
  readonly tell: (at: FaultContext) => Told;
}

interface FaultContext {
  readonly reason: string;
  /** The line of the fault before and from the fault on. */
  readonly before: string;
  readonly after: string;
}

interface Told {
  readonly message?: string;
  readonly hint?: string;
  /** How many characters to mark. */
  readonly length?: number;
}

/** Something that begins and does not end: the fault shows where the text after it does not fit. */
const UNCLOSED = /^deficient indentation|^unexpected end of the stream within/;

const QUOTE_IT = "put the whole value in quotes";

const KINDS: readonly FaultKind[] = [
  {
    reason: /^duplicated mapping key/,
    tell: ({ after }) => {
      const key = /^(?:"[^"]*"|'[^']*'|[^:\s]+)/.exec(after)?.[0] ?? after.trim();
      const message = `the key ${/^["']/.test(key) ? key : `"${key}"`} is there twice`;
      return { message, hint: "keep one of the two", length: key.length };
    },
  },
  {
    reason: /tab characters/,
    tell: ({ after }) => ({
      message: "a tab in the indentation",
      hint: "indent with spaces",
      length: /^\s*/.exec(after)![0].length,
    }),
  },
  {
    reason: /^nesting exceeded/,
    tell: () => ({ message: "the values are nested too deeply" }),
  },
  {
    reason: /^merge keys exceeded/,
    tell: () => ({ message: '"<<" brings in too many keys' }),
  },
  {
    reason: /^cannot merge mappings/,
    tell: () => ({
      message: '"<<" can merge mappings only',
      hint: "write <<: *anchor or <<: [*one, *other]",
      length: 2,
    }),
  },
  {
    reason: /^unidentified alias/,
    tell: ({ reason, after }) => {
      const name = /"(.*)"/.exec(reason)?.[1] ?? "";
      const message = `the alias "*${name}" has no anchor "&${name}" before it`;
      const hint = "text that begins with * must be in quotes";
      return { message, hint, length: /^\*?[^\s,\]}]*/.exec(after)![0].length };
    },
  },
  {
    reason: /^unknown \w+ tag|^undeclared tag|^tag |tag name|^cannot resolve a node/,
    tell: ({ after }) => ({
      message: `"${/^\S*/.exec(after)![0]}" is read as a YAML tag, and there is no such tag`,
      hint: 'text that begins with "!" must be in quotes',
      length: /^\S*/.exec(after)![0].length,
    }),
  },
  {
    reason: UNCLOSED,
    tell: ({ after }) => ({
      message: /^["']/.test(after)
        ? "the text that begins here is not closed"
        : `this "${after[0] ?? "["}" is not closed`,
      hint: after.startsWith("{{")
        ? `for a template, ${QUOTE_IT}`
        : "close it, and indent the lines that belong to it",
    }),
  },
  { reason: /^unknown escape sequence/, tell: () => ({ hint: 'write "\\\\" for a backslash' }) },
  { reason: /./, tell: tellByText },
];

/** A misplaced character, most often in text that should be in quotes. */
function tellByText({ before, after }: FaultContext): Told {
  const line = before + after;
  if (/(?::|-)\s+\{\{.*\}\}/.test(line)) return { hint: `for a template, ${QUOTE_IT}` };
  if (/^:(?:\s|$)/.test(after) && /:\s+[^"'\s]/.test(before)) {
    return { message: 'a second ": " in one line', hint: `${QUOTE_IT}, or begin a new line` };
  }
  if (/^[@`%]/.test(after)) {
    return { message: `a value cannot begin with "${after[0]}"`, hint: QUOTE_IT };
  }
  if (after.startsWith(":")) {
    return { message: "this line is indented as if it belonged to the value above it" };
  }
  if (/^-\s/.test(after) && /:\s+$/.test(before)) {
    return { message: "a list cannot begin here", hint: "begin it on a line of its own" };
  }
  if (before === "") return { message: "this line does not fit the indentation above it" };
  if (/^["']/.test(before.replace(/^.*?:\s+|^\s*-\s+/, ""))) {
    return { hint: "text after the closing quote; put all of it in quotes" };
  }
  return {};
}

/** The error to tell of a text that is no YAML: the line, what is wrong there and what to do. */
export function faultError(fault: YamlFault, joined: JoinedText, yaml: JsYaml): LoadError {
  const { reason } = fault;
  const found = UNCLOSED.test(reason) ? openingOf(fault, joined, yaml) : fault.offset;
  const offset = joined.text[found - 1] === "*" ? found - 1 : found;
  const lineStart = joined.text.lastIndexOf("\n", offset - 1) + 1;
  const newline = joined.text.indexOf("\n", offset);
  const line = joined.text.slice(lineStart, newline < 0 ? undefined : newline).replace(/\r$/, "");
  const before = line.slice(0, offset - lineStart);
  const context = { reason, before, after: line.slice(before.length) };
  const kind = KINDS.find((kind) => kind.reason.test(reason));
  const { message = reason, hint, length = 1 } = kind?.tell(context) ?? {};
  const span = spanAt(joined, offset, offset + length);
  return new LoadError(`YAML syntax error at line ${placeOf(span).line}`, [{
    severity: "error",
    code: "yaml",
    message,
    ...hint === undefined ? {} : { hint },
    span,
  }]);
}

/**
 * Where the quote or bracket stands that is never closed. The text up to there is no such fault
 * and all longer pieces are, so the border is found by halving.
 */
function openingOf(fault: YamlFault, joined: JoinedText, yaml: JsYaml): number {
  const isCut = (end: number) => {
    const text = joined.text.slice(0, end);
    const result = parseExactly({ text, files: [], starts: [0] }, yaml);
    return "fault" in result && UNCLOSED.test(result.fault.reason);
  };
  let [whole, cut] = [0, Math.min(joined.text.length, fault.offset + 1)];
  while (whole + 1 < cut) {
    const middle = (whole + cut) >> 1;
    if (isCut(middle)) cut = middle;
    else whole = middle;
  }
  return whole;
}
