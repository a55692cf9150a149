import { isRawMap } from "../../workflow/decode/decode_value.ts";
import type { Problem } from "../../workflow/problem.ts";
import type { Path } from "../../base/source.ts";
import type { Check } from "../check.ts";
import type { CheckModel, Reading } from "../model/check_model.ts";

/** Vars that nothing reads. */
export const unusedVar: Check = {
  codes: [
    { code: "unused-var", severity: "hint", summary: "A var is defined, but never read." },
  ],
  *find(model) {
    const readings = model.readings.filter(({ root }) => root === "vars");
    yield* unusedInWorkflow(model, readings);
    yield* unusedInSteps(model, readings);
  },
};

function* unusedInWorkflow(model: CheckModel, readings: readonly Reading[]): Iterable<Problem> {
  const { files, value } = model.document;
  const vars = isRawMap(value) ? value.vars : undefined;
  // A file that others are read together with may have vars for all of them.
  if (!model.vars || !isRawMap(vars) || files.length > 1) return;
  const names = namesRead(readings);
  for (const name of Object.keys(vars)) {
    if (isUnused(name, names, model)) yield unused(name, ["vars", name]);
  }
}

function* unusedInSteps(model: CheckModel, readings: readonly Reading[]): Iterable<Problem> {
  const byStep = Map.groupBy(readings, ({ step }) => step);
  for (const step of model.jobs.flatMap(({ steps }) => steps)) {
    const { vars } = step.raw;
    if (!isRawMap(vars)) continue;
    // The vars of a step see those of the workflow, and not each other.
    const seeing = (byStep.get(step) ?? []).filter(({ field }) => field !== "vars");
    const names = namesRead(seeing);
    for (const name of Object.keys(vars)) {
      if (isUnused(name, names, model)) yield unused(name, [...step.draft.path, "vars", name]);
    }
  }
}

/** The vars that are read; undefined where all may be. */
function namesRead(readings: readonly Reading[]): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  for (const { keys: [first] } of readings) {
    if (!first) return undefined;
    names.add(first.name);
  }
  return names;
}

function isUnused(
  name: string,
  names: ReadonlySet<string> | undefined,
  { mentions, defaultWords }: CheckModel,
): boolean {
  return names !== undefined && !names.has(name) && !mentions.has(name) && !defaultWords.has(name);
}

function unused(name: string, path: Path): Problem {
  const message = `nothing reads the var "${name}"`;
  return { severity: "hint", code: "unused-var", path, part: "key", message };
}
