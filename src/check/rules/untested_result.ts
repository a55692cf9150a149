import type { DataTemplate } from "../../expr/expression.ts";
import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import type { Check } from "../check.ts";
import type { CheckedStep, CheckModel } from "../model/check_model.ts";

/** Steps that pass with any result of their action. */
export const untestedResult: Check = {
  codes: [
    {
      code: "untested-result",
      severity: "hint",
      summary: "A step passes whatever its result is; an error with --strict.",
    },
  ],
  *find(model) {
    const judged = findJudged(model);
    for (const step of model.jobs.flatMap(({ steps }) => steps)) {
      const { action, path, retry, id } = step.draft;
      if (!action || action.neverFails || action.embeds || step.isDoubtful) continue;
      // A retry without a test judges its attempts by the success of the action.
      if (step.raw.test !== undefined || step.raw.snapshot || retry) continue;
      if (action.expectsResult?.(draftOf(step.draft.with) as Dict)) continue;
      if (id !== undefined && judged.has(id) || runsOn(step)) continue;
      yield {
        severity: "hint",
        code: "untested-result",
        path: [...path, "uses"],
        message: "nothing tests the result of this step",
        hint: `add a test, like test: ${action.exampleTest ?? "status == 0"}`,
      };
    }
  },
};

/** Ids of steps whose outputs decide something in a test or a skipif. */
function findJudged({ readings, stepsById, publishers }: CheckModel): ReadonlySet<string> {
  const judged = new Set<string>();
  for (const { root, keys: [first], field } of readings) {
    if (root !== "outputs" || !first || field !== "test" && field !== "skipif") continue;
    const steps = stepsById.get(first.name) ?? publishers.get(first.name) ?? [];
    for (const { draft: { id } } of steps) if (id !== undefined) judged.add(id);
  }
  return judged;
}

/** Whether it keeps running, without a result yet. */
function runsOn({ draft }: CheckedStep): boolean {
  return ["background", "detach"].some((name) => {
    const value = fieldOf(draft.with, name);
    return value !== undefined && value !== false && value !== "false";
  });
}

/** Data with a text in place of each template. */
function draftOf(data: DataTemplate): Value {
  switch (data.kind) {
    case "constant":
      return data.value as Value;
    case "template":
      return "";
    case "list":
      return data.items.map(draftOf);
    case "map":
      return Object.fromEntries(data.entries.map(([name, value]) => [name, draftOf(value)]));
  }
}

function fieldOf(data: DataTemplate, key: string): unknown {
  if (data.kind === "map") {
    const field = data.entries.find(([name]) => name === key)?.[1];
    return field?.kind === "constant" ? field.value : field;
  }
  return data.kind === "constant" && isDict(data.value) ? data.value[key] : undefined;
}
