import {
  choice,
  flag,
  integer,
  list,
  map,
  readFields,
  type Rule,
  text,
} from "../../action/rule.ts";
import type { Path } from "../../base/source.ts";
import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { plainTemplate } from "../../expr/template.ts";
import type { Document, Job, Repeat, Step, Workflow } from "../model.ts";
import { addError, addHint, addWarning, type Problem } from "../problem.ts";
import { FLAKY } from "../step_facts.ts";
import {
  cleanup,
  decodeDefaults,
  type Defaults,
  defaults,
  mergeDefaults,
  step,
  type StepDraft,
} from "./decode_step.ts";
import { IN_JOB, IN_JOB_NAME, IN_WORKFLOW_VARS, seeing } from "./expressions.ts";
import {
  data,
  type Decoding,
  expression,
  Key,
  late,
  limited,
  names,
  NO_TIME,
  pattern,
  record,
  rule,
  template,
  time,
  valueOr,
} from "./key.ts";
import { checkNeeds } from "./check_needs.ts";

/** A workflow that may be incomplete, with a problem reported. */
export type WorkflowDraft =
  & Omit<Workflow, "name" | "jobs">
  & Partial<Pick<Workflow, "name">>
  & { readonly jobs: readonly IdentifiedJob[] };

/** A job that may be incomplete, with a problem reported, and that has no generated id yet. */
export type JobDraft =
  & Omit<Job, "id" | "name" | "steps">
  & Partial<Pick<Job, "id" | "name">>
  & { readonly steps: readonly StepDraft[] };

const repeat = map({
  count: limited(
    integer("How many times the job runs; 0 or more.", { min: 0 }),
    ({ repeatCount }) => repeatCount,
    "RUNNER_MAX_REPEAT_COUNT",
  ).required(),
  interval: time(
    "The pause between two rounds; with async, the time from start to start.",
    IN_JOB,
  ).default(NO_TIME).with({ default: undefined }),
  async: flag("Starts rounds without waiting for earlier ones.").default(false),
}, "Runs the job several times.").key({ what: "repeat", title: "repeat" })
  .as((repeat): Repeat => repeat);

const JOB = {
  name: template("Shown in the report.", IN_JOB_NAME).required(),
  id: text("The name of the job in the needs of other jobs.").with({ default: "job_<index>" }),
  needs: names("Ids of the jobs that must finish before this one."),
  when: choice(
    ["always", "failure"],
    "always: starts the job when its needs have finished in any state; failure: only if one of them failed. By default, it starts if all of them passed or were skipped on purpose.",
  ),
  steps: list(step, "The steps, which run one after another.").required(),
  on_failure: choice(["continue", "stop"], "Whether the steps after a failed step run.")
    .with({ default: "continue" }),
  finally: cleanup(
    "Cleanup steps, which run after each round that started, even after a failure or an interruption.",
    ["job"],
  ),
  skipif: expression("Skips the job if it is true.", IN_JOB),
  allow_failure: expression(
    "If it is true, a failure of the job is an allowed failure: it is shown, and does not fail the run. `flaky`: it may also pass.",
    seeing(IN_JOB, [FLAKY]),
  ),
  defaults: defaults("Default values of `with`, by the name of the action."),
  repeat,
  load: late("load", "map", "Runs the job under load, at a rate or by users, and measures it."),
  matrix: late(
    "matrix",
    "map",
    "Runs the job once for each combination of values; each is a separate job.",
  ),
  lock: pattern(
    /^[A-Za-z0-9_.-]+$/,
    "must be made of letters, digits, _, . and -",
    "Jobs with the same lock never run at the same time, even in different files of a suite.",
  ),
  tags: tags("Tags for `--tags`, in addition to those of the workflow."),
};

export const job = record(JOB, "", decodeJob).key({ what: "a job", title: "Job" });

/** A job in a job file; keys without effect there are reported elsewhere. */
export const JOB_FILE = record(JOB, "", (map, key) => decodeJob(map, key, true))
  .key({ what: "a job file" });

const WORKFLOW_KEYS = {
  name: text("Shown at the top of the report.").required(),
  description: text("Free text."),
  vars: data(
    "Variables of all jobs and steps; only they can read environment variables.",
    IN_WORKFLOW_VARS,
  ),
  tags: tags("Tags of all its jobs, for `--tags`."),
  jobs: jobs("The jobs."),
  finally: cleanup(
    "Cleanup steps, which run after all jobs, even after a failure or an interruption.",
    [],
  ),
};

/** The top level of a workflow. */
export const WORKFLOW = record(
  WORKFLOW_KEYS,
  "",
  (map, key) => readFields(WORKFLOW_KEYS, map, key).values,
).key({ what: "the workflow", title: "Workflow" });

/** Adds the defaults from outside the document. */
function withOuterDefaults({ defaults }: Document, decoding: Decoding): Decoding {
  if (!defaults) return decoding;
  const all = defaults.map((one) => decodeDefaults(one, ["defaults"], decoding));
  return { ...decoding, defaults: all.reduce((a, b) => mergeDefaults(a, b, decoding)) };
}

