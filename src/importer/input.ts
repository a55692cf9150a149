import { LoadError } from "../base/errors.ts";
import type { Path, Source, Span } from "../base/source.ts";
import type { Positions } from "../base/yaml/document.ts";
import { findPositions } from "../base/yaml/positions.ts";
import { readYaml } from "../base/yaml/read_yaml.ts";
import { jsonFault, parseJson } from "../base/value/parse_json.ts";
import { describeValue, type Dict, isDict, type Value, valueAt } from "../base/value/value.ts";
import type { Draft } from "../draft/draft.ts";

/** Makes a workflow. Throws LoadError or StructureError. */
export type Translate = (input: ImportInput) => Promise<Draft> | Draft;

/** The input of an importer, by its kind. */
export interface ImportInput {
  readonly words: readonly string[];
  /** The files: one, or those of a directory by their paths in it. */
  readonly files: readonly ImportFile[];
}

export interface Line {
  readonly text: string;
  readonly offset: number;
}

export interface ImportFile {
  /** The path that the user gave; for a directory, the path in it. */
  readonly name: string;
  readonly text: string;
}

/** The error of an input, at an offset of its text. */
export function problemAt(
  file: ImportFile,
  offset: number,
  message: string,
  hint?: string,
): LoadError {
  const span = { source: file, start: offset, end: Math.min(offset + 1, file.text.length) };
  return problemIn(file, span, message, hint);
}

function problemIn(file: ImportFile, span: Span, message: string, hint?: string): LoadError {
  return new LoadError(`cannot translate '${file.name}'`, [{
    severity: "error",
    code: "import",
    message,
    hint,
    span,
  }]);
}

/** An input whose structure is not that of its format. */
export class StructureError extends LoadError {
  constructor(
    readonly file: ImportFile,
    /** The path of the wrong or missing value. */
    readonly path: Path,
    readonly reason: string,
    hint?: string,
  ) {
    super(`cannot translate '${file.name}': ${reason}`, [], hint);
  }

  /** The same error with its position. */
  at(span: Span): LoadError {
    return problemIn(this.file, span, this.reason, this.hint);
  }
}

/** The lines of a file, without their ends. */
export function linesOf({ text }: ImportFile): Line[] {
  let offset = 0;
  return text.split("\n").map((raw) => {
    const line = { text: raw.replace(/\r$/, ""), offset };
    offset += raw.length + 1;
    return line;
  });
}

/** The types that a part of an input can be required to have. */
interface Parts {
  readonly map: Dict;
  readonly list: readonly Value[];
  readonly string: string;
}

/** The value at a path of an input; throws StructureError if it has another type or is missing. */
export function need<K extends keyof Parts>(
  type: K,
  file: ImportFile,
  root: Value,
  path: Path,
  hint?: string,
): Parts[K] {
  const value = valueAt(root, path);
  if (typeOf(value) === type) return value as Parts[K];
  const name = printPath(path);
  const reason = value === undefined
    ? `${name} is missing`
    : `${name} must be a ${type}, not ${describeValue(value)}`;
  throw new StructureError(file, path, reason, hint);
}

/** The maps in a list; none if the value is not a list. */
export function dictsOf(value: Value | undefined): Dict[] {
  return Array.isArray(value) ? value.filter(isDict) : [];
}

function typeOf(value: unknown): keyof Parts | undefined {
  if (isDict(value)) return "map";
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "string" : undefined;
}

/** `log.entries[0].request` */
function printPath(path: Path): string {
  const text = path.map((part) => typeof part === "number" ? `[${part}]` : `.${part}`).join("");
  return text === "" ? "the file" : `"${text.replace(/^\./, "")}"`;
}

/** Reads JSON; an error names the position. */
export function readJson(file: ImportFile): Value {
  try {
    return parseJson(file.text.replace(/^\ufeff/, "")) as Value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { offset, message } = jsonFault(file.text, error);
    throw problemAt(file, offset, `invalid JSON: ${message}`);
  }
}

/** Reads YAML. Throws LoadError with the position of a mistake. */
export async function readYamlFile(file: ImportFile): Promise<Value> {
  return (await readYaml([file], "file")).value as Value;
}

/** A position in a longer text takes too much memory to find. */
const MAX_LOCATED_TEXT = 32_000_000;

/** Makes a workflow of an input. Throws LoadError with the position of a mistake. */
export async function translateInput(translate: Translate, input: ImportInput): Promise<Draft> {
  try {
    return await translate(input);
  } catch (error) {
    const isLocated = error instanceof StructureError && error.file.text.length <= MAX_LOCATED_TEXT;
    if (!isLocated) throw error;
    // Some JSON is not YAML, such as what nests too deeply: then the file is named alone.
    const positions = positionsIn(error.file);
    throw positions ? error.at(positions.locate(error.path)) : error;
  }
}

function positionsIn(file: Source): Positions | undefined {
  try {
    return findPositions([file]);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return undefined;
  }
}
