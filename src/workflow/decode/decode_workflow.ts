import { isDict } from "../../base/value/value.ts";
import type { Path } from "../../base/source.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { plainTemplate } from "../../expr/template/template_data.ts";
import type { Document, Job, Step, Workflow } from "../model.ts";
import { addError, addHint, addWarning, type Problem } from "../problem.ts";
import { checkGraph, type IdentifiedJob } from "./check_graph.ts";
import { decodeFields } from "./decode_fields.ts";
import { decodeJob, type JobDraft, NO_DEFAULTS } from "./decode_job.ts";
import { decodeCleanup, type StepDraft } from "./decode_step.ts";
import type { Decoding } from "./decode_value.ts";
import { JOB_FILE_FIELDS, WORKFLOW } from "./fields.ts";

const NO_VARS: DataTemplate = { kind: "constant", value: {} };

/** A workflow that may be incomplete, with a problem reported. */
export type WorkflowDraft =
  & Omit<Workflow, "name" | "jobs">
  & Partial<Pick<Workflow, "name">>
  & { readonly jobs: readonly IdentifiedJob[] };

/**
 * Decodes a document; undefined, with a problem reported, if it is not a mapping. Reports
 * all mistakes, not only the first.
 */
export function decodeWorkflow(document: Document, decoding: Decoding): WorkflowDraft | undefined {
  const { problems } = decoding;
  reportReplacedKeys(document, problems);
  const fields = decodeFields(document.value, [], WORKFLOW, decoding);
  if (!fields) return undefined;
  const { jobs: rawJobs = [], finally: cleanup = [], vars = NO_VARS, ...rest } = fields;
  const drafts = rawJobs.flatMap((rawJob, index) =>
    decodeJob(rawJob, ["jobs", index], decoding) ?? []
  );
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
const WITHOUT_EFFECT = ["needs", "when", "repeat", "tags"];

/** Decodes a document that is one job; undefined, with a problem reported, if it is not a mapping. */
export function decodeJobFile({ value }: Document, decoding: Decoding): JobDraft | undefined {
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
  return { ...draft, needs: [], repeat: undefined };
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
    steps: decodeCleanup(list, path, NO_DEFAULTS, decoding, 0, ["run"]),
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
