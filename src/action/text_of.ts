import type { Value } from "./action.ts";

/** A value as text: text as it is, everything else as JSON. */
export function textOf(value: Value): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
