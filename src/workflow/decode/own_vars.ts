import type { DataTemplate } from "../../expr/expression.ts";
import { isRawMap } from "./decode_value.ts";
import type { Step } from "../model.ts";

/** The names of the vars that a step has of its own, by `vars` or in an entry of `iteration`. */
export function ownVars(
  { vars, iteration = [] }: Pick<Step, "vars" | "iteration">,
): ReadonlySet<string> {
  return new Set([...vars ? [vars] : [], ...iteration].flatMap(keysOf));
}

function keysOf(data: DataTemplate): readonly string[] {
  if (data.kind === "map") return data.entries.map(([key]) => key);
  return data.kind === "constant" && isRawMap(data.value) ? Object.keys(data.value) : [];
}
