import { ORIGIN, SchemaFault } from "../../expr/json_schema/schema_tree.ts";
import {
  loadSchemaCompiler,
  type SchemaCompiler,
  type Validator,
} from "../../expr/json_schema/validator.ts";
import { loadRegexEngine, patternForRe2, regexProblem } from "../../expr/evaluate/regex.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import type { Value } from "../../base/value/value.ts";
import {
  below,
  type Description,
  isMap,
  listOf,
  type Location,
  mapOf,
  type Part,
  type RawApiMap,
} from "../read/description.ts";

/** Who sends a message, which matters for readOnly and writeOnly properties. */
export type Side = "request" | "response";

/** A value that does not match its schema, with the location of the schema. */
interface SchemaProblem extends Mismatch {
  readonly at: Location;
}

/** A mistake in a schema, and its location. */
interface SchemaFaultAt {
  readonly at: Location;
  /** The part that is not used because of it. */
  readonly part: "schema" | "pattern";
  readonly message: string;
}

/** The expectation for a property that only requests have. */
export const WRITE_ONLY = "write only";

export async function loadSchemas(description: Description): Promise<Schemas> {
  const draft = description.version === "3.1" ? "2020-12" : "7";
  const compiler = await loadSchemaCompiler(draft, true);
  await loadRegexEngine();
  return new Schemas(description, compiler);
}

/** Validates values by the schemas of a description. */
export class Schemas {
  /** The locations of converted schemas, whose problems name them by their index. */
  readonly #origins: Location[] = [];
  readonly #validators = new Map<string, Validator | undefined>();
  readonly #faults = new Map<string, SchemaFaultAt>();
  readonly #reported = new Set<string>();

  constructor(readonly description: Description, readonly compiler: SchemaCompiler) {}

  /** Mistakes in the schemas, found since the last call; the parts with them are not used. */
  takeFaults(): readonly SchemaFaultAt[] {
    const found = [...this.#faults.values()];
    for (const key of this.#faults.keys()) this.#reported.add(key);
    this.#faults.clear();
    return found;
  }

  check(schema: Part, value: Value, side: Side): readonly SchemaProblem[] {
    return this.#validate(schema, value, side).flatMap((problem) => {
      const { at, value: found } = this.#partAt(schema, problem.path);
      const isHidden = mapOf(found)[side === "request" ? "readOnly" : "writeOnly"] === true;
      // Another part of an allOf may require what this side does not send.
      if (isHidden && problem.expected === "required") return [];
      const isUnwanted = isHidden && side === "response";
      // A missing property is reported at its own schema, if it has one.
      const isMissing = problem.expected === "required" &&
        at.path.at(-1) === problem.path.at(-1);
      const origin = isMissing || isUnwanted ? undefined : this.#origins[Number(problem.origin)];
      return [{ ...problem, ...isUnwanted ? { expected: WRITE_ONLY } : {}, at: origin ?? at }];
    });
  }

  /** The types that a schema allows; none if it allows all. */
  typesOf(schema: Part, depth = 0): ReadonlySet<string> {
    if (depth > MAX_DEPTH) return new Set();
    const { type } = mapOf(this.description.follow(schema).value);
    const types = [type].flat().filter((one): one is string => typeof one === "string");
    if (types.length > 0) return new Set(types);
    return new Set(
      this.#members(schema).flatMap((member) => [...this.typesOf(member, depth + 1)]),
    );
  }

