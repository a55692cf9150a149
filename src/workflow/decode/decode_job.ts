import { type Dict, isDict } from "../../base/value/value.ts";
import type { Path } from "../../base/source.ts";
import type { Job, Repeat } from "../model.ts";
import { addError, addWarning } from "../problem.ts";
import { decodeFields } from "./decode_fields.ts";
import {
  decodeCleanup,
  decodeDefaults,
  decodeSteps,
  type Defaults,
  type StepDraft,
} from "./decode_step.ts";
import { type Decoding, NO_TIME } from "./decode_value.ts";
import { type FieldTable, JOB_FIELDS, REPEAT } from "./fields.ts";

/** A job that may be incomplete, with a problem reported, and that has no generated id yet. */
export type JobDraft =
  & Omit<Job, "id" | "name" | "steps">
  & Partial<Pick<Job, "id" | "name">>
  & { readonly steps: readonly StepDraft[] };

export const NO_DEFAULTS: Defaults = new Map();

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
  if (when === "failure" && needs.length === 0 && isDict(value) && !value.needs) {
    const message = "a job without needs never starts";
    addWarning(decoding.problems, "never-runs", [...path, "when"], message, {
      hint: "it starts if one of the jobs in its needs failed",
    });
  }
  const defaults = rawDefaults
    ? decodeDefaults(rawDefaults, [...path, "defaults"], decoding)
    : NO_DEFAULTS;
  const decodedRepeat = repeat && decodeRepeat(repeat, [...path, "repeat"], decoding);
  const steps = decodeSteps(rawSteps, [...path, "steps"], defaults, decoding);
  const at = [...path, "finally"];
  const cleanup = decodeCleanup(rawFinally, at, defaults, decoding, rawSteps.length, [
    "run",
    "job",
  ]);
  return {
    ...rest,
    index: Number(path.at(-1) ?? 0),
    path,
    needs,
    steps: [...steps, ...cleanup],
    when: when as Job["when"],
    stopsAtFailure: onFailure === "stop" ? true : undefined,
    repeat: decodedRepeat,
  };
}

function decodeRepeat(map: Dict, path: Path, decoding: Decoding): Repeat | undefined {
  const { count, interval = NO_TIME, async, rate, expect } =
    decodeFields(map, path, REPEAT, decoding) ?? {};
  if (count === undefined) return undefined;
  const { problems, limits } = decoding;
  if (count > limits.repeatCount) {
    const message = `"count" must be at most ${limits.repeatCount}, not ${count}`;
    addError(problems, "limit", [...path, "count"], message, {
      hint: "RUNNER_MAX_REPEAT_COUNT sets the limit",
    });
  }
  const period = rate === undefined
    ? undefined
    : decodeRate(rate, map, [...path, "rate"], decoding);
  return { count, interval, async: async ?? rate !== undefined, period, expect };
}

const RATE_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** The milliseconds from the start of one round to that of the next. */
function decodeRate(
  rate: string,
  map: Dict,
  path: Path,
  { problems }: Decoding,
): number | undefined {
  const conflicts = [
    ...Object.hasOwn(map, "interval") ? ["interval"] : [],
    ...map.async === false ? ["async"] : [],
  ];
  for (const key of conflicts) {
    addError(problems, "rate", path, `"rate" and "${key}" cannot be combined`, {
      hint: "rate says when rounds start, whatever became of those before",
    });
  }
  const { pattern, form } = REPEAT.fields.rate;
  const [, number, unit] = pattern.exec(rate) ?? [];
  if (Number(number) > 0) return RATE_UNITS[unit!]! / Number(number);
  addError(problems, "rate", path, `"rate" ${form}, not "${rate}"`);
  return undefined;
}
