import type { DataTemplate } from "../../expr/expression.ts";
import { isRawMap } from "./decode_value.ts";
import type { Step } from "../model.ts";

/** The names of the vars that a step has of its own, by `vars` or in an entry of its list. */
export function ownVars(step: Pick<Step, "vars" | "iteration">): ReadonlySet<string> {
  return new Set([...step.vars ? [step.vars] : [], ...listedEntries(step)].flatMap(keysOf));
}

/** The entries that a step has in its file. */
export function listedEntries({ iteration }: Pick<Step, "iteration">): readonly DataTemplate[] {
  return iteration?.kind === "list" ? iteration.entries : [];
}

/** Whether the vars of the entries of a step are known only when it runs. */
export function hasOpenEntries({ iteration }: Pick<Step, "iteration">): boolean {
  return iteration?.kind === "template" || iteration?.kind === "file" ||
    iteration?.kind === "list" && iteration.entries.some(({ kind }) => kind === "template");
}

/** The keys of data, as far as they are known. */
export function keysOf(data: DataTemplate): readonly string[] {
  if (data.kind === "map") return data.entries.map(([key]) => key);
  return data.kind === "constant" && isRawMap(data.value) ? Object.keys(data.value) : [];
}
