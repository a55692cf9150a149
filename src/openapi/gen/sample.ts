import { integer, isDict, isNumber, type Value } from "../../base/value/value.ts";
import { fieldOf, isMap, listOf, mapOf, type RawApiMap, rawText } from "../read/description.ts";
import type { Body } from "./api.ts";
import { loadRegexEngine } from "../../expr/evaluate/regex.ts";
import { fits, withDistinctItems } from "./fits.ts";
import { type SchemaShape, shapeOf } from "./schema.ts";

/** Makes samples of the schemas of a description. */
export interface Sampler {
  /** Makes a value that fits a schema: its examples, defaults and enums first. */
  sample(schema: unknown): Value;
  /** The same as XML, or an example that is given elsewhere. */
  sampleXml(schema: unknown, example?: Value): string;
}

/** A sampler; `names` holds the names of the schemas that have one. */
export async function makeSampler(names: ReadonlyMap<unknown, string>): Promise<Sampler> {
  const library = await import("openapi-sampler");
  await loadRegexEngine();
  // Some builds of the program have the names of the package at the top, others in `default`.
  const { sample: make } = library.default ?? library;
  const sample = (outline: Outline, extra: { format?: "xml" } = {}) =>
    make(outline as object, { ...options, ...extra });
  const options = { quiet: true, enablePatterns: true, maxSampleDepth: Infinity };
  const outline = (schema: unknown) =>
    new OutlineMaker(names, matching).make(schema, 0, new Set()) ?? { const: null };
  function matching(pattern: string): string {
    return String(sample({ type: "string", pattern: withoutGroups(pattern) }));
  }
  return {
    sample: (schema) => distinct(sample(outline(schema)) as Value, schema),
    sampleXml(schema, example) {
      const element = example === undefined ? outline(schema) : withElement({ example }, schema);
      const root = { type: "object", properties: { [names.get(schema) ?? "root"]: element } };
      return String(sample(root, { format: "xml" }));
    },
  };
}

/** A sample whose items differ if the schema says so. */
function distinct(value: Value, schema: unknown, depth = 0): Value {
  if (depth > MAX_DEPTH) return value;
  const { keywords, properties, choices } = shapeOf(schema);
  if (Array.isArray(value)) {
    const items = value.map((item, index) =>
      distinct(item, listOf(keywords.prefixItems)[index] ?? keywords.items, depth + 1)
    );
    return keywords.uniqueItems === true ? withDistinctItems(items, keywords.items) : items;
  }
  if (!isDict(value)) return value;
  const inChoices = (name: string) =>
    choices.map((choice) => shapeOf(choice).properties.get(name)).find((one) => one !== undefined);
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      distinct(field, properties.get(name) ?? inChoices(name), depth + 1),
    ]),
  );
}

/** The value that a schema itself gives as an example, if that fits it; undefined if it has none. */
export function explicitValue(schema: unknown): Value | undefined {
  const { keywords } = shapeOf(schema);
  for (
    const value of [
      mapOf(schema).example,
      keywords.example,
      listOf(keywords.examples)[0],
      keywords.const,
      keywords.default,
    ]
  ) {
    if (value === undefined || value === null) continue;
    const plain = plainValue(value);
    if (fits(writable(plain, schema), schema)) return plain;
  }
  const listed = listOf(keywords.enum).find((value) => value !== null && value !== "");
  return listed === undefined ? undefined : plainValue(listed);
}

/**
 * A value of a description as plain data: nothing in it is shared or circular, and what goes
 * beyond the limit is null.
 */