/** A job that has its id. */
export type IdentifiedJob = JobDraft & { readonly id: string };

const NO_VARS: DataTemplate = { kind: "constant", value: {} };

/**
 * Decodes a document; undefined, with a problem reported, if it is not a mapping. Reports
 * all mistakes, not only the first.
 */
export function decodeWorkflow(document: Document, outer: Decoding): WorkflowDraft | undefined {
  const { problems } = outer;
  reportReplacedKeys(document, problems);
  const decoding = withOuterDefaults(document, outer);
  const fields = valueOr(() => WORKFLOW.read(valueOf(document), new Key(decoding)));
  if (!fields) return undefined;
  const { jobs: drafts = [], finally: cleanup = [], vars = NO_VARS, ...rest } = fields;
  const jobs = identify(drafts);
  checkNeeds(jobs, problems);
  const all = cleanup.length === 0 ? jobs : [...jobs, makeCleanup(cleanup, jobs)];
  // Ids of steps are unique in all jobs together, because outputs are named by them.
  checkUnique("job", all, problems);
  checkUnique("step", all.flatMap(({ steps }) => steps), problems);
  return { ...rest, vars, jobs: all, document };
}

/** The content of a document without defaults from outside, which are no key of a workflow. */
function valueOf({ value, defaults }: Document): Value {
  if (!defaults || !isDict(value)) return value as Value;
  const { defaults: _, ...rest } = value;
  return rest;
}

/** A list of jobs; those in a map by their ids are decoded nevertheless. */
function jobs(summary: string): Rule<readonly JobDraft[]> {
  const base = list(job, summary);
  return rule<readonly JobDraft[]>(base.form, (value, key) => {
    const values = isDict(value) ? Object.values(value) : [];
    if (values.length === 0 || !values.every(isDict)) return base.parse(value, key);
    const isGithub = values.some((job) => Object.hasOwn(job, "runs-on"));
    key.wrong(
      '"jobs" must be a list, not a map',
      isGithub
        ? "this looks like a GitHub Actions workflow, which runner does not run"
        : 'begin each job with "- ", and give its name as "id"',
      { code: "jobs" },
    );
    return Object.entries(value as Dict).flatMap(([id, value], index) => {
      const draft = valueOr(() => job.read(value, key.of(id)));
      return draft ? { ...draft, id: draft.id ?? id, index } : [];
    });
  }).required();
}

/** The workflow of a draft, if it is complete. */
export function completeWorkflow({ name, jobs, ...rest }: WorkflowDraft): Workflow | undefined {
  const complete = jobs.flatMap((job) => completeJob(job, job.id) ?? []);
  if (name === undefined || complete.length < jobs.length) return undefined;
  return { ...rest, name, jobs: complete };
}

/** The job of a draft, if it is complete. */
export function completeJob(draft: JobDraft, id: string): Job | undefined {
  const { name, steps } = draft;
  if (name === undefined || !steps.every(isComplete)) return undefined;
  return { ...draft, id, name, steps };
}

function isComplete(step: StepDraft): step is Step {
  return step.action !== undefined;
}

/** Keys of a job that relate it to other jobs, and mean nothing in a job file. */
const WITHOUT_EFFECT = [
  ...["needs", "when", "repeat", "load", "matrix", "tags", "allow_failure", "lock"],
];

/** Decodes a document that is one job; undefined, with a problem reported, if it is not a mapping. */
export function decodeJobFile(document: Document, outer: Decoding): JobDraft | undefined {
  const { value } = document;
  // What is wrong with the defaults is reported with the workflow.
  const { defaults } = withOuterDefaults(document, { ...outer, problems: [] });
  const key = new Key({ ...outer, defaults });
  const draft = valueOr(() => JOB_FILE.read(value as Value, key));
  if (!draft || !isDict(value)) return undefined;
  for (const key of WITHOUT_EFFECT) {
    if (!Object.hasOwn(value, key)) continue;
    addWarning(outer.problems, "no-effect", [key], `"${key}" has no effect in a job file`, {
      part: "key",
      hint: "write it in the job of the workflow that embeds the file",
    });
  }
  checkUnique("step", draft.steps, outer.problems);
  const none = { repeat: undefined, load: undefined, matrix: undefined, lock: undefined };
  return { ...draft, needs: [], ...none };
}

/** The id of the job that is made of the `finally` of a workflow. */
const FINALLY = "finally";

/** The steps that clean up after all jobs, as a job that needs all that no other job needs. */
function makeCleanup(
  steps: readonly StepDraft[],
  jobs: readonly IdentifiedJob[],
): IdentifiedJob {
  const needed = new Set(jobs.flatMap(({ needs }) => needs));
  return {
    id: unusedId(FINALLY, new Set(jobs.map(({ id }) => id))),
    index: jobs.reduce((last, { index }) => Math.max(last, index + 1), 0),
    path: [FINALLY],
    isCleanup: true,
    name: plainTemplate("cleanup"),
    needs: jobs.flatMap(({ id }) => needed.has(id) ? [] : id),
    steps,
  };
}

