import { type Field, type FieldTable, STEP_FIELDS } from "./fields.ts";
import { seeing } from "./name_rules.ts";

/** A step of the `finally` of a job. */
export const JOB_FINALLY_STEP_FIELDS = withNames(STEP_FIELDS, ["run", "job"]);

/** A step of the `finally` of the workflow. */
export const WORKFLOW_FINALLY_STEP_FIELDS = withNames(STEP_FIELDS, ["run"]);

/** A table whose expressions see more names. */
function withNames<T extends FieldTable<Readonly<Record<string, Field>>>>(
  table: T,
  names: readonly string[],
): T {
  const fields = Object.entries<Field>(table.fields).map(([key, field]) =>
    [key, field.names ? { ...field, names: seeing(field.names, names) } : field] as const
  );
  return { ...table, fields: Object.fromEntries(fields) };
}
