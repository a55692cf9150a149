import type { Check } from "../check.ts";
import type { CheckModel } from "../model/check_model.ts";
import { readsAll } from "../model/output_sources.ts";

/** Outputs that nothing reads. */
export const unusedOutput: Check = {
  codes: [
    { code: "unused-output", severity: "hint", summary: "An output is published, but never read." },
  ],
  *find(model) {
    // A step that embeds a job file sees all of its outputs.
    const uses = model.vars && findUses(model);
    if (!uses) return;
    for (const [id, steps] of model.stepsById) {
      if (uses.steps.has(id)) continue;
      for (const { draft, published } of steps) {
        for (const name of published ?? []) {
          if (uses.names.has(name) || uses.outputs.get(id)?.has(name)) continue;
          yield {
            severity: "hint",
            code: "unused-output",
            path: [...draft.path, "outputs", name],
            part: "key",
            message: `nothing reads the output "${name}"`,
          };
        }
      }
    }
  },
};

interface OutputUses {
  /** Ids of steps whose outputs are read as a whole. */
  readonly steps: ReadonlySet<string>;
  /** Names that are read of a step, by its id. */
  readonly outputs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names that are read flat, or that may be read where a text could not be. */
  readonly names: ReadonlySet<string>;
}

/** The outputs that are read; undefined if all may be. */
function findUses(model: CheckModel): OutputUses | undefined {
  const steps = new Set<string>();
  const outputs = new Map<string, Set<string>>();
  const names = new Set([...model.mentions, ...model.defaultWords]);
  for (const reading of model.readings) {
    const { root, keys: [first, second] } = reading;
    if (root !== "outputs") continue;
    if (!first) return undefined;
    const owners = model.stepsById.get(first.name);
    if (!owners) names.add(first.name);
    else if (!second || owners.some((step) => readsAll(step, reading))) steps.add(first.name);
    else if (outputs.has(first.name)) outputs.get(first.name)!.add(second.name);
    else outputs.set(first.name, new Set([second.name]));
  }
  return { steps, outputs, names };
}
