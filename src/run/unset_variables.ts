import type { Plan } from "../plan/plan.ts";
import { isDict } from "../value/value.ts";

/** `vars.token`, at the beginning of what an expression reads. */
const READ = /^vars\s*\??\.\s*(\w+)/;

/** A value of workflow `vars` that is one variable of the environment, as it is. */
const VARIABLE = /^\s*\{\{\s*(\w+)\s*\}\}\s*$/;

/** Says of a read of `vars` that came out nil which variable of the environment is not set. */
export function unsetVariableHint({ workflow, vars }: Plan, read: string): string | undefined {
  const [, name = ""] = READ.exec(read) ?? [];
  const { value: document } = workflow.document;
  const written = isDict(document) && isDict(document.vars) ? document.vars[name] : undefined;
  const [, variable] = typeof written === "string" ? VARIABLE.exec(written) ?? [] : [];
  if (variable === undefined || (vars[name] ?? null) !== null) return undefined;
  return `vars.${name} is the variable ${variable}, which is not set`;
}
