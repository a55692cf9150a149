import type { Operation } from "./api.ts";
import { nameKey, singular } from "./names.ts";
import { lastWord, parameterPrefixes, pathKey } from "./paths.ts";
import { propertyNames, propertyOf, typeOf } from "./schema.ts";

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
  const creators = new Map<string, Operation>();
  for (const operation of operations) {
    const key = pathKey(operation.path);
    if (operation.method === "post" && operation.reply && !creators.has(key)) {
      creators.set(key, operation);
    }
  }
  const links = new Map<Operation, Map<string, ApiLink>>();
  for (const operation of operations) {
    const found = new Map<string, ApiLink>();
    for (const { name, before } of parameterPrefixes(operation.path)) {
      const creator = creators.get(pathKey(before));
      const field = creator?.reply && fieldFor(name, before, creator.reply.schema);
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
  const own = findField(schema, wanted);
  if (own !== undefined) return [own];
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
