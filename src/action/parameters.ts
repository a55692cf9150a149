import { isTemplate } from "../expr/template/template_data.ts";
import { hintForParameter } from "../base/other_tools.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { DURATION_FORMS, parseDuration } from "../base/value/duration.ts";
import { describeValue, isDict } from "../base/value/value.ts";
import type { Action, Dict, Parameter, ParameterProblem, ParameterType, Value } from "./action.ts";

/**
 * Every mistake in the parameters of an action that can be seen before the run.
 *
 * `params` is `with` after the defaults were merged; a text with a template in it is anything
 * until it is rendered, so it fits every type.
 */
export function checkParameters(action: Action, params: Dict): ParameterProblem[] {
  if (action.problems) return [...action.problems(params)];
  return [...checkTable(action, params), ...action.check?.(params) ?? []];
}

/** Keys of a step that are often written under its `with`. */
const STEP_KEYS: ReadonlySet<string> = new Set([
  ...["test", "outputs", "retry", "wait", "skipif", "iteration", "echo", "id"],
]);

function checkTable(
  { name, parameters }: Action,
  params: Dict,
): ParameterProblem[] {
  if (!parameters) return [];
  const problems: ParameterProblem[] = [];
  const names = parameters.map((parameter) => parameter.name);
  for (const key of Object.keys(params)) {
    if (names.includes(key)) continue;
    const message = `unknown parameter "${key}" of ${name}`;
    const hint = hintForKey(names, key) ?? `${name} takes ${names.join(", ")}`;
    problems.push({ path: [key], at: "key", message, hint });
  }
  return [...problems, ...parameters.flatMap((one) => checkParameter(name, one, params))];
}

/** What to write in place of an unknown parameter. */
export function hintForKey(names: readonly string[], key: string): string | undefined {
  return hintForParameter(names, key) ??
    (STEP_KEYS.has(key) ? `"${key}" is a key of the step, beside "uses"` : didYouMean(key, names));
}

function checkParameter(action: string, parameter: Parameter, params: Dict): ParameterProblem[] {
  const { name } = parameter;
  const value = valueOf(params, name);
  if (value !== undefined) return checkValue(parameter, value, [name]);
  if (!parameter.required) return [];
  const message = `${action} needs "${name}"`;
  return [{ path: Object.hasOwn(params, name) ? [name] : [], message, hint: parameter.summary }];
}

/** Whether a parameter is given, and not null. */
export function isGiven(params: Dict, name: string): boolean {
  return valueOf(params, name) !== undefined;
}

/** The value of a parameter; null counts as not given. */
function valueOf(params: Dict, name: string): Value | undefined {
  return (Object.hasOwn(params, name) ? params[name] : undefined) ?? undefined;
}

/** Problems of a value for a parameter, including the fields of a map. */
export function checkValue(
  parameter: Parameter,
  value: Value,
  path: readonly (string | number)[],
): ParameterProblem[] {
  if (isTemplate(value)) return [];
  const { type, fields, oneField, items, values, expression } = parameter;
  const types = typeof type === "string" ? [type] : type;
  const what = `"${nameOf(path)}"`;
  if (!types.some((one) => convertParameter(one, value) !== undefined)) {
    return [{ path, message: `${what} must be ${typeText(types)}, not ${describeValue(value)}` }];
  }
  if (expression && String(value).trim() === "") {
    return [{ path, message: `${what} is empty`, hint: "write an expression, or leave it out" }];
  }
  if (values && typeof value !== "object" && !values.includes(String(value))) {
    const hint = didYouMean(String(value), values) ?? `${what} is one of ${values.join(", ")}`;
    return [{ path, message: `invalid value "${value}" for ${what}`, hint }];
  }
  if (items && Array.isArray(value)) {
    const item: Parameter = { name: parameter.name, type: "map", summary: "", fields: items };
    return value.flatMap((one, index) => checkValue(item, one, [...path, index]));
  }
  return fields && isDict(value) ? checkFields(fields, oneField === true, value, path) : [];
}

/** A path as messages name it: `actions[2].selector`. */
function nameOf(path: readonly (string | number)[]): string {
  return path.map((part, index) =>
    typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`
  ).join("");
}

function checkFields(
  fields: readonly Parameter[],
  oneField: boolean,
  map: Dict,
  path: readonly (string | number)[],
): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const what = `"${nameOf(path)}"`;
  const names = fields.map(({ name }) => name);
  for (const key of Object.keys(map)) {
    if (names.includes(key)) continue;
    const message = `unknown key "${key}" in ${what}`;
    const hint = didYouMean(key, names) ?? `${what} takes ${names.join(", ")}`;
    problems.push({ path: [...path, key], at: "key", message, hint });
  }
  const present = names.filter((name) => isGiven(map, name));
  if (oneField && present.length !== 1 && problems.length === 0) {
    const message = present.length === 0
      ? `${what} has none of its keys`
      : `${what} has ${present.map((name) => `"${name}"`).join(" and ")}, which cannot be combined`;
    const hint = present.length === 0 ? `give one of ${names.join(", ")}` : "keep one of them";
    problems.push({ path, message, hint });
  }
  for (const field of fields) {
    const value = valueOf(map, field.name);
    if (value !== undefined) {
      problems.push(...checkValue(field, value, [...path, field.name]));
    } else if (field.required) {
      const message = `${what} needs "${field.name}"`;
      problems.push({ path, message, hint: field.summary });
    }
  }
  return problems;
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
