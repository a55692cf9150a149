import type { Action, Parameter } from "../action/action.ts";
import type { Field, FieldTable } from "../workflow/decode/field.ts";
import {
  ASSERTION,
  JOB_FIELDS,
  JOB_FILE_FIELDS,
  MATRIX,
  REPEAT,
  STEP_FIELDS,
  WORKFLOW,
} from "../workflow/decode/fields.ts";
import { LOAD, LOAD_DATA, LOAD_STAGE } from "../workflow/decode/load_fields.ts";
import { ITERATION, ITERATION_MATRIX, RETRY, SNAPSHOT } from "../workflow/decode/step_maps.ts";
import { SUITE, SUITE_ENTRY, SUITE_MATRIX } from "../suite/suite_fields.ts";
import { type FileKind, type Outline, scalarOf, type StepInText } from "./outline.ts";
import { pluginDirectory, pluginNames } from "../actions/plugin/plugin.ts";
import { ACTIONS } from "../actions/registry.ts";
import type { Host } from "../host/host.ts";
import type { YamlNode } from "../base/yaml/yaml_tree.ts";
import { fieldOf, itemsOf, pairsOf } from "./loose_yaml.ts";

type Table = FieldTable<Readonly<Record<string, Field>>>;
type Path = readonly (string | number)[];

/** The keys allowed at a place: those of the file format, or the parameters of an action. */
export type Keys =
  | { readonly kind: "fields"; readonly table: Table }
  | {
    readonly kind: "parameters";
    readonly action: Action;
    readonly parameters: readonly Parameter[];
  }
  | { readonly kind: "actions" };

const ROOTS: Readonly<Record<FileKind, Table>> = {
  workflow: WORKFLOW,
  "job file": JOB_FILE_FIELDS,
  suite: SUITE,
};

/** The keys of the mapping at a path; undefined where any may be written. */
export function keysAt(outline: Outline, path: Path, known: KnownActions): Keys | undefined {
  const { kind } = outline;
  const action = actionAt(outline, path, known);
  const [first, second] = path;
  if (path.length === 0) return fields(ROOTS[kind]);
  if (kind === "suite") {
    if (first === "defaults") {
      return second === undefined ? { kind: "actions" } : parametersAt(path.slice(2), action);
    }
    if (first !== "workflows" || typeof second !== "number") return undefined;
    if (path.length === 2) return fields(SUITE_ENTRY);
    return path.length === 3 && path[2] === "matrix" ? fields(SUITE_MATRIX) : undefined;
  }
  if (kind === "job file") return keysInJob(path, action);
  if (first === "jobs" && typeof second === "number") return keysInJob(path.slice(2), action);
  return first === "finally" ? keysInJob(path, action) : undefined;
}

function keysInLoad([key, ...inner]: Path): Keys | undefined {
  if (key === undefined) return fields(LOAD);
  if (key === "expect" && isAssertion(inner)) return fields(ASSERTION);
  if (key === "stages" && inner.length === 1) return fields(LOAD_STAGE);
  return key === "data" && inner.length === 0 ? fields(LOAD_DATA) : undefined;
}

function keysInJob(path: Path, action: Action | undefined): Keys | undefined {
  const [first, second, ...rest] = path;
  if (first === undefined) return fields(JOB_FIELDS);
  if (first === "repeat" && second === undefined) return fields(REPEAT);
  if (first === "load") return keysInLoad(path.slice(1));
  if (first === "matrix" && second === undefined) return fields(MATRIX);
  if (first === "defaults") {
    if (second === undefined) return { kind: "actions" };
    return parametersAt(rest, action);
  }
  if (first !== "steps" && first !== "finally" || typeof second !== "number") return undefined;
  const [key, ...inner] = rest;
  if (key === undefined) return fields(STEP_FIELDS);
  if (key === "with") return parametersAt(inner, action);
  if (key === "test" && isAssertion(inner)) return fields(ASSERTION);
  if (key === "iteration" && inner.length === 1 && inner[0] === "matrix") {
    return fields(ITERATION_MATRIX);
  }
  if (inner.length > 0) return undefined;
  const tables = { retry: RETRY, iteration: ITERATION, snapshot: SNAPSHOT };
  return Object.hasOwn(tables, key) ? fields(tables[key as keyof typeof tables]) : undefined;
}

