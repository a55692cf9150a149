import { type Dict, isDict } from "../../base/value/value.ts";
import type { Path } from "../../base/source.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { plainTemplate } from "../../expr/template/template_data.ts";
import type { Document, Job, Repeat, Step, Workflow } from "../model.ts";
import { addError, addHint, addWarning, type Problem } from "../problem.ts";
import { decodeFields, type Decoding, NO_TIME } from "./decode_fields.ts";
import {
  decodeCleanup,
  decodeDefaults,
  decodeSteps,
  type Defaults,
  mergeDefaults,
  type StepDraft,
} from "./decode_step.ts";
import { decodeLoad } from "./decode_load.ts";
import { decodeMatrix } from "./decode_matrix.ts";
import type { FieldTable } from "./field.ts";
import { JOB_FIELDS, JOB_FILE_FIELDS, REPEAT, WORKFLOW } from "./fields.ts";
import { isGeneratedId } from "../step_facts.ts";
import { didYouMean } from "../../base/text/suggest.ts";

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

/** The content of a document without defaults from outside, which are no key of a workflow. */
function valueOf({ value, defaults }: Document): unknown {
  if (!defaults || !isDict(value)) return value;
  const { defaults: _, ...rest } = value;
  return rest;
}

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
  const value = valueOf(document);
  const jobMap = isDict(value) ? mapOfJobs(value.jobs, problems) : undefined;
  const listed = jobMap ? { ...value as Dict, jobs: Object.values(jobMap) } : value;
  const fields = decodeFields(listed, [], WORKFLOW, decoding);
  if (!fields) return undefined;
  const { jobs: rawJobs = [], finally: cleanup = [], vars = NO_VARS, ...rest } = fields;
  const keys = jobMap && Object.keys(jobMap);
  const drafts = rawJobs.flatMap((rawJob, index): JobDraft[] => {
    const job = decodeJob(rawJob, ["jobs", keys?.[index] ?? index], decoding);
    return job ? [keys ? { id: keys[index], ...job, index } : job] : [];
  });
  checkTags(rest.tags, ["tags"], problems);
  for (const { tags, path } of drafts) checkTags(tags, [...path, "tags"], problems);
  const jobs = identify(drafts);
  checkGraph(jobs, problems);
  const all = cleanup.length === 0 ? jobs : [...jobs, decodeFinally(cleanup, jobs, decoding)];
  // Ids of steps are unique in all jobs together, because outputs are named by them.
  checkUnique("job", all, problems);
  checkUnique("step", all.flatMap(({ steps }) => steps), problems);
  return { ...rest, vars, jobs: all, document };
}

/** Jobs that are in a map by their ids, which is reported. */
function mapOfJobs(jobs: unknown, problems: Problem[]): Dict | undefined {
  const values = isDict(jobs) ? Object.values(jobs) : [];
  if (values.length === 0 || !values.every(isDict)) return undefined;
  const isGithub = values.some((job) => Object.hasOwn(job, "runs-on"));
  addError(problems, "jobs", ["jobs"], '"jobs" must be a list, not a map', {
    hint: isGithub
      ? "this looks like a GitHub Actions workflow, which runner does not run"
      : 'begin each job with "- ", and give its name as "id"',
  });
  return jobs as Dict;
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
  const decoding = { ...outer, defaults };
  const draft = decodeJob(value, [], decoding, JOB_FILE_FIELDS);
  if (!draft || !isDict(value)) return undefined;
  for (const key of WITHOUT_EFFECT) {
    if (!Object.hasOwn(value, key)) continue;
    addWarning(decoding.problems, "no-effect", [key], `"${key}" has no effect in a job file`, {
      part: "key",
      hint: "write it in the job of the workflow that embeds the file",
    });
  }
  checkUnique("step", draft.steps, decoding.problems);
  const none = { repeat: undefined, load: undefined, matrix: undefined, lock: undefined };
  return { ...draft, needs: [], ...none };
}

/** The id of the job that is made of the `finally` of a workflow. */
const FINALLY = "finally";

