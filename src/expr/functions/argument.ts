import { isDict, isNumber, typeName, type Value } from "../../base/value/value.ts";
import { kindOf } from "../fault.ts";
import type { FunctionParameterType, FunctionRecord } from "./function.ts";

/** The problem of the type of an argument; undefined if there is none. */
export function argumentProblem(
  { name, parameters }: FunctionRecord,
  position: number,
  value: Value,
): string | undefined {
  const parameter = parameters[Math.min(position, parameters.length - 1)];
  if (!parameter || isOfType(value, parameter.type)) return undefined;
  const wanted = parameter.type.startsWith("int") ? "a whole number" : `a ${parameter.type}`;
  return `argument ${position + 1} of ${name}() must be ${wanted}, got ${kindOf(value)}`;
}

function isOfType(value: Value, type: FunctionParameterType): boolean {
  switch (type) {
    case "any":
    case "predicate":
      return true;
    case "string":
      return typeof value === "string";
    case "number":
      return isNumber(value);
    case "integer":
      return Number.isInteger(value);
    case "int64":
      return typeName(value) === "int";
    case "list":
      return Array.isArray(value);
    case "map":
      return isDict(value);
  }
}
