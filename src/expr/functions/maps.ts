import { formatValue } from "../../base/value/format_value.ts";
import {
  type Dict,
  isDict,
  plain,
  readField,
  readKey,
  type Value,
} from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf } from "../fault.ts";
import { countCharacters } from "../evaluate/text_operations.ts";
import { define, defineNew } from "./function.ts";

/** Functions on maps. */
export const MAP_FUNCTIONS = [
  define("keys(map: map)", "The keys of a map.", (run, map: Dict) => keysOf(run, map)),
  define(
    "values(map: map)",
    "The values of a map.",
    (run, map: Dict) => keysOf(run, map).map((key) => readField(map, key) ?? null),
  ),
  define(
    "toPairs(map: map)",
    "A list of [key, value] for each key of a map.",
    (run, map: Dict) => keysOf(run, map).map((key) => [key, readField(map, key) ?? null]),
  ),
  define(
    "fromPairs(list: list)",
    "The map of a list of [key, value].",
    (run, list: readonly Value[]) => {
      const map: Record<string, Value> = Object.create(null);
      for (const item of list) {
        run.spend(1);
        const pair = plain(item);
        if (!Array.isArray(pair) || pair.length !== 2) {
          throw new Fault("fromPairs() needs a list of [key, value]");
        }
        map[formatValue(plain(pair[0]), run)] = plain(pair[1]);
      }
      return map;
    },
  ),
  define(
    "len(value: any)",
    "The number of items of a list, keys of a map or characters of a string.",
    len,
  ),
  define(
    "get(value: any, key: any)",
    "The value under a key of a map or an index of a list; nil if there is none.",
    (_, value: Value, key: Value) => {
      if (Array.isArray(value)) {
        return typeof key === "number" ? plain(value.at(Math.trunc(key))) : null;
      }
      return isDict(value) && typeof key === "string" ? readKey(value, key) ?? null : null;
    },
  ),
  defineNew(
    "cookie(res: map, name: string)",
    "The cookie of that name that a response sets, the last one if there are several; nil if there is none.",
    (run, response: Dict, name: string) => {
      const cookies = readField(response, "cookies") ?? [];
      if (!Array.isArray(cookies)) return null;
      run.spend(cookies.length);
      return cookies.findLast((one) => isDict(one) && readField(one, "name") === name) ?? null;
    },
  ),
] as const;

function keysOf(run: Evaluation, map: Dict): string[] {
  const keys = Object.keys(map);
  run.spend(keys.length);
  return keys;
}

function len(run: Evaluation, value: Value): number {
  if (typeof value === "string") return countCharacters(value);
  if (Array.isArray(value)) return value.length;
  if (isDict(value)) return keysOf(run, value).length;
  throw new Fault(`len() needs a list, a map or a string, got ${kindOf(value)}`);
}
