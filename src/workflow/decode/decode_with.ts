import type { Action } from "../../action/action.ts";
import { checkParameters } from "../../action/parameters.ts";
import type { Plugins } from "../../action/plugin/load_plugins.ts";
import { ACTIONS } from "../../action/registry.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { holdsTemplate } from "../../expr/template/template_data.ts";
import { actionMeantBy, hintForAction } from "../../base/other_tools.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { describeValue, type Dict, mergeDicts } from "../../base/value/value.ts";
import { type Decoding, isRawMap, type RawMap, warnOfOpenBraces } from "./decode_value.ts";
import type { NameRule } from "../model.ts";
import { seeing } from "./name_rules.ts";
import { addError, addWarning } from "../problem.ts";

/** The `defaults` of a job: parameters by the name of the action. */
export type Defaults = ReadonlyMap<string, Dict>;

const ACTION_NAMES = ACTIONS.map((action) => action.name);

/** Decodes the `defaults` of a job. Their contents are checked with the steps that use them. */
export function decodeDefaults(
  map: RawMap,
  path: Path,
  { problems, actions, plugins }: Decoding,
): Defaults {
  const defaults = new Map<string, Dict>();
  for (const [name, params] of Object.entries(map)) {
    if (params === null) continue;
    warnOfOpenBraces(problems, params, [...path, name]);
    if (!isRawMap(params)) {
      const message = `the defaults of "${name}" must be a map, not ${describeValue(params)}`;
      addError(problems, "type", [...path, name], message);
    } else if (actions.has(name)) {
      defaults.set(name, params as Dict);
    } else if (!plugins?.problems.has(name)) {
      const hint = actionHint(name, plugins);
      const message = `unknown action "${name}" in "defaults"`;
      addWarning(problems, "unknown-action", [...path, name], message, { part: "key", hint });
    }
  }
  return defaults;
}

/** The action that a step names; undefined, with a problem reported, if there is none. */
export function decodeUses(
  name: string,
  path: Path,
  { problems, actions, plugins }: Decoding,
): Action | undefined {
  const action = actions.get(name);
  if (action) return action;
  const broken = plugins?.problems.get(name);
  if (broken) {
    const { message, ...details } = broken;
    addError(problems, "plugin", path, message, details);
    return undefined;
  }
  const hint = actionHint(name, plugins);
  addError(problems, "unknown-action", path, `unknown action "${name}"`, { hint });
  return undefined;
}

/** A suggestion for an unknown action name; an empty name has none. */
function actionHint(name: string, { names = [], place }: Partial<Plugins> = {}): string {
  const known = [...ACTION_NAMES, ...names];
  const hint = didYouMean(actionMeantBy(name) ?? name, known) ?? hintForAction(name) ??
    `the actions are ${known.join(", ")}`;
  return place === undefined ? hint : `${hint} (${place})`;
}

/**
 * The parameters of a step, over the defaults of the job, checked by the action. Without an
 * action, only its expressions are checked.
 */
export function decodeWith(
  action: Action | undefined,
  own: Dict,
  defaults: Dict | undefined,
  path: Path,
  names: NameRule,
  { problems, expressions }: Decoding,
): DataTemplate {
  warnOfOpenBraces(problems, own, path);
  if (!action) return expressions.data(own, path, names);
  const params = defaults ? (action.merge ?? mergeDicts)(defaults, own) : own;
  for (const { path: inside, at, message, hint } of checkParameters(action, params)) {
    addError(problems, "parameter", [...path, ...inside], message, {
      ...at === undefined ? {} : { part: at },
      ...hint === undefined ? {} : { hint },
    });
  }
  const templates = { ...params };
  for (const { name, expression } of action.parameters ?? []) {
    const text = Object.hasOwn(params, name) ? params[name] : undefined;
    if (!expression || typeof text !== "string" || text.trim() === "") continue;
    const rule = seeing({ ...names, where: `in "${name}"`, empty: {} }, expression);
    expressions.expression(text, [...path, name], rule);
    // A constant, also where it was written in braces by mistake.
    if (holdsTemplate(text)) delete templates[name];
  }
  return expressions.data(templates, path, names, action);
}
