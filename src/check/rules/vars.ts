import type { DataTemplate } from "../../expr/expression.ts";
import { assertNever } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { isDict } from "../../base/value/value.ts";
import { hasOpenEntries, keysOf, listedEntries } from "../../workflow/step_facts.ts";
import { fieldsOf } from "../../expr/template.ts";
import type { Problem } from "../../workflow/problem.ts";
import { type Check, type CheckModel, type Reading, UNSET } from "../model.ts";
import { isGuarded, isInEntries, isOptional, keyProblem, severityOfNil } from "../readings.ts";

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
      severity: "error",
      summary: "Reads a key of a var that its value does not have.",
    },
    {
      code: UNSET,
      severity: "error",
      summary:
        "A var that must not be nil has no value, or is an environment variable that is not " +
        "set; only found before a run.",
    },
  ],
  *find(model) {
    const { document: { value }, context: { unset = new Map() } } = model;
    const isUnread = isDict(value) && !isDict(value.vars ?? {});
    if (!model.vars || isUnread) return;
    const vars = without(model.vars, unset);
    for (const reading of model.readings) {
      if (reading.root !== "vars" || isInDoubt(model, reading)) continue;
      const missing = findMissingKey(vars, reading);
      if (!missing || isOptional(reading, missing.index)) continue;
      const { index, among } = missing;
      const { name } = reading.keys[index]!;
      const path = reading.keys.slice(0, index + 1).map((key) => key.name);
      const variable = unset.get(path.join("."));
      if (variable !== undefined) {
        if (severityOfNil(reading, index) !== "error") continue;
        const message = `${variable} is not set (vars.${path.join(".")})`;
        yield { severity: "error", code: UNSET, path: ["vars", ...path], message };
      } else if (among && index === 0) {
        yield keyProblem(reading, index, {
          severity: "error",
          code: "undefined-var",
          message: `undefined variable "${name}"`,
          hint: didYouMean(name, among) ??
            (isVarOfStep(name, model)
              ? "it is a var of another step, which only that step sees"
              : 'add it to the vars of the workflow, or write ?? "…" where it may be missing'),
        });
      } else {
        const owner = ["vars", ...reading.keys.slice(0, index).map((key) => key.name)].join(".");
        yield keyProblem(reading, index, {
          severity: "error",
          code: "undefined-key",
          message: among
            ? `${owner} has no "${name}"`
            : `${owner} is not a map and has no "${name}"`,
          hint: among && (didYouMean(name, among) ??
            (among.length === 0 ? "it is empty" : `there is ${among.slice(0, 5).join(", ")}`)),
        });
      }
    }
  },
};

function without(
  data: DataTemplate,
  paths: ReadonlyMap<string, unknown>,
  above = "",
): DataTemplate {
  const fields = paths.size === 0 ? undefined : fieldsOf(data);
  if (!fields?.size) return data;
  const entries = [...fields].filter(([name]) => !paths.has(above + name))
    .map(([name, part]) => [name, without(part, paths, `${above}${name}.`)] as const);
  return { kind: "map", entries };
}

/** Whether the step may define more than it seems to. */
function isInDoubt({ definitions, context }: CheckModel, { step, keys }: Reading): boolean {
  const [first] = keys;
  if (!first || definitions.has(first.name) || context.vars?.has(first.name)) return true;
  if (!step) return false;
  const { raw, draft } = step;
  const isUnread = (key: "vars" | "iteration") => raw[key] !== undefined && !draft[key];
  return isUnread("vars") || isUnread("iteration");
}

function isVarOfStep(name: string, { steps }: CheckModel): boolean {
  return steps.some(({ raw: { vars } }) => isDict(vars) && Object.hasOwn(vars, name));
}

interface MissingKey {
  readonly index: number;
  /** The keys that are there; undefined where the value is not a map. */
  readonly among?: readonly string[];
}

/**
 * Looks a reading up in the vars of the workflow, those of the step, and the entries of it;
 * undefined if the value is there, or may be.
 */
function findMissingKey(vars: DataTemplate, reading: Reading): MissingKey | undefined {
  const { step, job, key, keys } = reading;
  // Each of these sees what was merged before it.
  const layers = step?.draft.vars && key !== "vars" ? [vars, step.draft.vars] : [vars];
  const seesEntry = step !== undefined && !isInEntries(reading);
  if (seesEntry && hasOpenEntries(step.draft)) return undefined;
  // Rows of data may have any column.
  if (step && job?.draft.load?.data) return undefined;
  const entries = seesEntry ? listedEntries(step.draft) : [];
  if (entries.length === 0) return findMissing(layers, keys);
  const missing = entries.map((entry) => findMissing([...layers, entry], keys));
  return missing.includes(undefined) ? undefined : missing[0];
}

