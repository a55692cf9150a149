import type { Mismatch } from "../../../base/value/mismatch.ts";
import type { Value } from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { Fault } from "../../fault.ts";
import { defineNew, type ValueFunction } from "../function.ts";

/** The validator, loaded on demand because few workflows need it. */
let code: typeof import("./validate_call.ts") | undefined;

/** The validation of values by JSON Schema. */
export const SCHEMA_FUNCTION: ValueFunction = {
  ...defineNew(
    "schema(value: any, schema: any)",
    "Whether the value is valid by a JSON Schema: the name of a file, relative to the workflow, or a map.",
    (run, value: Value, schema: Value) => violations(run, value, schema).length === 0,
  ),
  async prepare(call, files) {
    code ??= await import("./validate_call.ts");
    return await code.prepareCall(call, files);
  },
  mismatches: violations,
};

function violations(run: Evaluation, value: Value, schema: Value): readonly Mismatch[] {
  if (!code) throw new Fault("schema() is there in workflows only, which load what it needs");
  return code.violations(run, value, schema);
}
