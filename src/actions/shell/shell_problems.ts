import { isTemplate } from "../../expr/template/template_data.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, ParameterProblem, Value } from "../../action/action.ts";
import { type Converted, convertParameter } from "../../action/parameters.ts";

/** More cannot be kept as one text. */
const LARGEST_OUTPUT = 256 * 1024 * 1024;

/** Problems of the parameters of a command beyond their types. */
export function shellProblems(params: Dict): ParameterProblem[] {
  return [
    ...judge(params, "cmd", "string", (cmd) => blank(cmd) ?? holdsNul(cmd)),
    ...judge(params, "shell", "string", (shell) => blank(shell) ?? holdsNul(shell)),
    ...judge(params, "workdir", "string", (workdir) => blank(workdir) ?? holdsNul(workdir)),
    ...judge(params, "max_output", "integer", (bytes) => {
      return bytes >= 0 && bytes <= LARGEST_OUTPUT
        ? undefined
        : `must be from 0 to ${LARGEST_OUTPUT} bytes`;
    }),
    ...judgeEnvironment(params.env),
    ...judgeDetached(params),
  ];
}

/** What depends on somebody who waits for the command. */
const ATTACHED = ["background", "stdin", "timeout", "max_output"];

function judgeDetached(params: Dict): ParameterProblem[] {
  if (!isOn(params.detach)) return [];
  const given = ATTACHED.filter((name) => ![undefined, null, false].includes(params[name] as null));
  return given.map((name) => ({
    path: [name],
    at: "key",
    message: `"detach" and "${name}" cannot be combined: nothing waits for a detached command`,
  }));
}

function isOn(value: Value | undefined): boolean {
  return value !== undefined && !isTemplate(value) && convertParameter("boolean", value) === true;
}

/** Judges a value that fits its type; one that does not is reported by its type. */
function judge<T extends "string" | "integer">(
  params: Dict,
  name: string,
  type: T,
  problem: (value: Converted[T]) => string | undefined,
): ParameterProblem[] {
  const value = params[name];
  if (value === undefined || value === null || isTemplate(value)) return [];
  const converted = convertParameter(type, value);
  const words = converted === undefined ? undefined : problem(converted);
  return words === undefined ? [] : [{ path: [name], message: `"${name}" ${words}` }];
}

function judgeEnvironment(env: Value | undefined): ParameterProblem[] {
  if (!isDict(env)) return [];
  return Object.entries(env).flatMap(([name, value]): ParameterProblem[] => {
    const shown = JSON.stringify(name);
    if (name === "" || /[=\0]/.test(name)) {
      const message = `"env" cannot hold ${shown}: no variable can have that name`;
      return [{ path: ["env", name], at: "key", message }];
    }
    if (typeof value !== "string" || !value.includes("\0")) return [];
    return [{ path: ["env", name], message: `"env" cannot hold ${shown}: its value has a NUL` }];
  });
}

function blank(text: string): string | undefined {
  return text.trim() === "" ? "must not be empty" : undefined;
}

function holdsNul(text: string): string | undefined {
  return text.includes("\0") ? "must not hold a NUL character" : undefined;
}
