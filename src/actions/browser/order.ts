import { StepError } from "../../base/errors.ts";
import { parseDuration } from "../../base/value/duration.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, Parameter, ParameterProblem, Value } from "../../action/action.ts";
import { isTemplate } from "../../expr/template/template_data.ts";
import { checkValue, isGiven } from "../../action/parameters.ts";
import {
  ACTION_KEYS,
  type ActionName,
  BROWSER_ACTIONS,
  type BrowserAction,
  type Key,
} from "./browser_actions.ts";

/** An action of a step, once its templates are rendered. */
export interface Order {
  readonly name: ActionName;
  readonly id: string;
  readonly url?: string;
  readonly selector?: string;
  /** The selectors of the frames that it is in, the outermost first. */
  readonly frames: readonly string[];
  readonly value?: string;
  /** The same as a list. */
  readonly values: readonly string[];
  readonly exact: boolean;
  readonly attributes: readonly string[];
  readonly paths: readonly string[];
  readonly quality?: number;
  readonly script?: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The results of the actions of a step so far. */
export interface OrderOutcome {
  readonly results: Record<string, Value>;
  readonly filepaths: Record<string, string>;
  /** Pictures for reports, as data URIs. */
  readonly screenshots: Record<string, string>;
  /** The code of the last page that was opened. */
  httpCode: number | null;
}

/** The parameter that lists what to do. */
export const ACTIONS_PARAMETER: Parameter = {
  name: "actions",
  type: "list",
  summary: "What to do in the page, in order; each has a `name`",
  required: true,
  items: ACTION_KEYS,
};

/** Keys that every action takes. */
const COMMON: readonly string[] = ["name", "id", "timeout"];

/** Actions whose `value` or `path` may be a list. */
const LISTS: readonly string[] = ["press", "select", "upload"];

/** Problems of actions beyond the types of their keys. */
export function checkOrders({ actions }: Dict): readonly ParameterProblem[] {
  if (!Array.isArray(actions)) return [];
  if (actions.length === 0) {
    return [{ path: ["actions"], message: '"actions" must not be empty' }];
  }
  return actions.flatMap((one, index) => isDict(one) ? checkOrder(one, index) : []);
}

function checkOrder(order: Dict, index: number): ParameterProblem[] {
  const action: BrowserAction | undefined = BROWSER_ACTIONS.find(({ name }) => name === order.name);
  if (!action || isTemplate(order)) return [];
  const { name, needs = [], takes = [] } = action;
  const keys: readonly Key[] = [...needs, ...takes];
  const isInFrame = keys.includes("selector") || keys.includes("script");
  const known: readonly string[] = [...COMMON, ...keys, ...isInFrame ? ["frame"] : []];
  const path = ["actions", index];
  return [
    ...needs.filter((key) => !isGiven(order, key)).map((key) => ({
      path,
      message: `the action "${name}" needs "${key}"`,
      hint: name === "screenshot"
        ? '"capture_screenshot" saves the visible part of the page, "full_screenshot" all of it'
        : ACTION_KEYS.find((one) => one.name === key)?.summary ?? "",
    })),
    ...(["value", "path"] as const).filter((key) => Array.isArray(order[key])).filter((key) =>
      keys.includes(key) && !LISTS.includes(name)
    ).map((key) => ({
      path: [...path, key],
      message: `"${key}" of the action "${name}" must be a text, not a list`,
    })),
    ...isAlwaysTrue(order)
      ? [{
        path: [...path, "value"],
        message: `an empty "value" of the action "${name}" is in every text`,
        hint: '"exact: true" expects that there is no text',
      }]
      : [],
    ...Object.keys(order).filter((key) =>
      !known.includes(key) && ACTION_KEYS.some((one) => one.name === key) && isGiven(order, key)
    ).map((key) => ({
      path: [...path, key],
      at: "key" as const,
      message: `the action "${name}" takes no "${key}"`,
      hint: `it takes ${known.filter((one) => one !== "name").join(", ")}`,
    })),
  ];
}

/** Whether an action expects an empty text as a part of another. */
function isAlwaysTrue({ name, value, exact }: Dict): boolean {
  return /^(expect|wait)_/.test(String(name)) && typeof value === "string" &&
    value.trim() === "" && String(exact) !== "true";
}

/** Reads the actions of a step, whose templates are rendered. */
export function readOrders(params: Dict, timeout: number): Order[] {
  const { actions = null } = params;
  const [problem] = [
    ...checkValue(ACTIONS_PARAMETER, actions, ["actions"]),
    ...checkOrders(params),
  ];
  if (problem) {
    throw new StepError(`cannot run browser: ${problem.message}`, problem.hint, {
      parameter: "actions",
    });
  }
  return (actions as readonly Dict[]).map((one) => readOrder(one, timeout));
}

function readOrder(order: Dict, timeout: number): Order {
  const { name, value, quality } = order;
  const text = (key: string) => {
    const value = order[key] ?? null;
    return value === null ? {} : { [key]: String(value) };
  };
  const values = textsOf(value);
  return {
    name: name as ActionName,
    id: String(order.id ?? name),
    ...text("url"),
    ...text("selector"),
    frames: textsOf(order.frame),
    ...text("script"),
    ...values.length === 0 ? {} : { value: values[0]! },
    values,
    exact: String(order.exact) === "true",
    attributes: textsOf(order.attribute),
    paths: textsOf(order.path),
    ...(quality ?? null) === null ? {} : { quality: Number(quality) },
    timeout: parseDuration(order.timeout ?? null) || timeout,
  };
}

function textsOf(value: Value | undefined): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => String(one ?? ""));
}

/** An action in a few words: `click "#save"`. */
export function describeOrder(
  { name, url, selector, frames, value, values, script, paths, exact }: Order,
): string {
  const quoted = (text: string | undefined) => text === undefined ? [] : [JSON.stringify(text)];
  return [
    name,
    ...url === undefined ? [] : [url],
    ...quoted(selector),
    ...values.length > 1 ? [JSON.stringify(values)] : quoted(value),
    ...exact ? ["exactly"] : [],
    ...quoted(script),
    ...frames.length === 0 ? [] : [`in ${frames.map((one) => JSON.stringify(one)).join(" ")}`],
    ...paths,
  ].join(" ");
}
