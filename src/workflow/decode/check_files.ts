import { pathDenial } from "../../action/permissions/rules.ts";
import type { Host } from "../../host/host.ts";
import { LoadError } from "../../base/errors.ts";
import { excerptOf, type Path } from "../../base/source.ts";
import { besideDocument, IS_RELATIVE } from "../job_files/job_path.ts";
import type { Limits } from "../limits.ts";
import type { Document } from "../model.ts";
import { addError, type Problem } from "../problem.ts";
import { readBytes, readTextFile } from "../read_files.ts";
import { isDict, listIn, valueAt } from "../../base/value/value.ts";
import { knownText } from "../../expr/parse_expression.ts";
import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { toFileUrl } from "@std/path/to-file-url";
import type { Permissions } from "../../action/permissions/permissions.ts";
import { linksIn, SchemaFault } from "../../expr/json_schema/schema_tree.ts";
import type { SchemaDocument } from "../../expr/json_schema/validator.ts";
import type { SchemaFiles } from "../../expr/functions/function.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import { constructValues, parseYaml, YamlFault } from "../../base/yaml/parse_yaml.ts";

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
      const hint = error.hint ?? (isMissing ? IS_RELATIVE : undefined);
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
    const refused = permissions && await pathDenial(permissions, "read", name, host);
    if (!refused) return await readTextFile(name, host, "OpenAPI description");
    const message = `cannot read the OpenAPI description "${name}": ${refused.message}`;
    throw new LoadError(message, [], refused.hint);
  };
  const { Description } = await import("../../openapi/read/description.ts");
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
  const written = isDict(openapi) ? valueAt(openapi, ["file"]) : openapi;
  const name = typeof written === "string" ? knownText(written) : undefined;
  if (name === undefined || name === "false") return [];
  return [{ name, path: [...path, "openapi", ...isDict(openapi) ? ["file"] : []] }];
}

/** Reads the file that an expression at a place of a document names. Throws LoadError. */
export async function readFileBeside(
  document: Document,
  path: Path,
  written: string,
  { permissions }: Limits,
  host: Host,
): Promise<Uint8Array> {
  const file = besideDocument(document, path, written);
  return await readBytes(file, host, "file", permissions).catch((error) => {
    if (!(error instanceof LoadError) || error.hint !== undefined) throw error;
    throw new LoadError(error.message, [], IS_RELATIVE);
  });
}

interface SchemaFile extends SchemaDocument {
  /** The text that is shown. */
  readonly path: string;
}

/** Reads the schema that a place of a document names. Throws SchemaFault. */
export async function readSchemaBeside(
  document: Document,
  path: Path,
  written: string,
  limits: Limits,
  host: Host,
): Promise<SchemaFiles> {
  if (/^https?:/i.test(written)) {
    throw new SchemaFault(
      "schemas are never read from the network",
      "save it beside the workflow, and write the name of the file",
    );
  }
  if (written.trim() === "") throw new SchemaFault("the name of the schema is empty");
  return await readSchemaFiles(besideDocument(document, path, written), limits, host);
}

/**
 * Reads the file of a schema, and the files that it refers to, from the disk alone. Throws
 * SchemaFault.
 */
async function readSchemaFiles(
  path: string,
  { permissions }: Limits,
  host: Host,
): Promise<SchemaFiles> {
  const files = new Map<string, SchemaFile>();
  const defined = new Set<string>();
  const isKnown = (uri: string) =>
    defined.has(uri) || /^https?:\/\/json-schema\.org\/draft/.test(uri);
  const read = async (path: string, as?: string): Promise<SchemaFile> => {
    const schema = await parseSchema(path, permissions, host);
    const uri = as ?? toFileUrl(await host.files.realPath(path)).href;
    const file = { path, uri, schema };
    files.set(uri, file);
    for (const known of linksIn(schema, uri).defined) defined.add(known);
    return file;
  };
  const root = await read(path);
  // Files are added while they are walked through.
  for (const file of files.values()) {
    for (const { written, uri } of linksIn(file.schema, file.uri).references) {
      const target = isKnown(uri) ? undefined : pathOf(file.path, written, uri);
      if (target !== undefined) await read(target, uri);
    }
  }
  for (const file of files.values()) {
    const missing = linksIn(file.schema, file.uri).references.find(({ uri }) => !isKnown(uri));
    if (!missing) continue;
    throw new SchemaFault(
      `the schema '${file.path}' refers to "${missing.uri}", which is not in a file`,
      "schemas are never read from the network: save it beside the others, and refer to its name",
    );
  }
  return { root, others: [...files.values()].filter((file) => file !== root) };
}

/** The file that a reference leads to; undefined if it leads to the network. */
function pathOf(from: string, written: string, uri: string): string | undefined {
  const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(written);
  if (isRelative) {
    return written.startsWith("/") ? written : join(from, "..", decodeURI(written));
  }
  return uri.startsWith("file:") ? fromFileUrl(uri) : undefined;
}

async function parseSchema(
  path: string,
  permissions: Permissions | undefined,
  host: Host,
): Promise<unknown> {
  const { text } = await readTextFile(path, host, "schema", permissions).catch((error) => {
    if (!(error instanceof LoadError)) throw error;
    const hint = "the path is relative to the file that names it";
    throw new SchemaFault(error.message, error.hint ?? hint);
  });
  try {
    if (!/\.ya?ml$/i.test(path)) return parseJson(text);
    return constructValues(parseYaml([{ name: path, text }]))[0];
  } catch (error) {
    if (error instanceof YamlFault) {
      const line = text.slice(0, error.offset).split("\n").length;
      throw new SchemaFault(`cannot read schema '${path}' as YAML: line ${line}: ${error.reason}`);
    }
    if (error instanceof SyntaxError) {
      throw new SchemaFault(`cannot read schema '${path}' as JSON: ${error.message}`);
    }
    throw error;
  }
}
