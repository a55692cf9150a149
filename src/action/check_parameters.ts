import { isTemplate } from "../expr/plain_template.ts";
import { didYouMean } from "../source/suggest.ts";
import { describeValue } from "../value/describe_value.ts";
import type { Action, Dict, Parameter, ParameterProblem, Value } from "./action.ts";
import { convertParameter, typeWords } from "./parameter_types.ts";

/**
 * Every mistake in the parameters of an action that can be seen before the run.
 *
 * `params` is `with` after the defaults were merged; a text with a template in it is anything
 * until it is rendered, so it fits every type.
 */
export function checkParameters(action: Action, params: Dict): ParameterProblem[] {
  return [...checkTable(action, params), ...action.check?.(params) ?? []];
}

function checkTable(
  { name, parameters, misplaced = {} }: Action,
  params: Dict,
): ParameterProblem[] {
  if (!parameters) return [];
  const problems: ParameterProblem[] = [];
  const names = parameters.map((parameter) => parameter.name);
  for (const key of Object.keys(params)) {
    if (names.includes(key)) continue;
    const message = `"${key}" is no parameter of ${name}`;
    const hint = (Object.hasOwn(misplaced, key) ? misplaced[key] : didYouMean(key, names)) ??
      `${name} takes ${names.join(", ")}`;
    problems.push({ path: [key], at: "key", message, hint });
  }
  for (const parameter of parameters) {
    const value = Object.hasOwn(params, parameter.name) ? params[parameter.name] : undefined;
    problems.push(...checkValue(name, parameter, value));
  }
  return problems;
}

function checkValue(
  action: string,
  parameter: Parameter,
  value: Value | undefined,
): ParameterProblem[] {
  const { name, type, required } = parameter;
  if (value === undefined || value === null) {
    if (!required) return [];
    const message = `${action} needs "${name}"`;
    return [{ path: value === null ? [name] : [], message, hint: parameter.summary }];
  }
  const types = typeof type === "string" ? [type] : type;
  if (isTemplate(value) || types.some((one) => convertParameter(one, value) !== undefined)) {
    return [];
  }
  const message = `"${name}" must be ${typeWords(types)}, not ${describeValue(value)}`;
  return [{ path: [name], message }];
}
