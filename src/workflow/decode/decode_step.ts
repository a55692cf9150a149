import type { Action } from "../../action/action.ts";
import {
  flag,
  integer,
  list,
  map,
  readFields,
  type Rule,
  text,
  value,
  within,
} from "../../action/rule.ts";
import { ACTIONS, type Plugins } from "../../actions/registry.ts";
import { actionMeantBy, hintForAction } from "../../base/other_tools.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { formatDuration } from "../../base/value/duration.ts";
import {
  describeValue,
  type Dict,
  isDict,
  mergeDicts,
  type Value,
} from "../../base/value/value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { holdsTemplate } from "../../expr/template.ts";
import type { Duration, Retry, Snapshot, Step } from "../model.ts";
import { addError, addWarning, warnOfBraces } from "../problem.ts";
import { FLAKY, STEP_TIMEOUT } from "../step_facts.ts";
import { BEFORE_ACTION, IN_STEP, IN_STEP_VARS, seeing, seesResult } from "./expressions.ts";
import {
  assertions,
  data,
  type Decoding,
  expression,
  Key,
  late,
  limited,
  names,
  NO_TIME,
  outputs,
  pattern,
  record,
  rule,
  template,
  time,
} from "./key.ts";

/** A step that may lack its action, with a problem reported. */
export type StepDraft = Omit<Step, "action"> & Partial<Pick<Step, "action">>;

/** The `defaults` of a job: parameters by the name of the action. */
export type Defaults = ReadonlyMap<string, Dict>;

const DEFAULT_TIMEOUT: Duration = { kind: "constant", milliseconds: STEP_TIMEOUT };

/** The pause where only a time limits the attempts. */
const ONE_SECOND: Duration = { kind: "constant", milliseconds: 1000 };

const retry = map(
  {
    max_attempts: limited(
      integer("The maximum number of attempts, 1 or more. Without it, `for` limits them.", {
        min: 1,
      }),
      ({ attempts }) => attempts,
      "RUNNER_MAX_ATTEMPTS",
    ),
    for: time(
      "The time for all attempts together, from the start of the first. When it is over, the current attempt is stopped, and no other one starts.",
      BEFORE_ACTION,
    ).as((time, param) => {
      if (time.kind !== "constant" || time.milliseconds > 0) return time;
      throw param.wrong('"for" must be greater than 0', undefined, { code: "range" });
    }),
    interval: time("The time between two attempts.", IN_STEP).key({ isOccasional: true })
      .with({ default: "0s; 1s where only `for` limits the attempts" }),
    initial_delay: time("The time before the first attempt.", BEFORE_ACTION),
    respect_retry_after: flag(
      "Waits as long as the Retry-After header of a response asks for, instead of the interval, but at most the timeout of the step.",
    ),
    backoff: within(
      { min: 1 },
      value("number", "The factor by which the interval grows after each attempt."),
    ).with({ default: "1" }),
    max_interval: time("The upper limit of a growing interval.", IN_STEP)
      .key({ isOccasional: true }),
    jitter: flag("Waits a random time between half the interval and all of it.").default(false),
    until: expression(
      "Polls: repeats the step until it is true, and then evaluates outputs and test once.",
      IN_STEP,
    ).key({ mustHold: true }),
    stop: expression("Gives up if it is true after an attempt that did not succeed.", IN_STEP)
      .key({ isOccasional: true }),
  },
  "Runs the step again when it fails.",
  {
    alternatives: [{ names: ["max_attempts", "for"], required: true, mayCombine: true }],
  },
).key({ what: "retry", title: "retry" }).as((written): Retry => {
  const { max_attempts: maxAttempts, for: time } = written;
  return {
    maxAttempts,
    time,
    interval: written.interval ?? (maxAttempts === undefined ? ONE_SECOND : NO_TIME),
    initialDelay: written.initial_delay ?? NO_TIME,
    backoff: written.backoff ?? 1,
    jitter: written.jitter,
    respectsRetryAfter: written.respect_retry_after ?? false,
    maxInterval: written.max_interval,
    until: written.until,
    stop: written.stop,
  };
});

