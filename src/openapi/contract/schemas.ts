import { patternForRe2 } from "../../expr/json_schema/ecma_pattern.ts";
import { ORIGIN, SchemaFault } from "../../expr/json_schema/schema_tree.ts";
import {
  loadSchemaCompiler,
  type SchemaCompiler,
  type Validator,
} from "../../expr/json_schema/validator.ts";
import { loadRegexEngine, regexProblem } from "../../expr/evaluate/regex.ts";
import { boundedMeter, LimitError } from "../../base/value/meter.ts";
import type { Mismatch } from "../../base/value/mismatch.ts";
import type { Value } from "../../base/value/value.ts";
import { isMap, listOf, mapOf, type RawApiMap } from "../read/raw.ts";
import type { Description, Location, Part } from "../read/description.ts";

/** Who sends a message: it decides about properties that are only read or only written. */
export type Side = "request" | "response";

/** A value that does not match its schema, with the location of the schema. */
export interface SchemaProblem extends Mismatch {
  readonly at: Location;
}

/** Validates values by the schemas of a description. */
export interface Schemas {
  /** Every problem of a value. */
  check(schema: Part, value: Value, side: Side): readonly SchemaProblem[];
  /** The types that a schema allows; none where it allows all. */
  typesOf(schema: Part): ReadonlySet<string>;
  /** The schema of a property, also where only a part of the schema has it. */
  propertyOf(schema: Part, name: string): Part | undefined;
  /** Mistakes in the schemas, found since the last call; the parts with them are not used. */
  takeFaults(): readonly SchemaFaultAt[];
}

/** A mistake in a schema, and its location. */
export interface SchemaFaultAt {
  readonly at: Location;
  /** The part that is not used because of it: `schema`, `pattern`. */
  readonly part: string;
  readonly message: string;
}

/** The expectation for a property that only requests have. */
export const WRITE_ONLY = "write only";

/** Loads the validator of JSON Schema. */
export async function loadSchemas(description: Description): Promise<Schemas> {
  const compiler = await loadSchemaCompiler(
    description.version === "3.1" ? "2020-12" : "7",
    true,
  );
  const origins: Location[] = [];
  const compiled = new Map<string, Validator | undefined>();
  await loadRegexEngine();
  const faults = new Map<string, SchemaFaultAt>();
  const taken = new Set<string>();
  const addFault: AddFault = (part, at, message) => {
    const key = keyOf(at);
    if (!taken.has(key)) faults.set(key, { at, part, message });
  };
  const validatorOf = (schema: Part, side: Side): Validator | undefined => {
    const key = `${side} ${keyOf(schema.at)}`;
    if (compiled.has(key)) return compiled.get(key);
    const made = compile(compiler, description, schema, side, addFault, origins);
    compiled.set(key, made);
    return made;
  };
  return {
    takeFaults() {
      const found = [...faults.values()];
      for (const key of faults.keys()) taken.add(key);
      faults.clear();
      return found;
    },
    check(schema, value, side) {
      const validate = validatorOf(schema, side);
      return problemsOf(validate, value, schema, addFault).flatMap((problem) => {
        const { at, value: found } = partAt(description, schema, problem.path);
        const isHidden = mapOf(found)[side === "request" ? "readOnly" : "writeOnly"] === true;
        // Another part of an allOf may require what this side does not send.
        if (isHidden && problem.expected === "required") return [];
        const isUnwanted = isHidden && side === "response";
        // What is missing is shown where it is described, if it is.
        const isMissing = problem.expected === "required" &&
          at.path.at(-1) === problem.path.at(-1);
        const origin = isMissing || isUnwanted ? undefined : origins[Number(problem.origin)];
        return [{ ...problem, ...isUnwanted ? { expected: WRITE_ONLY } : {}, at: origin ?? at }];
      });
    },
    typesOf: (schema) => new Set(typesIn(description, schema, 0)),
    propertyOf: (schema, name) => partOf(description, description.follow(schema), name, 0),
  };
}