/** Whether it is the path to an assertion: under its key, or an item of the list there. */
function isAssertion(path: Path): boolean {
  return path.length === 0 || path.length === 1 && typeof path[0] === "number";
}

function fields(table: Table): Keys {
  return { kind: "fields", table };
}

function parametersAt(path: Path, action: Action | undefined): Keys | undefined {
  let parameters = action?.parameters;
  for (const part of path) {
    if (typeof part === "number") continue;
    const parameter: Parameter | undefined = parameters?.find(({ name }) => name === part);
    parameters = parameter?.fields ?? parameter?.items;
  }
  return action && parameters ? { kind: "parameters", action, parameters } : undefined;
}

/** The step around a path: the path of it, or undefined. */
function stepPath(path: Path): Path | undefined {
  const index = path.findLastIndex((part, at) =>
    (part === "steps" || part === "finally") && typeof path[at + 1] === "number" && at <= 2
  );
  return index < 0 ? undefined : path.slice(0, index + 2);
}

/** The built-in actions, and the names of plugins. */
export interface KnownActions {
  readonly actions: ReadonlyMap<string, Action>;
  readonly plugins: readonly string[];
}

/** Finds all actions, and runs no code of plugins. */
export async function findActions(host: Host): Promise<KnownActions> {
  const actions = await Promise.all(ACTIONS.map(({ load }) => load()));
  const directory = pluginDirectory(host);
  const plugins = directory ? await pluginNames(directory, host).catch(() => undefined) : undefined;
  return {
    actions: new Map(actions.map((action) => [action.name, action])),
    plugins: plugins ?? [],
  };
}

/** The node at a path. */
export function nodeAt(
  root: YamlNode | undefined,
  path: readonly (string | number)[],
): YamlNode | undefined {
  return path.reduce<YamlNode | undefined>(
    (node, part) => typeof part === "number" ? itemsOf(node)[part] : fieldOf(node, part),
    root,
  );
}

/** The action whose parameters are at a path: that of the step, or of the defaults of a job. */
export function actionAt(
  { root }: Outline,
  path: readonly (string | number)[],
  { actions }: KnownActions,
): Action | undefined {
  const defaults = path.indexOf("defaults");
  const step = stepPath(path);
  if (step) {
    const uses = scalarOf(fieldOf(nodeAt(root, step), "uses"))?.text;
    return uses === undefined ? undefined : actions.get(uses);
  }
  return defaults < 0 ? undefined : actions.get(String(path[defaults + 1]));
}

/** The step at a path. */
export function stepAt(
  outline: Outline,
  path: readonly (string | number)[],
): StepInText | undefined {
  const ancestor = stepPath(path);
  const node = ancestor && nodeAt(outline.root, ancestor);
  return node && outline.steps.find((step) => step.node === node);
}

/** The names of the vars that a step sees, with their values. */
export function varsAt(
  outline: Outline,
  path: readonly (string | number)[],
): ReadonlyMap<string, YamlNode> {
  const step = stepAt(outline, path)?.node;
  const iteration = fieldOf(step, "iteration");
  const entries = iteration?.kind === "map" ? fieldOf(iteration, "list") : iteration;
  const maps = [
    fieldOf(outline.root, "vars"),
    ...itemsOf(entries),
    fieldOf(iteration, "matrix"),
    fieldOf(step, "vars"),
  ];
  return new Map(maps.flatMap(pairsOf).map(({ key, value }) => [key.text, value]));
}