/** The jobs of an earlier file do not run; other keys are often replaced on purpose. */
function reportReplacedKeys({ replaced }: Document, problems: Problem[]): void {
  for (const { key, before, after } of replaced) {
    if (key === "jobs") {
      const message = `"jobs" of '${after}' replaces "jobs" of '${before}', which do not run`;
      addWarning(problems, "replaced-key", [key], message, {
        part: "key",
        hint: "joined files are one workflow: run each of them by itself to run all jobs",
      });
    } else {
      const message = `"${key}" of '${after}' replaces "${key}" of '${before}'`;
      addHint(problems, "replaced-key", [key], message, { part: "key" });
    }
  }
}

/** Gives jobs without an id one: `job_<index>`, unless another job has it. */
function identify(drafts: readonly JobDraft[]): readonly IdentifiedJob[] {
  const taken = new Set(drafts.map(({ id }) => id));
  return drafts.map((draft) => {
    const id = draft.id ?? unusedId(`job_${draft.index}`, taken);
    taken.add(id);
    return { ...draft, id };
  });
}

function unusedId(id: string, taken: ReadonlySet<string | undefined>): string {
  let unused = id;
  while (taken.has(unused)) unused += "_";
  return unused;
}

/** Reports each duplicate id. */
function checkUnique(
  kind: string,
  items: readonly { readonly id?: string; readonly path: Path }[],
  problems: Problem[],
): void {
  const seen = new Set<string>();
  for (const { id, path } of items) {
    if (id === undefined) continue;
    if (seen.has(id)) {
      const message = `the ${kind} id "${id}" is already defined`;
      addError(problems, "duplicate-id", [...path, "id"], message);
    }
    seen.add(id);
  }
}

/** A tag that a tag expression can contain, where these words are operators. */
const TAG = /^(?!(?:and|or|not)$)[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*$/u;

/** A list of tags, each of which `--tags` can name. */
export function tags(summary: string): Rule<readonly string[]> {
  return names(summary).as((tags, param) => {
    for (const [index, tag] of tags.entries()) {
      if (TAG.test(tag)) continue;
      param.of(index).wrong(
        `invalid tag "${tag}"`,
        "a tag is made of letters, digits and _ . : / -, and is not and, or, not",
        { code: "tag" },
      );
    }
    return tags;
  });
}

/** The steps that each user of a load job runs once. */
const SETUP = list(step, "");

const NO_DEFAULTS: Defaults = new Map();

/** Decodes a job, its steps included. */
function decodeJob(map: Dict, outer: Key, isFile = false): JobDraft {
  const { matrix: _, load: __, defaults: ___, ...others } = JOB;
  const { path, decoding: { problems, defaults } } = outer;
  const has = (name: "matrix" | "load") => (map[name] ?? null) !== null;
  const rawOf = (name: string) => Object.hasOwn(map, name) ? map[name] : undefined;
  const matrix = valueOr(() => JOB.matrix.read(rawOf("matrix"), outer.of("matrix")));
  const inMatrix = has("matrix") ? outer.with({ matrix: { names: matrix?.names } }) : outer;
  const hasLoad = has("load") && !isFile;
  const key = inMatrix.with({
    hasLoad,
    defaults: mergeDefaults(
      defaults ?? NO_DEFAULTS,
      valueOr(() => JOB.defaults.read(rawOf("defaults"), outer.of("defaults"))) ?? NO_DEFAULTS,
      outer.decoding,
    ),
  });
  const {
    needs = [],
    steps = [],
    finally: cleanup = [],
    when,
    on_failure: onFailure,
    allow_failure: allowFailure,
    ...rest
  } = readFields(others, map, key).values;
  if (when === "failure" && needs.length === 0 && !map.needs) {
    const message = "a job without needs never starts";
    addWarning(problems, "never-runs", [...path, "when"], message, {
      hint: "it starts if one of the jobs in its needs failed",
    });
  }
  const setup = hasLoad && isDict(map.load) && map.load.setup !== undefined
    ? valueOr(() => SETUP.read((map.load as Dict).setup, key.of("load").of("setup"))) ?? []
    : [];
  const before = setup.length + (Array.isArray(map.steps) ? map.steps.length : 0);
  const all = [
    ...setup.map((step) => ({ ...step, isSetup: true as const })),
    ...steps.map((step) => ({ ...step, index: setup.length + step.index })),
    ...cleanup.map((step) => ({ ...step, index: before + step.index })),
  ];
  if (has("load") && isDict(map.repeat)) {
    const message = '"load" and "repeat" cannot be combined';
    addError(problems, "load", [...path, "load"], message, { part: "key" });
  }
  const inLoad = inMatrix.with({ steps: all }).of("load");
  return {
    ...rest,
    index: Number(path.at(-1) ?? 0),
    path,
    needs,
    steps: all,
    when,
    stopsAtFailure: onFailure === "stop" ? true : undefined,
    allowFailure,
    load: hasLoad ? valueOr(() => JOB.load.read(rawOf("load"), inLoad)) : undefined,
    matrix: matrix?.matrix,
  };
}
