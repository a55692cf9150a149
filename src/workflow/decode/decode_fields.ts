import { hintForKey, otherKeys } from "../../base/other_tools.ts";
import { didYouMean, suggest } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import { type Decoded, decodeValue, type Decoding, type FieldType } from "./decode_value.ts";
import { type Field, type FieldTable, JOB_FIELDS, STEP_FIELDS } from "./fields.ts";
import { IN_STEP, seeing } from "./name_rules.ts";
import { addError, addWarning } from "../problem.ts";
import type { NameRule } from "../model.ts";

/** The code of a key that the file format does not have. */
export const UNKNOWN_KEY = "unknown-key";

/** The keys of a mapping that are there and fit their types. */
type DecodedFields<F extends Readonly<Record<string, Field>>> = {
  readonly [K in keyof F]?: Decoded[F[K]["type"]];
};

/** Decodes a mapping by the table of its keys; undefined, with a problem reported, if it is not one. */
export function decodeFields<F extends Readonly<Record<string, Field>>>(
  value: unknown,
  path: Path,
  table: FieldTable<F>,
  decoding: Decoding,
): DecodedFields<F> | undefined {
  const { problems } = decoding;
  if (!isDict(value)) {
    const message = `${table.what} must be a map, not ${describeValue(value)}`;
    addError(problems, "type", path, message);
    return undefined;
  }
  reportUnknownKeys(value, path, table, decoding);
  const decoded: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(table.fields)) {
    const part = Object.hasOwn(value, name) ? value[name] : undefined;
    const at = [...path, name];
    if (field.required && isMissing(part)) {
      if (part === undefined) addError(problems, "missing", path, `${table.what} needs "${name}"`);
      else addError(problems, "empty", at, `"${name}" must not be empty`);
    } else if (part !== undefined && (part !== null || isCondition(field))) {
      const result = decodeValue(field.type, part, at, namesIn(field, decoding), decoding);
      if (result !== undefined && isInRange(result, field, at, decoding)) decoded[name] = result;
    }
  }
  return decoded as DecodedFields<F>;
}

/** The names that expressions in a key see; in steps that clean up they are more. */
export function namesIn({ names = IN_STEP }: Field, { cleanupNames = [] }: Decoding): NameRule {
  return seeing(names, cleanupNames);
}

/** Whether the key without a value is a mistake: its condition was probably commented out. */
export function isCondition({ type }: Field): boolean {
  return type === "expression" || type === "assertions";
}

/** Whether a value can be used: a number that is too small is reported, and used nevertheless. */
function isInRange(
  value: unknown,
  { choices, minimum }: Field,
  path: Path,
  { problems }: Decoding,
): boolean {
  const name = path.at(-1);
  if (minimum !== undefined && Number(value) < minimum) {
    const range = minimum === 0 ? "0 or greater" : `at least ${minimum}`;
    addError(problems, "range", path, `"${name}" must be ${range}, not ${value}`);
  }
  if (!choices || choices.includes(String(value))) return true;
  const message = `"${name}" must be ${choices.join(" or ")}, not "${value}"`;
  addError(problems, "choice", path, message, { hint: didYouMean(String(value), choices) });
  return false;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || Array.isArray(value) && value.length === 0 ||
    typeof value === "string" && value.trim() === "";
}

/** A key that is nearly one of the table is an error; any other may be a note of the author. */
function reportUnknownKeys<F extends Readonly<Record<string, Field>>>(
  map: Dict,
  path: Path,
  { what, fields, holdsAnchors }: FieldTable<F>,
  { problems }: Decoding,
): void {
  // Keys that begin with x hold anchors.
  const unknown = Object.keys(map).filter((key) =>
    !Object.hasOwn(fields, key) && !/^x[-_]/.test(key)
  );
  if (unknown.length === 0) return;
  const aliases = otherKeys(what).filter((key) => hintForKey(what, key)?.startsWith("the key is"));
  const names = [...Object.keys(fields), ...aliases];
  const otherHint = emptyHint(map, fields) ??
    (holdsAnchors ? 'it has no effect; a key for anchors begins with "x-"' : undefined);
  for (const key of unknown) {
    const known = hintForKey(what, key) ?? ownerHint(what, key);
    const near = known === undefined ? suggest(key, names) : undefined;
    const hint = known ??
      (/^\s/.test(key)
        ? "it begins with a non-breaking space: indent with plain spaces"
        : near === undefined
        ? otherHint
        : hintForKey(what, near) ?? `did you mean "${near}"?`);
    const add = near === undefined ? addWarning : addError;
    const message = `unknown key "${key}" in ${what}`;
    add(problems, UNKNOWN_KEY, [...path, key], message, { part: "key", hint });
  }
}

/** A hint for a key that belongs to a job or a step. */
function ownerHint(what: string, key: string): string | undefined {
  const owners = what === "the workflow"
    ? [JOB_FIELDS, STEP_FIELDS]
    : what === "a step"
    ? [JOB_FIELDS]
    : what === "a job" || what === "a job file"
    ? [STEP_FIELDS]
    : [];
  const owner = owners.find(({ fields }) => Object.hasOwn(fields, key));
  return owner && `"${key}" is a key of ${owner.what}`;
}

/** Types of keys that contain more keys. */
const HOLDERS: readonly FieldType[] = ["map", "data", "outputs"];

/** An unknown key may belong under an empty key above it, for example a bare `with:`. */
function emptyHint(map: Dict, fields: Readonly<Record<string, Field>>): string | undefined {
  const empty = Object.keys(map).find((key) =>
    map[key] === null && Object.hasOwn(fields, key) && HOLDERS.includes(fields[key]!.type)
  );
  return empty && `"${empty}" is empty: indent the keys that belong to it deeper than it`;
}
