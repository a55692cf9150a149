import { quoteText } from "../draft/draft.ts";
import type { Value } from "../base/value/value.ts";
import type { Names } from "../draft/names.ts";

/** A value in the expression language; `writeText` writes its strings. */
export function literal(value: Value, writeText: (text: string) => string = quoteText): string {
  if (typeof value === "string") return writeText(value);
  if (value === null) return "nil";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, writeText)).join(", ")}]`;
  const fields = Object.entries(value).map(([name, field]) =>
    `${quoteText(name)}: ${literal(field, writeText)}`
  );
  return `{${fields.join(", ")}}`;
}

/** A text with variables in it; every second part is a variable. */
export function joined(parts: readonly string[], names: Names): string {
  if (parts.length === 1) return quoteText(parts[0]!);
  return parts.flatMap((part, index) =>
    index % 2 === 1 ? [`string(${names.read(part)})`] : part === "" ? [] : [quoteText(part)]
  ).join(" + ");
}

/** The value under a key: `.name`, `["a b"]`. */
export function keyOf(name: string | number): string {
  if (typeof name === "number") return `[${name}]`;
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${quoteText(name)}]`;
}

/** A header of the response, whose names are written like `Content-Type`. */
export function headerOf(name: string): string {
  const canonical = name.toLowerCase().replace(
    /(^|-)([a-z])/g,
    (_, mark, letter) => mark + letter.toUpperCase(),
  );
  return `res.headers[${quoteText(canonical)}]`;
}

/** For an expression that ends with a key: whether the value has it, even if it is nil. */
export function existenceOf(expression: string): string {
  const [, owner, name, quoted] = /^(.+?)(?:\.([A-Za-z_]\w*)|\[('(?:[^'\\]|\\.)*')\])$/s
    .exec(expression) ?? [];
  const isMap = owner !== undefined && /^res\.body\b/.test(owner) && depthIsZero(owner);
  return isMap ? `${quoted ?? quoteText(name!)} in ${owner}` : `${expression} != nil`;
}

/** Makes a test fail for a map, which has no length in JavaScript. */
export function withoutMaps(test: string): string {
  const [, value] = /\blen\((res\.body(?:[.[][^()]*)?)\)(?! == 0$)/.exec(test) ?? [];
  return value === undefined ? test : `${test} && type(${value}) != "map"`;
}

/** Tests that an existing map does not have such a key. */
export function absenceOf(expression: string): string {
  const exists = existenceOf(expression);
  const [, owner] = / in (res\.body[.[].*)$/s.exec(exists) ?? [];
  return owner === undefined ? `not (${exists})` : `${owner} != nil && not (${exists})`;
}

/** Tests that a key exists and its value is nil. */
export function nullOf(expression: string): string {
  const exists = existenceOf(expression);
  return exists.endsWith(" != nil") ? `${expression} == nil` : `${exists} && ${expression} == nil`;
}

/** Whether the brackets of an expression are closed. */
function depthIsZero(text: string): boolean {
  return text.split(/[([]/).length === text.split(/[)\]]/).length;
}

/** Tests that a text has a part, a list an item, or a map some keys, whichever the value is. */
export function containsOf(actual: string, expected: string): string {
  if (expected.startsWith("{")) return `includes_json(${actual}, ${expected})`;
  if (
    /^(?:(?:json_path|xpath|css|split)\(|\[)/.test(actual) ||
    /^[-\d[]|^(?:true|false|nil)$/.test(expected)
  ) {
    return `${expected} in ${actual}`;
  }
  if (!/^(?:res\.body\b|first\()/.test(actual)) return `${actual} contains ${expected}`;
  return `(type(${actual}) == "array" ? ${expected} in ${actual} : ${actual} contains ${expected})`;
}

/**
 * The comparison with a variable. Tools convert its text to the type that it looks like; values from
 * the environment are texts here.
 */
export function comparisonOf(actual: string, operator: string, expected: string): string {
  return /^[=!]=$/.test(operator) && /^vars\.\w+$/.test(expected)
    ? `string(${actual}) ${operator} string(${expected})`
    : `${actual} ${operator} ${expected}`;
}

/** Tests that a value has a type of JSON, by the name of the type. */
export const TYPE_TESTS = {
  string: (value) => `type(${value}) == "string"`,
  array: (value) => `type(${value}) == "array"`,
  object: (value) => `type(${value}) == "map"`,
  boolean: (value) => `type(${value}) == "bool"`,
  number: (value) => `type(${value}) in ["int", "float"]`,
} satisfies Readonly<Record<string, (value: string) => string>>;