const snapshotMap = map({
  of: expression("The value that is compared.", IN_STEP).key({ mayBeNil: true })
    .with({ default: "res.body" }),
  name: pattern(
    /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/,
    "must be made of letters, digits, _, - and .",
    "The name of the snapshot (default: the id of the step).",
  ),
  ignore: names("JSONPaths of values that are not compared."),
  match: value(
    "map",
    "Rules for the values at JSONPaths: uuid, email, url, ip, iso_date, a type such as " +
      "integer, or a regular expression between slashes.",
  ).as((rules, param) =>
    Object.entries(rules).flatMap(([path, rule]) => {
      if (typeof rule === "string") return { path, rule };
      param.of(path).wrong(`a rule of "match" must be a string, not ${describeValue(rule)}`);
      return [];
    })
  ),
}, "").key({ what: "snapshot" }).as(({ of, name, ignore = [], match = [] }): Snapshot => (
  { of, name, ignore, match }
));

/** `snapshot`: true, false or a map. */
const snapshot = rule({
  type: ["boolean", "map"],
  summary: "Compares the result with that of an earlier run, kept in `__snapshots__` beside the " +
    "workflow: true, or a map.",
  fields: snapshotMap.form.fields!,
  key: { kind: "snapshot", what: "snapshot", title: "snapshot" },
}, (value, key): Snapshot | undefined => {
  if (value === false) return undefined;
  if (value === true) return { ignore: [], match: [] };
  if (isDict(value)) return snapshotMap.parse(value, key);
  throw key.wrong(`"snapshot" must be true or a map, not ${describeValue(value)}`);
});

const STEP_ID = /^[a-z0-9_-]+$/;
const STEP_ID_FORM = "must be made of a-z, 0-9, _ and -";

const STEP = {
  uses: text("The action.").required().key({
    whenMissing: (step) =>
      Object.hasOwn(step, "test") ? 'a step that only asserts is "uses: assert"' : undefined,
  }),
  name: template("Shown in the report.", BEFORE_ACTION),
  id: text("The name of the step in `outputs`: a-z, 0-9, _ and -.").as((id, param) => {
    if (!STEP_ID.test(id)) {
      param.wrong(`the step id "${id}" ${STEP_ID_FORM}`, undefined, { code: "id" });
    }
    return id;
  }).key({ pattern: STEP_ID, requirement: STEP_ID_FORM }),
  with: value("map", "The parameters of the action.").key({ names: BEFORE_ACTION }),
  test: assertions(
    "Fails the step if it is false; in a list, each false one is a failure. " +
      "`{ that: …, says: … }` adds a message.",
    IN_STEP,
  ),
  echo: template("Text to print in the report.", IN_STEP),
  vars: data("Variables of this step.", IN_STEP_VARS),
  outputs: outputs("Values for later steps and jobs; the step needs an id.", IN_STEP),
  skipif: expression("Skips the step if it is true.", BEFORE_ACTION),
  allow_failure: expression(
    "If it is true, a failure of the step is an allowed failure: it is shown, and does not fail the job. `flaky`: it may also pass.",
    seeing(IN_STEP, [FLAKY]),
  ).key({ isOccasional: true }),
  wait: time("How long to wait before the step.", BEFORE_ACTION),
  timeout: time("How long an attempt may take before it is stopped.", BEFORE_ACTION)
    .default(DEFAULT_TIMEOUT, formatDuration(STEP_TIMEOUT)),
  snapshot,
  max_time: time(
    "How long the action may take: a slower one fails the step, but is not stopped.",
    BEFORE_ACTION,
  ),
  iteration: late(
    "iteration",
    ["list", "string", "map"],
    "Runs the step once for each entry of a list, whose keys are added to vars, for " +
      "each combination of some lists, for each row of a file, or until an expression is true.",
  ),
  retry,
};

