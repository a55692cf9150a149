import { formatDuration } from "../../base/value/duration.ts";
import {
  BEFORE_ACTION,
  IN_ITERATION,
  IN_JOB,
  IN_JOB_NAME,
  IN_MATRIX,
  IN_STEP,
  IN_STEP_VARS,
  IN_WORKFLOW_VARS,
  seeing,
} from "./expressions.ts";
import { FLAKY } from "../step_facts.ts";
import type { Field, FieldTable } from "./field.ts";

/** The milliseconds that an attempt may take where the step sets no `timeout`, or one of 0. */
export const STEP_TIMEOUT = 5 * 60_000;

/** The top level of a workflow. */
export const WORKFLOW = {
  what: "the workflow",
  fields: {
    name: { type: "text", required: true, summary: "Shown at the top of the report." },
    description: { type: "text", summary: "Free text." },
    vars: {
      type: "data",
      names: IN_WORKFLOW_VARS,
      summary: "Variables of all jobs and steps; only they can read environment variables.",
    },
    tags: { type: "names", summary: "Tags of all its jobs, for `--tags`." },
    jobs: { type: "list", required: true, summary: "The jobs." },
    finally: {
      type: "list",
      summary: "Cleanup steps, which run after all jobs, even after a failure or an interruption.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** A job. */
export const JOB_FIELDS = {
  what: "a job",
  fields: {
    name: { type: "template", names: IN_JOB_NAME, required: true, summary: "Shown in the report." },
    id: {
      type: "text",
      summary: "The name of the job in the needs of other jobs.",
      default: "job_<index>",
    },
    needs: { type: "names", summary: "Ids of the jobs that must finish before this one." },
    when: {
      type: "text",
      choices: ["always", "failure"],
      summary:
        "always: starts the job when its needs have finished in any state; failure: only if one of them failed. By default, it starts if all of them passed or were skipped on purpose.",
    },
    steps: { type: "list", required: true, summary: "The steps, which run one after another." },
    on_failure: {
      type: "text",
      choices: ["continue", "stop"],
      default: "continue",
      summary: "Whether the steps after a failed step run.",
    },
    finally: {
      type: "list",
      summary:
        "Cleanup steps, which run after each round that started, even after a failure or an interruption.",
    },
    skipif: { type: "expression", names: IN_JOB, summary: "Skips the job if it is true." },
    allow_failure: {
      type: "expression",
      names: seeing(IN_JOB, [FLAKY]),
      summary:
        "If it is true, a failure of the job is a known failure: it is shown, and does not fail the run. `flaky`: it may also pass.",
    },
    defaults: {
      type: "map",
      summary: "Default values of `with`, by the name of the action.",
    },
    repeat: { type: "map", summary: "Runs the job several times." },
    load: {
      type: "map",
      summary: "Runs the job under load, at a rate or by users, and measures it.",
    },
    matrix: {
      type: "matrix",
      names: IN_MATRIX,
      summary: "Runs the job once for each combination of values; each is a separate job.",
    },
    lock: {
      type: "text",
      pattern: /^[A-Za-z0-9_.-]+$/,
      form: "must be made of letters, digits, _, . and -",
      summary:
        "Jobs with the same lock never run at the same time, even in different files of a suite.",
    },
    tags: {
      type: "names",
      summary: "Tags for `--tags`, in addition to those of the workflow.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** A job in a job file; keys without effect there are reported elsewhere. */
export const JOB_FILE_FIELDS = {
  ...JOB_FIELDS,
  what: "a job file",
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** A step. */
export const STEP_FIELDS = {
  what: "a step",
  fields: {
    uses: {
      type: "text",
      required: true,
      whenMissing: (step) =>
        Object.hasOwn(step, "test") ? 'a step that only asserts is "uses: assert"' : undefined,
      summary: "The action.",
    },
    name: { type: "template", names: BEFORE_ACTION, summary: "Shown in the report." },
    id: {
      type: "text",
      pattern: /^[a-z0-9_-]+$/,
      form: "must be made of a-z, 0-9, _ and -",
      summary: "The name of the step in `outputs`: a-z, 0-9, _ and -.",
    },
    with: { type: "map", names: BEFORE_ACTION, summary: "The parameters of the action." },
    test: {
      type: "assertions",
      names: IN_STEP,
      summary: "Fails the step if it is false; in a list, each false one is a failure. " +
        "`{ that: …, says: … }` adds a message.",
    },
    echo: { type: "template", names: IN_STEP, summary: "Text to print in the report." },
    vars: { type: "data", names: IN_STEP_VARS, summary: "Variables of this step." },
    outputs: {
      type: "outputs",
      names: IN_STEP,
      summary: "Values for later steps and jobs; the step needs an id.",
    },
    skipif: {
      type: "expression",
      names: BEFORE_ACTION,
      summary: "Skips the step if it is true.",
    },
    allow_failure: {
      type: "expression",
      names: seeing(IN_STEP, [FLAKY]),
      summary:
        "If it is true, a failure of the step is a known failure: it is shown, and does not fail the job. `flaky`: it may also pass.",
    },
    wait: { type: "duration", names: BEFORE_ACTION, summary: "How long to wait before the step." },
    timeout: {
      type: "duration",
      names: BEFORE_ACTION,
      default: formatDuration(STEP_TIMEOUT),
      summary: "How long an attempt may take before it is stopped.",
    },
    snapshot: {
      type: "snapshot",
      summary:
        "Compares the result with that of an earlier run, kept in `__snapshots__` beside the " +
        "workflow: true, or a map.",
    },
    max_time: {
      type: "duration",
      names: BEFORE_ACTION,
      summary: "How long the action may take: a slower one fails the step, but is not stopped.",
    },
    iteration: {
      type: "iteration",
      names: IN_ITERATION,
      summary: "Runs the step once for each entry of a list, whose keys are added to vars, for " +
        "each combination of some lists, for each row of a file, or until an expression is true.",
    },
    retry: { type: "map", summary: "Runs the step again when it fails." },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** An assertion with words of its own; its expressions see what those of its key do. */
export const ASSERTION = {
  what: "an assertion",
  fields: {
    that: {
      type: "expression",
      names: IN_STEP,
      required: true,
      summary: "The expression that must be true.",
    },
    says: {
      type: "template",
      names: IN_STEP,
      summary: "A message, which reports show first if the expression is false.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** The form of a rate. */
export const RATE_FORM = {
  pattern: /^\s*(\d+(?:\.\d+)?)\s*\/\s*([smh])\s*$/,
  form: "must be like 20/s, 90/m or 100/h",
};

const RATE_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** How many rounds start in how many milliseconds; undefined if the text is no rate. */
export function readRate(
  rate: string,
): { readonly count: number; readonly milliseconds: number } | undefined {
  const [, count, unit] = RATE_FORM.pattern.exec(rate) ?? [];
  return unit === undefined ? undefined : { count: Number(count), milliseconds: RATE_UNITS[unit]! };
}

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
    async: {
      type: "boolean",
      default: "false",
      summary: "Starts rounds without waiting for earlier ones.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `matrix` of a job, beside the names of its values. */
export const MATRIX = {
  what: "matrix",
  fields: {
    include: {
      type: "iteration",
      names: IN_MATRIX,
      summary:
        "A list of maps. Each adds its values to the combinations that it matches, or becomes one more combination.",
    },
    exclude: {
      type: "iteration",
      names: IN_MATRIX,
      summary: "A list of maps: the combinations with these values are left out.",
    },
    parallel: {
      type: "integer",
      minimum: 1,
      default: "no limit",
      summary: "How many of the jobs run at once; the others wait in order.",
    },
    fail_fast: {
      type: "boolean",
      default: "false",
      summary: "Whether nothing new starts in any of the jobs once one of them has failed.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;
