import type { Action } from "../../action/action.ts";
import type { NameRule } from "../model.ts";
import { IN_JOB, seeing } from "./expressions.ts";
import type { Field, FieldTable } from "./field.ts";
import { RATE_FORM } from "./fields.ts";
import { ITERATION } from "./step_maps.ts";

/** The statistics that rounds and steps have. */
const NUMBERS = [
  ...["count", "passed", "failed", "rate", "min", "mean", "p50", "p90", "p95", "p99", "p999"],
  "max",
];
const TRAFFIC = ["bytes_in", "bytes_out", "resent"];
const STEP_STATS = [...NUMBERS, ...TRAFFIC, "codes", "phases"];

/** The phases that each action reports; those without any send and receive nothing that is counted. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  http: ["queue", "dns", "connect", "tls", "first_byte", "download"],
  browser: ["start", "actions"],
};

/** The members of the statistics of a step. */
export function statsOfStep(
  key: string,
  action: Action | undefined,
  isPlugin: boolean,
): NameRule["members"] {
  const at = `stats.steps.${key}`;
  const codes = { [`${at}.codes`]: ["1xx", "2xx", "3xx", "4xx", "5xx", "other"] };
  if (!action || action.embeds || isPlugin) return { [at]: STEP_STATS, ...codes };
  const phases = PHASES[action.name];
  const fields = action.name === "http" ? STEP_STATS : phases ? [...NUMBERS, "phases"] : NUMBERS;
  return { [at]: fields, ...codes, ...phases ? { [`${at}.phases`]: phases } : {} };
}

/** The names that thresholds see. The names of the steps are added for each job. */
const IN_THRESHOLD = {
  ...seeing(IN_JOB, ["stats"]),
  members: {
    stats: [
      ...NUMBERS,
      ...TRAFFIC,
      ...["started", "dropped", "late", "late_max", "busy", "in_flight", "elapsed", "steps"],
    ],
    "stats.steps.*": STEP_STATS,
  },
};

/** The maximum number of rounds under way where none is given. */
export const MAX_IN_FLIGHT = 1000;

/** `load` of a job. */
export const LOAD = {
  what: "load",
  fields: {
    rate: {
      type: "text",
      ...RATE_FORM,
      summary:
        "How many rounds start in a second, a minute or an hour, however long they take: 200/s.",
    },
    users: {
      type: "integer",
      minimum: 1,
      summary: "How many users run one round after another, instead of a rate.",
    },
    for: { type: "duration", names: IN_JOB, summary: "For how long new rounds start: 5m." },
    count: { type: "integer", minimum: 1, summary: "How many rounds start, instead of a time." },
    stages: {
      type: "list",
      summary: "Several rates, or numbers of users, one after another, each for a time.",
    },
    warm_up: {
      type: "duration",
      names: IN_JOB,
      summary: "How long rounds run before that; they are not counted.",
    },
    think_time: {
      type: "duration",
      names: IN_JOB,
      summary: "The pause of each user between two rounds.",
    },
    max_in_flight: {
      type: "integer",
      minimum: 1,
      default: String(MAX_IN_FLIGHT),
      summary: "How many rounds may run at the same time; one more is dropped, and counted.",
    },
    together: {
      type: "boolean",
      default: "false",
      summary: "Whether the first requests of all users are held back until all have a connection.",
    },
    data: {
      type: "rows",
      names: IN_JOB,
      namesFile: "any",
      summary:
        "A file or a list: each round takes the next row, whose columns are added to vars, and " +
        "starts over after the last row.",
    },
    each: {
      type: "text",
      choices: ["once"],
      summary: "once: each row of data is taken once, and the job ends with the last one.",
    },
    keep: {
      type: "text",
      choices: ["cookies"],
      summary: "cookies: each user keeps them from round to round.",
    },
    expect: {
      type: "assertions",
      names: IN_THRESHOLD,
      summary:
        "Thresholds that decide whether the job passes; stats.failed == 0 is one of them, unless " +
        "they say how many rounds may fail: " +
        "stats.p95 < 0.3, stats.steps.<id>.p99 < 1, stats.failed / stats.count < 0.01.",
    },
    stop_if: {
      type: "expression",
      names: IN_THRESHOLD,
      summary: "Ends the job as failed once it is true; evaluated every second after the warm-up.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** A stage of `load`. */
export const LOAD_STAGE = {
  what: "a stage",
  fields: {
    rate: { ...LOAD.fields.rate, summary: "How many rounds start in a second: 200/s." },
    users: { type: "integer", minimum: 0, summary: "How many users run one round after another." },
    for: { type: "duration", names: IN_JOB, required: true, summary: "How long it takes." },
    ramp: {
      type: "boolean",
      default: "false",
      summary: "Gets there evenly from the previous stage, or from 0.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

const { list, file, format, where, limit, types } = ITERATION.fields;

/** `data` of `load`. */
export const LOAD_DATA = {
  what: "data",
  fields: {
    file: { ...file, names: IN_JOB, summary: "A file with the rows, relative to this file." },
    list: { ...list, names: IN_JOB, summary: "The rows, or a template that returns a list." },
    format,
    where: {
      ...where,
      names: IN_JOB,
      summary: "Selects rows of the file; it reads the columns as vars.",
    },
    limit: { ...limit, summary: "The maximum number of rows that are used." },
    types,
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;