export function plainValue(value: unknown): Value {
  let room = MAX_EXAMPLE_VALUES;
  const copy = (part: unknown, above: readonly unknown[]): Value => {
    if (typeof part !== "object" || part === null) {
      const isPlain = typeof part === "number" ? Number.isFinite(part) : part !== undefined;
      return isPlain ? part as Value : null;
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
const MAX_EXAMPLE_VALUES = 5000;

/**
 * A schema without references, choices and `allOf`, of a size that can be read. The library would
 * follow schemas that contain each other without end, and fill in every optional property.
 */
type Outline = Readonly<Record<string, unknown>>;

/** Deeper than this, only required properties are included. */
const MAX_OPTIONAL_DEPTH = 3;
const MAX_DEPTH = 12;
const MAX_VALUES = 500;

class OutlineMaker {
  #made = 0;

  constructor(
    readonly names: ReadonlyMap<unknown, string>,
    readonly matching: (pattern: string) => string,
  ) {}

  /** Undefined for a value that would have to contain itself. */
  make(
    schema: unknown,
    depth: number,
    above: ReadonlySet<unknown>,
    name = "",
  ): Outline | undefined {
    const example = explicitValue(schema);
    if (example !== undefined) {
      return withElement({ example: writable(example, schema) }, schema, name);
    }
    if (isMap(schema) && above.has(schema) || depth > MAX_DEPTH || this.#made > MAX_VALUES) {
      return undefined;
    }
    this.#made++;
    const inside = new Set(above).add(schema);
    const shape = shapeOf(schema);
    if (shape.choices.length > 0) return this.#choose(shape, depth, inside);
    const made = shape.type === "object"
      ? this.#object(shape, depth, inside)
      : shape.type === "array"
      ? this.#list(shape.keywords, depth, inside)
      : scalarOutline(shape, name, this.matching);
    return made && withElement(made, schema);
  }

  /** The first choice that does not lead back here, with what all choices have in common. */
  #choose(shape: SchemaShape, depth: number, above: ReadonlySet<unknown>): Outline | undefined {
    for (const choice of shape.choices) {
      const chosen = this.make(choice, depth, above);
      if (!chosen) continue;
      if (!isMap(chosen.properties)) return chosen;
      const common = mapOf(this.#object(shape, depth, above)?.properties);
      const kind = this.#kind(shape, choice);
      return { ...chosen, properties: { ...common, ...chosen.properties, ...kind } };
    }
    return shape.isNullable ? { const: null } : undefined;
  }

  /** The property that says which of several schemas an object follows. */
  #kind({ keywords }: SchemaShape, choice: unknown): RawApiMap {
    const { propertyName, mapping } = mapOf(keywords.discriminator);
    const property = rawText(propertyName) ?? rawText(keywords.discriminator);
    const name = this.names.get(choice);
    if (property === undefined || name === undefined) return {};
    if (explicitValue(shapeOf(choice).properties.get(property)) !== undefined) return {};
    const [mapped = name] =
      Object.entries(mapOf(mapping)).find(([, target]) =>
        typeof target === "string" && target.split("/").at(-1) === name
      ) ?? [];
    return { [property]: { const: mapped } };
  }

  #object(shape: SchemaShape, depth: number, above: ReadonlySet<unknown>): Outline | undefined {
    const { properties, required, examples, keywords } = shape;
    const fields: [string, Outline][] = [];
    for (const [name, schema] of properties) {
      if (mapOf(schema).readOnly === true) continue;
      const isRequired = required.has(name);
      const example = fieldOf(examples, name);
      const isKnown = example !== undefined || explicitValue(schema) !== undefined;
      // If nothing is required, an empty object would show nothing.
      const isShown = isKnown || required.size === 0 && depth < MAX_OPTIONAL_DEPTH;
      if (!isRequired && !isShown) continue;
      const field = example === undefined
        ? this.make(schema, depth + 1, above, name)
        : { example: plainValue(example) };
      if (field) fields.push([name, field]);
      else if (isRequired && !shapeOf(schema).isNullable) return undefined;
      else if (isRequired) fields.push([name, { const: null }]);
    }
    const others = keywords.additionalProperties;
    const other = isMap(others) ? this.make(others, depth + 1, above) : undefined;
    for (const name of required) {
      if (properties.has(name)) continue;
      const example = fieldOf(examples, name);
      fields.push([
        name,
        example === undefined && other ? other : { example: plainValue(example ?? "string") },
      ]);
    }
    const least = Math.min(Number(keywords.minProperties) || 0, 10);
    for (let count = fields.length; other && (count === 0 || count < least); count++) {
      fields.push([`key${count === 0 ? "" : count + 1}`, other]);
    }
    return { type: "object", properties: Object.fromEntries(fields) };
  }

  #list(keywords: RawApiMap, depth: number, above: ReadonlySet<unknown>): Outline | undefined {
    const first = listOf(keywords.prefixItems);
    const most = typeof keywords.maxItems === "number" ? keywords.maxItems : Infinity;
    const count = first.length || Math.min(Math.max(1, Number(keywords.minItems) || 0), 10, most);
    if (count === 0) return { example: [] };
    const items: Outline[] = [];
    for (let index = 0; index < count; index++) {
      const item = this.make(first[index] ?? keywords.items, depth + 1, above);
      if (!item) return Number(keywords.minItems) > 0 ? undefined : { example: [] };
      items.push(item);
    }
    return { type: "array", prefixItems: items };
  }
}