/** The steps that clean up after all jobs, as a job that needs all that no other job needs. */
function decodeFinally(
  list: readonly unknown[],
  jobs: readonly IdentifiedJob[],
  decoding: Decoding,
): IdentifiedJob {
  const path = [FINALLY];
  const needed = new Set(jobs.flatMap(({ needs }) => needs));
  return {
    id: unusedId(FINALLY, new Set(jobs.map(({ id }) => id))),
    index: jobs.reduce((last, { index }) => Math.max(last, index + 1), 0),
    path,
    isCleanup: true,
    name: plainTemplate("cleanup"),
    needs: jobs.flatMap(({ id }) => needed.has(id) ? [] : id),
    steps: decodeCleanup(list, path, decoding.defaults ?? NO_DEFAULTS, decoding, 0, ["run"]),
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

/** Reports tags that `--tags` could not name. */
export function checkTags(
  tags: readonly string[] = [],
  path: Path,
  problems: Problem[],
): void {
  for (const [index, tag] of tags.entries()) {
    if (TAG.test(tag)) continue;
    addError(problems, "tag", [...path, index], `invalid tag "${tag}"`, {
      hint: "a tag is made of letters, digits and _ . : / -, and is not and, or, not",
    });
  }
}

const NO_DEFAULTS: Defaults = new Map();

/** Decodes a job, its steps included; undefined, with a problem reported, if it is not a mapping. */
function decodeJob(
  value: unknown,
  path: Path,
  outer: Decoding,
  table: FieldTable<typeof JOB_FIELDS.fields> = JOB_FIELDS,
): JobDraft | undefined {
  const hasMatrix = isDict(value) && (value.matrix ?? null) !== null;
  const matrix = hasMatrix ? decodeMatrix(value.matrix, [...path, "matrix"], outer) : undefined;
  const inMatrix = hasMatrix ? { ...outer, matrix: { names: matrix?.names } } : outer;
  const hasLoad = isDict(value) && (value.load ?? null) !== null && table === JOB_FIELDS;
  const decoding = hasLoad ? { ...inMatrix, hasLoad } : inMatrix;
  const fields = decodeFields(value, path, table, decoding);
  if (!fields) return undefined;
  const {
    needs = [],
    steps: rawSteps = [],
    finally: rawFinally = [],
    defaults: rawDefaults,
    repeat,
    load,
    when,
    on_failure: onFailure,
    allow_failure: allowFailure,
    ...rest
  } = fields;
  if (when === "failure" && needs.length === 0 && isDict(value) && !value.needs) {
    const message = "a job without needs never starts";
    addWarning(decoding.problems, "never-runs", [...path, "when"], message, {
      hint: "it starts if one of the jobs in its needs failed",
    });
  }
  const { pattern, form } = JOB_FIELDS.fields.lock;
  if (rest.lock !== undefined && !pattern.test(rest.lock)) {
    addError(decoding.problems, "lock", [...path, "lock"], `"lock" ${form}, not "${rest.lock}"`);
  }
  const defaults = mergeDefaults(
    outer.defaults ?? NO_DEFAULTS,
    rawDefaults ? decodeDefaults(rawDefaults, [...path, "defaults"], decoding) : NO_DEFAULTS,
    decoding,
  );
  const decodedRepeat = repeat && decodeRepeat(repeat, [...path, "repeat"], decoding);
  const steps = decodeSteps(rawSteps, [...path, "steps"], defaults, decoding);
  const at = [...path, "finally"];
  const cleanup = decodeCleanup(rawFinally, at, defaults, decoding, rawSteps.length, [
    "run",
    "job",
  ]);
  const all = [...steps, ...cleanup];
  if (load && repeat) {
    const message = '"load" and "repeat" cannot be combined';
    addError(decoding.problems, "load", [...path, "load"], message, { part: "key" });
  }
  return {
    ...rest,
    index: Number(path.at(-1) ?? 0),
    path,
    needs,
    steps: all,
    when: when as Job["when"],
    stopsAtFailure: onFailure === "stop" ? true : undefined,
    allowFailure,
    repeat: decodedRepeat,
    load: load && hasLoad ? decodeLoad(load, [...path, "load"], all, inMatrix) : undefined,
    matrix: matrix?.matrix,
  };
}

function decodeRepeat(map: Dict, path: Path, decoding: Decoding): Repeat | undefined {
  const { count, interval = NO_TIME, async = false } = decodeFields(map, path, REPEAT, decoding) ??
    {};
  if (count === undefined) return undefined;
  const { problems, limits } = decoding;
  if (count > limits.repeatCount) {
    const message = `"count" must be at most ${limits.repeatCount}, not ${count}`;
    addError(problems, "limit", [...path, "count"], message, {
      hint: "RUNNER_MAX_REPEAT_COUNT sets the limit",
    });
  }
  return { count, interval, async };
}

/** Finding a suggestion takes time in proportion to the jobs; more hints than this do not help. */
const MAX_HINTS = 20;

/** Checks that every need is a job and that no job waits for itself. */
function checkGraph(jobs: readonly IdentifiedJob[], problems: Problem[]): void {
  const byId = new Map<string, IdentifiedJob>();
  // Of two jobs with the same id, which is reported elsewhere, the first counts.
  for (const job of jobs) if (!byId.has(job.id)) byId.set(job.id, job);
  let hints = MAX_HINTS;
  for (const job of jobs) {
    for (const [index, need] of job.needs.entries()) {
      if (byId.has(need)) continue;
      const hint = hints-- > 0 ? needHint(job, need, jobs) : undefined;
      const message = `unknown job "${need}" in needs of "${job.name?.source ?? job.id}"`;
      addError(problems, "unknown-need", [...job.path, "needs", index], message, { hint });
    }
  }
  for (const cycle of findCycles(byId)) reportCycle(problems, cycle);
}

/** The name that was probably meant. */
function needHint(
  job: IdentifiedJob,
  need: string,
  jobs: readonly IdentifiedJob[],
): string | undefined {
  const named = jobs.find(({ name }) => name?.source === need);
  return named
    ? `"${need}" is the name of a job; ` +
      (isGeneratedId(named.id) ? "give it an id, and write that here" : `its id is "${named.id}"`)
    : didYouMean(need, jobs.filter((other) => other !== job).map(({ id }) => id));
}

/** At least one cycle in each group of jobs that wait for each other. */
function findCycles(byId: ReadonlyMap<string, IdentifiedJob>): readonly IdentifiedJob[][] {
  const cycles: IdentifiedJob[][] = [];
  const reported = new Set<IdentifiedJob>();
  const done = new Set<IdentifiedJob>();
  // A stack of our own, since a chain of jobs may be longer than the call stack is deep.
  const trail: { readonly job: IdentifiedJob; next: number }[] = [];
  const depths = new Map<IdentifiedJob, number>();
  const enter = (job: IdentifiedJob) => {
    depths.set(job, trail.length);
    trail.push({ job, next: 0 });
  };
  for (const start of byId.values()) {
    if (!done.has(start)) enter(start);
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const { job } = top;
      const id = job.needs[top.next++];
      const need = id === undefined ? undefined : byId.get(id);
      const depth = need && depths.get(need);
      if (id === undefined) {
        trail.pop();
        depths.delete(job);
        done.add(job);
      } else if (need && depth === undefined && !done.has(need)) {
        enter(need);
      } else if (need && depth !== undefined && !reported.has(job) && !reported.has(need)) {
        const cycle = trail.slice(depth).map(({ job }) => job);
        for (const member of cycle) reported.add(member);
        cycles.push(cycle);
      }
    }
  }
  return cycles;
}

function reportCycle(problems: Problem[], cycle: readonly IdentifiedJob[]): void {
  const indexes = cycle.map(({ index }) => index);
  const from = indexes.indexOf(Math.min(...indexes));
  const turned = [...cycle.slice(from), ...cycle.slice(0, from)];
  const first = turned[0]!;
  const next = turned[1] ?? first;
  const path = [...first.path, "needs", first.needs.indexOf(next.id)];
  const message = `dependency cycle: ${[...turned, first].map(({ id }) => id).join(" → ")}`;
  addError(problems, "cycle", path, message);
}
