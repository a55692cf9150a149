import { isMap, listOf, mapOf, ownOf, type RawMap, textOf } from "./raw.ts";

/** A schema with everything that `allOf` adds to it. */
export interface Shape {
  /** What it says beside its properties; what is said first counts. */
  readonly said: RawMap;
  /** The type, if it is one at all. */
  readonly type: string | undefined;
  readonly isNullable: boolean;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  /** The schemas of which one applies, those for null left out; none where there is no choice. */
  readonly choices: readonly unknown[];
  /** Examples of its properties, from the examples of its parts. */
  readonly examples: RawMap;
}

/** Reads a schema; one that is none, or `true`, says nothing. */
export function shapeOf(schema: unknown): Shape {
  const said: Record<string, unknown> = Object.create(null);
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  const seen = new Set<RawMap>();
  let examples: RawMap = {};
  const add = (part: unknown) => {
    if (!isMap(part) || seen.has(part)) return;
    seen.add(part);
    for (const [key, value] of Object.entries(part)) {
      if (key === "example" && isMap(value)) examples = { ...value, ...examples };
      else said[key] ??= value;
    }
    for (const [name, value] of Object.entries(mapOf(part.properties))) {
      if (!properties.has(name)) properties.set(name, value);
    }
    for (const name of listOf(part.required)) {
      if (typeof name === "string") required.add(name);
    }
    listOf(part.allOf).forEach(add);
  };
  add(schema);
  const options = ["oneOf", "anyOf"].map((key) => listOf(said[key]))
    .find((list) => list.length > 0) ?? [];
  const choices = options.filter((option) => mapOf(option).type !== "null");
  const types = Array.isArray(said.type) ? said.type : [said.type];
  const isNullable = said.nullable === true || said["x-nullable"] === true ||
    types.includes("null") || choices.length < options.length || listOf(said.enum).includes(null);
  return {
    said,
    type: textOf(types.find((type) => type !== "null") ?? types[0]) ??
      impliedType(said, properties),
    isNullable,
    properties,
    required,
    choices,
    examples,
  };
}

function impliedType(said: RawMap, properties: ReadonlyMap<string, unknown>): string | undefined {
  if (properties.size > 0 || said.additionalProperties !== undefined) return "object";
  return said.items === undefined ? undefined : "array";
}

/** The type of what a schema describes; that of its first choice where it leaves one. */
export function typeOf(schema: unknown): string | undefined {
  const { type, choices } = shapeOf(schema);
  return type ?? (choices.length > 0 ? shapeOf(choices[0]).type : undefined);
}

/** A field that every object of a schema has. */
interface Field {
  readonly name: string;
  readonly isNullable: boolean;
}

/** Fields that every object has that a schema describes. */
export function requiredFields(schema: unknown): readonly Field[] {
  return collectRequired(schema, new Map());
}

/** `known` holds what was found, and nothing yet for the schemas that are being looked at. */
function collectRequired(
  schema: unknown,
  known: Map<unknown, readonly Field[]>,
): readonly Field[] {
  const before = known.get(schema);
  if (before) return before;
  known.set(schema, []);
  const { required, properties, choices } = shapeOf(schema);
  const own = [...required].filter((name) => mapOf(properties.get(name)).writeOnly !== true)
    .map((name) => ({ name, isNullable: mayBeNull(properties.get(name)) }));
  const [first, ...others] = choices.map((choice) => collectRequired(choice, known));
  const shared = (first ?? []).flatMap((field) => {
    const same = others.map((fields) => fields.find(({ name }) => name === field.name));
    if (required.has(field.name) || same.includes(undefined)) return [];
    return [{ ...field, isNullable: field.isNullable || same.some((other) => other!.isNullable) }];
  });
  const found = [...own, ...shared];
  known.set(schema, found);
  return found;
}

/** Whether null is a value that a schema describes; without a type everything is. */
function mayBeNull(schema: unknown): boolean {
  const { isNullable, type, choices, said } = shapeOf(schema);
  if (isNullable || choices.some(mayBeNullItself)) return true;
  return type === undefined && choices.length === 0 && said.enum === undefined &&
    said.const === undefined;
}

function mayBeNullItself(schema: unknown): boolean {
  const { isNullable, type, choices, said } = shapeOf(schema);
  return isNullable || type === undefined && choices.length === 0 && said.enum === undefined;
}

/** The schema of a property, also where one of several choices has it. */
export function propertyOf(schema: unknown, name: string): unknown {
  const { properties, choices } = shapeOf(schema);
  if (properties.has(name)) return properties.get(name);
  for (const choice of choices) {
    const found = ownOf(Object.fromEntries(shapeOf(choice).properties), name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The names of all properties, also of those that only some choices have. */
export function propertyNames(schema: unknown): string[] {
  const { properties, choices } = shapeOf(schema);
  const names = choices.flatMap((choice) => [...shapeOf(choice).properties.keys()]);
  return [...new Set([...properties.keys(), ...names])];
}
