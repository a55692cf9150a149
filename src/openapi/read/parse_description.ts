import { LoadError } from "../../base/errors.ts";
import type { Path, Source, Span } from "../../base/source.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import type { Positions } from "../../base/yaml/document.ts";
import { findPositions, readYaml } from "../../base/yaml/read_yaml.ts";

/** An OpenAPI description, or a file that it refers to, as data. */
export interface ParsedFile {
  readonly value: unknown;
  /** The place of a value, or of the nearest one around it. */
  locate(path: Path): Promise<Span>;
}

/** Parses a description as workflows are parsed; JSON by what reads it fastest. Throws LoadError. */
export async function parseDescription(source: Source): Promise<ParsedFile> {
  // YAML has mappings in braces too, and reports what is wrong.
  const value = /^\s*[[{]/.test(source.text) ? tryParseJson(source.text) : undefined;
  if (value === undefined) return await parseYaml(source);
  let positions: Promise<Positions> | undefined;
  return {
    value,
    locate: async (path) => (await (positions ??= findPositions([source]))).locate(path),
  };
}

async function parseYaml(source: Source): Promise<ParsedFile> {
  try {
    const document = await readYaml([source], "OpenAPI file");
    return {
      value: document.value,
      locate: async (path) => (await document.positions()).locate(path),
    };
  } catch (error) {
    if (!(error instanceof LoadError) || !source.name.toLowerCase().endsWith(".json")) throw error;
    const message = error.message.replace(/^YAML/, "JSON");
    throw new LoadError(message, error.diagnostics, error.hint);
  }
}
