import { countOf } from "../base/text/count_of.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import { excerptOf, type Source } from "../base/source.ts";
import type { Host } from "../host/host.ts";
import { isSecretName } from "../secrets/secrets.ts";
import { readTextFile } from "../workflow/read_files.ts";

/** Where files with values are read, and the secrets that come up. */
interface Reading {
  readonly host: Host;
  /** Receives the values of secret names before any message shows them. */
  readonly secrets: Readonly<Record<string, unknown>>[];
}

/** Reads the NAME=value lines of a file. Throws LoadError, which shows no value. */
export async function readEnvFile(
  path: string,
  reading: Reading,
): Promise<Readonly<Record<string, string>>> {
  const { secrets } = reading;
  const source = await readSecretFile(path, "env file", reading);
  const { variables, problems } = parseEnvFile(source);
  if (problems.length === 0) {
    secrets.push(variables);
    return variables;
  }
  const shown = { ...source, text: source.text.replace(ENV_LINE, hideValue) };
  for (const { span } of problems) {
    const line = span ? excerptOf(span).text : "";
    secrets.push({ secret: line.replace(ENV_NAME, "").split(/[\s=:"'`]+/) });
  }
  throw new LoadError(
    `env file '${source.name}' has ${countOf(problems.length, "error")}`,
    problems.map(({ span, ...rest }) =>
      span ? { ...rest, span: { ...span, source: shown } } : rest
    ),
  );
}

/** A line that gives a value to a name, in a file that may be wrong elsewhere. */
const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?["']?([\w.-]+)["']?[ \t]*[:=][ \t]*(.*\S)/gm;

/** Reads a file; a message that quotes a line of it must not show the secret there. */
export async function readSecretFile(
  path: string,
  what: string,
  { host, secrets }: Reading,
): Promise<Source> {
  const source = await readTextFile(path, host, what);
  for (const [, name = "", written = ""] of source.text.matchAll(ASSIGNMENT)) {
    if (isSecretName(name)) {
      secrets.push({ [name]: [written, written.replace(/^["'`]|["',`]+$/g, "")] });
    }
  }
  return source;
}

/** The beginning of a line that can only be the name of a variable. */
const ENV_NAME = /^[ \t]*(?:export[ \t]+)?[A-Z_][A-Z0-9_]*(?=[ \t]*=|[ \t]+\S)/;
const ENV_LINE = /^.+$/gm;

/** A line of an env file as messages show it: only the name, because the rest may be a secret. */
function hideValue(line: string): string {
  const name = ENV_NAME.exec(line)?.[0] ?? "";
  return name + line.slice(name.length).replace(/[^\s=:]/g, "*");
}

/** The variables of a file, and what is wrong with its lines. */
interface EnvFile {
  readonly variables: Readonly<Record<string, string>>;
  readonly problems: readonly Diagnostic[];
}

/** The rest of a line that has only a comment. */
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