export const step = record(STEP, "", decodeStep).key({ what: "a step", title: "Step" });

/** The steps of a `finally`, whose expressions see more names. */
export function cleanup(summary: string, cleanupNames: readonly string[]) {
  const base = list(step, summary);
  return rule(
    base.form,
    (value, key) =>
      base.parse(value, key.with({ cleanupNames })).map((step) => ({
        ...step,
        isCleanup: true as const,
      })),
  );
}

function decodeStep(map: Dict, key: Key): StepDraft {
  const { path, decoding } = key;
  const usesBefore = decoding.expressions.uses.length;
  const { uses, with: params = {}, max_time: maxTime, allow_failure: allowFailure, ...rest } =
    readFields(STEP, map, key).values;
  const { outputs = [], timeout = DEFAULT_TIMEOUT } = rest;
  if (outputs.length > 0 && rest.id === undefined) {
    addWarning(
      decoding.problems,
      "no-id",
      [...path, "outputs"],
      "outputs of a step without id are lost",
      { part: "key", hint: "give the step an id" },
    );
  }
  const action = uses === undefined ? undefined : decodeUses(uses, [...path, "uses"], decoding);
  for (const use of action?.resultNames ? decoding.expressions.uses.slice(usesBefore) : []) {
    if (seesResult(use.names)) use.names = seeing(use.names, action!.resultNames!);
  }
  // A value that is not a mapping was reported; its missing parameters need no report.
  const isWithMapping = isDict(map.with ?? {});
  return {
    ...rest,
    action,
    index: Number(path.at(-1)),
    path,
    with: decodeWith(
      isWithMapping ? action : undefined,
      params,
      action && decoding.defaults?.get(action.name),
      key.of("with").ruledBy(STEP.with.form),
    ),
    outputs,
    timeout,
    maxTime,
    allowFailure,
    reads: decoding.expressions.uses.slice(usesBefore)
      .flatMap(({ tree, names }) => seesResult(names) ? tree : []),
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

/** Values of `with` by action. Their contents are checked with the steps that use them. */
export function defaults(summary: string): Rule<Defaults> {
  const base = value("map", summary);
  return rule(
    base.form,
    (value, { path, decoding }) =>
      decodeDefaults(base.parse(value, new Key(decoding, path)), path, decoding),
  );
}

/** Decodes values of `with` by action. */
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
  key: Key,
): DataTemplate {
  const { path, names, form, decoding: { problems, expressions } } = key;
  warnOfBraces(problems, written, path);
  if (!action) return expressions.data(written, key);
  const params = defaults ? (action.merge ?? mergeDicts)(defaults, written) : written;
  for (const { path: inside, at: part, message, hint } of action.problems?.(params) ?? []) {
    addError(problems, "parameter", [...path, ...inside], message, { part, hint });
  }
  const templates = { ...params };
  const later: Record<string, Value> = {};
  for (const { name, expression, rendersLater } of action.parameters ?? []) {
    const text = Object.hasOwn(params, name) ? params[name] : undefined;
    if (rendersLater && text !== undefined) {
      const rule = seeing({ ...names, where: `in "${name}"`, empty: {} }, rendersLater);
      expressions.data(text, { path: [...path, name], names: rule, form });
      delete templates[name];
      later[name] = text;
    }
    if (!expression || typeof text !== "string" || text.trim() === "") continue;
    const rule = seeing({ ...names, where: `in "${name}"`, empty: {} }, expression);
    expressions.expression(text, { path: [...path, name], names: rule, form });
    // A constant, also where it was written in braces by mistake.
    if (holdsTemplate(text)) delete templates[name];
  }
  const data = expressions.data(templates, key, action);
  if (Object.keys(later).length === 0) return data;
  if (data.kind === "constant") return { kind: "constant", value: { ...templates, ...later } };
  const entries = Object.entries(later)
    .map(([name, value]) => [name, { kind: "constant", value }] as const);
  return data.kind === "map" ? { kind: "map", entries: [...data.entries, ...entries] } : data;
}