type AddFault = (part: SchemaFaultAt["part"], at: Location, message: string) => void;

/** Far more than the largest responses need, and some seconds. */
const MAX_WORK = 30_000_000;

function problemsOf(
  validate: Validator | undefined,
  value: Value,
  { at }: Part,
  addFault: AddFault,
): ReturnType<Validator> {
  try {
    return validate?.(value, boundedMeter(MAX_WORK)) ?? [];
  } catch (error) {
    if (error instanceof SchemaFault) addFault("schema", at, error.message);
    else if (error instanceof LimitError) addFault("schema", at, "it takes too much work");
    else throw error;
    return [];
  }
}

function compile(
  compiler: SchemaCompiler,
  description: Description,
  schema: Part,
  side: Side,
  addFault: AddFault,
  origins: Location[],
): Validator | undefined {
  try {
    const whole = bundle(description, schema, side, addFault, origins);
    return compiler.compile({ uri: "openapi:/schema", schema: whole });
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    // The names of definitions are ours.
    const message = error.message.replaceAll(/\/definitions\/s\d+(?=\/)/g, "");
    addFault("schema", schema.at, message);
    return undefined;
  }
}

function keyOf({ file, path }: Location): string {
  return `${file}#${path.join("/")}`;
}

/** A schema that holds all that it refers to; each part knows its origin by its index. */
function bundle(
  description: Description,
  schema: Part,
  side: Side,
  addFault: AddFault,
  origins: Location[],
): unknown {
  const names = new Map<string, string>();
  const definitions: Record<string, unknown> = {};
  const refer = (found: Part): RawApiMap => {
    const target = description.follow(found);
    const key = keyOf(target.at);
    let name = names.get(key);
    if (name === undefined) {
      names.set(key, name = `s${names.size}`);
      definitions[name] = convert(target);
    }
    return { $ref: `#/definitions/${name}` };
  };
  let count = 0;
  const convert = (found: Part): unknown => {
    const { value } = found;
    // Aliases of YAML may repeat a part very often.
    if (++count > MAX_PARTS) throw new SchemaFault("it is too large");
    if (!isMap(value)) return typeof value === "boolean" ? value : {};
    if (typeof value.$ref === "string") return refer(found);
    const copy: Record<string, unknown> = { [ORIGIN]: origins.push(found.at) - 1 };
    for (const [key, part] of Object.entries(value)) {
      if (IGNORED.has(key) || key === "pattern" && !isPattern(found, part)) continue;
      copy[key] = convertPart(found, key, part);
    }
    return adapt(description, found, copy, side);
  };
  // Many descriptions have patterns with lookaround, which RE2 does not know.
  const isPattern = ({ at: { file, path } }: Part, pattern: unknown): boolean => {
    const problem = typeof pattern === "string" ? regexProblem(patternForRe2(pattern)) : undefined;
    if (problem !== undefined) addFault("pattern", { file, path: [...path, "pattern"] }, problem);
    return problem === undefined;
  };
  const convertPart = (found: Part, key: string, part: unknown): unknown => {
    const { file, path } = found.at;
    const inside = (name: string | number, value: unknown): Part => ({
      value,
      at: { file, path: [...path, key, name] },
    });
    if (MAPS.has(key) && isMap(part)) {
      const entries = Object.entries(part);
      return Object.fromEntries(
        entries.map(([name, one]) => [name, Array.isArray(one) ? one : convert(inside(name, one))]),
      );
    }
    if (LISTS.has(key) && Array.isArray(part)) {
      return part.map((one, index) => convert(inside(index, one)));
    }
    if (SCHEMAS.has(key) && isMap(part)) {
      return convert({ value: part, at: { file, path: [...path, key] } });
    }
    return part;
  };
  const root = refer(schema);
  return { ...root, definitions };
}

/** Far more than the largest schemas have. */
const MAX_PARTS = 500_000;

