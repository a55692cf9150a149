import type { Masker } from "../secrets/masker.ts";
import { isSecretName } from "../secrets/secrets.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { Leaves } from "./seal.ts";

/** Values as a file has them. What JSON cannot hold and what is secret is null in place. */
export interface SplitValues {
  readonly open: Dict;
  /** Numbers that JSON does not have, as text, by their JSON pointers. */
  readonly special: Readonly<Record<string, string>>;
  readonly secret: Leaves;
}

/**
 * Takes out what may not be written as it is: leaves with a secret name anywhere on their path, and
 * texts that contain a secret.
 */
export function splitValues(values: Dict, masker: Masker): SplitValues {
  const special: Record<string, string> = {};
  const secret: Record<string, Value> = {};
  const split = (value: Value, pointer: string, isHidden: boolean): Value => {
    if (Array.isArray(value)) {
      return value.map((item, at) => split(item, `${pointer}/${at}`, isHidden));
    }
    if (isDict(value)) {
      return dictOf(
        Object.entries(value).map(([key, part]) => {
          const path = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
          return [key, split(part, path, isHidden || isSecretName(key))];
        }),
      );
    }
    const isSecret = isHidden && value !== null && value !== "" ||
      typeof value === "string" && masker.mask(value) !== value;
    const isSpecial = typeof value === "number" && !Number.isFinite(value);
    if (isSecret) secret[pointer] = isSpecial ? String(value) : value;
    if (isSpecial) special[pointer] = isSecret ? "secret" : String(value);
    return isSecret || isSpecial ? null : value;
  };
  return { open: split(values, "", false) as Dict, special, secret };
}

/** Puts values together again. */
export function joinValues({ open, special, secret }: SplitValues): Dict {
  const whole = structuredClone(open);
  for (const [pointer, text] of Object.entries(special)) {
    if (text !== "secret") put(whole, pointer, Number(text));
  }
  for (const [pointer, value] of Object.entries(secret)) {
    put(whole, pointer, special[pointer] === "secret" ? Number(value) : value);
  }
  return whole;
}

/** The keys that a JSON pointer consists of. */
export function keysOf(pointer: string): readonly string[] {
  return pointer.split("/").slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function put(target: unknown, pointer: string, value: Value): void {
  const keys = [...keysOf(pointer)];
  const last = keys.pop()!;
  let at = target;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return;
    at = (at as Record<string, unknown>)[key];
  }
  if (typeof at !== "object" || at === null) return;
  Object.defineProperty(at, last, { value, enumerable: true, writable: true, configurable: true });
}

/** A map in which `__proto__` is a key like others. */
function dictOf(entries: readonly (readonly [string, Value])[]): Dict {
  const dict: Record<string, Value> = Object.create(null);
  for (const [key, value] of entries) dict[key] = value;
  return dict;
}
