import type { Action } from "../../action/action.ts";
import { PARAMETER_TYPES } from "../../action/parameters.ts";
import { ACTIONS, type Plugins } from "../../actions/registry.ts";
import { actionMeantBy, hintForAction, typeMeantBy } from "../../base/other_tools.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { describeValue, type Dict, isDict, mergeDicts } from "../../base/value/value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { holdsTemplate } from "../../expr/template/template_data.ts";
import type {
  ColumnType,
  DataFormat,
  Duration,
  Iteration,
  Retry,
  Snapshot,
  Step,
} from "../model.ts";
import { addError, addWarning, warnOfOpenBraces } from "../problem.ts";
import { decodeFields, type Decoding, namesIn, NO_TIME } from "./decode_fields.ts";
import { ITERATION, RETRY, SNAPSHOT, STEP_FIELDS, STEP_TIMEOUT } from "./fields.ts";
import { seeing } from "./expressions.ts";

/** A step that may lack its action, with a problem reported. */
export type StepDraft = Omit<Step, "action"> & Partial<Pick<Step, "action">>;

/** The `defaults` of a job: parameters by the name of the action. */
export type Defaults = ReadonlyMap<string, Dict>;

const DEFAULT_TIMEOUT: Duration = { kind: "constant", milliseconds: STEP_TIMEOUT };

/** Decodes the steps of a list. */
export function decodeSteps(
  list: readonly unknown[],
  path: Path,
  defaults: Defaults,
  decoding: Decoding,
): readonly StepDraft[] {
  return list.flatMap((value, index) =>
    decodeStep(value, [...path, index], defaults, decoding) ?? []
  );
}

/** Decodes the steps of a `finally`, whose expressions see more names; `before` are the other steps. */
export function decodeCleanup(
  list: readonly unknown[],
  path: Path,
  defaults: Defaults,
  decoding: Decoding,
  before: number,
  cleanupNames: readonly string[],
): readonly StepDraft[] {
  return decodeSteps(list, path, defaults, { ...decoding, cleanupNames }).map((step) => (
    { ...step, index: before + step.index, isCleanup: true }
  ));
}

/** Decodes a step; undefined, with a problem reported, if it is not a mapping. */
function decodeStep(
  value: unknown,
  path: Path,
  defaults: Defaults,
  decoding: Decoding,
): StepDraft | undefined {
  const fields = decodeFields(value, path, STEP_FIELDS, decoding);
  if (!fields) return undefined;
  const {
    uses,
    with: params = {},
    retry,
    iteration,
    outputs = [],
    timeout = DEFAULT_TIMEOUT,
    max_time: maxTime,
    allow_failure: allowFailure,
    snapshot,
    ...rest
  } = fields;
  const { problems } = decoding;
  if (rest.id !== undefined && !STEP_FIELDS.fields.id.pattern.test(rest.id)) {
    const message = `the step id "${rest.id}" must be made of a-z, 0-9, _ and -`;
    addError(problems, "id", [...path, "id"], message);
  }
  if (outputs.length > 0 && rest.id === undefined) {
    addWarning(problems, "no-id", [...path, "outputs"], "outputs of a step without id are lost", {
      part: "key",
      hint: "give the step an id",
    });
  }
  const action = uses === undefined ? undefined : decodeUses(uses, [...path, "uses"], decoding);
  // A value that is not a mapping was reported; its missing parameters need no report.
  const isWithMapping = isDict((value as Dict).with ?? {});
  return {
    ...rest,
    action,
    index: Number(path.at(-1)),
    path,
    with: decodeWith(
      isWithMapping ? action : undefined,
      params,
      action && defaults.get(action.name),
      [...path, "with"],
      decoding,
    ),
    outputs,
    timeout,
    maxTime,
    allowFailure,
    snapshot: snapshot === undefined
      ? undefined
      : decodeSnapshot(snapshot, [...path, "snapshot"], decoding),
    iteration: iteration === undefined
      ? undefined
      : decodeIteration(iteration, [...path, "iteration"], decoding),
    retry: retry && decodeRetry(retry, [...path, "retry"], decoding),
  };
}

/** The action that a step names; undefined, with a problem reported, if it is unknown. */
function decodeUses(
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
  } else {
    const hint = actionHint(name, plugins);
    addError(problems, "unknown-action", path, `unknown action "${name}"`, { hint });
  }
  return undefined;
}

