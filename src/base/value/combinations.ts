import { isEqual } from "./compare.ts";
import { formatJson } from "./format_value.ts";
import { type Dict, isDict, type Value } from "./value.ts";

/** A mistake in a matrix, and its place there. */
export class MatrixFault extends Error {
  constructor(readonly path: readonly (string | number)[], message: string) {
    super(message);
  }
}

/** The maximum number of combinations of a matrix of jobs or workflows. */
const MOST = 1000;

/**
 * The combinations of the lists of a matrix, in their order: one for each value of each list, the
 * last list changing fastest. Those that an item of `exclude` fits are left out; an item of
 * `include` adds its values to the combinations that it fits, or is one more. Throws MatrixFault,
 * also if there are more than `most`.
 */
export function combinationsOf(matrix: Dict, most = MOST): readonly Dict[] {
  const { include, exclude, ...lists } = matrix;
  const product = productOf(lists, most);
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
  if (combinations.length > most) throw tooMany(most);
  refuseEqual(combinations, () => ["include"]);
  return combinations;
}

function productOf(lists: Dict, most: number): readonly Dict[] {
  let product: readonly Dict[] = Object.keys(lists).length === 0 ? [] : [{}];
  for (const [name, values] of Object.entries(lists)) {
    if (!Array.isArray(values) || values.length === 0) {
      throw new MatrixFault([name], `"${name}" of the matrix must be a list with values`);
    }
    if (product.length * values.length > most) throw tooMany(most);
    refuseEqual(values, (index) => [name, index]);
    product = product.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  }
  return product;
}

/** Refuses what would run twice, such as 1.10 and 1.1, which YAML reads as one number. */
function refuseEqual(items: readonly Value[], pathOf: (index: number) => MatrixFault["path"]) {
  const known = new Set<string>();
  for (const [index, item] of items.entries()) {
    const text = formatJson(item);
    if (known.has(text)) {
      throw new MatrixFault(pathOf(index), "two entries of the matrix are equal");
    }
    known.add(text);
  }
}

function tooMany(most: number): MatrixFault {
  return new MatrixFault([], `the matrix has more than ${most} combinations`);
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
