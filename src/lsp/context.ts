import { pluginDirectory, pluginNames } from "../actions/plugin/find_plugin.ts";
import type { Action } from "../action/action.ts";
import { ACTIONS } from "../actions/registry.ts";
import type { Host } from "../host/host.ts";
import { fieldOf, itemsOf, type LooseNode, pairsOf } from "./loose_yaml.ts";
import { stepPath } from "./format_tables.ts";
import { type Outline, scalarOf, type StepInText } from "./outline.ts";

/** The actions that there are: those of plugins are known by their file names alone. */
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
  root: LooseNode,
  path: readonly (string | number)[],
): LooseNode | undefined {
  return path.reduce<LooseNode | undefined>(
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
  const own = stepPath(path);
  const node = own && nodeAt(outline.root, own);
  return node && outline.steps.find((step) => step.node === node);
}

/** The names of the vars that a step sees, with their values. */
export function varsAt(
  outline: Outline,
  path: readonly (string | number)[],
): ReadonlyMap<string, LooseNode> {
  const step = stepAt(outline, path)?.node;
  const iteration = fieldOf(step, "iteration");
  const entries = iteration?.kind === "map" ? fieldOf(iteration, "list") : iteration;
  const maps = [fieldOf(outline.root, "vars"), ...itemsOf(entries), fieldOf(step, "vars")];
  return new Map(maps.flatMap(pairsOf).map(({ key, value }) => [key.text, value]));
}
