import type { Diagnostic } from "../base/diagnostic.ts";
import type { Source } from "../base/source.ts";

/** The variables of a file, and what is wrong with its lines. */
export interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  readonly problems: readonly Diagnostic[];
}

/** The rest of a line that has nothing but a comment in it. */
const NOTHING = /[^\S\r\n]*(?:#[^\r\n]*)?(?:\r?\n|\r|$)/y;
/** The same after a `=`: only after a space does a `#` begin a comment, not in a password. */
const NO_VALUE = /[^\S\r\n]*(?:(?<=[^\S\r\n])#[^\r\n]*)?(?:\r?\n|\r|$)/y;
const SPACE = /[^\S\r\n]*/y;
const EXPORT = /export[^\S\r\n]+(?=[^\s=])/y;
const NAME = /[A-Za-z_][\w.-]*/y;
const EQUALS = /[^\S\r\n]*=/y;
const QUOTED = /"((?:[^"\\]|\\[^])*)"|'([^']*)'|`([^`]*)`/y;
const QUOTE = /["'`]/y;
const BARE = /[^\r\n]*?(?=[^\S\r\n]+#|[^\S\r\n]*(?:\r|\n|$))/y;
const REST = /[^\r\n]*/y;

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
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  const refuse = (start: number, end: number, message: string, hint: string) => {
    const span = { source, start, end };
    problems.push({ severity: "error", code: "env-file", message, hint, span });
    take(REST);
  };
  const readLine = () => {
    take(SPACE);
    take(EXPORT);
    const start = at;
    const name = take(NAME)?.[0];
    const end = at;
    if (name === undefined) {
      return refuse(start, start + 1, "this is not the name of a variable", FORM);
    }
    if (!take(EQUALS)) {
      const isName = take(NOTHING) !== null || /\s/.test(text[end]!);
      at = end;
      const message = isName
        ? `there is no "=" after "${name}"`
        : `a name has no "${text[end]}" in it`;
      return refuse(start, end, message, FORM);
    }
    if (take(NO_VALUE)) variables[name] = "";
    else readValue(name);
  };
  const readValue = (name: string) => {
    take(SPACE);
    const start = at;
    const quoted = take(QUOTED);
    const end = at;
    if (quoted) {
      const [, escaped, ...plain] = quoted;
      variables[name] = escaped === undefined ? plain.join("") : unescape(escaped);
      if (!take(NOTHING)) refuse(end, end + 1, "text after the closing quote", QUOTE_ALL);
    } else if (take(QUOTE)) {
      refuse(start, end + 1, "this quote is never closed", "close it after the value");
    } else {
      variables[name] = take(BARE)![0];
      take(NOTHING);
    }
  };
  while (at < text.length) if (!take(NOTHING)) readLine();
  return { variables, problems };
}

const FORM = "write NAME=value";
const QUOTE_ALL = "put all of the value in quotes";

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** Escaped quotes, backslashes and `$` mean themselves; unknown escapes keep their backslash. */
function unescape(text: string): string {
  return text.replace(
    /\\([^])/g,
    (written, character: string) =>
      ESCAPES[character] ?? (/["'`\\$]/.test(character) ? character : written),
  );
}