/** Values that the library cannot make: base64, durations, multiples, and by name alone. */
function scalarOutline(
  { keywords, type }: SchemaShape,
  name: string,
  matching: (pattern: string) => string,
): Outline {
  switch (type) {
    case "boolean":
      return { type };
    case "null":
      return { const: null };
    case "integer":
    case "number": {
      const { multipleOf: step, minimum } = keywords;
      if (BOUNDS.some((name) => typeof keywords[name] === "bigint")) {
        return { example: longSample(keywords) };
      }
      const { maximum, exclusiveMinimum, exclusiveMaximum } = keywords;
      if (typeof step === "number" && step > 0) {
        const from = typeof minimum === "number" ? minimum : step;
        const count = typeof maximum === "number"
          ? Math.min(Math.ceil(from / step), Math.floor(maximum / step))
          : Math.ceil(from / step);
        return { example: Number((count * step).toPrecision(12)) };
      }
      const [above, below] = [exclusiveMinimum ?? minimum, exclusiveMaximum ?? maximum];
      if (type === "number" && typeof above === "number" && typeof below === "number") {
        const middle = Number(((above + below) / 2).toPrecision(12));
        if (!fits(Math.ceil(above), keywords)) return { example: middle };
      }
      const whole = (bound: unknown, round: (number: number) => number) =>
        type === "integer" && typeof bound === "number" ? round(bound) : bound;
      const bounds = Object.fromEntries(
        Object.entries({
          minimum: whole(minimum, Math.ceil),
          maximum: whole(maximum, Math.floor),
          exclusiveMinimum: whole(exclusiveMinimum, Math.floor),
          exclusiveMaximum: whole(exclusiveMaximum, Math.ceil),
        }).filter(([, bound]) => bound !== undefined),
      );
      // The library makes 0 of a number without bounds, which is rarely an id or a count.
      return { type, ...(Object.keys(bounds).length === 0 ? { minimum: 1 } : bounds) };
    }
  }
  const minLength = lengthOf(keywords.minLength) ?? 0;
  const maxLength = lengthOf(keywords.maxLength);
  const format = rawText(keywords.format)?.toLowerCase() ?? formatOf(keywords, name);
  const pattern = rawText(keywords.pattern);
  const made = format === "byte"
    ? "dGV4dA==".padStart(Math.ceil(minLength / 4) * 4, "dGV4")
    : FORMATS[format] ?? lengthened(format, minLength);
  if (made !== undefined && fits(made, keywords)) return { example: made };
  const isShort = maxLength !== undefined && maxLength < 18;
  if (isShort && SHORT[format] !== undefined && fits(SHORT[format], keywords)) {
    return { example: SHORT[format] };
  }
  const text = pattern === undefined ? undefined : matchingText(pattern, matching);
  if (text !== undefined && text.length >= minLength && text.length <= (maxLength ?? Infinity)) {
    return { example: text };
  }
  // The library warns on the console of dates that are limited in length.
  const lengths = /date|time/.test(format) ? {} : { minLength, maxLength };
  return { type: "string", format, ...lengths };
}

const BOUNDS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;

/** An integer between bounds beyond ±2^53, which the library takes for floats. */
function longSample(keywords: RawApiMap): Value {
  const [min, max, above, below, step] = [...BOUNDS, "multipleOf"].map((name) => {
    const value = keywords[name];
    return isNumber(value)
      ? BigInt(typeof value === "number" ? Math.ceil(value) : value)
      : undefined;
  });
  const by = step || 1n;
  const open = (name: string) => keywords[name] === true ? 1n : 0n;
  // Before 3.1, the exclusive ones are booleans.
  const from = above === undefined ? min && min + open("exclusiveMinimum") : above + 1n;
  const to = below === undefined ? max && max - open("exclusiveMaximum") : below - 1n;
  if (from !== undefined && from > by) return integer((from + by - 1n) / by * by);
  return integer(to !== undefined && to < by ? to - (to % by + by) % by : by);
}

const FORMATS: Readonly<Record<string, string>> = {
  decimal: "1.5",
  duration: "P1D",
  int32: "1",
  int64: "1",
  url: "http://example.com",
};

