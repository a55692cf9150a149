import { LoadError } from "../errors.ts";
import type { Source } from "../source.ts";
import type { Document, FileValues, ReplacedKey, WrittenAt } from "./document.ts";
import { constructValues, type ParsedYaml, parseYaml, YamlFault } from "./parse_yaml.ts";

/** Hints for an empty file, by the kind of file it should be. */
const NEEDS: Readonly<Record<string, string>> = {
  "workflow file": 'a workflow needs at least "name" and "jobs"',
  "job file": 'a job file needs at least "name" and "steps"',
  "OpenAPI file": 'an OpenAPI description starts with its version, such as "openapi: 3.1.0"',
  "var file": "write {} for no vars at all",
};

/**
 * Reads files as one YAML document; `what` says what they should be. Throws LoadError; a document
 * with `writtenAt` may have duplicate keys, which its reader reports. `positionsOf` finds where its
 * values are.
 */
export async function readYaml(
  files: readonly Source[],
  what = "workflow file",
  writtenAt?: WrittenAt,
): Promise<Document> {
  const name = files.map((file) => file.name).join(",");
  const { filled, values, duplicates = [] } = await readValues(files, writtenAt !== undefined);
  const value = values.length < 2
    ? values[0] ?? null
    : Object.fromEntries(values.flatMap((value) => Object.entries(value as object)));
  if (value === null) {
    throw new LoadError(`${what} '${name}' is empty`, [], NEEDS[what]);
  }
  const replaced = values.length < 2 ? [] : replacedKeys(filled, values);
  return { name, files, value, replaced, duplicates, writtenAt };
}

/** The values of the files that are not empty. Throws LoadError. */
async function readValues(
  files: readonly Source[],
  allowsDuplicates: boolean,
): Promise<FileValues> {
  let parsed: ParsedYaml | undefined;
  try {
    parsed = parseYaml(files);
    return { filled: parsed.filled, values: constructValues(parsed) };
  } catch (fault) {
    if (!(fault instanceof YamlFault)) throw fault;
    const { recover } = await import("./yaml_fault.ts");
    return recover(fault, parsed, allowsDuplicates);
  }
}

/** The top-level keys that are not empty and that a later file defines again. */
function replacedKeys(
  files: readonly Source[],
  values: readonly unknown[],
): readonly ReplacedKey[] {
  const replaced: ReplacedKey[] = [];
  const known = new Map<string, string>();
  values.forEach((map, index) => {
    const { name } = files[index]!;
    for (const [key, value] of Object.entries(map as object)) {
      const before = known.get(key);
      if (before !== undefined) replaced.push({ key, before, after: name });
      const isEmpty = value === null || Array.isArray(value) && value.length === 0;
      if (!isEmpty) known.set(key, name);
    }
  });
  return replaced;
}
