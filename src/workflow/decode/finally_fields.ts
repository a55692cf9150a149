import { type Field, STEP_FIELDS } from "./fields.ts";
import { seeing } from "./name_rules.ts";

/** A step of the `finally` of a job. */
export const JOB_FINALLY_STEP_FIELDS = stepFieldsWith("run", "job");

/** A step of the `finally` of the workflow. */
export const WORKFLOW_FINALLY_STEP_FIELDS = stepFieldsWith("run");

/** The table of a step whose expressions see more names. */
function stepFieldsWith(...names: readonly string[]): typeof STEP_FIELDS {
  const fields = Object.entries<Field>(STEP_FIELDS.fields).map(([key, field]) =>
    [key, field.names ? { ...field, names: seeing(field.names, names) } : field] as const
  );
  return { ...STEP_FIELDS, fields: Object.fromEntries(fields) as typeof STEP_FIELDS.fields };
}
