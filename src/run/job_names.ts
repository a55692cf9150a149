import type { Dict } from "../value/value.ts";
import type { Workflow } from "../workflow/model.ts";
import { inField } from "./field_error.ts";

/** The name of a job, as the report shows it. */
export interface JobName {
  readonly name: string;
  /** Why it could not be evaluated; the name is the template then. */
  readonly error?: unknown;
}

/** The names of all jobs by id. They see `vars` alone, so that a job that never runs has one too. */
export function evaluateJobNames(
  { jobs }: Workflow,
  vars: Dict,
): ReadonlyMap<string, JobName> {
  const scope = { names: { vars }, strict: true };
  return new Map(jobs.map((job) => {
    try {
      const name = inField(["name"], () => job.name.renderText(scope, { display: true }));
      return [job.id, { name }];
    } catch (error) {
      return [job.id, { name: job.name.source, error }];
    }
  }));
}
