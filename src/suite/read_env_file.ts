import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";
import { excerptOf, type Source } from "../base/source.ts";
import { isSecretName } from "../secrets/secrets.ts";
import { readTextFile } from "../workflow/read_files.ts";
import { parseEnvFile } from "./parse_env_file.ts";

/** Where files with values are read, and the secrets that come up. */
interface Reading {
  readonly host: Host;
  /** Gets values of secret names, before anything is said of them. */
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
  const count = problems.length === 1 ? "1 error" : `${problems.length} errors`;
  throw new LoadError(
    `env file '${source.name}' has ${count}`,
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

/** A line of an env file of which no more than the name is shown: the rest may be a secret. */
function hideValue(line: string): string {
  const name = ENV_NAME.exec(line)?.[0] ?? "";
  return name + line.slice(name.length).replace(/[^\s=:]/g, "*");
}
