import { countOf } from "../../base/text/count_of.ts";
import type { CallExpression } from "../parse/ast.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { FunctionRecord } from "../functions/function.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { hintForFunction, hintForMethod, hintForMisspeltFunction } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";

/** Errors of a call for any values: a method, an unknown function, a wrong argument count. */
export function callProblem({ callee, arguments: args, start, end }: CallExpression) {
  if (callee.type === "MemberExpression") {
    const { property } = callee;
    const hint = property.type === "Identifier" ? methodHint(property.name) : undefined;
    return new ExpressionError("values have no methods", property.start, end, hint);
  }
  if (callee.type !== "Identifier") return new ExpressionError("this cannot be called", start, end);
  const record = FUNCTIONS.get(callee.name);
  if (!record) {
    const message = `unknown function "${callee.name}"`;
    return new ExpressionError(message, callee.start, callee.end, functionHint(callee.name));
  }
  if (args.length >= record.minArguments && args.length <= record.maxArguments) return undefined;
  const message = `${record.name}() takes ${argumentCount(record)}, got ${args.length}`;
  return new ExpressionError(message, start, end, `write ${record.signature}`);
}

function argumentCount({ minArguments: min, maxArguments: max }: FunctionRecord): string {
  if (max === Infinity) return `at least ${countOf(min, "argument")}`;
  return min === max ? countOf(max, "argument") : `${min} to ${countOf(max, "argument")}`;
}

/** A hint for an unknown function: one of other tools, or a misspelt one. */
function functionHint(name: string): string | undefined {
  return hintForFunction(name) ?? didYouMean(name, FUNCTIONS.keys()) ??
    hintForMisspeltFunction(name);
}

function methodHint(name: string): string {
  if (OPERATORS.includes(name)) return `write value ${name} …`;
  const record = FUNCTIONS.get(name);
  if (record?.maxArguments === 0) return `write ${name}()`;
  if (record) return record.maxArguments === 1 ? `write ${name}(value)` : `write ${name}(value, …)`;
  return hintForMethod(name) ?? "write function(value)";
}

/** Operators that are methods in other languages. */
const OPERATORS = ["contains", "startsWith", "endsWith", "matches"];
