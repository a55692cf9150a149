import type { RequiredField } from "./api.ts";
import { isMap, listOf, mapOf, type RawApiMap, rawText } from "../read/description.ts";

/** A schema merged with its `allOf` parts. */
export interface SchemaShape {
  /** Its keywords besides properties; the first of several values counts. */
  readonly keywords: RawApiMap;
  /** The type, if it is known. */
  readonly type: string | undefined;
  readonly isNullable: boolean;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  /** The alternatives of `oneOf` or `anyOf`, except those for null. */
  readonly choices: readonly unknown[];
  /** Examples of properties, from the examples of its parts. */
  readonly examples: RawApiMap;
}

/** Reads a schema; `true` or an invalid schema has no keywords. */
export function shapeOf(schema: unknown): SchemaShape {
  const keywords: Record<string, unknown> = Object.create(null);
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  const seen = new Set<RawApiMap>();
  let examples: RawApiMap = {};
  const add = (part: unknown) => {
    if (!isMap(part) || seen.has(part)) return;
    seen.add(part);
    for (const [key, value] of Object.entries(part)) {
      if (key === "example" && isMap(value)) examples = { ...value, ...examples };
      else keywords[key] ??= value;
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
  const options = ["oneOf", "anyOf"].map((key) => listOf(keywords[key]))
    .find((list) => list.length > 0) ?? [];
  const choices = options.filter((option) => mapOf(option).type !== "null");
  const types = Array.isArray(keywords.type) ? keywords.type : [keywords.type];
  const isNullable = keywords.nullable === true || keywords["x-nullable"] === true ||
    types.includes("null") || choices.length < options.length ||
    listOf(keywords.enum).includes(null);
  return {
    keywords,
    type: rawText(types.find((type) => type !== "null") ?? types[0]) ??
      impliedType(keywords, properties),
    isNullable,
    properties,
    required,
    choices,
    examples,
  };
}

function impliedType(
  keywords: RawApiMap,
  properties: ReadonlyMap<string, unknown>,
): string | undefined {
  if (properties.size > 0 || keywords.additionalProperties !== undefined) return "object";
  return keywords.items === undefined ? undefined : "array";
}

/** The type of a schema, or of its first alternative. */
export function typeOf(schema: unknown): string | undefined {
  const { type, choices } = shapeOf(schema);
  return type ?? (choices.length > 0 ? shapeOf(choices[0]).type : undefined);
}

export function requiredFields(schema: unknown): readonly RequiredField[] {
  return collectRequired(schema, new Map());
}

/** `known` has the results so far, and an empty list for schemas in progress. */
function collectRequired(
  schema: unknown,
  known: Map<unknown, readonly RequiredField[]>,
): readonly RequiredField[] {
  const before = known.get(schema);
  if (before) return before;
  known.set(schema, []);
  const { required, properties, choices } = shapeOf(schema);
  const direct = [...required].filter((name) => mapOf(properties.get(name)).writeOnly !== true)
    .map((name) => ({ name, isNullable: mayBeNull(properties.get(name)) }));
  const [first, ...others] = choices.map((choice) => collectRequired(choice, known));
  const shared = (first ?? []).flatMap((field) => {
    const same = others.map((fields) => fields.find(({ name }) => name === field.name));
    if (required.has(field.name) || same.includes(undefined)) return [];
    return [{ ...field, isNullable: field.isNullable || same.some((other) => other!.isNullable) }];
  });
  const found = [...direct, ...shared];
  known.set(schema, found);
  return found;
}

/** Whether a schema allows null; without a type it allows everything. */
function mayBeNull(schema: unknown, isChoice = false): boolean {
  const { isNullable, type, choices, keywords } = shapeOf(schema);
  if (isNullable || !isChoice && choices.some((choice) => mayBeNull(choice, true))) return true;
  return type === undefined && choices.length === 0 && keywords.enum === undefined &&
    keywords.const === undefined;
}
