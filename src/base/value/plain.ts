import { integer, type Value } from "./value.ts";

/**
 * A value as the language sees it: data, never code. Anything else becomes nil, so that a
 * function or a symbol that a host left in its data cannot be reached.
 */
export function plain(value: unknown): Value {
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return value;
    case "object":
      return Array.isArray(value) ? plainList(value) : value as Value;
    case "bigint":
      return integer(value);
    default:
      return null;
  }
}

/**
 * The value of an own key of a map; undefined if there is none. Inherited properties
 * and getters do not count, so that reading data never runs code.
 */
export function readField(map: object, key: string): Value | undefined {
  const field = Object.getOwnPropertyDescriptor(map, key);
  return field?.enumerable && !field.get && !field.set ? plain(field.value) : undefined;
}

const IGNORES_CASE = Symbol("keys ignore case");

/** Lets expressions read a map by keys in any case, as the names of headers are. */
export function ignoreCase<T extends object>(map: T): T {
  // Not enumerable, so that copies and reports do not see it.
  return Object.defineProperty(map, IGNORES_CASE, { value: true });
}

/** Reads a key in an expression: exactly that key, or one in different case where allowed. */
export function readKey(map: object, key: string): Value | undefined {
  const value = readField(map, key);
  if (value !== undefined || !Object.hasOwn(map, IGNORES_CASE)) return value;
  const lower = key.toLowerCase();
  const found = Object.keys(map).find((other) => other.toLowerCase() === lower);
  return found === undefined ? undefined : readField(map, found);
}

/** A list whose methods are the language's own, not those of a class that extends Array. */
function plainList(list: readonly unknown[]): readonly Value[] {
  if (Object.getPrototypeOf(list) === Array.prototype) return list as Value[];
  return Array.from({ length: list.length }, (_, index) => plain(list[index]));
}

/** A key or an index as an expression writes it after the value that it reads: `.items`, `["log-in"]`, `[2]`. */
export function stepText(step: string | number): string {
  return typeof step === "string" && /^[A-Za-z_]\w*$/.test(step)
    ? `.${step}`
    : `[${JSON.stringify(step)}]`;
}
