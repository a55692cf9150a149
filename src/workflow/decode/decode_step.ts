import type { Action } from "../../action/action.ts";
import { ACTIONS, type Plugins } from "../../actions/registry.ts";
import { actionMeantBy, hintForAction } from "../../base/other_tools.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { describeValue, type Dict, isDict, mergeDicts } from "../../base/value/value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { holdsTemplate } from "../../expr/template/template_data.ts";
import type { Duration, Retry, Snapshot, Step } from "../model.ts";
import { addError, addWarning, warnOfBraces } from "../problem.ts";
import { decodeIteration } from "./decode_iteration.ts";
import { decodeFields, type Decoding, namesIn, NO_TIME } from "./decode_fields.ts";
import { STEP_FIELDS, STEP_TIMEOUT } from "./fields.ts";
import { RETRY, SNAPSHOT } from "./step_maps.ts";
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
    warnOfBraces(problems, params, [...path, name]);
    if (!isDict(params)) {
      const message = `the defaults of "${name}" must be a map, not ${describeValue(params)}`;
      addError(problems, "type", [...path, name], message);
    } else if (actions.has(name)) {
      defaults.set(name, params);
    } else if (!plugins?.problems.has(name)) {
      const hint = actionHint(name, plugins);
      const message = `unknown action "${name}" in "defaults"`;
      addError(problems, "unknown-action", [...path, name], message, { part: "key", hint });
    }
  }
  return defaults;
}

/** The defaults of two places; those of `inner` win. */
export function mergeDefaults(outer: Defaults, inner: Defaults, { actions }: Decoding): Defaults {
  if (outer.size === 0) return inner;
  const merged = new Map(outer);
  for (const [name, params] of inner) {
    const before = outer.get(name);
    merged.set(name, before ? (actions.get(name)?.merge ?? mergeDicts)(before, params) : params);
  }
  return merged;
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
  warnOfBraces(problems, written, path);
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
  if (time?.kind === "constant" && time.milliseconds === 0) {
    addError(problems, "range", [...path, "for"], '"for" must be greater than 0');
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
