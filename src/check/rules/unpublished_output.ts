import { type Check, hintGiver, keyProblem, severityOfNil } from "../check.ts";
import { isGuarded } from "../model/make_readings.ts";
import type { CheckedStep } from "../model/check_model.ts";
import { findOutputSource } from "../model/output_sources.ts";

/** Outputs that are read and that no step publishes. */
export const unpublishedOutput: Check = {
  codes: [
    {
      code: "unpublished-output",
      severity: "error",
      summary: "Reads an output that no step publishes; a hint if the expression allows nil.",
    },
  ],
  *find(model) {
    const meant = hintGiver();
    const { stepsById, publishers } = model;
    const jobIds = new Set(model.jobs.map(({ draft }) => draft.id));
    const names = () => [...stepsById.keys(), ...publishers.keys()];
    for (const reading of model.readings) {
      if (reading.root !== "outputs") continue;
      const source = findOutputSource(model, reading);
      if (source.kind !== "nothing") continue;
      const { index, step } = source;
      const { name } = reading.keys[index]!;
      const guarded = isGuarded(reading, index);
      const message = step
        ? `the step "${step.draft.id}" publishes no "${name}"`
        : `no step publishes "${name}"`;
      const hint = step
        ? meant(name, () => [...step.published ?? []]) ?? hintAmong(step)
        : meant(name, names) ??
          (jobIds.has(name)
            ? `"${name}" is a job: outputs are read by the id of a step`
            : undefined);
      yield keyProblem(reading, index, {
        severity: guarded ? "hint" : severityOfNil(reading, index),
        code: "unpublished-output",
        message: guarded ? `${message}: this is always nil` : message,
        ...hint === undefined ? {} : { hint },
      });
    }
  },
};

function hintAmong({ published = new Set() }: CheckedStep): string {
  return published.size === 0
    ? "it has no outputs"
    : `it publishes ${[...published].slice(0, 5).join(", ")}`;
}
