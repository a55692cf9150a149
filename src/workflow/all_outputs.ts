import type { Step } from "./model.ts";

/** In the outputs of a step with `iteration`: the list of the outputs of all its entries. */
export const ALL = "all";

/** Whether a step has that list. An output of its own that has the name goes first. */
export function hasAll({ iteration, outputs }: Pick<Step, "iteration" | "outputs">): boolean {
  return iteration !== undefined && outputs.length > 0 &&
    !outputs.some(({ name }) => name === ALL);
}
