import type { Path } from "../../base/source.ts";
import { isEqual } from "../../base/value/compare.ts";
import {
  type Dict,
  isDict,
  pathText,
  plain,
  readField,
  stepText,
  typeName,
  type Value,
} from "../../base/value/value.ts";
import { Fault, kindOf, quoted } from "../fault.ts";
import { define, type FunctionBodies } from "./function.ts";
import { loadJsonPath, locateByPath } from "./json_path.ts";

export const BODIES: FunctionBodies = {
  diff: define(
    "The list of differences between two values, empty if they are equal. Each is a map of its path " +
      "and of its left and right value, as far as a side has one. The option ignore is a list of JSONPaths.",
    (left: Value, right: Value, options?: Dict) => {
      const sides = sidesOf(left, right, options);
      return [...differencesOf(sides.left, sides.right)].map(({ path, left, right }): Dict => ({
        path: `$${pathText(path)}`,
        ...left === undefined ? {} : { left },
        ...right === undefined ? {} : { right },
      }));
    },
    { load: loadJsonPath },
  ),
};

/** Two values without what `diff()` with these options ignores. */
export function sidesOf(
  left: Value,
  right: Value,
  options: Dict = {},
): { readonly left: Value; readonly right: Value } {
  const { ignore = [], ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new Fault(`unknown option ${quoted(unknown)} of diff()`, "its only option is ignore");
  }
  const paths = Array.isArray(ignore) ? ignore.map(plain) : [null];
  if (!paths.every((path) => typeof path === "string")) {
    throw new Fault(
      `ignore of diff() must be a list of JSONPaths, got ${kindOf(ignore)}`,
      'write {ignore: ["$.id", "$..updated_at"]}',
    );
  }
  const [one, other] = [left, right].map((value) =>
    value === null ? value : without(value, paths.flatMap((path) => locateByPath(value, path)))
  );
  return { left: one!, right: other! };
}

/** A place where two values differ; a side is undefined if it has nothing there. */
export interface UnequalPart {
  readonly path: Path;
  readonly left: Value | undefined;
  readonly right: Value | undefined;
}

/** The places where two values differ. */
export function* differencesOf(
  left: Value,
  right: Value,
  path: Path = [],
): Generator<UnequalPart, void> {
  if (isEqual(left, right)) return;
  const kind = typeName(left);
  if (kind === typeName(right) && (kind === "map" || kind === "array")) {
    for (const [step, a, b] of partsOf(left, right)) {
      const inside = [...path, step];
      if (a !== undefined && b !== undefined) yield* differencesOf(a, b, inside);
      else yield { path: inside, left: a, right: b };
    }
  } else yield { path, left, right };
}

/** A value without the parts at these paths; items of lists are nil instead, to keep the indexes. */
function without(value: Value, paths: readonly Path[]): Value {
  if (paths.length === 0) return value;
  const ignored = new Set(paths.map((path) => `$${pathText(path)}`));
  const copy = (value: Value, path: string): Value => {
    if (Array.isArray(value)) {
      return value.map((item, index) => {
        const inside = path + stepText(index);
        return ignored.has(inside) ? null : copy(plain(item), inside);
      });
    }
    if (!isDict(value)) return value;
    const kept: Record<string, Value> = Object.create(null);
    for (const key of Object.keys(value)) {
      const inside = path + stepText(key);
      if (!ignored.has(inside)) kept[key] = copy(readField(value, key) ?? null, inside);
    }
    return kept;
  };
  return ignored.has("$") ? null : copy(value, "$");
}

/** The parts of two lists or two maps in pairs, each with its index or key. */
function* partsOf(
  left: Value,
  right: Value,
): Generator<readonly [step: string | number, left: Value | undefined, right: Value | undefined]> {
  if (Array.isArray(left) && Array.isArray(right)) {
    const item = (list: readonly unknown[], index: number) =>
      index < list.length ? plain(list[index]) : undefined;
    for (let index = 0; index < Math.max(left.length, right.length); index++) {
      yield [index, item(left, index), item(right, index)];
    }
  } else if (isDict(left) && isDict(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      yield [key, readField(left, key), readField(right, key)];
    }
  }
}
