import type { Field, FieldTable } from "./fields.ts";
import { BEFORE_ACTION, IN_ITERATION, IN_JOB, IN_STEP, seeing } from "./name_rules.ts";

/** The statistics of the rounds of a job. */
const STATS = ["count", "passed", "failed", "min", "mean", "p50", "p90", "p95", "p99", "max"];

/** `repeat` of a job. */
export const REPEAT = {
  what: "repeat",
  fields: {
    count: {
      type: "integer",
      required: true,
      minimum: 0,
      summary: "How many times the job runs; 0 or more.",
    },
    interval: {
      type: "duration",
      names: IN_JOB,
      summary: "The pause between two rounds; with async, the time from start to start.",
    },
    rate: {
      type: "text",
      pattern: /^\s*(\d+(?:\.\d+)?)\s*\/\s*([smh])\s*$/,
      form: "must be like 20/s, 90/m or 100/h",
      summary: "How many rounds start in a second, a minute or an hour: 20/s; implies async.",
    },
    expect: {
      type: "assertions",
      names: { ...seeing(IN_JOB, ["stats"]), members: { stats: STATS } },
      summary:
        "Decides whether the job passes, instead of the single rounds: stats.count, passed, " +
        "failed, and min, mean, p50, p90, p95, p99 and max in seconds.",
    },
    async: {
      type: "boolean",
      default: "false",
      summary: "Starts rounds without waiting for earlier ones.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `iteration` of a step, where it is a map. */
export const ITERATION = {
  what: "iteration",
  fields: {
    list: {
      type: "iteration",
      names: IN_ITERATION,
      summary: "The entries, or a template that gives a list when the step runs.",
    },
    file: {
      type: "template",
      names: IN_ITERATION,
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
      summary: "Which rows of the file are run: it sees the columns as vars.",
    },
    limit: { type: "integer", minimum: 0, summary: "The maximum number of rows to run." },
    types: {
      type: "map",
      summary: "The types of columns; values of a CSV file are strings otherwise.",
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
      summary: "How often the step may run until then; required with until.",
    },
    interval: {
      type: "duration",
      names: IN_STEP,
      summary: "The time between two passes of until.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `retry` of a step. */
export const RETRY = {
  what: "retry",
  fields: {
    max_attempts: {
      type: "integer",
      required: true,
      minimum: 1,
      summary: "All attempts together; 1 or more.",
    },
    interval: { type: "duration", names: IN_STEP, summary: "The time between two attempts." },
    initial_delay: {
      type: "duration",
      names: BEFORE_ACTION,
      summary: "The time before the first attempt.",
    },
    respect_retry_after: {
      type: "boolean",
      summary: "Waits as long as the header Retry-After of a response says instead, but at most " +
        "the timeout of the step.",
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