/** A suggestion for an unknown action name. */
function actionHint(name: string, { names = [], location }: Partial<Plugins> = {}): string {
  const known = [...ACTIONS.map((action) => action.name), ...names];
  const hint = didYouMean(actionMeantBy(name) ?? name, known) ?? hintForAction(name) ??
    `the actions are ${known.join(", ")}`;
  return location === undefined ? hint : `${hint} (${location})`;
}

/** Decodes the `defaults` of a job. Their contents are checked with the steps that use them. */
export function decodeDefaults(
  map: Dict,
  path: Path,
  { problems, actions, plugins }: Decoding,
): Defaults {
  const defaults = new Map<string, Dict>();
  for (const [name, params] of Object.entries(map)) {
    if (params === null) continue;
    warnOfOpenBraces(problems, params, [...path, name]);
    if (!isDict(params)) {
      const message = `the defaults of "${name}" must be a map, not ${describeValue(params)}`;
      addError(problems, "type", [...path, name], message);
    } else if (actions.has(name)) {
      defaults.set(name, params);
    } else if (!plugins?.problems.has(name)) {
      const hint = actionHint(name, plugins);
      const message = `unknown action "${name}" in "defaults"`;
      addWarning(problems, "unknown-action", [...path, name], message, { part: "key", hint });
    }
  }
  return defaults;
}

/**
 * The parameters of a step, over the defaults of the job, checked by the action. Without an
 * action, only its expressions are checked.
 */
