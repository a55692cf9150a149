import { RunnerError } from "../base/errors.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";

/** A file that a piece of a run has read. */
export interface NamedText {
  /** Its path, for messages. */
  readonly file: string;
  readonly text: string;
}

/** A map in a file that runner wrote, with the fields that it must have. */
export interface FileFields {
  text(name: string): string;
  number(name: string): number;
  map(name: string): Dict;
  list(name: string): readonly Value[];
  /** The map under a key; undefined without it. */
  optionalMap(name: string): Dict | undefined;
  optionalList(name: string): readonly Value[] | undefined;
  optionalText(name: string): string | undefined;
  optionalNumber(name: string): number | undefined;
}

/**
 * Reads a JSON file that has a `schema`. Unknown keys are ignored: they may come from a newer
 * version. Throws RunnerError; `what` says what it should be and `hint` what writes it.
 */
export function readJsonFile(
  { file, text }: NamedText,
  schema: string,
  what: string,
  hint: string,
): FileFields {
  const value = tryParseJson(text);
  if (value === undefined) {
    throw new RunnerError(`'${file}' is not a valid ${what}: it is not JSON`, hint);
  }
  if (!isDict(value)) throw new RunnerError(`'${file}' is not a valid ${what}`, hint);
  if (value.schema !== schema) {
    const found = typeof value.schema === "string" ? `"${value.schema}"` : "missing";
    throw new RunnerError(
      `'${file}' is not a valid ${what}: its schema is ${found}, not "${schema}"`,
      hint,
    );
  }
  return fieldsOf(value, (name, type) => {
    throw new RunnerError(`'${file}' is not a valid ${what}: "${name}" is not a ${type}`, hint);
  });
}

/** Reads the fields of a map; `fail` takes the name of one that has another type. */
export function fieldsOf(map: Dict, fail: (name: string, type: string) => never): FileFields {
  const textOf = (name: string) => {
    const value = map[name];
    return typeof value === "string" ? value : fail(name, "text");
  };
  const numberOf = (name: string) => {
    const value = map[name];
    return typeof value === "number" ? value : fail(name, "number");
  };
  const mapOf = (name: string) => {
    const value = map[name];
    return isDict(value) ? value : fail(name, "map");
  };
  const listOf = (name: string) => {
    const value = map[name];
    return Array.isArray(value) ? value : fail(name, "list");
  };
  return {
    text: textOf,
    number: numberOf,
    map: mapOf,
    list: listOf,
    optionalMap: (name) => map[name] === undefined ? undefined : mapOf(name),
    optionalList: (name) => map[name] === undefined ? undefined : listOf(name),
    optionalText: (name) => map[name] === undefined ? undefined : textOf(name),
    optionalNumber: (name) => map[name] === undefined ? undefined : numberOf(name),
  };
}
