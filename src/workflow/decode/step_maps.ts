/** The keys of the maps that a step may have. */
import { BEFORE_ACTION, IN_ITERATION, IN_STEP } from "./expressions.ts";
import { MATRIX } from "./fields.ts";
import type { Field, FieldTable } from "./field.ts";

/** `iteration` of a step, where it is a map. */
export const ITERATION = {
  what: "iteration",
  fields: {
    list: {
      type: "iteration",
      names: IN_ITERATION,
      summary: "The entries, or a template that returns a list when the step runs.",
    },
    file: {
      type: "template",
      names: IN_ITERATION,
      namesFile: "any",
      summary: "A file with the entries, relative to the file of the step.",
    },
    format: {
      type: "text",
      choices: ["csv", "json", "jsonl", "yaml"],
      default: "by the extension",
      summary: "The format of the file.",
    },
    where: {
      type: "expression",
      names: IN_ITERATION,
      summary: "Selects rows of the file; it reads the columns as vars.",
    },
    limit: { type: "integer", minimum: 0, summary: "The maximum number of rows to run." },
    matrix: {
      type: "matrix",
      names: IN_ITERATION,
      summary: "Named lists; the entries are all combinations of their values.",
    },
    types: {
      type: "types",
      choices: ["auto"],
      summary:
        "The types of columns, or auto to infer them from the values of a CSV file; by default, all are strings.",
    },
    parallel: {
      type: "integer",
      minimum: 1,
      default: "1",
      summary: "How many entries are run at once.",
    },
    until: {
      type: "expression",
      names: IN_STEP,
      summary: "Runs the step until it is true; evaluated after each pass.",
    },
    max: {
      type: "integer",
      minimum: 1,
      summary: "The maximum number of passes; required with until.",
    },
    interval: {
      type: "duration",
      names: IN_STEP,
      summary: "The time between two passes of until.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `matrix` of an `iteration`, beside the names of its values. */
export const ITERATION_MATRIX = {
  what: "matrix",
  fields: {
    include: { ...MATRIX.fields.include, names: IN_ITERATION },
    exclude: { ...MATRIX.fields.exclude, names: IN_ITERATION },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `retry` of a step. */
export const RETRY = {
  what: "retry",
  fields: {
    max_attempts: {
      type: "integer",
      required: true,
      unless: "for",
      minimum: 1,
      summary: "The maximum number of attempts, 1 or more. Without it, `for` limits them.",
    },
    for: {
      type: "duration",
      names: BEFORE_ACTION,
      summary:
        "The time for all attempts together, from the start of the first. When it is over, the current attempt is stopped, and no other one starts.",
    },
    interval: {
      type: "duration",
      names: IN_STEP,
      default: "0s; 1s where only `for` limits the attempts",
      summary: "The time between two attempts.",
    },
    initial_delay: {
      type: "duration",
      names: BEFORE_ACTION,
      summary: "The time before the first attempt.",
    },
    respect_retry_after: {
      type: "boolean",
      summary:
        "Waits as long as the Retry-After header of a response asks for, instead of the interval, but at most the timeout of the step.",
    },
    backoff: {
      type: "number",
      minimum: 1,
      default: "1",
      summary: "The factor by which the interval grows after each attempt.",
    },
    max_interval: {
      type: "duration",
      names: IN_STEP,
      summary: "The upper limit of a growing interval.",
    },
    jitter: {
      type: "boolean",
      default: "false",
      summary: "Waits a random time between half the interval and all of it.",
    },
    until: {
      type: "expression",
      names: IN_STEP,
      summary:
        "Polls: repeats the step until it is true, and then evaluates outputs and test once.",
    },
    stop: {
      type: "expression",
      names: IN_STEP,
      summary: "Gives up if it is true after an attempt that did not succeed.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `snapshot` of a step, where it is a map. */
export const SNAPSHOT = {
  what: "snapshot",
  fields: {
    of: {
      type: "expression",
      names: IN_STEP,
      default: "res.body",
      summary: "The value that is compared.",
    },
    name: {
      type: "text",
      pattern: /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/,
      form: "must be made of letters, digits, _, - and .",
      summary: "The name of the snapshot (default: the id of the step).",
    },
    ignore: { type: "names", summary: "JSONPaths of values that are not compared." },
    match: {
      type: "map",
      summary:
        "Rules for the values at JSONPaths: uuid, email, url, ip, iso_date, a type such as " +
        "integer, or a regular expression between slashes.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;
