import { pathRefusal } from "../../action/permissions/path_rule.ts";
import type { Host } from "../../host/host.ts";
import { checkApi } from "../../openapi/read/read_api.ts";
import { LoadError } from "../../base/errors.ts";
import { excerptOf, type Path } from "../../base/source.ts";
import { besideDocument, suggestFile } from "../job_files/job_path.ts";
import type { Limits } from "../limits.ts";
import type { Document } from "../model.ts";
import { addError, type Problem } from "../problem.ts";
import { readTextFile } from "../read_files.ts";
import { readDescription } from "../yaml/read_description.ts";

/** The name of an OpenAPI description, and its place in a document. */
export interface NamedDescription {
  readonly name: string;
  readonly path: Path;
}

/** More mistakes of a description are not listed at the place that names it. */
const MOST = 5;

/** Reads the descriptions that a document names, and reports what is wrong with them. */
export async function checkDescriptions(
  document: Document,
  named: readonly NamedDescription[],
  problems: Problem[],
  limits: Limits,
  host: Host,
): Promise<void> {
  const known = new Set<string>();
  for (const { name, path } of named) {
    const file = await besideDocument(document, path, name);
    if (known.has(file) || await comesLater(document, file, named, host)) continue;
    known.add(file);
    try {
      await checkDescription(file, limits, host);
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      const isMissing = error.message.endsWith(`'${file}' not found`);
      const hint = error.hint ?? (isMissing ? await suggestFile(file, host) : undefined);
      const mistakes = wordsOf(error, hint);
      for (const { message, hint } of mistakes.slice(0, MOST)) {
        addError(problems, "openapi", path, message, hint === undefined ? {} : { hint });
      }
      if (mistakes.length > MOST) {
        addError(problems, "openapi", path, `${mistakes.length - MOST} more mistakes in '${file}'`);
      }
    }
  }
}

/** Reads a description and what it refers to. Throws LoadError. */
export async function checkDescription(
  path: string,
  { permissions }: Pick<Limits, "permissions">,
  host: Host,
): Promise<void> {
  const read = async (name: string) => {
    const refused = permissions && await pathRefusal(permissions, "read", name, host);
    if (!refused) return await readTextFile(name, host, "OpenAPI description");
    const message = `cannot read the OpenAPI description "${name}": ${refused.message}`;
    throw new LoadError(message, [], refused.hint);
  };
  await checkApi(path, { read, yaml: { parse: readDescription } });
}

/** Whether a file that is missing may be written by a step, which then mentions its name. */
async function comesLater(
  { value }: Document,
  file: string,
  named: readonly NamedDescription[],
  { files }: Host,
): Promise<boolean> {
  const base = file.split(/[\\/]/).at(-1)!;
  const mentions = JSON.stringify(value).split(base).length - 1;
  const uses = named.filter(({ name }) => name.endsWith(base)).length;
  return mentions > uses && !await files.isFile(file).catch(() => true);
}

interface Words {
  readonly message: string;
  readonly hint?: string;
}

/** The mistakes of a file in words, with their places in it. */
function wordsOf({ message, diagnostics }: LoadError, hint: string | undefined): readonly Words[] {
  if (diagnostics.length === 0) return [{ message, ...hint === undefined ? {} : { hint } }];
  return diagnostics.map(({ message, hint, span }) => {
    const { file, line, column } = span ? excerptOf(span) : { file: "", line: 0, column: 0 };
    return {
      message: span ? `${file}:${line}:${column}: ${message}` : message,
      ...hint === undefined ? {} : { hint },
    };
  });
}
