import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { NameRule } from "../expr/expression.ts";
import { hintForParameter } from "../base/other_tools.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { DURATION_FORMS, parseDuration } from "../base/value/duration.ts";

/**
 * Returns what reports may show of a value: without what is secret by its name, however short.
 * Other secrets are masked wherever they occur.
 */
export type HideSecrets = (value: Value, mask: string) => Value;

/** A parameter of an action. Types are checked at load where the value is constant. */
export interface Parameter {
  /** Its key in `with`. */
  readonly name: string;
  /** What it may be. */
  readonly type: ParameterType | readonly ParameterType[];
  /** What it is for, in one line. */
  readonly summary: string;
  /** Its value when it is left out, for documents. */
  readonly default?: string;
  /** Whether a step must give it. */
  readonly required?: true;
  /** The keys of a map, if they are fixed. */
  readonly fields?: readonly Parameter[];
  /** Whether the map holds exactly one of its fields. */
  readonly oneField?: true;
  /** The keys of the maps of a list, if every item is a map with fixed keys. */
  readonly items?: readonly Parameter[];
  /** Fields of the map that exclude each other. */
  readonly alternatives?: readonly Alternatives[];
  /** The least value of a number. */
  readonly minimum?: number;
  /**
   * Of a text that is a bare expression, which `readCondition` evaluates: the names that it sees
   * beside those of its step.
   */
  readonly expression?: readonly string[];
  /** The names that its templates see beside those of the step; the action renders them itself. */
  readonly rendersLater?: readonly string[];
  /** The only texts that it may be, where these are fixed. */
  readonly values?: readonly string[];
  /** The value is the path of a file, relative to the file of the step; editors complete it. */
  readonly namesFile?: "any" | "yaml";
  /** What reports hide of it. */
  readonly hide?: HideSecrets;
  /**
   * What else there is to say about it if it is a key of the file format.
   *
   * @internal
   */
  readonly key?: KeyForm;
}

/** What a rule says about a key of the file format, besides what it says about a parameter. */
export interface KeyForm {
  /** What its text or its parts are, where its type does not say that. */
  readonly kind?: KeyKind;
  /** The names that expressions in it see, which depend on when it is evaluated. */
  readonly names?: NameRule;
  /** Its expressions must be true, or the step or the job fails. */
  readonly mustHold?: true;
  /** An expression that is no condition: its value may be nil. */
  readonly mayBeNil?: true;
  /** Only some attempts, entries or passes evaluate it. */
  readonly isOccasional?: true;
  /** The pattern of a text, and what it requires, for messages. */
  readonly pattern?: RegExp;
  readonly requirement?: string;
  /** The rule of the items of a list. */
  readonly item?: Omit<Parameter, "name" | "required">;
  /** What messages call a map: `a step`. */
  readonly what?: string;
  /** The title of the table of its keys in the reference. */
  readonly title?: string;
  /** A hint for a map without it, where it is required. */
  readonly whenMissing?: (map: Dict) => string | undefined;
}

/** The kinds of keys that have templates, expressions, or parts of several types. */
export type KeyKind =
  | "template"
  | "expression"
  | "assertions"
  | "names"
  | "data"
  | "iteration"
  | "rows"
  | "snapshot"
  | "matrix"
  | "types"
  | "outputs";

/** Names of parameters that exclude each other; where one is required, a step gives exactly one. */
export interface Alternatives {
  /** The names of the parameters. */
  readonly names: readonly string[];
  /** Whether a step must give one of them. */
  readonly required?: true;
  /** Whether several of them may be given together. */
  readonly mayCombine?: true;
  /** What to write, if none or too many are given. */
  readonly hint?: string;
}

/** The types of parameters. */
export type ParameterType =
  | "string"
  | "number"
  | "integer"
  | "boolean"
  | "duration"
  | "map"
  | "list"
  | "any";

/** A mistake in `with`; `path` leads from `with` to the value, `at` names the part to mark. */
export interface ParameterProblem {
  /** The keys and indices to the value. */
  readonly path: readonly (string | number)[];
  /** The part to mark; by default the value. */
  readonly at?: "key" | "value";
  /** What is wrong. */
  readonly message: string;
  /** What to write instead. */
  readonly hint?: string;
}

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

/** A value as text: text as it is, everything else as JSON. */
export function textOf(value: Value): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
