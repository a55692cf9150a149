/**
 * Plain data, as JSON has it: what expressions see and actions return. A `bigint` is an integer
 * beyond ±2^53.
 */
export type Value = null | boolean | number | bigint | string | readonly Value[] | Dict;

/** A mapping of plain data. Only own properties count. */
export interface Dict {
  /** The value of a key. */
  readonly [key: string]: Value;
}

/** The name of the type of a value in the expression language. */
export type TypeName = "nil" | "bool" | "int" | "float" | "string" | "array" | "map";

/** The type of a value, in the words of the expression language. */
export function typeName(value: unknown): TypeName {
  if (value === null || value === undefined) return "nil";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int" : "float";
    case "bigint":
      return "int";
    case "string":
      return "string";
    default:
      return Array.isArray(value) ? "array" : "map";
  }
}

/** Whether a value is a mapping, not a list. */
export function isDict(value: unknown): value is Dict {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value if it is a map, or an empty map. */
export function dictOf(value: Value | undefined): Dict {
  return isDict(value) ? value : {};
}

/**
 * Integers beyond ±2^53 are `bigint`, so that no digit of them is lost; every other number is a
 * `number`. A fraction or an exponent makes a number that is as exact as a float.
 */
const LARGEST = 2n ** 53n;

/** An integer in the one form that values have it in. */
export function integer(value: bigint): number | bigint {
  return -LARGEST <= value && value <= LARGEST ? Number(value) : value;
}

/** The integer of digits, or of `0x…`, with a sign or without; undefined if it is far too large. */
export function readInteger(text: string): number | bigint | undefined {
  const digits = text.replace(/^[-+]/, "");
  const number = Number(digits);
  if (!Number.isFinite(number)) return undefined;
  const value = Number.isSafeInteger(number) ? number : integer(BigInt(digits));
  return text.startsWith("-") ? -value : value;
}

/** Whether a value is a number of any size. */
export function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** Whether data has integers beyond ±2^53, which a library that takes numbers does not know. */
export function hasLongIntegers(value: unknown): boolean {
  return typeof value === "bigint" ||
    typeof value === "object" && value !== null && Object.values(value).some(hasLongIntegers);
}

/**
 * Lets JSON.stringify(), which throws otherwise, write the digits; it stays as fast for data without
 * such integers. Complete in itself, as `parseExactly()` is.
 */
function writeIntegers(): void {
  const value = function (this: bigint) {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(String(this));
  };
  Object.defineProperty(BigInt.prototype, "toJSON", { value, writable: true, configurable: true });
}

writeIntegers();

/** Data that exceeds a limit. */
export class LimitError extends Error {}

/** More values than this are a mistake, such as data that nests copies of itself. */
const MAX_VALUES = 10_000_000;

/** A copy of plain data that shares nothing with it. Throws LimitError when it is too large. */
export function copyValue(value: unknown): Value {
  let count = 0;
  const copy = (part: unknown): Value => {
    if (++count > MAX_VALUES) throw new LimitError("too much data");
    if (typeof part !== "object" || part === null) {
      return part === undefined ? null : part as Value;
    }
    if (Array.isArray(part)) return part.map(copy);
    const out: Record<string, Value> = Object.create(null);
    for (const key of Object.keys(part)) out[key] = copy((part as Record<string, unknown>)[key]);
    return out;
  };
  return copy(value);
}

/**
 * Merges one value over another: mappings are merged key by key, however deep, and anything else
 * replaces what was there. Neither of the two is changed.
 */
export function merge(base: Value, over: Value): Value {
  return isDict(base) && isDict(over) ? mergeDicts(base, over) : over;
}

/** Like `merge`, for two mappings: the keys of `base` come first. */
export function mergeDicts(base: Dict, over: Dict): Dict {
  // Without a prototype, a key named "__proto__" is a key like any other.
  const merged: Record<string, Value> = Object.create(null);
  for (const key of Object.keys(base)) merged[key] = base[key]!;
  for (const key of Object.keys(over)) {
    merged[key] = Object.hasOwn(base, key) ? merge(base[key]!, over[key]!) : over[key]!;
  }
  return merged;
}

/** A short description of a value that does not fit: `a list`, `"abc"`, `1.5`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  // JSON has no words for .inf and .nan.
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  // A text cut short could be a secret that is no longer recognized as one.
  return text.length <= 60 ? text : "a long text";
}

/** The value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

/** The same value with another text at a path. */
export function replaceAt(
  value: Value,
  [key, ...rest]: readonly (string | number)[],
  change: (text: string) => string,
): Value {
  if (key === undefined) return change(String(value));
  if (Array.isArray(value)) {
    return value.map((one, index) => index === key ? replaceAt(one, rest, change) : one);
  }
  return isDict(value) ? { ...value, [key]: replaceAt(value[key] ?? null, rest, change) } : value;
}

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

/** A path as an expression writes it behind a value: `.items[2].price`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map(stepText).join("");
}

/** The list of a key of a mapping; empty if there is none. */
export function listIn(map: unknown, key: string): readonly unknown[] {
  const list = isDict(map) && Object.hasOwn(map, key) ? map[key] : undefined;
  return Array.isArray(list) ? list : [];
}
