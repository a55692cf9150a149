import { checkUnique } from "./decode_workflow.ts";
import { decodeJob, type JobDraft } from "./decode_job.ts";
import { type Decoding, isRawMap } from "./decode_value.ts";
import { JOB_FILE_FIELDS } from "./fields.ts";
import type { Document, Job, Step } from "../model.ts";
import { addWarning } from "../problem.ts";

/** Keys of a job that relate it to other jobs, and mean nothing in a job file. */
const WITHOUT_EFFECT = ["needs", "when", "repeat", "tags"];

/** Decodes a document that is one job; undefined, with a problem reported, if it is not a mapping. */
export function decodeJobFile({ value }: Document, decoding: Decoding): JobDraft | undefined {
  const draft = decodeJob(value, [], decoding, JOB_FILE_FIELDS);
  if (!draft || !isRawMap(value)) return undefined;
  for (const key of WITHOUT_EFFECT) {
    if (!Object.hasOwn(value, key)) continue;
    addWarning(decoding.problems, "no-effect", [key], `"${key}" has no effect in a job file`, {
      part: "key",
      hint: "write it in the job of the workflow that embeds the file",
    });
  }
  checkUnique("step", draft.steps, decoding.problems);
  const { repeat: _, ...job } = draft;
  return { ...job, needs: [] };
}

/** The job of a draft, if it is complete. */
export function completeJob(draft: JobDraft, id: string): Job | undefined {
  const { name, steps } = draft;
  const complete = steps.filter((step): step is Step => step.action !== undefined);
  if (name === undefined || complete.length < steps.length) return undefined;
  return { ...draft, id, name, steps: complete };
}
