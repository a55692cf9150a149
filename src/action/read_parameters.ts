import { StepError } from "../base/errors.ts";
import { describeValue } from "../base/value/value.ts";
import type { Dict, ParameterType, Value } from "./action.ts";
import { type Converted, convertParameter, typeText } from "./parameters.ts";

/**
 * Reads the parameters of an action by type, once their templates are rendered.
 *
 * A parameter that is left out or null is undefined. One that does not fit its type ends the
 * step with a `StepError` that names the action, the parameter and its value.
 */
export interface ParameterReader {
  /** Text; numbers and booleans are written as text. */
  string(name: string): string | undefined;
  number(name: string): number | undefined;
  integer(name: string): number | undefined;
  /** A boolean, or the text `true` or `false`. */
  boolean(name: string): boolean | undefined;
  /** Milliseconds. */
  duration(name: string): number | undefined;
  map(name: string): Dict | undefined;
  list(name: string): readonly Value[] | undefined;
  any(name: string): Value | undefined;
}

/** A reader for the rendered parameters of the action of that name. */
export function readParameters(action: string, params: Dict): ParameterReader {
  const read = <T extends ParameterType>(type: T) => (name: string): Converted[T] | undefined => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (value === undefined || value === null) return undefined;
    const converted = convertParameter(type, value);
    if (converted !== undefined) return converted;
    const message = `"${name}" must be ${typeText([type])}, not ${describeValue(value)}`;
    throw new StepError(`cannot run ${action}: ${message}`, undefined, { parameter: name });
  };
  return {
    string: read("string"),
    number: read("number"),
    integer: read("integer"),
    boolean: read("boolean"),
    duration: read("duration"),
    map: read("map"),
    list: read("list"),
    any: read("any"),
  };
}

/** The error of a parameter that was given and is nil. */
export function nilError(action: string, name: string): StepError {
  const hint = "what its template reads is not there";
  return new StepError(`cannot run ${action}: "${name}" is nil`, hint, { parameter: name });
}

/**
 * The parameter's value, or a `StepError`. A missing parameter was reported when the workflow was
 * loaded, so that here its template came out nil.
 */
export function required<T>(action: string, name: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw nilError(action, name);
}
