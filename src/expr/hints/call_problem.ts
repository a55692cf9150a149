import type { CallExpression } from "../parse/ast.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { FunctionRecord } from "../functions/function.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { functionHint, methodHint } from "./known_slips.ts";

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
  if (args.length >= record.least && args.length <= record.most) return undefined;
  const message = `${record.name}() takes ${countOf(record)}, got ${args.length}`;
  return new ExpressionError(message, start, end, `write ${record.signature}`);
}

function countOf({ least, most }: FunctionRecord): string {
  if (most === Infinity) return `at least ${plural(least)}`;
  return least === most ? plural(most) : `${least} to ${plural(most)}`;
}

function plural(count: number): string {
  return count === 1 ? "1 argument" : `${count} arguments`;
}
