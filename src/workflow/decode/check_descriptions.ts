import { pathRefusal } from "../../action/permissions/path_rule.ts";
import type { Host } from "../../host/host.ts";
import { Description } from "../../openapi/read/description.ts";
import { LoadError } from "../../base/errors.ts";
import { excerptOf, type Path } from "../../base/source.ts";
import { besideDocument, suggestFile } from "../job_files/job_path.ts";
import type { Limits } from "../limits.ts";
import type { Document } from "../model.ts";
import { addError, type Problem } from "../problem.ts";
import { readTextFile } from "../read_files.ts";
import { isDict, valueAt } from "../../base/value/value.ts";
import { holdsTemplate } from "../../expr/template/template_data.ts";
import { listIn } from "./inspect_value.ts";

/** The name of an OpenAPI description, and its place in a document. */
interface NamedDescription {
  readonly name: string;
  readonly path: Path;
}

/** More mistakes of a description are not listed at the place that names it. */
const MAX_MISTAKES = 5;

/** Reads the descriptions that a document names, and reports what is wrong with them. */
export async function checkDescriptions(
  document: Document,
  problems: Problem[],
  limits: Limits,
  host: Host,
): Promise<void> {
  const named = descriptionsIn(document.value);
  const known = new Set<string>();
  for (const { name, path } of named) {
    const file = besideDocument(document, path, name);
    if (known.has(file) || await comesLater(document, file, named, host)) continue;
    known.add(file);
    try {
      await checkDescription(file, limits, host);
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      const isMissing = error.message.endsWith(`'${file}' not found`);
      const hint = error.hint ?? (isMissing ? await suggestFile(file, host) : undefined);
      const mistakes = mistakesIn(error, hint);
      for (const { message, hint } of mistakes.slice(0, MAX_MISTAKES)) {
        addError(problems, "openapi", path, message, { hint });
      }
      const rest = mistakes.length - MAX_MISTAKES;
      if (rest > 0) addError(problems, "openapi", path, `${rest} more mistakes in '${file}'`);
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
  await Description.open(path, read);
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

/** The mistakes of a file, with their places in it. */
function mistakesIn(
  { message, diagnostics }: LoadError,
  hint: string | undefined,
): readonly { readonly message: string; readonly hint?: string }[] {
  if (diagnostics.length === 0) return [{ message, hint }];
  return diagnostics.map(({ message, hint, span }) => {
    if (!span) return { message, hint };
    const { file, line, column } = excerptOf(span);
    return { message: `${file}:${line}:${column}: ${message}`, hint };
  });
}

/** The OpenAPI descriptions that steps and defaults of http name, where the names are constant. */
function descriptionsIn(root: unknown): readonly NamedDescription[] {
  const jobs = listIn(root, "jobs").map((job, index) => [job, ["jobs", index]] as const);
  return [[root, []] as const, ...jobs].flatMap(([owner, path]) => [
    ...descriptionOf(valueAt(owner, ["defaults", "http"]), [...path, "defaults", "http"]),
    ...["steps", "finally"].flatMap((key) =>
      listIn(owner, key).flatMap((step, index) =>
        valueAt(step, ["uses"]) === "http"
          ? descriptionOf(valueAt(step, ["with"]), [...path, key, index, "with"])
          : []
      )
    ),
  ]);
}

function descriptionOf(params: unknown, path: Path): readonly NamedDescription[] {
  const openapi = valueAt(params, ["openapi"]);
  const name = isDict(openapi) ? valueAt(openapi, ["file"]) : openapi;
  if (typeof name !== "string" || name === "false" || holdsTemplate(name)) return [];
  return [{ name, path: [...path, "openapi", ...isDict(openapi) ? ["file"] : []] }];
}
