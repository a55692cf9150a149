import { didYouMean } from "../source/suggest.ts";
import type { Check } from "./check.ts";
import { isGuarded } from "./make_readings.ts";
import type { CheckedStep, CheckModel } from "./model.ts";
import { keyProblem, severityOfNil } from "./key_problem.ts";
import { findOutputSource } from "./output_sources.ts";

/** Outputs that are read and that no step publishes. */
export const unpublishedOutput: Check = {
  codes: [
    {
      code: "unpublished-output",
      severity: "error",
      summary: "An output is read that no step publishes; a hint where it may be nil.",
    },
  ],
  *find(model) {
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
      const hint = step ? hintAmong(name, step) : hintInAll(name, model);
      yield keyProblem(reading, index, {
        severity: guarded ? "hint" : severityOfNil(reading, index),
        code: "unpublished-output",
        message: guarded ? `${message}: this is always nil` : message,
        ...hint === undefined ? {} : { hint },
      });
    }
  },
};

function hintAmong(name: string, { published = new Set() }: CheckedStep): string {
  if (published.size === 0) return "it has no outputs";
  return didYouMean(name, published) ?? `it publishes ${[...published].slice(0, 5).join(", ")}`;
}

/** Looking for what was meant takes as long as there are names; beyond these it is not worth it. */
const MOST_NAMES = 2000;

function hintInAll(name: string, { stepsById, publishers, jobs }: CheckModel): string | undefined {
  const names = [...stepsById.keys(), ...publishers.keys()].slice(0, MOST_NAMES);
  const meant = didYouMean(name, names);
  if (meant !== undefined) return meant;
  const isJob = jobs.some(({ draft }) => draft.id === name);
  return isJob ? `"${name}" is a job: outputs are read by the id of a step` : undefined;
}
