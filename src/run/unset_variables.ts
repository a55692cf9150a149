import type { Plan } from "../plan/plan.ts";
import { fieldOf, keysOf } from "./read_path.ts";

/** A value of workflow `vars` that is one variable of the environment, as it is. */
const VARIABLE = /^\s*\{\{\s*(\w+)\s*\}\}\s*$/;

/** Says of a read of `vars` that came out nil which variable of the environment is not set. */
export function unsetVariableHint({ workflow, vars }: Plan, read: string): string | undefined {
  if (!/^vars\b/.test(read)) return undefined;
  let written = fieldOf(workflow.document.value, "vars");
  let value: unknown = vars;
  for (const { key, end } of keysOf(read, "vars".length)) {
    [written, value] = [fieldOf(written, key), fieldOf(value, key)];
    const [, variable] = typeof written === "string" ? VARIABLE.exec(written) ?? [] : [];
    if (variable === undefined || value !== null) continue;
    return `${read.slice(0, end)} is the variable ${variable}, which is not set`;
  }
  return undefined;
}