  /** The schema of a property or an item, also where only a part of the schema has it. */
  propertyOf(schema: Part, step: string | number, depth = 0): Part | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const { description } = this;
    const direct = typeof step === "number"
      ? description.child(schema, "prefixItems", step) ?? description.child(schema, "items")
      : description.child(schema, "properties", step);
    if (direct && isMap(direct.value)) return direct;
    for (const member of this.#members(schema)) {
      const part = this.propertyOf(member, step, depth + 1);
      if (part) return part;
    }
    const other = description.child(schema, "additionalProperties");
    return other && isMap(other.value) ? other : undefined;
  }

  #members(schema: Part): Part[] {
    return ["allOf", "anyOf", "oneOf"].flatMap((key) => this.description.children(schema, key));
  }

  /** The schema of a part of a value, or of the nearest part around it. */
  #partAt(schema: Part, path: Mismatch["path"]): Part {
    let current = this.description.follow(schema);
    for (const step of path) {
      const next = this.propertyOf(current, step);
      if (!next) break;
      current = next;
    }
    return current;
  }

  #validate(schema: Part, value: Value, side: Side): ReturnType<Validator> {
    const validate = this.#validators.getOrInsertComputed(
      `${side} ${keyOf(schema.at)}`,
      () => this.#compile(schema, side),
    );
    try {
      return validate?.(value) ?? [];
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      this.#addFault("schema", schema.at, error.message);
      return [];
    }
  }

  #compile(schema: Part, side: Side): Validator | undefined {
    try {
      const whole = new Conversion(this.description, side, this.#origins, (at, pattern) => {
        const problem = regexProblem(patternForRe2(pattern));
        if (problem !== undefined) this.#addFault("pattern", at, problem);
        return problem === undefined;
      }).convert(schema);
      return this.compiler.compile({ uri: "openapi:/schema", schema: whole });
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      // The names of definitions are ours.
      const message = error.message.replaceAll(/\/definitions\/s\d+(?=\/)/g, "");
      this.#addFault("schema", schema.at, message);
      return undefined;
    }
  }

  #addFault(part: SchemaFaultAt["part"], at: Location, message: string): void {
    const key = keyOf(at);
    if (!this.#reported.has(key)) this.#faults.set(key, { at, part, message });
  }
}

function keyOf({ file, path }: Location): string {
  return `${file}#${path.join("/")}`;
}

const MAX_DEPTH = 20;

/** Far more than the largest schemas have. */
const MAX_PARTS = 500_000;

/** Keywords that hold schemas: by name, in a list, or one. */
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const SCHEMAS = new Set([
  ...["items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains"],
  ...["propertyNames", "unevaluatedItems", "unevaluatedProperties"],
]);

/** Keywords that do not constrain a value, and identifiers. */
const IGNORED = new Set([
  ...["example", "examples", "xml", "externalDocs", "discriminator", "deprecated", "default"],
  ...["$id", "id", "$schema", "$anchor", "$dynamicAnchor", "$defs", "definitions", "description"],
  ...["title", "readOnly", "writeOnly", "$comment", "nullable", "x-nullable", "in", "name"],
  ...["collectionFormat", "allowEmptyValue"],
]);

/** Converts a schema of OpenAPI, and all that it refers to, to one of JSON Schema. */
class Conversion {
  readonly #names = new Map<string, string>();
  readonly #definitions: Record<string, unknown> = {};
  #count = 0;

  constructor(
    readonly description: Description,
    readonly side: Side,
    /** Takes the locations of the converted schemas. */
    readonly origins: Location[],
    /** Many descriptions have patterns with lookaround, which RE2 does not know. */
    readonly isPattern: (at: Location, pattern: string) => boolean,
  ) {}

  convert(schema: Part): RawApiMap {
    return { ...this.#refer(schema), definitions: this.#definitions };
  }

  #refer(reference: Part): RawApiMap {
    const target = this.description.follow(reference);
    const key = keyOf(target.at);
    let name = this.#names.get(key);
    if (name === undefined) {
      this.#names.set(key, name = `s${this.#names.size}`);
      this.#definitions[name] = this.#schema(target);
    }
    return { $ref: `#/definitions/${name}` };
  }

  #schema(schema: Part): unknown {
    const { value } = schema;
    // Aliases of YAML may repeat a part very often.
    if (++this.#count > MAX_PARTS) throw new SchemaFault("it is too large");
    if (!isMap(value)) return typeof value === "boolean" ? value : {};
    if (typeof value.$ref === "string") return this.#refer(schema);
    const copy: Record<string, unknown> = { [ORIGIN]: this.origins.push(schema.at) - 1 };
    for (const [key, part] of Object.entries(value)) {
      const inside = below(schema, key, part);
      if (IGNORED.has(key)) continue;
      if (key === "pattern" && !this.isPattern(inside.at, String(part))) continue;
      copy[key] = this.#keyword(key, inside);
    }
    return this.#adapt(schema, copy);
  }

