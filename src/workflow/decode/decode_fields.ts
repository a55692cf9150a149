import { hintForKey, otherKeys } from "../../base/other_tools.ts";
import { didYouMean, suggest } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { describeValue } from "../../base/value/value.ts";
import {
  type Decoded,
  decodeValue,
  type Decoding,
  type FieldType,
  isRawMap,
  type RawMap,
} from "./decode_value.ts";
import { type Field, type FieldTable, JOB_FIELDS, STEP_FIELDS } from "./fields.ts";
import { IN_STEP } from "./name_rules.ts";
import { addError, addWarning } from "../problem.ts";

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
  if (!isRawMap(value)) {
    const message = `${table.what} must be a map, not ${describeValue(value)}`;
    addError(decoding.problems, "type", path, message);
    return undefined;
  }
  reportUnknownKeys(value, path, table, decoding);
  const decoded: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(table.fields)) {
    const part = Object.hasOwn(value, name) ? value[name] : undefined;
    if (field.required && isMissing(part)) {
      reportMissing(table.what, name, part, path, decoding);
    } else if (part !== undefined && (part !== null || isCondition(field))) {
      const names = field.names ?? IN_STEP;
      const result = decodeValue(field.type, part, [...path, name], names, decoding);
      if (result === undefined) continue;
      if (isChoice(result, field)) decoded[name] = result;
      else reportChoices(result, name, field, [...path, name], decoding);
    }
  }
  return decoded as DecodedFields<F>;
}

/** Whether the key without a value is a mistake: its condition was probably commented out. */
export function isCondition({ type }: Field): boolean {
  return type === "expression" || type === "assertions";
}

function isChoice(value: unknown, { choices }: Field): boolean {
  return choices === undefined || choices.includes(String(value));
}

function reportChoices(
  value: unknown,
  name: string,
  { choices = [] }: Field,
  path: Path,
  { problems }: Decoding,
): void {
  const message = `"${name}" must be ${choices.join(" or ")}, not "${value}"`;
  const hint = didYouMean(String(value), choices);
  addError(problems, "choice", path, message, hint === undefined ? {} : { hint });
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || Array.isArray(value) && value.length === 0 ||
    typeof value === "string" && value.trim() === "";
}

function reportMissing(
  what: string,
  name: string,
  value: unknown,
  path: Path,
  { problems }: Decoding,
): void {
  if (value === undefined) addError(problems, "missing", path, `${what} needs "${name}"`);
  else addError(problems, "empty", [...path, name], `"${name}" must not be empty`);
}

/** A key that is nearly one of the table is an error; any other may be a note of the author. */
function reportUnknownKeys<F extends Readonly<Record<string, Field>>>(
  map: RawMap,
  path: Path,
  { what, fields, holdsAnchors }: FieldTable<F>,
  { problems }: Decoding,
): void {
  let emptyKeyHint: { readonly hint: string | undefined } | undefined;
  const aliases = otherKeys(what).filter((key) => hintForKey(what, key)?.startsWith("the key is"));
  const names = [...Object.keys(fields), ...aliases];
  for (const key of Object.keys(map)) {
    // Keys that begin with x are there to hold anchors.
    if (Object.hasOwn(fields, key) || /^x[-_]/.test(key)) continue;
    const known = hintForKey(what, key) ?? ownerHint(what, key);
    const near = known === undefined ? suggest(key, names) : undefined;
    const hint = known ??
      (/^\s/.test(key)
        ? "it begins with a non-breaking space: indent with plain spaces"
        : near === undefined
        ? (emptyKeyHint ??= { hint: emptyHint(map, fields) }).hint
        : hintForKey(what, near) ?? `did you mean "${near}"?`);
    const unlike = holdsAnchors
      ? 'it has no effect; a key for anchors begins with "x-"'
      : undefined;
    const advice = hint ?? unlike;
    const add = near === undefined ? addWarning : addError;
    add(problems, UNKNOWN_KEY, [...path, key], `unknown key "${key}" in ${what}`, {
      part: "key",
      ...advice === undefined ? {} : { hint: advice },
    });
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
function emptyHint(map: RawMap, fields: Readonly<Record<string, Field>>): string | undefined {
  const empty = Object.keys(map).find((key) =>
    map[key] === null && Object.hasOwn(fields, key) && HOLDERS.includes(fields[key]!.type)
  );
  return empty && `"${empty}" is empty: indent the keys that belong to it deeper than it`;
}
