import { DURATION_FORMS, parseDuration } from "../value/duration.ts";
import { isDict } from "../value/value.ts";
import type { Dict, ParameterType, Value } from "./action.ts";

/** What an action gets for a parameter of each type. */
export interface Converted {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  /** Milliseconds. */
  readonly duration: number;
  readonly object: Dict;
  readonly list: readonly Value[];
  readonly any: Value;
}

interface TypeRule<T> {
  /** How messages name the type. */
  readonly words: string;
  readonly convert: (value: Value) => T | undefined;
}

const TYPES: { readonly [T in ParameterType]: TypeRule<Converted[T]> } = {
  string: { words: "a string", convert: toText },
  number: { words: "a number", convert: toNumber },
  integer: { words: "a whole number", convert: toInteger },
  boolean: { words: "true or false", convert: toBoolean },
  duration: { words: `a duration ${DURATION_FORMS}`, convert: parseDuration },
  object: { words: "a mapping", convert: (value) => isDict(value) ? value : undefined },
  list: { words: "a list", convert: (value) => Array.isArray(value) ? value : undefined },
  any: { words: "any value", convert: (value) => value },
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

/** The types of a parameter in words: `a string or a list`. */
export function typeWords(types: readonly ParameterType[]): string {
  return types.map((type) => TYPES[type].words).join(" or ");
}

/** The names of all types. */
export const PARAMETER_TYPES: readonly string[] = Object.keys(TYPES);

/** What a text must look like to be a number. */
export const NUMBER_TEXT = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

function toText(value: Value): string | undefined {
  return typeof value === "object" ? undefined : String(value);
}

function toNumber(value: Value): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string") return undefined;
  return NUMBER_TEXT.test(value) ? Number(value) : undefined;
}

function toInteger(value: Value): number | undefined {
  const number = toNumber(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

function toBoolean(value: Value): boolean | undefined {
  if (value === true || value === "true") return true;
  return value === false || value === "false" ? false : undefined;
}
