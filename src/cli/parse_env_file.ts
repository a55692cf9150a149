import type { Diagnostic } from "../source/diagnostic.ts";
import type { Source } from "../source/source.ts";

/** The variables of a file, and what is wrong with its lines. */
export interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  readonly problems: readonly Diagnostic[];
}

const LINE = /[^\S\r\n]*(?:#[^\r\n]*)?(?:\r?\n|\r|$)/y;
const NAME = /[^\S\r\n]*(?:export[^\S\r\n]+)?([A-Za-z_][\w.-]*)[^\S\r\n]*(=[^\S\r\n]*)?/y;
const QUOTED = /"((?:[^"\\]|\\[^])*)"|'([^']*)'|`([^`]*)`/y;
/** A `#` begins a comment only after a space, so that a password may have one in it. */
const BARE = /[^\r\n]*?(?=[^\S\r\n]+#|[^\S\r\n]*(?:\r|\n|$))/y;
const REST = /[^\r\n]*/y;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Reads lines `NAME=value`, with or without `export` before them. A value in double quotes knows
 * `\n`, `\t`, `\"` and the like; one in any quotes may have several lines. Nothing is filled in
 * for `$NAME`.
 */
export function parseEnvFile(source: Source): EnvFile {
  const { text } = source;
  const variables: Record<string, string> = Object.create(null);
  const problems: Diagnostic[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match;
  };
  const refuse = (start: number, end: number, message: string, hint: string) => {
    const span = { source, start, end };
    problems.push({ severity: "error", code: "env-file", message, hint, span });
    take(REST);
  };
  while (at < text.length) {
    if (take(LINE)) continue;
    const start = at;
    const [head, name, equals] = take(NAME) ?? [];
    if (name === undefined || equals === undefined) {
      const from = start + (head?.search(/\S/) ?? /\S/.exec(text.slice(start))!.index);
      const [rest = ""] = take(REST) ?? [];
      const to = name === undefined ? from + 1 : Math.max(from + 1, start + head!.trimEnd().length);
      const message = name === undefined
        ? "this is not the name of a variable"
        : /^\S/.test(rest)
        ? `a name has no "${rest[0]}" in it`
        : `there is no "=" after "${name}"`;
      refuse(from, to, message, "write NAME=value");
      continue;
    }
    const valueStart = at;
    const quoted = take(QUOTED);
    if (quoted) {
      const [, escaped, single, tick] = quoted;
      const end = at;
      if (take(LINE)) variables[name] = escaped === undefined ? single ?? tick! : unescape(escaped);
      else refuse(end, end + 1, "text after the closing quote", "put all of the value in quotes");
    } else if (/["'`]/.test(text[at] ?? "")) {
      refuse(valueStart, valueStart + 1, "this quote is never closed", "close it after the value");
    } else {
      variables[name] = take(BARE)?.[0] ?? "";
      take(LINE);
    }
  }
  return { variables, problems };
}

function unescape(text: string): string {
  return text.replace(
    /\\(\r\n|[^])/g,
    (_, character) => ESCAPES[character] ?? unescaped(character),
  );
}

/** Quotes, the backslash and `$` stand for themselves; any other keeps its backslash. */
function unescaped(character: string): string {
  return /["'`\\$]/.test(character) ? character : `\\${character}`;
}
