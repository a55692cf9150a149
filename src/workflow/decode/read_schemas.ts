import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { toFileUrl } from "@std/path/to-file-url";
import type { Permissions } from "../../action/permissions/permissions.ts";
import { linksIn, SchemaFault } from "../../expr/json_schema/schema_tree.ts";
import type { SchemaDocument } from "../../expr/json_schema/validator.ts";
import type { SchemaFiles } from "../../expr/functions/function.ts";
import type { Host } from "../../host/host.ts";
import { LoadError } from "../../base/errors.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import type { Path } from "../../base/source.ts";
import { besideDocument } from "../job_files/job_path.ts";
import type { Document } from "../model.ts";
import type { Limits } from "../limits.ts";
import { readTextFile } from "../read_files.ts";
import { constructValues, parseYaml, YamlFault } from "../../base/yaml/parse_yaml.ts";

/** A schema that was read from a file. */
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
