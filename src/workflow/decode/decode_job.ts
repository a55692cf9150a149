import type { Path } from "../../base/source.ts";
import type { Dict } from "../../base/value/value.ts";
import { decodeFields } from "./decode_fields.ts";
import { JOB_FINALLY_STEP_FIELDS } from "./finally_fields.ts";
import { decodeIteration } from "./decode_iteration.ts";
import { decodeSnapshot } from "./decode_snapshot.ts";
import { type Decoding, isRawMap, NO_TIME, type RawMap } from "./decode_value.ts";
import { decodeDefaults, decodeUses, decodeWith, type Defaults } from "./decode_with.ts";
import { REPEAT, RETRY } from "./nested_fields.ts";
import { type FieldTable, JOB_FIELDS, STEP_FIELDS, STEP_TIMEOUT } from "./fields.ts";
import type { Duration, Job, Repeat, Retry, Step } from "../model.ts";
import { addError, addWarning } from "../problem.ts";

const NO_DEFAULTS: Defaults = new Map();

/** A job that may be incomplete, with a problem reported, and that has no generated id yet. */
export type JobDraft =
  & Omit<Job, "id" | "name" | "steps">
  & Partial<Pick<Job, "id" | "name">>
  & { readonly steps: readonly StepDraft[] };

/** Decodes a job, its steps included; undefined, with a problem reported, if it is not a mapping. */
export function decodeJob(
  value: unknown,
  path: Path,
  decoding: Decoding,
  table: FieldTable<typeof JOB_FIELDS.fields> = JOB_FIELDS,
): JobDraft | undefined {
  const fields = decodeFields(value, path, table, decoding);
  if (!fields) return undefined;
  const {
    needs = [],
    steps: rawSteps = [],
    finally: rawFinally = [],
    defaults: rawDefaults,
    repeat,
    when,
    on_failure: onFailure,
    ...rest
  } = fields;
  if (when === "failure" && needs.length === 0 && isRawMap(value) && !value.needs) {
    addWarning(
      decoding.problems,
      "never-runs",
      [...path, "when"],
      "a job without needs never starts",
      {
        hint: "it starts if one of the jobs in its needs failed",
      },
    );
  }
  const defaults = rawDefaults
    ? decodeDefaults(rawDefaults, [...path, "defaults"], decoding)
    : NO_DEFAULTS;
  const decodedRepeat = repeat && decodeRepeat(repeat, [...path, "repeat"], decoding);
  const steps = decodeSteps(rawSteps, [...path, "steps"], { defaults }, decoding);
  const cleanup = decodeSteps(rawFinally, [...path, "finally"], {
    defaults,
    cleanupAfter: rawSteps.length,
    table: JOB_FINALLY_STEP_FIELDS,
  }, decoding);
  return {
    ...rest,
    index: Number(path.at(-1) ?? 0),
    path,
    needs,
    steps: [...steps, ...cleanup],
    ...when === "always" || when === "failure" ? { when } : {},
    ...onFailure === "stop" ? { stopsAtFailure: true } : {},
    ...decodedRepeat ? { repeat: decodedRepeat } : {},
  };
}

function decodeRepeat(map: RawMap, path: Path, decoding: Decoding): Repeat | undefined {
  const { count, interval = NO_TIME, async, rate, expect } =
    decodeFields(map, path, REPEAT, decoding) ?? {};
  if (count === undefined) return undefined;
  const { problems, limits } = decoding;
  const at = [...path, "count"];
  if (count < REPEAT.fields.count.minimum) {
    addError(problems, "range", at, `"count" must be 0 or greater, not ${count}`);
  } else if (count > limits.repeatCount) {
    const message = `"count" must be at most ${limits.repeatCount}, not ${count}`;
    addError(problems, "limit", at, message, { hint: "RUNNER_MAX_REPEAT_COUNT sets the limit" });
  }
  const period = rate === undefined
    ? undefined
    : decodeRate(rate, map, [...path, "rate"], decoding);
  return {
    count,
    interval,
    async: async ?? rate !== undefined,
    ...period === undefined ? {} : { period },
    ...expect ? { expect } : {},
  };
}

const RATE_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** The milliseconds from the start of one round to that of the next. */
function decodeRate(
  rate: string,
  map: RawMap,
  path: Path,
  { problems }: Decoding,
): number | undefined {
  for (const [key, wrong] of [["interval", true], ["async", map.async === false]] as const) {
    if (!wrong || !Object.hasOwn(map, key)) continue;
    addError(problems, "rate", path, `"rate" and "${key}" cannot be combined`, {
      hint: "rate says when rounds start, whatever became of those before",
    });
  }
  const [, number, unit] = REPEAT.fields.rate.pattern.exec(rate) ?? [];
  if (Number(number) > 0) return RATE_UNITS[unit!]! / Number(number);
  addError(problems, "rate", path, `"rate" must be like 20/s, 90/m or 100/h, not "${rate}"`);
  return undefined;
}