  #keyword(key: string, part: Part): unknown {
    const { value } = part;
    if (MAPS.has(key) && isMap(value)) {
      const entries = Object.entries(value).map(([name, one]) =>
        [name, Array.isArray(one) ? one : this.#schema(below(part, name, one))] as const
      );
      return Object.fromEntries(entries);
    }
    if (LISTS.has(key) && Array.isArray(value)) {
      return value.map((one, index) => this.#schema(below(part, index, one)));
    }
    return SCHEMAS.has(key) && isMap(value) ? this.#schema(part) : value;
  }

  /** Replaces the keywords that only OpenAPI has. */
  #adapt(schema: Part, copy: Record<string, unknown>): unknown {
    const value = mapOf(schema.value);
    const isOlder = this.description.version !== "3.1";
    if (typeof copy.required === "boolean") delete copy.required;
    if (copy.type === "file") delete copy.type;
    if (isOlder) adaptBounds(copy);
    adaptChoice(value, copy);
    const hidden = this.#hiddenProperties(schema);
    if (hidden.length > 0) {
      copy.required = listOf(copy.required).filter((name) => !hidden.includes(String(name)));
      // An empty list is not allowed in older drafts.
      if (listOf(copy.required).length === 0) delete copy.required;
      if (this.side === "response") {
        const refused = hidden.map((name) => [name, { not: {} }] as const);
        copy.properties = { ...mapOf(copy.properties), ...Object.fromEntries(refused) };
      }
    }
    if (!isOlder || value.nullable !== true && value["x-nullable"] !== true) return copy;
    if (Array.isArray(copy.enum) && !copy.enum.includes(null)) copy.enum = [...copy.enum, null];
    if (typeof copy.type === "string") return { ...copy, type: [copy.type, "null"] };
    return { anyOf: [{ type: "null" }, copy] };
  }

  /** The properties of an object that its sender does not send. */
  #hiddenProperties(schema: Part): string[] {
    const keyword = this.side === "request" ? "readOnly" : "writeOnly";
    const { properties } = mapOf(schema.value);
    return Object.keys(mapOf(properties)).filter((name) =>
      mapOf(this.description.child(schema, "properties", name)?.value)[keyword] === true
    );
  }
}

/**
 * Makes the discriminator choose the member of `oneOf`, so that only violations of that member are
 * reported; for other values of the property the whole list applies.
 */
function adaptChoice(written: RawApiMap, copy: Record<string, unknown>): void {
  const { propertyName, mapping } = mapOf(written.discriminator);
  const key = written.oneOf === undefined ? "anyOf" : "oneOf";
  const references = listOf(written[key]).map((member) => mapOf(member).$ref);
  if (typeof propertyName !== "string" || references.length === 0) return;
  const members = listOf(copy[key]);
  const choice = references.reduceRight<unknown>((others, reference, index) => {
    if (typeof reference !== "string") return others;
    const name = reference.split("/").at(-1)!;
    const names = Object.entries(mapOf(mapping))
      .filter(([, target]) => target === reference || target === name)
      .map(([value]) => value);
    const isIt = {
      required: [propertyName],
      properties: { [propertyName]: { enum: [...names, name] } },
    };
    return { if: isIt, then: members[index], else: others };
  }, { [key]: members });
  delete copy[key];
  copy.allOf = [...listOf(copy.allOf), choice];
}

/** In older versions a boolean says whether a bound is exclusive. */
function adaptBounds(copy: Record<string, unknown>): void {
  for (const [bound, exclusive] of BOUNDS) {
    if (typeof copy[exclusive] !== "boolean") continue;
    const isExclusive = copy[exclusive] && copy[bound] !== undefined;
    delete copy[exclusive];
    if (!isExclusive) continue;
    copy[exclusive] = copy[bound];
    delete copy[bound];
  }
}

const BOUNDS = [["maximum", "exclusiveMaximum"], ["minimum", "exclusiveMinimum"]] as const;
