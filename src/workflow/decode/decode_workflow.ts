import type { DataTemplate } from "../../expr/expression.ts";
import { plainTemplate } from "../../expr/template/template_data.ts";
import type { Path } from "../../base/source.ts";
import type { IdentifiedJob } from "./check_graph.ts";
import { decodeFields } from "./decode_fields.ts";
import { decodeJob, decodeSteps, type JobDraft } from "./decode_job.ts";
import type { Decoding } from "./decode_value.ts";
import { WORKFLOW } from "./fields.ts";
import { WORKFLOW_FINALLY_STEP_FIELDS } from "./finally_fields.ts";
import type { Document, Job, Workflow } from "../model.ts";
import { addError, addHint, addWarning, type Problem } from "../problem.ts";

const NO_VARS: DataTemplate = { kind: "constant", value: {} };

/** A workflow that may be incomplete, with a problem reported. */
export type WorkflowDraft =
  & Omit<Workflow, "name" | "jobs">
  & Partial<Pick<Workflow, "name">>
  & { readonly jobs: readonly IdentifiedJob[] };

/**
 * Decodes a document; undefined, with a problem reported, if it is not a mapping. Everything that can
 * be checked is checked, whatever else is wrong.
 */
export async function decodeWorkflow(
  document: Document,
  decoding: Decoding,
): Promise<WorkflowDraft | undefined> {
  reportReplacedKeys(document, decoding.problems);
  const fields = decodeFields(document.value, [], WORKFLOW, decoding);
  if (!fields) return undefined;
  const { jobs: rawJobs = [], finally: cleanup = [], vars = NO_VARS, ...rest } = fields;
  const drafts: JobDraft[] = [];
  rawJobs.forEach((rawJob, index) => {
    const draft = decodeJob(rawJob, ["jobs", index], decoding);
    if (draft) drafts.push(draft);
  });
  const { problems } = decoding;
  checkTags(rest.tags, ["tags"], problems);
  for (const { tags, path } of drafts) checkTags(tags, [...path, "tags"], problems);
  const jobs = identify(drafts);
  if (jobs.some(({ needs }) => needs.length > 0)) {
    (await import("./check_graph.ts")).checkGraph(jobs, problems);
  }
  const all = cleanup.length === 0 ? jobs : [...jobs, decodeFinally(cleanup, jobs, decoding)];
  checkIds(all, decoding.problems);
  return { ...rest, vars, jobs: all, document };
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
  const options = { cleanupAfter: 0, table: WORKFLOW_FINALLY_STEP_FIELDS };
  const needed = new Set(jobs.flatMap(({ needs }) => needs));
  return {
    id: unusedId(FINALLY, new Set(jobs.map(({ id }) => id))),
    index: jobs.reduce((last, { index }) => Math.max(last, index + 1), 0),
    path,
    isCleanup: true,
    name: plainTemplate("cleanup"),
    needs: jobs.flatMap(({ id }) => needed.has(id) ? [] : id),
    steps: decodeSteps(list, path, options, decoding),
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

/** The workflow of a draft, if it is complete. */
export function completeWorkflow({ name, jobs, ...rest }: WorkflowDraft): Workflow | undefined {
  const complete = jobs.filter(isComplete);
  if (name === undefined || complete.length < jobs.length) return undefined;
  return { ...rest, name, jobs: complete };
}

/** Gives jobs without an id one: `job_<index>`, unless another job has it. */
function identify(drafts: readonly JobDraft[]): readonly IdentifiedJob[] {
  const taken = new Set(drafts.map(({ id }) => id));
  return drafts.map((draft) => {
    let { id } = draft;
    if (id === undefined) {
      id = unusedId(`job_${draft.index}`, taken);
      taken.add(id);
    }
    return { ...draft, id };
  });
}

function unusedId(id: string, taken: ReadonlySet<string | undefined>): string {
  let unused = id;
  while (taken.has(unused)) unused += "_";
  return unused;
}

function isComplete(job: IdentifiedJob): job is IdentifiedJob & Job {
  return job.name !== undefined && job.steps.every(({ action }) => action !== undefined);
}

/** Ids of jobs are unique, and ids of steps are in all jobs together, for outputs are named by them. */
function checkIds(jobs: readonly JobDraft[], problems: Problem[]): void {
  checkUnique("job", jobs, problems);
  checkUnique("step", jobs.flatMap(({ steps }) => steps), problems);
}

/** Reports each duplicate id. */
export function checkUnique(
  kind: string,
  items: readonly { readonly id?: string; readonly path: Path }[],
  problems: Problem[],
): void {
  const seen = new Set<string>();
  for (const { id, path } of items) {
    if (id === undefined) continue;
    if (seen.has(id)) {
      addError(
        problems,
        "duplicate-id",
        [...path, "id"],
        `the ${kind} id "${id}" is already defined`,
      );
    }
    seen.add(id);
  }
}

/** A tag that a tag expression can contain, where these words are operators. */
const TAG = /^(?!(?:and|or|not)$)[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*$/u;

/** Reports tags that `--tags` could not name. */
export function checkTags(
  tags: readonly string[] | undefined,
  path: Path,
  problems: Problem[],
): void {
  for (const [index, tag] of (tags ?? []).entries()) {
    if (TAG.test(tag)) continue;
    addError(problems, "tag", [...path, index], `invalid tag "${tag}"`, {
      hint: "a tag is made of letters, digits and _ . : / -, and is not and, or, not",
    });
  }
}
