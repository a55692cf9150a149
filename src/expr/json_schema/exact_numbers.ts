import { isEqual } from "../../base/value/compare.ts";
import { formatJson } from "../../base/value/format_value.ts";
import type { Meter } from "../../base/value/meter.ts";
import { type Dict, hasLongIntegers, typeName, type Value } from "../../base/value/value.ts";
import type { Ajv, FuncKeywordDefinition } from "./ajv.ts";
import { follow } from "./violations.ts";

/** The value that ajv validates, of which it sees the nearest floats. */
export interface Validated {
  meter: Meter;
  /** The value as it is, where it has integers beyond ±2^53. */
  exact?: Value | undefined;
}

/** Numbers of both kinds are compared alike. */
type Fits = (value: number, wanted: number, schema: Dict, meter: Meter) => boolean;

/** In draft 4, `exclusiveMinimum` is a boolean beside `minimum`. */
const KEYWORDS: Readonly<Record<string, Fits>> = {
  minimum: (value, least, { exclusiveMinimum }) =>
    exclusiveMinimum === true ? value > least : value >= least,
  maximum: (value, most, { exclusiveMaximum }) =>
    exclusiveMaximum === true ? value < most : value <= most,
  exclusiveMinimum: (value, limit) => typeof limit === "boolean" || value > limit,
  exclusiveMaximum: (value, limit) => typeof limit === "boolean" || value < limit,
  multipleOf: (value, step) => {
    const areWhole = typeName(value) === "int" && typeName(step) === "int";
    if (areWhole && step) return BigInt(value) % BigInt(step) === 0n;
    // 19.99 is a multiple of 0.01, though not exactly in binary.
    const quotient = Number(value) / Number(step);
    return Math.abs(Math.round(quotient) - quotient) <= 1e-6;
  },
  const: (value, wanted, _, meter) => isEqual(value, wanted, meter),
  enum: (value, values: unknown, _, meter) =>
    (values as readonly Value[]).some((one) => isEqual(value, one, meter)),
  uniqueItems: (items: unknown, isWanted: unknown, _, meter) =>
    !isWanted || areUnique(items as readonly Value[], meter),
};

/** Compares items without taking time by the square of their number. */
function areUnique(items: readonly Value[], meter: Meter): boolean {
  const known = new Map<string, Value>();
  return items.every((item) => {
    const text = formatJson(item, meter);
    const twin = known.get(text);
    known.set(text, item);
    return twin === undefined || !isEqual(twin, item, meter);
  });
}

/** Replaces the keywords of ajv that compare numbers, which to it are all floats. */
export function addExactKeywords(ajv: Ajv, validated: Validated): void {
  for (const [keyword, fits] of Object.entries(KEYWORDS)) {
    const { type = [], error } = ajv.getKeyword(keyword) as FuncKeywordDefinition;
    // Its error names two items by their numbers.
    const own = keyword === "uniqueItems" ? undefined : error;
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      ...{ keyword, type, ...own ? { error: own } : {} },
      compile: (wanted, schema) => (data, place) => {
        const { exact, meter } = validated;
        const isRounded = exact !== undefined && typeof data !== "string";
        const value = isRounded ? follow(exact, place!.instancePath).at : data;
        return fits(value as never, wanted, schema, meter);
      },
    });
  }
}

/** A value with the nearest floats for integers beyond ±2^53; itself if it has none. */
export function withFloats(value: unknown): unknown {
  return hasLongIntegers(value) ? JSON.parse(JSON.stringify(value)) : value;
}