/** Texts of formats, for use if the usual one is too long. */
const SHORT: Readonly<Record<string, string>> = {
  email: "a@b.co",
  uri: "http://a.co",
  url: "http://a.co",
};

/** A text of a format that is at least so long; undefined for other formats, and short ones. */
function lengthened(format: string, length: number): string | undefined {
  if (length < 17) return undefined;
  if (format === "email") return "user@example.com".padStart(length, "u");
  return format === "uri" ? "http://example.com/".padEnd(length, "a") : undefined;
}

function formatOf(keywords: RawApiMap, name: string): string {
  if (keywords.pattern !== undefined || keywords.maxLength !== undefined) return "";
  if (/e-?mail$/i.test(name)) return "email";
  return /(?:^|_)ur[li]$|Ur[li]$|UR[LI]$/.test(name) ? "uri" : "";
}

/** A text that matches a pattern; undefined if the library does not understand the pattern. */
function matchingText(pattern: string, matching: (pattern: string) => string): string | undefined {
  if (pattern.length > 200 || /\{\d*,?\d{4}/.test(pattern)) return undefined;
  try {
    const text = matching(pattern);
    // Some patterns would take hours over a long text.
    return text.length <= 40 && new RegExp(pattern, "u").test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** A pattern in the few constructs that the library knows: no `\d`, no groups, no anchors. */
function withoutGroups(pattern: string): string {
  let simple = pattern.replace(/^\^|\$$/g, "").replace(/\\([dw])/g, (_, kind, at, whole) => {
    const range = kind === "d" ? "0-9" : "a-z";
    return whole.lastIndexOf("[", at) > whole.lastIndexOf("]", at) ? range : `[${range}]`;
  });
  for (let before = ""; before !== simple;) {
    before = simple;
    simple = simple.replace(
      /\((?:\?:|\?<\w+>)?([^()|]*)(?:\|[^()]*)?\)(?:\{(\d)\}|([+?*]))?/,
      (_, first: string, count = "1", sign = "") =>
        sign === "?" || sign === "*" ? "" : first.repeat(Number(count)),
    );
  }
  return simple.replace(/\\([^\w])/g, "$1");
}

/** Longer texts would be no help to anybody. */
const MAX_LENGTH = 1000;

function lengthOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0
    ? Math.min(value as number, MAX_LENGTH)
    : undefined;
}

function withElement(outline: Outline, schema: unknown, name?: string): Outline {
  const { keywords, type } = shapeOf(schema);
  const items = type === "array" && Array.isArray(outline.example)
    ? { type, items: { xml: { name, ...mapOf(mapOf(keywords.items).xml) } } }
    : {};
  return { ...outline, ...items, ...(isMap(keywords.xml) ? { xml: keywords.xml } : {}) };
}

/** An example without what only responses have. */
function writable(example: Value, schema: unknown): Value {
  if (!isDict(example)) return example;
  const { properties } = shapeOf(schema);
  return Object.fromEntries(
    Object.entries(example).filter(([name]) => mapOf(properties.get(name)).readOnly !== true),
  );
}

const BOUNDARY = "runner-part";

/** A multipart form as text; files are small text files. */
export function multipartSample(
  value: Value,
  schema: unknown,
): Pick<Body, "contentType" | "value"> {
  const { properties } = shapeOf(schema);
  const parts = isDict(value) ? Object.entries(value) : [["value", value] as const];
  const lines = parts.flatMap(([name, part]) => {
    const field = mapOf(properties.get(name));
    const isFile = isBinary(field) || isBinary(mapOf(field.items));
    return (Array.isArray(part) && isFile ? part : [part]).flatMap((item: Value) => [
      `--${BOUNDARY}`,
      `Content-Disposition: form-data; name="${quoted(name)}"` +
      (isFile ? '; filename="file.txt"' : ""),
      ...(isFile
        ? ["Content-Type: application/octet-stream"]
        : typeof item === "object"
        ? ["Content-Type: application/json"]
        : []),
      "",
      typeof item === "string" ? item : JSON.stringify(item),
    ]);
  });
  const text = [...lines, `--${BOUNDARY}--`, ""].join("\r\n");
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, value: text };
}

function isBinary(schema: Readonly<Record<string, unknown>>): boolean {
  return schema.format === "binary" || schema.type === "file" ||
    schema.contentMediaType === "application/octet-stream";
}

function quoted(name: string): string {
  return name.replace(/["\r\n]/g, (mark) => encodeURIComponent(mark));
}
