import { describeValue, isDict } from "../../value/value.ts";
import { PARAMETER_TYPES } from "../parameters.ts";

/** Why a value is not a record of an action of that name; undefined if it is one. */
export function actionProblem(value: unknown, name: string): string | undefined {
  if (!isRecord(value)) return `exports ${describe(value)} where an action should be`;
  if (value.name !== name) {
    const given = typeof value.name === "string" ? `"${value.name}"` : describe(value.name);
    return `must export an action with the name "${name}", not ${given}`;
  }
  if (typeof value.summary !== "string") {
    return `must say in one line what its action does, as "summary"`;
  }
  for (const key of ["load", "check", "merge"]) {
    const isThere = value[key] !== undefined;
    if (key === "load" && !isThere) return 'has no "load" that brings its code';
    if (isThere && typeof value[key] !== "function") {
      return `must have a function as "${key}", not ${describe(value[key])}`;
    }
  }
  return parametersProblem(value.parameters) ?? alternativesProblem(value.alternatives);
}

function parametersProblem(parameters: unknown): string | undefined {
  if (parameters === undefined) return undefined;
  if (!Array.isArray(parameters)) {
    return `must have a list as "parameters", not ${describe(parameters)}`;
  }
  for (const [index, parameter] of parameters.entries()) {
    const which = `parameter ${index + 1}`;
    if (!isRecord(parameter) || typeof parameter.name !== "string") {
      return `must give ${which} a "name"`;
    }
    const { name, type, summary } = parameter;
    if (typeof summary !== "string") return `must give its parameter "${name}" a "summary"`;
    const types = Array.isArray(type) ? type : [type];
    if (types.length === 0 || !types.every((one) => PARAMETER_TYPES.includes(one))) {
      return `must give its parameter "${name}" a "type" of ${PARAMETER_TYPES.join(", ")}`;
    }
  }
  return undefined;
}

function alternativesProblem(alternatives: unknown): string | undefined {
  if (alternatives === undefined) return undefined;
  const isGood = Array.isArray(alternatives) &&
    alternatives.every((one) =>
      isRecord(one) && Array.isArray(one.names) &&
      one.names.every((name) => typeof name === "string")
    );
  return isGood ? undefined : 'must have a list of { names } as "alternatives"';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isDict(value);
}

function describe(value: unknown): string {
  return typeof value === "function" ? "a function" : describeValue(value ?? null);
}