/** Looks up keys in layered maps; later maps take precedence. */
function findMissing(
  layers: readonly DataTemplate[],
  keys: Reading["keys"],
): MissingKey | undefined {
  let current = layers;
  for (const [index, { name }] of keys.entries()) {
    const maps: DataTemplate[] = [];
    for (const layer of current.toReversed()) {
      const shape = shapeOf(layer);
      if (shape === "unknown") return undefined;
      if (shape === "map") maps.unshift(layer);
      else if (maps.length === 0) return { index };
      // A value that is not a map hides what is below it.
      else break;
    }
    const next = maps.flatMap((layer) => fieldOf(layer, name) ?? []);
    if (next.length === 0) return { index, among: maps.flatMap(keysOf) };
    current = next;
  }
  return undefined;
}

function shapeOf(data: DataTemplate): "map" | "no map" | "unknown" {
  switch (data.kind) {
    case "map":
      return "map";
    case "constant":
      if (isDict(data.value)) return "map";
      // nil may be a placeholder; reading on from a list is reported when it runs.
      return data.value === null || typeof data.value === "object" ? "unknown" : "no map";
    case "list":
    case "template":
      return "unknown";
    default:
      return assertNever(data);
  }
}

function fieldOf(data: DataTemplate, key: string): DataTemplate | undefined {
  if (data.kind === "map") return data.entries.find(([name]) => name === key)?.[1];
  if (data.kind !== "constant" || !isDict(data.value)) return undefined;
  const value = Object.hasOwn(data.value, key) ? data.value[key] : undefined;
  return value === undefined ? undefined : { kind: "constant", value };
}

/** Vars that a job file reads and that the step around it does not pass. */
export const missingVar: Check = {
  codes: [
    {
      code: "ungiven-var",
      severity: "error",
      summary: "A job file reads a var that the embedding step does not pass.",
    },
  ],
  *find({ steps, embeddedBy }) {
    for (const step of steps) {
      const { draft } = step;
      const inner = embeddedBy(draft);
      if (!inner) continue;
      const passed = passedVars(draft.with);
      const reported = new Set<string>();
      for (const reading of inner.readings) {
        const [key] = reading.keys;
        if (reading.root !== "vars" || !key || reported.has(key.name)) continue;
        if (inner.definitions.has(key.name) || isGuarded(reading, 0)) continue;
        const missing = findMissingKey(passed, reading);
        if (!missing?.among || missing.index !== 0) continue;
        reported.add(key.name);
        yield {
          severity: "error",
          code: "ungiven-var",
          path: [...draft.path, "with", "path"],
          message: `the job file reads the var "${key.name}", which this step does not give`,
          hint: didYouMean(key.name, missing.among) ?? "add it to vars in with",
        };
      }
    }
  },
};

function passedVars(params: DataTemplate): DataTemplate {
  const vars = fieldOf(params, "vars");
  const isEmpty = !vars || vars.kind === "constant" && vars.value === null;
  return isEmpty ? { kind: "constant", value: {} } : vars;
}

/** Vars that nothing reads. */
export const unusedVar: Check = {
  codes: [
    { code: "unused-var", severity: "hint", summary: "A var is defined, but never read." },
  ],
  *find(model) {
    const readings = model.readings.filter(({ root }) => root === "vars");
    const { files, value } = model.document;
    // A file that others are read together with may have vars for all of them.
    if (model.vars && isDict(value) && files.length === 1) {
      yield* unusedIn(value.vars, ["vars"], readings, model);
    }
    const byStep = Map.groupBy(readings, ({ step }) => step);
    for (const step of model.steps) {
      // The vars of a step see those of the workflow, and not each other.
      const seeing = (byStep.get(step) ?? []).filter(({ key }) => key !== "vars");
      yield* unusedIn(step.raw.vars, [...step.draft.path, "vars"], seeing, model);
    }
  },
};

function* unusedIn(
  vars: unknown,
  path: Path,
  readings: readonly Reading[],
  { usedWords }: CheckModel,
): Iterable<Problem> {
  // Where `vars` is read as a whole, all of them may be.
  if (!isDict(vars) || readings.some(({ keys }) => keys.length === 0)) return;
  const read = new Set(readings.map(({ keys }) => keys[0]!.name));
  for (const name of Object.keys(vars)) {
    if (read.has(name) || usedWords.has(name)) continue;
    yield {
      severity: "hint",
      code: "unused-var",
      path: [...path, name],
      part: "key",
      message: `nothing reads the var "${name}"`,
    };
  }
}