const DEFAULT_TIMEOUT: Duration = { kind: "constant", milliseconds: STEP_TIMEOUT };

/** A step that may lack its action, with a problem reported. */
export type StepDraft = Omit<Step, "action"> & Partial<Pick<Step, "action">>;

/** The settings that the steps of a list share. */
interface StepsOf {
  readonly defaults?: Defaults;
  /** Of steps that clean up: how many steps are before them. */
  readonly cleanupAfter?: number;
  readonly table?: FieldTable<typeof STEP_FIELDS.fields>;
}

/** Decodes the steps of a list. */
export function decodeSteps(
  list: readonly unknown[],
  path: Path,
  { defaults = NO_DEFAULTS, cleanupAfter, table = STEP_FIELDS }: StepsOf,
  decoding: Decoding,
): readonly StepDraft[] {
  return list.flatMap((value, index) => {
    const step = decodeStep(value, [...path, index], defaults, table, decoding);
    if (!step) return [];
    return cleanupAfter === undefined
      ? step
      : { ...step, index: cleanupAfter + index, isCleanup: true as const };
  });
}

/** Decodes a step; undefined, with a problem reported, if it is not a mapping. */
function decodeStep(
  value: unknown,
  path: Path,
  defaults: Defaults,
  table: FieldTable<typeof STEP_FIELDS.fields>,
  decoding: Decoding,
): StepDraft | undefined {
  const fields = decodeFields(value, path, table, decoding);
  if (!fields) return undefined;
  const {
    uses,
    with: own = {},
    retry,
    iteration,
    outputs = [],
    timeout,
    max_time: maxTime,
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
  const decodedIteration = iteration &&
    decodeIteration(
      iteration.written,
      [...path, "iteration"],
      table.fields.iteration.names,
      decoding,
    );
  const action = uses === undefined ? undefined : decodeUses(uses, [...path, "uses"], decoding);
  const decodedSnapshot = snapshot &&
    decodeSnapshot(snapshot.written, [...path, "snapshot"], table.fields.test.names, decoding);
  const decodedRetry = retry && decodeRetry(retry, [...path, "retry"], decoding);
  // A value that is not a mapping was reported; its missing parameters need no report.
  const isWithMapping = isRawMap((value as RawMap).with ?? {});
  const inherited = action && defaults.get(action.name);
  return {
    ...rest,
    ...action ? { action } : {},
    index: Number(path.at(-1)),
    path,
    with: decodeWith(
      isWithMapping ? action : undefined,
      own as Dict,
      inherited,
      [...path, "with"],
      table.fields.with.names,
      decoding,
    ),
    outputs,
    timeout: timeout ?? DEFAULT_TIMEOUT,
    ...maxTime ? { maxTime } : {},
    ...decodedSnapshot ? { snapshot: decodedSnapshot } : {},
    ...decodedIteration ? { iteration: decodedIteration } : {},
    ...decodedRetry ? { retry: decodedRetry } : {},
  };
}

function decodeRetry(map: RawMap, path: Path, decoding: Decoding): Retry | undefined {
  const fields = decodeFields(map, path, RETRY, decoding);
  const {
    max_attempts: maxAttempts,
    interval = NO_TIME,
    initial_delay: initialDelay = NO_TIME,
    respect_retry_after: respectsRetryAfter = false,
    max_interval: maxInterval,
    backoff = 1,
    jitter = false,
    until,
    stop,
  } = fields ?? {};
  if (maxAttempts === undefined) return undefined;
  const { problems, limits } = decoding;
  const at = [...path, "max_attempts"];
  if (maxAttempts < RETRY.fields.max_attempts.minimum) {
    addError(problems, "range", at, `"max_attempts" must be at least 1, not ${maxAttempts}`);
  } else if (maxAttempts > limits.attempts) {
    const message = `"max_attempts" must be at most ${limits.attempts}, not ${maxAttempts}`;
    addError(problems, "limit", at, message, { hint: "RUNNER_MAX_ATTEMPTS sets the limit" });
  }
  if (backoff < RETRY.fields.backoff.minimum) {
    const message = `"backoff" must be at least 1, not ${backoff}`;
    addError(problems, "range", [...path, "backoff"], message);
  }
  return {
    ...{ maxAttempts, interval, initialDelay, backoff, jitter, respectsRetryAfter },
    ...maxInterval ? { maxInterval } : {},
    ...until ? { until } : {},
    ...stop ? { stop } : {},
  };
}
