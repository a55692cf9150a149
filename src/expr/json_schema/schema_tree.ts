import { isDict, plain, readField, type Value } from "../../base/value/value.ts";

/** The supported drafts of JSON Schema. */
export type SchemaDraft = "2020-12" | "2019-09" | "7" | "4";

export class SchemaFault extends Error {
  constructor(message: string, readonly hint?: string) {
    super(message);
  }
}

/** The draft of a schema by its `$schema`, or the latest. Draft 6 is a part of draft 7. */
export function draftOf(schema: unknown): SchemaDraft {
  const written = isDict(schema) ? schema.$schema : undefined;
  if (written === undefined) return "2020-12";
  const name = typeof written === "string"
    ? /^https?:\/\/json-schema\.org\/(?:draft[-/])?([0-9-]+|schema)(?:\/?schema)?#?$/.exec(written)
      ?.[1]
    : undefined;
  const draft = DRAFTS[name?.replace(/^0(?=\d$)/, "") ?? ""];
  if (draft) return draft;
  throw new SchemaFault(
    `unknown draft ${JSON.stringify(written)} in $schema`,
    "write http://json-schema.org/draft-07/schema#, or https://json-schema.org/draft/ with " +
      "2020-12/schema or 2019-09/schema",
  );
}

const DRAFTS: Readonly<Record<string, SchemaDraft>> = {
  schema: "2020-12",
  "2020-12": "2020-12",
  "2019-09": "2019-09",
  "7": "7",
  "6": "7",
  "4": "4",
};

/** Marks the parts of a generated schema, so that a violation leads back to its part. */
export const ORIGIN = "x-runner-origin";

/** Keywords whose values are data and contain no schemas. */
const DATA: ReadonlySet<string> = new Set([
  ...["const", "enum", "default", "example", "examples"],
  ...["dependentRequired", "$vocabulary"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

/** Keywords whose values are maps from names to schemas. */
const MAPS: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
  "dependencies",
]);

/** A copy for ajv, which knows integers beyond ±2^53 only in the keywords that are replaced. */
export function schemaForAjv(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(schemaForAjv);
  if (typeof schema === "bigint") return Number(schema);
  if (!isDict(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map((
      [key, value],
    ) => [key, DATA.has(key) ? value : schemaForAjv(value)]),
  );
}

/** A reference of a schema, and its place. */
interface SchemaReference {
  /** The text as written, without the fragment. */
  readonly written: string;
  readonly uri: string;
}

/** The references of a schema to other ones, and the URIs that it defines by `$id`. */
interface SchemaLinks {
  readonly references: readonly SchemaReference[];
  readonly defined: ReadonlySet<string>;
}

/** Finds the links of a schema that was read from a URI. */
export function linksIn(schema: unknown, uri: string): SchemaLinks {
  const references: SchemaReference[] = [];
  const defined = new Set([uri]);
  const walk = (part: unknown, base: string, isMap: boolean): void => {
    if (Array.isArray(part)) return part.forEach((item) => walk(item, base, false));
    if (!isDict(part)) return;
    let here = base;
    if (!isMap) {
      const id = idOf(part);
      if (id !== undefined && !id.startsWith("#")) {
        here = resolve(id, base) ?? base;
        defined.add(here);
      }
      for (const key of ["$ref", "$dynamicRef", "$recursiveRef"]) {
        const written = part[key];
        if (typeof written !== "string") continue;
        const bare = written.split("#")[0]!;
        const meant = bare === "" ? undefined : resolve(bare, here);
        if (meant !== undefined) references.push({ written: bare, uri: meant });
      }
    }
    for (const [key, value] of Object.entries(part)) {
      if (isMap || !DATA.has(key)) walk(value, here, !isMap && MAPS.has(key));
    }
  };
  walk(schema, uri, false);
  return { references, defined };
}

/** The URI of a schema by its own `$id`, which draft 4 calls `id`. */
export function idOf(schema: unknown): string | undefined {
  if (!isDict(schema as Value)) return undefined;
  const { $id, id } = schema as Readonly<Record<string, unknown>>;
  const written = typeof $id === "string" ? $id : typeof id === "string" ? id : undefined;
  return written === undefined ? undefined : written.replace(/#$/, "") || undefined;
}

/** A reference as a URI without a fragment; undefined if it is not one. */
export function resolve(reference: string, base: string): string | undefined {
  try {
    const url = new URL(reference, base);
    url.hash = "";
    return url.href;
  } catch {
    return undefined;
  }
}

/** The value at a JSON pointer, and its path. */
export function follow(value: Value, pointer: string): { path: (string | number)[]; at: Value } {
  const path: (string | number)[] = [];
  let at = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) {
      path.push(Number(key));
      at = plain(at[Number(key)]);
    } else {
      path.push(key);
      at = isDict(at) ? readField(at, key) ?? null : null;
    }
  }
  return { path, at };
}
