import { plain, readField } from "../../value/plain.ts";
import type { Value } from "../../value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../expression_limits.ts";

/** A copy that is plain data and shares nothing, every value of which is paid for. */
export function copyData(run: Evaluation, value: unknown, levels = 0): Value {
  run.spend(1);
  const known = plain(value);
  if (typeof known !== "object" || known === null) return known;
  if (levels > LIMITS.nesting) throw new Fault("the data is nested too deeply");
  if (Array.isArray(known)) return known.map((item) => copyData(run, item, levels + 1));
  const map: Record<string, Value> = Object.create(null);
  for (const key of Object.keys(known)) map[key] = copyData(run, readField(known, key), levels + 1);
  return map;
}