/** Keywords that hold schemas: by name, in a list, or one. */
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const SCHEMAS = new Set([
  ...["items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains"],
  ...["propertyNames", "unevaluatedItems", "unevaluatedProperties"],
]);

/** Keywords that say nothing about a value, or what other files call this one. */
const IGNORED = new Set([
  ...["example", "examples", "xml", "externalDocs", "discriminator", "deprecated", "default"],
  ...["$id", "id", "$schema", "$anchor", "$dynamicAnchor", "$defs", "definitions", "description"],
  ...["title", "readOnly", "writeOnly", "$comment", "nullable", "x-nullable", "in", "name"],
  ...["collectionFormat", "allowEmptyValue"],
]);

/** Turns what only OpenAPI has into JSON Schema. */
function adapt(
  description: Description,
  found: Part,
  copy: Record<string, unknown>,
  side: Side,
): unknown {
  const value = mapOf(found.value);
  if (typeof copy.required === "boolean") delete copy.required;
  if (copy.type === "file") delete copy.type;
  if (description.version !== "3.1") adaptBounds(copy);
  adaptChoice(value, copy);
  const hidden = hiddenProperties(description, found, side);
  if (hidden.length > 0) {
    copy.required = listOf(copy.required).filter((name) => !hidden.includes(String(name)));
    // An empty list is not allowed in older drafts.
    if (listOf(copy.required).length === 0) delete copy.required;
    if (side === "response") {
      const properties = { ...mapOf(copy.properties) };
      for (const name of hidden) properties[name] = { not: {} };
      copy.properties = properties;
    }
  }
  const isNullable = description.version !== "3.1" &&
    (value.nullable === true || value["x-nullable"] === true);
  if (!isNullable) return copy;
  if (Array.isArray(copy.enum) && !copy.enum.includes(null)) copy.enum = [...copy.enum, null];
  if (typeof copy.type === "string") return { ...copy, type: [copy.type, "null"] };
  return { anyOf: [{ type: "null" }, copy] };
}

/**
 * Has a property choose the member of `oneOf`, as `discriminator` says, so that only violations of
 * that one are shown; for other values of the property the whole list decides.
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

/** The properties of an object that its sender does not send. */
function hiddenProperties(description: Description, found: Part, side: Side): string[] {
  const { properties } = mapOf(found.value);
  const keyword = side === "request" ? "readOnly" : "writeOnly";
  return Object.keys(mapOf(properties)).filter((name) =>
    mapOf(description.child(found, "properties", name)?.value)[keyword] === true
  );
}

/** The schema of a part of a value, or else that of the nearest part around it. */
function partAt(description: Description, schema: Part, path: Mismatch["path"]): Part {
  let current = description.follow(schema);
  for (const step of path) {
    const next = partOf(description, current, step, 0);
    if (!next) break;
    current = next;
  }
  return current;
}

const MAX_DEPTH = 20;

function partOf(
  description: Description,
  schema: Part,
  step: string | number,
  depth: number,
): Part | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const direct = typeof step === "number"
    ? description.child(schema, "prefixItems", step) ?? description.child(schema, "items")
    : description.child(schema, "properties", step);
  if (direct && isMap(direct.value)) return direct;
  for (const member of membersOf(description, schema)) {
    const part = partOf(description, member, step, depth + 1);
    if (part) return part;
  }
  const other = description.child(schema, "additionalProperties");
  return other && isMap(other.value) ? other : undefined;
}

function typesIn(description: Description, schema: Part, depth: number): string[] {
  if (depth > MAX_DEPTH) return [];
  const { type } = mapOf(description.follow(schema).value);
  const types = [type].flat().filter((one): one is string => typeof one === "string");
  if (types.length > 0) return types;
  return membersOf(description, schema).flatMap((member) =>
    typesIn(description, member, depth + 1)
  );
}

/** The schemas that a schema is made of. */
function membersOf(description: Description, schema: Part): Part[] {
  return ["allOf", "anyOf", "oneOf"].flatMap((key) => description.children(schema, key));
}
