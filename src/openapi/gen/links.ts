import type { Operation } from "./api.ts";
import { shapeOf, typeOf } from "./schema.ts";
import { fieldOf } from "../read/description.ts";

/** A path parameter whose value is in the response of another operation. */
export interface ApiLink {
  readonly creator: Operation;
  /** The path of the field in the response body. */
  readonly field: readonly string[];
}

/** The links of each operation by the names of its path parameters. */
export type Links = ReadonlyMap<Operation, ReadonlyMap<string, ApiLink>>;

/** Finds the operations that create the resources of paths: `POST /pets` for `/pets/{petId}`. */
export function findLinks(operations: readonly Operation[]): Links {
  const creators = Map.groupBy(
    operations.filter(({ method, response }) => method === "post" && response),
    ({ path }) => pathKey(path),
  );
  const links = new Map<Operation, Map<string, ApiLink>>();
  for (const operation of operations) {
    const found = new Map<string, ApiLink>();
    for (const { name, before } of parameterPrefixes(operation.path)) {
      const creator = creators.get(pathKey(before))?.[0];
      const field = creator?.response && fieldFor(name, before, creator.response.schema);
      if (creator && field && creator !== operation) found.set(name, { creator, field });
    }
    links.set(operation, found);
  }
  return links;
}

/** Objects in a response that contain the resource itself. */
const WRAPPERS = ["data", "result", "item", "metadata", "attributes"];

function fieldFor(parameter: string, before: string, schema: unknown): string[] | undefined {
  const word = lastWord(before) ?? "";
  const wanted = wantedNames(parameter, word);
  const field = findField(schema, wanted);
  if (field !== undefined) return [field];
  const wrappers = [...WRAPPERS, singular(word)].map(nameKey);
  for (const name of propertyNames(schema)) {
    if (!wrappers.includes(nameKey(name))) continue;
    const inner = findField(propertyOf(schema, name), wanted);
    if (inner !== undefined) return [name, inner];
  }
  return undefined;
}

/** Possible names of the field, the most likely first: `petId`, then `id`. */
function wantedNames(parameter: string, word: string): string[] {
  const whole = nameKey(parameter);
  const [one, many] = [nameKey(singular(word)), nameKey(word)];
  const prefix = [many, one].find((prefix) => prefix !== "" && whole.startsWith(prefix));
  const rest = prefix === undefined ? "" : whole.slice(prefix.length);
  const names = [whole, rest];
  if (whole.endsWith("id")) names.push("id");
  if (whole === "id" || whole === "uuid" || whole === "guid") names.push(one + whole, "id", "uuid");
  if (prefix !== undefined && rest === "") names.push("id", "uuid", "name", "slug");
  return names.filter((name) => name !== "");
}

function findField(schema: unknown, wanted: readonly string[]): string | undefined {
  const names = propertyNames(schema);
  for (const key of wanted) {
    const name = names.find((name) => nameKey(name) === key && isScalar(propertyOf(schema, name)));
    if (name !== undefined) return name;
  }
  return undefined;
}

function isScalar(schema: unknown): boolean {
  return ["string", "integer", "number"].includes(typeOf(schema) ?? "string");
}

/** A name without case and separators: `petId` and `pet_id` are equal. */
function nameKey(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** The singular of a word: `pet` for `pets`. */
export function singular(word: string): string {
  if (/ies$/i.test(word) && word.length > 4) return word.replace(/ies$/i, "y");
  if (/(?:ss|x|ch|sh|(?<!o)us)es$/i.test(word)) return word.replace(/es$/i, "");
  return /[^s]s$/i.test(word) ? word.slice(0, -1) : word;
}

/** The path of the collection: without a parameter at the end. */
export function collectionOf(path: string): string {
  return withoutSlash(path).replace(/\/\{[^{}/]+\}$/, "");
}

/** The parameter at the end of a path; undefined if it ends in a word. */
export function lastParameter(path: string): string | undefined {
  return /\/\{([^{}/]+)\}$/.exec(withoutSlash(path))?.[1];
}

/** A path without the names of its parameters. */
export function pathKey(path: string): string {
  return withoutSlash(path).replace(/\{[^{}/]*\}/g, "{}");
}

/** The last segment of a path that is not a parameter: `pets`. */
export function lastWord(path: string): string | undefined {
  return path.split("/").findLast((word) => word !== "" && !/[{}]/.test(word));
}

/** The parameters that are whole path segments, each with the path before it. */
function parameterPrefixes(path: string): { name: string; before: string }[] {
  return [...path.matchAll(/\/\{([^{}/]+)\}(?=\/|$)/g)].map(({ 1: name, index }) => ({
    name: name!,
    before: path.slice(0, index),
  }));
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}

/** The schema of a property, also of an alternative. */
function propertyOf(schema: unknown, name: string): unknown {
  const { properties, choices } = shapeOf(schema);
  if (properties.has(name)) return properties.get(name);
  for (const choice of choices) {
    const found = fieldOf(Object.fromEntries(shapeOf(choice).properties), name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The names of all properties, including those of alternatives. */
function propertyNames(schema: unknown): string[] {
  const { properties, choices } = shapeOf(schema);
  const names = choices.flatMap((choice) => [...shapeOf(choice).properties.keys()]);
  return [...new Set([...properties.keys(), ...names])];
}
