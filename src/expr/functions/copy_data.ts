import { hasLongIntegers, plain, readField, type Value } from "../../base/value/value.ts";
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

/** Refuses the numbers of a path that its library, to which all are floats, would compare wrongly. */
export function checkNumbers(name: string, path: string, value: Value): void {
  const digits = path.match(/(?<![\w."'])\d{16,}/g) ?? [];
  const isWrong = digits.some((one) => Number(one) >= 2 ** 53) ||
    /[<>]/.test(path) && hasLongIntegers(value);
  if (isWrong) throw new Fault(`${name}() cannot compare integers beyond ±2^53`, "use filter(…)");
}
