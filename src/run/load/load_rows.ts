import { StepError } from "../../base/errors.ts";
import { describeValue, type Dict, isDict, type Value } from "../../base/value/value.ts";
import type { Scope } from "../../expr/expression.ts";
import { plainTemplate, renderData } from "../../expr/template/template_data.ts";
import { addSecretsOf } from "../../secrets/add_secrets.ts";
import type { Job, Rows } from "../../workflow/model.ts";
import { FieldError, inField, NothingToRun } from "../execute/evaluate_field.ts";
import type { Run } from "../run_state.ts";

/** The rows that the rounds of a load job take in turn. */
export async function readLoadRows(
  run: Run,
  job: Job,
  data: Rows,
  scope: Scope,
): Promise<readonly Dict[]> {
  const key = ["load", "data"];
  const rows: Dict[] = [];
  const add = (value: Value) => {
    const row = isDict(value) ? value : { item: value };
    addSecretsOf(row, run.secrets);
    rows.push(row);
  };
  try {
    if (data.kind === "file") {
      const { readChosenRows } = await import("../execute/read_rows.ts");
      const keys = { field: key, where: [...key, "where"], owner: job.path };
      for await (const value of readChosenRows(run, data, { scope, vars: run.vars, ...keys })) {
        add(value);
      }
    } else if (data.kind === "list") {
      for (const [index, entry] of data.entries.entries()) {
        add(inField([...key, index], () => renderData(entry, scope)) as Value);
      }
    } else {
      const list = inField(key, () => data.list.render(scope), data.list);
      if (typeof list === "string") {
        const file = { kind: "file", file: plainTemplate(list), parallel: 1 } as const;
        return await readLoadRows(run, job, { ...file, types: new Map() }, scope);
      }
      if (!Array.isArray(list)) {
        const what = describeValue(list);
        throw new StepError(`"data" must be a list or the path of a file, not ${what}`);
      }
      for (const value of list) add(value);
    }
  } catch (error) {
    if (error instanceof NothingToRun) throw new FieldError(key, new StepError(error.message));
    throw error instanceof FieldError ? error : new FieldError(key, error);
  }
  if (rows.length === 0) throw new FieldError(key, new StepError('"data" has no rows'));
  return rows;
}