function decodeWith(
  action: Action | undefined,
  written: Dict,
  defaults: Dict | undefined,
  path: Path,
  decoding: Decoding,
): DataTemplate {
  const { problems, expressions } = decoding;
  const names = namesIn(STEP_FIELDS.fields.with, decoding);
  warnOfOpenBraces(problems, written, path);
  if (!action) return expressions.data(written, path, names);
  const params = defaults ? (action.merge ?? mergeDicts)(defaults, written) : written;
  for (const { path: inside, at: part, message, hint } of action.problems?.(params) ?? []) {
    addError(problems, "parameter", [...path, ...inside], message, { part, hint });
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

/** The pause where only a time limits the attempts. */
const ONE_SECOND: Duration = { kind: "constant", milliseconds: 1000 };

function decodeRetry(map: Dict, path: Path, decoding: Decoding): Retry | undefined {
  const {
    max_attempts: maxAttempts,
    for: time,
    interval = maxAttempts === undefined ? ONE_SECOND : NO_TIME,
    initial_delay: initialDelay = NO_TIME,
    respect_retry_after: respectsRetryAfter = false,
    max_interval: maxInterval,
    backoff = 1,
    jitter = false,
    until,
    stop,
  } = decodeFields(map, path, RETRY, decoding) ?? {};
  if (maxAttempts === undefined && time === undefined) return undefined;
  const { problems, limits } = decoding;
  if (maxAttempts !== undefined && maxAttempts > limits.attempts) {
    const message = `"max_attempts" must be at most ${limits.attempts}, not ${maxAttempts}`;
    addError(problems, "limit", [...path, "max_attempts"], message, {
      hint: "RUNNER_MAX_ATTEMPTS sets the limit",
    });
  }
  return {
    ...{ maxAttempts, time, interval, initialDelay, backoff, jitter, respectsRetryAfter },
    ...{ maxInterval, until, stop },
  };
}

/** Decodes `snapshot` of a step; undefined if it is false or invalid. */
function decodeSnapshot(value: unknown, path: Path, decoding: Decoding): Snapshot | undefined {
  const { problems } = decoding;
  if (value === false) return undefined;
  if (value === true) return { ignore: [], match: [] };
  if (!isDict(value)) {
    const message = `"snapshot" must be true or a map, not ${describeValue(value)}`;
    addError(problems, "type", path, message);
    return undefined;
  }
  const fields = decodeFields(value, path, SNAPSHOT, decoding);
  if (!fields) return undefined;
  const { of, name, ignore = [], match: rules = {} } = fields;
  if (name !== undefined && !SNAPSHOT.fields.name.pattern.test(name)) {
    const message = `the name of a snapshot is made of letters, digits, ".", _ and -, ` +
      `not ${JSON.stringify(name)}`;
    addError(problems, "name", [...path, "name"], message);
  }
  const match = Object.entries(rules).flatMap(([at, rule]) => {
    if (typeof rule === "string") return [{ path: at, rule }];
    const message = `a rule of "match" must be a string, not ${describeValue(rule)}`;
    addError(problems, "type", [...path, "match", at], message);
    return [];
  });
  return { of, name, ignore, match };
}

/** Decodes the iteration of a step; undefined, with a problem reported, if it is invalid. */
function decodeIteration(
  value: unknown,
  path: Path,
  decoding: Decoding,
): Iteration | undefined {
  if (!isDict(value)) return decodeList(value, path, 1, decoding);
  const fields = decodeFields(value, path, ITERATION, decoding);
  if (!fields) return undefined;
  const { problems } = decoding;
  const kinds = ["list", "file", "until"].filter((key) => Object.hasOwn(value, key));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const message = kind === undefined
      ? '"iteration" needs "list", "file" or "until"'
      : `"${kinds.join('" and "')}" cannot be combined`;
    addError(problems, "iteration", path, message, { hint: "give one of list, file and until" });
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (ONLY_WITH.get(key)?.includes(kind) ?? true) continue;
    const message = `"${key}" has no effect with "${kind}"`;
    addError(problems, "iteration", [...path, key], message, { part: "key" });
  }
  const { parallel = 1, file, until, max, interval = NO_TIME, where, limit, format } = fields;
  if (kind === "list") return decodeList(value.list, [...path, "list"], parallel, decoding);
  if (kind === "until") {
    if (max === undefined && !Object.hasOwn(value, "max")) {
      addError(problems, "missing", path, '"until" needs "max": how often the step may run');
    }
    if (max === undefined || !until) return undefined;
    return { kind: "loop", until, max, interval };
  }
  if (!file) return undefined;
  const types = decodeTypes(fields.types, [...path, "types"], decoding);
  return { kind: "file", file, parallel, types, format: format as DataFormat, where, limit };
}

/** The keys that go with some kinds of iteration alone. */
const ONLY_WITH: ReadonlyMap<string, readonly string[]> = new Map([
  ["format", ["file"]],
  ["where", ["file"]],
  ["limit", ["file"]],
  ["types", ["file"]],
  ["parallel", ["list", "file"]],
  ["max", ["until"]],
  ["interval", ["until"]],
]);

function decodeList(
  value: unknown,
  path: Path,
  parallel: number,
  decoding: Decoding,
): Iteration | undefined {
  const { problems, expressions } = decoding;
  const names = namesIn(STEP_FIELDS.fields.iteration, decoding);
  if (typeof value === "string" && holdsTemplate(value)) {
    const list = expressions.template(value, path, names);
    // Braces without an end are text.
    if (!list?.parts.every((part) => typeof part === "string")) {
      const field = path.slice(path.lastIndexOf("iteration"));
      return list && { kind: "template", list, field, parallel };
    }
  }
  if (!Array.isArray(value)) {
    const message = `"${path.at(-1)}" must be a list, not ${describeValue(value)}`;
    const hint = typeof value === "number"
      ? `to run the step ${value} times, write iteration: "{{1..${value}}}"`
      : 'a file is given as iteration: { file: cases.csv }, and a list of a run as "{{…}}"';
    addError(problems, "type", path, message, { hint });
    return undefined;
  }
  if (value.length === 0) {
    addWarning(problems, "never-runs", path, `"${path.at(-1)}" is empty`, {
      part: "key",
      hint: "the step runs once for each entry, and so never",
    });
  }
  const entries = value.map((item: unknown, index): DataTemplate => {
    const at = [...path, index];
    warnOfOpenBraces(problems, item, at);
    const data = expressions.data(item ?? {}, at, names);
    // The value of a template is known only at run time.
    if (isDict(item ?? {}) || data.kind === "template") return data;
    return { kind: "map", entries: [["item", data]] };
  });
  return { kind: "list", entries, parallel };
}

function decodeTypes(
  types: Dict = {},
  path: Path,
  { problems }: Decoding,
): ReadonlyMap<string, ColumnType> {
  const decoded = new Map<string, ColumnType>();
  for (const [column, type] of Object.entries(types)) {
    if (typeof type === "string" && PARAMETER_TYPES.includes(type)) {
      decoded.set(column, type as ColumnType);
      continue;
    }
    const message = `unknown type ${describeValue(type)} of "${column}"`;
    const hint = didYouMean(typeMeantBy(String(type)) ?? String(type), PARAMETER_TYPES) ??
      `the types are ${PARAMETER_TYPES.join(", ")}`;
    addError(problems, "type", [...path, column], message, { hint });
  }
  return decoded;
}
