import { type Dict, isDict, type Value } from "./value.ts";

/**
 * One value laid over another: mappings are merged key by key, however deep, and anything else
 * replaces what was there. Neither of the two is changed.
 */
export function merge(base: Value, over: Value): Value {
  return isDict(base) && isDict(over) ? mergeDicts(base, over) : over;
}

/** Like `merge`, for two mappings: the keys of `base` come first. */
export function mergeDicts(base: Dict, over: Dict): Dict {
  // Without a prototype, a key named "__proto__" is a key like any other.
  const merged: Record<string, Value> = Object.create(null);
  for (const key of Object.keys(base)) merged[key] = base[key]!;
  for (const key of Object.keys(over)) {
    merged[key] = Object.hasOwn(base, key) ? merge(base[key]!, over[key]!) : over[key]!;
  }
  return merged;
}
