import { BIT_FUNCTIONS } from "./bits.ts";
import { CONVERSION_FUNCTIONS } from "./conversion.ts";
import type { FunctionRecord } from "./function.ts";
import { LIST_FUNCTIONS } from "./lists.ts";
import { LOOP_FUNCTIONS } from "./loops.ts";
import { MAP_FUNCTIONS } from "./maps.ts";
import { MATCH_FUNCTIONS } from "./match_json.ts";
import { NUMBER_FUNCTIONS } from "./numbers.ts";
import { CHANGING_FUNCTIONS } from "./random.ts";
import { TEXT_FUNCTIONS } from "./text.ts";
import { WORD_FUNCTIONS } from "./words.ts";

/** Every function of the language by its name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionRecord> = new Map(
  [
    TEXT_FUNCTIONS,
    NUMBER_FUNCTIONS,
    BIT_FUNCTIONS,
    LOOP_FUNCTIONS,
    LIST_FUNCTIONS,
    MAP_FUNCTIONS,
    CONVERSION_FUNCTIONS,
    MATCH_FUNCTIONS,
    CHANGING_FUNCTIONS,
    WORD_FUNCTIONS,
  ].flat<readonly (readonly FunctionRecord[])[], 1>().map((record) => [record.name, record]),
);

/** Whether there is a function of that name. */
export function isFunction(name: string): boolean {
  return FUNCTIONS.has(name);
}

/** Whether an argument of a function is a condition on the items of a list. */
export function takesPredicate(name: string, position: number): boolean {
  return FUNCTIONS.get(name)?.parameters[position]?.type === "predicate";
}
