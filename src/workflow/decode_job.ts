import type { Path } from "../source/source.ts";
import { decodeFields } from "./decode_fields.ts";
import { type Decoding, NO_TIME } from "./decode_value.ts";
import { decodeStep, type StepDraft } from "./decode_step.ts";
import { decodeDefaults, type Defaults } from "./decode_with.ts";
import { type FieldTable, JOB_FIELDS, REPEAT } from "./fields.ts";
import type { Job, Repeat } from "./model.ts";
import { addError } from "./problem.ts";
import type { RawMap } from "./raw_value.ts";

const NO_DEFAULTS: Defaults = new Map();

/** A job that may lack what is told as a problem then, and that has no generated id yet. */
export type JobDraft =
  & Omit<Job, "id" | "name" | "steps">
  & Partial<Pick<Job, "id" | "name">>
  & { readonly steps: readonly StepDraft[] };

/** Decodes a job, its steps included; undefined, with a problem told, where it is no mapping. */
export function decodeJob(
  value: unknown,
  path: Path,
  decoding: Decoding,
  table: FieldTable<typeof JOB_FIELDS.fields> = JOB_FIELDS,
): JobDraft | undefined {
  const fields = decodeFields(value, path, table, decoding);
  if (!fields) return undefined;
  const { needs = [], steps: rawSteps = [], defaults: rawDefaults, repeat, ...rest } = fields;
  const defaults = rawDefaults
    ? decodeDefaults(rawDefaults, [...path, "defaults"], decoding)
    : NO_DEFAULTS;
  const decodedRepeat = repeat && decodeRepeat(repeat, [...path, "repeat"], decoding);
  const steps: StepDraft[] = [];
  rawSteps.forEach((rawStep, index) => {
    const step = decodeStep(rawStep, [...path, "steps", index], defaults, decoding);
    if (step) steps.push(step);
  });
  return {
    ...rest,
    index: Number(path.at(-1) ?? 0),
    path,
    needs,
    steps,
    ...decodedRepeat ? { repeat: decodedRepeat } : {},
  };
}

function decodeRepeat(map: RawMap, path: Path, decoding: Decoding): Repeat | undefined {
  const { count, interval = NO_TIME, async = false } = decodeFields(map, path, REPEAT, decoding) ??
    {};
  if (count === undefined) return undefined;
  const { problems, limits } = decoding;
  const at = [...path, "count"];
  if (count < REPEAT.fields.count.minimum) {
    addError(problems, "range", at, `"count" must be 0 or greater, not ${count}`);
  } else if (count > limits.repeatCount) {
    const message = `"count" must be at most ${limits.repeatCount}, not ${count}`;
    addError(problems, "limit", at, message, { hint: "RUNNER_MAX_REPEAT_COUNT sets the limit" });
  }
  return { count, interval, async };
}
