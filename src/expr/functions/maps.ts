import { formatValue } from "../../base/value/format_value.ts";
import {
  type Dict,
  isDict,
  mergeDicts,
  plain,
  readField,
  readKey,
  type Value,
} from "../../base/value/value.ts";
import { countCharacters } from "../evaluate/access.ts";
import { Fault, kindOf } from "../fault.ts";
import { define, type FunctionBodies } from "./function.ts";

export const BODIES: FunctionBodies = {
  keys: define("The keys of a map.", (map: Dict) => Object.keys(map)),
  values: define(
    "The values of a map.",
    (map: Dict) => Object.keys(map).map((key) => readField(map, key) ?? null),
  ),
  toPairs: define(
    "A list of [key, value] for each key of a map.",
    (map: Dict) => Object.keys(map).map((key) => [key, readField(map, key) ?? null]),
  ),
  fromPairs: define(
    "The map of a list of [key, value].",
    (list: readonly Value[]) => {
      const map: Record<string, Value> = Object.create(null);
      for (const item of list) {
        const pair = plain(item);
        if (!Array.isArray(pair) || pair.length !== 2) {
          throw new Fault("fromPairs() needs a list of [key, value]");
        }
        map[formatValue(plain(pair[0]))] = plain(pair[1]);
      }
      return map;
    },
  ),
  len: define(
    "The number of items of a list, keys of a map or characters of a string.",
    (value: Value) => {
      if (typeof value === "string") return countCharacters(value);
      if (Array.isArray(value)) return value.length;
      if (isDict(value)) return Object.keys(value).length;
      throw new Fault(`len() needs a list, a map or a string, got ${kindOf(value)}`);
    },
  ),
  get: define(
    "The value under a key of a map or an index of a list; nil if there is none.",
    (value: Value, key: Value) => {
      if (Array.isArray(value)) {
        return typeof key === "number" ? plain(value.at(Math.trunc(key))) : null;
      }
      return isDict(value) && typeof key === "string" ? readKey(value, key) ?? null : null;
    },
  ),
  pick: define(
    "The map with only these keys; missing ones are left out.",
    (map: Dict, keys: readonly Value[]) => withKeys(map, namesIn("pick", keys), true),
  ),
  omit: define(
    "The map without these keys.",
    (map: Dict, keys: readonly Value[]) => withKeys(map, namesIn("omit", keys), false),
  ),
  merge: define(
    "The keys of all maps. If several have a key, maps are merged; for other values, the last one is used.",
    (map: Dict, ...others: readonly Dict[]) =>
      others.reduce((merged, other) => mergeDicts(merged, other), map),
  ),
  cookie: define(
    "The cookie of that name that a response sets, the last one if there are several; nil if there is none.",
    (response: Dict, name: string) => {
      const cookies = readField(response, "cookies");
      if (!Array.isArray(cookies)) return null;
      return cookies.findLast((one) => isDict(one) && readField(one, "name") === name) ?? null;
    },
  ),
};

function withKeys(map: Dict, names: ReadonlySet<string>, wanted: boolean): Dict {
  const kept: Record<string, Value> = Object.create(null);
  for (const key of Object.keys(map)) {
    if (names.has(key) === wanted) kept[key] = readField(map, key) ?? null;
  }
  return kept;
}

function namesIn(name: string, keys: readonly Value[]): ReadonlySet<string> {
  const other = keys.find((key) => typeof plain(key) !== "string");
  if (other === undefined) return new Set(keys as readonly string[]);
  throw new Fault(`${name}() needs a list of keys, which are strings, got ${kindOf(other)} in it`);
}
