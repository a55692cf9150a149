import { isRawMap } from "../../workflow/decode/decode_value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { type Check, hintGiver, keyProblem, severityOfNil, UNSET } from "../check.ts";
import { isGuarded } from "../model/make_readings.ts";
import { findKnownVar } from "../model/known_vars.ts";
import type { CheckModel, Reading } from "../model/check_model.ts";

const SUGGESTION = 'or write ?? "…" where it may be missing';

/** Vars that are read and that nothing defines. */
export const undefinedVar: Check = {
  codes: [
    {
      code: "undefined-var",
      severity: "error",
      summary: "Reads a var that neither the workflow nor the step defines.",
    },
    {
      code: "undefined-key",
      severity: "warning",
      summary: "Reads a key of a var that its value does not have.",
    },
    {
      code: UNSET,
      severity: "error",
      summary:
        "A var that must not be nil is an environment variable that is not set; only found " +
        "before a run.",
    },
  ],
  *find(model) {
    const { document: { value }, context: { unset = new Map() } } = model;
    const isUnread = isRawMap(value) && !isRawMap(value.vars ?? {});
    if (!model.vars || isUnread) return;
    const vars = without(model.vars, unset);
    const meant = hintGiver();
    const namesInSteps = findNamesInSteps(model);
    for (const reading of model.readings) {
      if (reading.root !== "vars" || isInDoubt(model, reading)) continue;
      const source = findKnownVar(vars, reading);
      if (source.kind === "there") continue;
      const { index } = source;
      if (isGuarded(reading, index)) continue;
      const { name } = reading.keys[index]!;
      const variable = index === 0 ? unset.get(name) : undefined;
      if (variable !== undefined) {
        if (severityOfNil(reading, 0) !== "error") continue;
        const message = `${variable} is not set (vars.${name})`;
        yield { severity: "error", code: UNSET, path: ["vars", name], message };
      } else if (source.kind === "nothing" && index === 0) {
        yield keyProblem(reading, index, {
          severity: severityOfNil(reading, index),
          code: "undefined-var",
          message: `undefined variable "${name}"`,
          hint: meant(name, source.among) ?? (namesInSteps.has(name) ? ELSEWHERE : undefined) ??
            `add it to the vars of the workflow, ${SUGGESTION}`,
        });
      } else {
        const owner = ["vars", ...reading.keys.slice(0, index).map((key) => key.name)].join(".");
        const among = source.kind === "nothing" ? source.among : undefined;
        yield keyProblem(reading, index, {
          severity: "warning",
          code: "undefined-key",
          message: among
            ? `${owner} has no "${name}"`
            : `${owner} is not a map and has no "${name}"`,
          ...among ? { hint: meant(name, among) ?? hintAmong(among()) } : {},
        });
      }
    }
  },
};

function without(data: DataTemplate, names: ReadonlyMap<string, unknown>): DataTemplate {
  if (data.kind !== "map" || names.size === 0) return data;
  return { ...data, entries: data.entries.filter(([name]) => !names.has(name)) };
}

/** Whether the step may define more than it seems to. */
function isInDoubt({ mentions, context }: CheckModel, { step, keys }: Reading): boolean {
  const [first] = keys;
  if (!first || mentions.has(first.name) || context.vars?.has(first.name)) return true;
  if (!step) return false;
  const { raw, draft } = step;
  const isUnread = (key: "vars" | "iteration") => raw[key] !== undefined && !draft[key];
  return isUnread("vars") || isUnread("iteration");
}

const ELSEWHERE = "it is a var of another step, which only that step sees";

/** The vars that steps have of their own. */
function findNamesInSteps({ jobs }: CheckModel): ReadonlySet<string> {
  const steps = jobs.flatMap((job) => job.steps);
  return new Set(steps.flatMap(({ raw: { vars } }) => isRawMap(vars) ? Object.keys(vars) : []));
}

function hintAmong(names: readonly string[]): string {
  return names.length === 0 ? "it is empty" : `there is ${names.slice(0, 5).join(", ")}`;
}
