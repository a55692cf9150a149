import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import { matchesRegex, patternForRe2, regexProblem } from "../../expr/evaluate/regex.ts";
import { fieldOf, isMap, listOf, mapOf } from "../read/description.ts";
import { type SchemaShape, shapeOf } from "./schema.ts";

/** Deeper parts of a value are not looked at. */
const MAX_DEPTH = 12;

/** Whether a request may send a value by a schema, which may contain itself. */
export function fits(value: Value, schema: unknown, depth = 0): boolean {
  if (!isMap(schema) || depth > MAX_DEPTH) return schema !== false;
  const shape = shapeOf(schema);
  const { keywords, isNullable, choices } = shape;
  if (value === null && isNullable) return true;
  const isSame = (other: unknown) => textOf(other) === textOf(value);
  const types = [keywords.type].flat().filter((type) => typeof type === "string");
  return (types.length === 0 || types.some((type) => isOfType(value, type))) &&
    (!Array.isArray(keywords.enum) || keywords.enum.some(isSame)) &&
    (keywords.const === undefined || isSame(keywords.const)) &&
    (choices.length === 0 || choices.some((choice) => fits(value, choice, depth + 1))) &&
    fitsType(value, shape, depth + 1);
}

function fitsType(value: Value, { keywords, ...shape }: SchemaShape, depth: number): boolean {
  const limit = (name: string) => isNumber(keywords[name]) ? keywords[name] : undefined;
  const isWithin = (size: number, kind: string) =>
    size >= (limit(`min${kind}`) ?? 0) && size <= (limit(`max${kind}`) ?? Infinity);
  if (typeof value === "string") {
    const { pattern } = keywords;
    return isWithin([...value].length, "Length") && (typeof pattern !== "string" ||
      regexProblem(patternForRe2(pattern)) !== undefined ||
      matchesRegex(value, patternForRe2(pattern)));
  }
  if (isNumber(value)) {
    const [min, max, above, below] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
      .map(limit);
    const step = limit("multipleOf");
    const count = Number(value) / Number(step);
    // Before 3.1, the exclusive ones are booleans.
    return (min === undefined || value > min ||
      value === min && keywords.exclusiveMinimum !== true) &&
      (max === undefined || value < max || value === max && keywords.exclusiveMaximum !== true) &&
      (above === undefined || value > above) && (below === undefined || value < below) &&
      (step === undefined || Math.abs(count - Math.round(count)) < 1e-9);
  }
  if (Array.isArray(value)) {
    const first = listOf(keywords.prefixItems);
    return isWithin(value.length, "Items") &&
      (keywords.uniqueItems !== true || new Set(value.map(textOf)).size === value.length) &&
      value.every((item, index) => fits(item, first[index] ?? keywords.items, depth));
  }
  if (!isDict(value)) return true;
  const { properties, required } = shape;
  const others = keywords.additionalProperties;
  return isWithin(Object.keys(value).length, "Properties") &&
    [...required].every((name) =>
      Object.hasOwn(value, name) || mapOf(properties.get(name)).readOnly === true
    ) &&
    Object.entries(value).every(([name, field]) =>
      fits(field, properties.has(name) ? properties.get(name) : others, depth)
    );
}

function isOfType(value: Value, type: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return isNumber(value);
    case "integer":
      return typeof value === "bigint" || Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    default:
      return type !== "object" || isDict(value);
  }
}

/** Equal values have the same text; the order of fields does not matter. */
function textOf(value: unknown): string {
  return JSON.stringify(
    value,
    (_, one) =>
      typeof one === "bigint"
        ? `${one}n`
        : isMap(one)
        ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => a < b ? -1 : 1))
        : one,
  ) ?? "";
}

/** A list whose equal items are changed until they differ, if their schema allows it. */
export function withDistinctItems(items: readonly Value[], schema: unknown): readonly Value[] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    for (let round = 0; round < 50; round++) {
      const other = round === 0 ? item : varied(item, schema, round);
      if (seen.has(textOf(other)) || round > 0 && !fits(other, schema)) continue;
      seen.add(textOf(other));
      return [other];
    }
    return [];
  });
}

/** Another value of the same kind. */
function varied(value: Value, schema: unknown, round: number): Value {
  const { keywords, properties } = shapeOf(schema);
  const listed = listOf(keywords.enum);
  if (listed.length > 0) return listed[round % listed.length] as Value;
  if (typeof value === "boolean") return !value;
  if (typeof value === "bigint") return value + BigInt(round);
  if (typeof value === "number") {
    const step = (Number(keywords.multipleOf) || 1) * Math.ceil(round / 2);
    return value + (round % 2 === 0 ? -step : step);
  }
  if (typeof value === "string") {
    // The last digit of a date or an id, or else the last letter.
    const alphabet = /\d/.test(value) ? "0123456789" : "abcdefghijklmnopqrstuvwxyz";
    return value.replace(
      /\d(?=\D*$)|^\D*[a-z](?=[^a-z]*$)/,
      (text) => {
        const at = alphabet.indexOf(text.at(-1)!) + round;
        return text.slice(0, -1) + alphabet[at % alphabet.length];
      },
    );
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => index === 0 ? varied(item, keywords.items, round) : item);
  }
  if (!isDict(value)) return value;
  const entries = Object.entries(value);
  const at = entries.findIndex(([, field]) => field !== null && typeof field !== "boolean");
  return Object.fromEntries(entries.map(([name, field], index) => [
    name,
    index === at ? varied(field, fieldOf(Object.fromEntries(properties), name), round) : field,
  ]));
}
