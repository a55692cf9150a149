import { isEqual } from "./compare.ts";
import { type Dict, isDict, type Value } from "./value.ts";

/** A mistake in a matrix, and its place there. */
export class MatrixFault extends Error {
  constructor(readonly path: readonly (string | number)[], message: string) {
    super(message);
  }
}

/** A matrix with more of them is a mistake. */
const MAX_COMBINATIONS = 1000;

/**
 * The combinations of the lists of a matrix, in their order: one for each value of each list, the
 * last list changing fastest. Those that an item of `exclude` fits are left out; an item of
 * `include` adds its values to the combinations that it fits, or is one more. Throws MatrixFault.
 */
export function combinationsOf(matrix: Dict): readonly Dict[] {
  const { include, exclude, ...lists } = matrix;
  const product = productOfLists(lists);
  const excluded = mapsOf(exclude, "exclude");
  const kept = product.filter((one) => !excluded.some((item) => fits(item, one)));
  const combinations = [...kept];
  for (const item of mapsOf(include, "include")) {
    const fixed = Object.fromEntries(
      Object.entries(item).filter(([name]) => Object.hasOwn(lists, name)),
    );
    const fitting = kept.filter((one) => fits(fixed, one));
    if (fitting.length === 0) combinations.push(item);
    for (const one of fitting) {
      const at = kept.indexOf(one);
      combinations[at] = { ...combinations[at], ...item };
    }
  }
  if (combinations.length === 0) throw new MatrixFault([], "the matrix has no combinations");
  if (combinations.length > MAX_COMBINATIONS) throw tooMany();
  return combinations;
}

function productOfLists(lists: Dict): readonly Dict[] {
  let count = 1;
  const named = Object.entries(lists).map(([name, values]) => {
    if (!Array.isArray(values) || values.length === 0) {
      throw new MatrixFault([name], `"${name}" of the matrix must be a list with values`);
    }
    count *= values.length;
    if (count > MAX_COMBINATIONS) throw tooMany();
    return [name, values] as const;
  });
  return named.length === 0 ? [] : productOf(named).map(Object.fromEntries);
}

/** All combinations of a value of each list, as pairs of its name and the value. */
export function productOf<T>(
  lists: readonly (readonly [name: string, values: readonly T[]])[],
): (readonly [name: string, value: T])[][] {
  return lists.reduce<(readonly [string, T])[][]>(
    (product, [name, values]) =>
      product.flatMap((one) => values.map((value) => [...one, [name, value] as const])),
    [[]],
  );
}

function tooMany(): MatrixFault {
  return new MatrixFault([], `the matrix has more than ${MAX_COMBINATIONS} combinations`);
}

function mapsOf(value: Value | undefined, key: string): readonly Dict[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every(isDict)) return value;
  throw new MatrixFault([key], `"${key}" of the matrix must be a list of maps`);
}

function fits(item: Dict, combination: Dict): boolean {
  return Object.entries(item).every(([name, value]) =>
    Object.hasOwn(combination, name) && isEqual(combination[name]!, value)
  );
}

/** The values of a combination, as names show them: `staging, eu`. */
export function describeCombination(combination: Dict): string {
  return Object.values(combination).map(describeValue).join(", ");
}

/** A map is shown by its name, or by its first value. */
function describeValue(value: Value): string {
  if (!isDict(value)) return Array.isArray(value) ? value.map(describeValue).join(" ") : `${value}`;
  const shown = value.name ?? Object.values(value)[0];
  return shown === undefined ? "" : describeValue(shown);
}
