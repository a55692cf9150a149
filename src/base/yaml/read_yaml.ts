import { LoadError } from "../errors.ts";
import type { Path, Source } from "../source.ts";
import type { Document, Positions, ReplacedKey } from "./document.ts";
import { constructValues, DUPLICATE_KEY, parseYaml, YamlFault } from "./parse_yaml.ts";
import { makePositions } from "./positions.ts";
import { duplicatesError, faultError, findDuplicates } from "./yaml_fault.ts";

/** Hints for an empty file, by the kind of file it should be. */
const NEEDS: Readonly<Record<string, string>> = {
  "workflow file": 'a workflow needs at least "name" and "jobs"',
  "job file": 'a job file needs at least "name" and "steps"',
  "OpenAPI file": 'an OpenAPI description starts with its version, such as "openapi: 3.1.0"',
  "var file": "write {} for no vars at all",
};

/** The path at which a value is written that may be inherited from elsewhere in the document. */
type WrittenAt = (root: unknown, path: Path) => Path;

/**
 * Reads files as one YAML document; `what` says what they should be. Throws LoadError; a document
 * with `writtenAt` may have duplicate keys, which its reader reports.
 */
export function readYaml(
  files: readonly Source[],
  what = "workflow file",
  writtenAt?: WrittenAt,
): Document {
  const name = files.map((file) => file.name).join(",");
  const { filled, values, duplicates } = orLoadError(() => {
    const parsed = parseYaml(files);
    const { filled } = parsed;
    try {
      return { filled, values: constructValues(parsed), duplicates: [] };
    } catch (fault) {
      if (!(fault instanceof YamlFault) || fault.reason !== DUPLICATE_KEY) throw fault;
      const duplicates = findDuplicates(parsed);
      if (duplicates.length === 0) throw fault;
      if (!writtenAt) throw duplicatesError(duplicates);
      return { filled, values: constructValues(parsed, true), duplicates };
    }
  });
  const value = values.length < 2
    ? values[0] ?? null
    : Object.fromEntries(values.flatMap((value) => Object.entries(value as object)));
  if (value === null) {
    throw new LoadError(`${what} '${name}' is empty`, [], NEEDS[what]);
  }
  let positions: Positions | undefined;
  return {
    name,
    files,
    value,
    replaced: values.length < 2 ? [] : replacedKeys(filled, values),
    duplicates,
    positions: () => positions ??= findPositions(files, (path) => writtenAt?.(value, path) ?? path),
  };
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

/** The positions of the values in files. */
export function findPositions(
  files: readonly Source[],
  writtenAt = (path: Path) => path,
): Positions {
  // Parsed anew: the events take many times the memory of the text, and most runs need none.
  return makePositions(orLoadError(() => parseYaml(files)), writtenAt);
}

/** Calls a reader of YAML, whose fault becomes a LoadError that explains it. */
export function orLoadError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    throw faultError(error);
  }
}
