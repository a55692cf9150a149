import { hintForParameter } from "../base/other_tools.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { DURATION_FORMS, parseDuration } from "../base/value/duration.ts";
import { isDict } from "../base/value/value.ts";
import type { Dict, ParameterType, Value } from "./action.ts";

/** Keys of a step that are often written under its `with`. */
const STEP_KEYS: ReadonlySet<string> = new Set([
  ...["test", "outputs", "retry", "wait", "skipif", "iteration", "echo", "id"],
]);

/** What to write in place of an unknown parameter. */
export function hintForKey(names: readonly string[], key: string): string | undefined {
  return hintForParameter(names, key) ??
    (STEP_KEYS.has(key) ? `"${key}" is a key of the step, beside "uses"` : didYouMean(key, names));
}

/** Whether a parameter is given, and not null. */
export function isGiven(params: Dict, name: string): boolean {
  return Object.hasOwn(params, name) && (params[name] ?? null) !== null;
}

/** The value that an action gets for a parameter of each type. */
export interface Converted {
  /** A text. */
  readonly string: string;
  /** A number. */
  readonly number: number;
  /** A whole number. */
  readonly integer: number;
  /** A boolean. */
  readonly boolean: boolean;
  /** Milliseconds. */
  readonly duration: number;
  /** A map. */
  readonly map: Dict;
  /** A list. */
  readonly list: readonly Value[];
  /** Any value. */
  readonly any: Value;
}

interface TypeRule<T> {
  /** The name of the type in messages. */
  readonly label: string;
  readonly convert: (value: Value) => T | undefined;
}

const TYPES: { readonly [T in ParameterType]: TypeRule<Converted[T]> } = {
  string: { label: "a string", convert: toText },
  number: { label: "a number", convert: toNumber },
  integer: { label: "an integer", convert: toInteger },
  boolean: { label: "a boolean", convert: toBoolean },
  duration: { label: `a duration ${DURATION_FORMS}`, convert: parseDuration },
  map: { label: "a map", convert: (value) => isDict(value) ? value : undefined },
  list: { label: "a list", convert: (value) => Array.isArray(value) ? value : undefined },
  any: { label: "any value", convert: (value) => value },
};

/**
 * The value as an action of that type gets it, or undefined where it does not fit.
 *
 * Values often come out of templates or environment variables as text, so text that reads as a
 * number or a boolean is one, and numbers and booleans are text where text is wanted.
 */
export function convertParameter<T extends ParameterType>(
  type: T,
  value: Value,
): Converted[T] | undefined {
  return TYPES[type].convert(value);
}

/** The types of a parameter as messages name them: `a string or a list`. */
export function typeText(types: readonly ParameterType[]): string {
  return types.map((type) => TYPES[type].label).join(" or ");
}

/** The names of all types. */
export const PARAMETER_TYPES: readonly string[] = Object.keys(TYPES);

/** The form of a text that is a number. */
export const NUMBER_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** The form of a text that is a whole number. */
export const INTEGER_TEXT = /^\s*[-+]?\d+\s*$/;

function toText(value: Value): string | undefined {
  return typeof value === "object" ? undefined : String(value);
}

function toNumber(value: Value): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  return NUMBER_TEXT.test(value) ? Number(value) : undefined;
}

function toInteger(value: Value): number | undefined {
  const number = typeof value === "string" && !INTEGER_TEXT.test(value) ? NaN : toNumber(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

function toBoolean(value: Value): boolean | undefined {
  if (value === true || value === "true") return true;
  return value === false || value === "false" ? false : undefined;
}
