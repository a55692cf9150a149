import type { Plan } from "../../plan/plan.ts";
import type { Path } from "../../source/source.ts";
import { ownVars } from "../../workflow/decode/own_vars.ts";
import { fieldOf, keysOf } from "./read_path.ts";

/** A value of workflow `vars` that is one variable of the environment, as it is. */
const VARIABLE = /^\s*\{\{\s*(\w+)\s*\}\}\s*$/;

/**
 * Says of a read of `vars` that came out nil which variable of the environment is not set. The
 * path is that of the reader, whose own vars come first.
 */
export function unsetVariableHint(
  { workflow, vars }: Plan,
  path: Path,
  read: string,
): string | undefined {
  if (!/^vars\b/.test(read)) return undefined;
  const [, job, , index, field] = path;
  const step = workflow.jobs[Number(job)]?.steps[Number(index)];
  // The vars of a step see those of the workflow alone.
  const own = step && field !== "vars" ? ownVars(step) : undefined;
  let written = fieldOf(workflow.document.value, "vars");
  let value: unknown = vars;
  for (const { key, start, end } of keysOf(read, "vars".length)) {
    if (start === "vars".length && own?.has(key)) return undefined;
    [written, value] = [fieldOf(written, key), fieldOf(value, key)];
    const [, variable] = typeof written === "string" ? VARIABLE.exec(written) ?? [] : [];
    if (variable === undefined || value !== null) continue;
    return `${read.slice(0, end)} is the variable ${variable}, which is not set`;
  }
  return undefined;
}
