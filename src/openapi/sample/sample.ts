import { type Dict, isDict, type Value } from "../../value/value.ts";
import { numberSample, textSample } from "./sample_scalar.ts";
import { isMap, listOf, mapOf, ownOf, type RawMap, textOf } from "../read/raw.ts";
import { type Shape, shapeOf } from "../read/schema.ts";

/** The names of the schemas that a description gives names to. */
export type SchemaNames = ReadonlyMap<unknown, string>;

/** Deeper than this, only what is required is made. */
const DEEPEST_OPTIONAL = 3;
const DEEPEST = 12;

/** As many values are enough for anybody to see what is meant. */
const MOST_VALUES = 500;

/** What a request may hold by a schema: its examples, defaults and enums first. */
export function sampleOf(schema: unknown, names: SchemaNames): Value {
  const value = new Sampler(names).make(schema, 0, new Set());
  return value === CUT ? null : value;
}

/** The value that a schema itself gives as an example; undefined where it gives none. */
export function givenValue(schema: unknown): Value | undefined {
  const { said } = shapeOf(schema);
  for (
    const value of [
      mapOf(schema).example,
      said.example,
      listOf(said.examples)[0],
      said.const,
      said.default,
    ]
  ) {
    if (value !== undefined && value !== null) return plainValue(value);
  }
  const listed = listOf(said.enum).find((value) => value !== null && value !== "");
  return listed === undefined ? undefined : plainValue(listed);
}

/**
 * A value that a description holds, as data of its own: nothing in it is shared or circular, and
 * of what is too large for anybody to have meant it, the rest is null.
 */
export function plainValue(value: unknown): Value {
  let room = MOST_EXAMPLE_VALUES;
  const copy = (part: unknown, above: readonly unknown[]): Value => {
    if (typeof part !== "object" || part === null) {
      return typeof part === "string" || typeof part === "boolean" || Number.isFinite(part)
        ? part as Value
        : null;
    }
    if (above.includes(part) || --room < 0) return null;
    const inside = [...above, part];
    if (Array.isArray(part)) return part.map((item) => copy(item, inside));
    return Object.fromEntries(
      Object.entries(part).map(([name, field]) => [name, copy(field, inside)]),
    );
  };
  return copy(value, []);
}

/** Lists and mappings in one example. */
const MOST_EXAMPLE_VALUES = 5000;

/** In place of a value that would hold itself. */
const CUT = Symbol("cut");
type Sample = Value | typeof CUT;

class Sampler {
  #made = 0;

  constructor(readonly names: SchemaNames) {}

  make(schema: unknown, depth: number, above: ReadonlySet<unknown>, name = ""): Sample {
    const given = givenValue(schema);
    if (given !== undefined) return isDict(given) ? writable(given, schema) : given;
    if (isMap(schema) && above.has(schema) || depth > DEEPEST || this.#made > MOST_VALUES) {
      return CUT;
    }
    this.#made++;
    const inside = new Set(above).add(schema);
    const shape = shapeOf(schema);
    if (shape.choices.length > 0) return this.#choose(shape, depth, inside);
    switch (shape.type) {
      case "object":
        return this.#object(shape, depth, inside);
      case "array":
        return this.#list(shape.said, depth, inside);
      case "integer":
      case "number":
        return numberSample(shape.said, shape.type);
      case "boolean":
        return true;
      case "null":
        return null;
      default:
        return textSample(shape.said, name);
    }
  }

  /** The first choice that does not lead back here, with what all choices have. */
  #choose(shape: Shape, depth: number, above: ReadonlySet<unknown>): Sample {
    for (const choice of shape.choices) {
      const chosen = this.make(choice, depth, above);
      if (chosen === CUT) continue;
      if (!isMap(chosen)) return chosen;
      const common = this.#object(shape, depth, above);
      return { ...(isMap(common) ? common : {}), ...chosen, ...this.#kind(shape, choice) } as Value;
    }
    return shape.isNullable ? null : CUT;
  }

  /** The property that says which of several schemas an object follows. */
  #kind({ said }: Shape, choice: unknown): RawMap {
    const { propertyName, mapping } = mapOf(said.discriminator);
    const property = textOf(propertyName) ?? textOf(said.discriminator);
    const name = this.names.get(choice);
    if (property === undefined || name === undefined) return {};
    if (givenValue(shapeOf(choice).properties.get(property)) !== undefined) return {};
    const [mapped = name] =
      Object.entries(mapOf(mapping)).find(([, target]) =>
        typeof target === "string" && target.split("/").at(-1) === name
      ) ?? [];
    return Object.fromEntries([[property, mapped]]);
  }

  #object(shape: Shape, depth: number, above: ReadonlySet<unknown>): Sample {
    const { properties, required, examples } = shape;
    const fields: [string, Value][] = [];
    for (const [name, schema] of properties) {
      if (mapOf(schema).readOnly === true) continue;
      const isRequired = required.has(name);
      const example = ownOf(examples, name);
      const isKnown = example !== undefined || givenValue(schema) !== undefined;
      // Where nothing is required, an object without anything in it would show nothing.
      const isShown = isKnown || required.size === 0 && depth < DEEPEST_OPTIONAL;
      if (!isRequired && !isShown) continue;
      const value = example === undefined
        ? this.make(schema, depth + 1, above, name)
        : plainValue(example);
      if (value !== CUT) fields.push([name, value]);
      else if (isRequired && !shapeOf(schema).isNullable) return CUT;
      else if (isRequired) fields.push([name, null]);
    }
    for (const name of required) {
      if (!properties.has(name) && depth <= DEEPEST) {
        fields.push([name, plainValue(ownOf(examples, name) ?? "text")]);
      }
    }
    if (fields.length === 0 && isMap(shape.said.additionalProperties)) {
      const value = this.make(shape.said.additionalProperties, depth + 1, above);
      if (value !== CUT) fields.push(["key", value]);
    }
    return Object.fromEntries(fields);
  }

  #list(said: RawMap, depth: number, above: ReadonlySet<unknown>): Sample {
    const items = listOf(said.prefixItems);
    const count = items.length > 0
      ? items.length
      : Math.min(Math.max(1, Number(said.minItems) || 0), 10);
    const list: Value[] = [];
    for (let index = 0; index < count; index++) {
      const value = this.make(items[index] ?? said.items, depth + 1, above);
      if (value === CUT) return Number(said.minItems) > 0 ? CUT : [];
      list.push(said.uniqueItems === true ? distinct(value, index) : value);
    }
    return list;
  }
}

/** An example without what only responses have. */
function writable(example: Dict, schema: unknown): Value {
  const { properties } = shapeOf(schema);
  return Object.fromEntries(
    Object.entries(example).filter(([name]) => mapOf(properties.get(name)).readOnly !== true),
  );
}

/** One of several values that must differ. */
function distinct(value: Value, index: number): Value {
  if (index === 0) return value;
  if (typeof value === "number") return value + index;
  return typeof value === "string" ? `${value}${index + 1}` : value;
}
