import type { Plan } from "../plan/plan.ts";

/** A key that is read of a map: `.token`, `?.token`, `["token"]`. */
const KEY = /\s*\??(?:\.\s*(\w+)|\.?\[\s*["'`]([^"'`]+)["'`]\s*\])/y;

/** A value of workflow `vars` that is one variable of the environment, as it is. */
const VARIABLE = /^\s*\{\{\s*(\w+)\s*\}\}\s*$/;

/** Says of a read of `vars` that came out nil which variable of the environment is not set. */
export function unsetVariableHint({ workflow, vars }: Plan, read: string): string | undefined {
  if (!/^vars\b/.test(read)) return undefined;
  let written = fieldOf(workflow.document.value, "vars");
  let value: unknown = vars;
  KEY.lastIndex = "vars".length;
  for (let key = KEY.exec(read); key; key = KEY.exec(read)) {
    const name = key[1] ?? key[2]!;
    [written, value] = [fieldOf(written, name), fieldOf(value, name)];
    const [, variable] = typeof written === "string" ? VARIABLE.exec(written) ?? [] : [];
    if (variable === undefined || value !== null) continue;
    return `${read.slice(0, KEY.lastIndex)} is the variable ${variable}, which is not set`;
  }
  return undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
