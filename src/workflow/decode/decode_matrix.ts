import { combinationsOf, MatrixFault } from "../../base/value/combinations.ts";
import { isEqual } from "../../base/value/compare.ts";
import { didYouMean, suggest } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { holdsTemplates } from "../../expr/template/template_data.ts";
import { hintForKey } from "../../base/other_tools.ts";
import type { Matrix, NameRule } from "../model.ts";
import { addError, type Problem } from "../problem.ts";
import { decodeFields, type Decoding, UNKNOWN_KEY } from "./decode_fields.ts";
import { MATRIX } from "./fields.ts";

/** The values of a matrix, and their names if all are known. */
interface DecodedValues {
  readonly values: DataTemplate;
  readonly names: readonly string[] | undefined;
}

/** Decodes the matrix of a job; undefined, with a problem reported, if it is not a mapping. */
export function decodeMatrix(
  value: unknown,
  path: Path,
  decoding: Decoding,
): { readonly matrix: Matrix; readonly names: readonly string[] | undefined } | undefined {
  const decoded = decodeMatrixValues(value, path, decoding, MATRIX);
  if (!decoded) return undefined;
  const options = Object.entries(value as Dict).filter(([name]) =>
    Object.hasOwn(MATRIX.fields, name)
  );
  const { parallel, fail_fast: failFast } =
    decodeFields(Object.fromEntries(options), path, MATRIX, decoding) ?? {};
  const { values, names } = decoded;
  return { matrix: { values, parallel, failFast: failFast ? true : undefined }, names };
}

/**
 * Decodes the values of a matrix, which is all but the other keys of its table; undefined, with a
 * problem reported, if it is not a mapping.
 */
export function decodeMatrixValues(
  value: unknown,
  path: Path,
  { problems, expressions }: Decoding,
  { fields }: { readonly fields: { readonly include: { readonly names: NameRule } } },
  most?: number,
): DecodedValues | undefined {
  if (!isDict(value)) {
    addError(problems, "type", path, `"matrix" must be a map, not ${describeValue(value)}`, {
      hint: "give each list of values a name: matrix: { env: [staging, prod] }",
    });
    return undefined;
  }
  const options = Object.keys(fields);
  const lists = Object.entries(value).filter(([name]) =>
    !options.includes(name) && !/^x[-_]/.test(name)
  );
  const before = problems.length;
  for (const [name, list] of lists) checkList(name, list, [...path, name], problems, options);
  const axes = lists.map(([name]) => name);
  const { include = null, exclude = null } = value;
  checkMaps(include, undefined, [...path, "include"], problems);
  checkMaps(exclude, axes, [...path, "exclude"], problems);
  if (axes.length === 0 && include === null) {
    addError(problems, "empty", path, '"matrix" has no values', {
      hint: "give each list of values a name: matrix: { env: [staging, prod] }",
    });
  }
  const values: Dict = Object.fromEntries([
    ...lists,
    ...include === null ? [] : [["include", include] as const],
    ...exclude === null ? [] : [["exclude", exclude] as const],
  ]);
  if (problems.length === before && !holdsTemplates(values)) {
    checkConstant(values, path, problems, most);
  }
  const isKnown = Array.isArray(include) ? include.every(isDict) : include === null;
  return {
    values: expressions.data(values, path, fields.include.names),
    names: isKnown
      ? [...new Set([...axes, ...(include as Dict[] | null ?? []).flatMap(Object.keys)])]
      : undefined,
  };
}

function checkList(
  name: string,
  list: unknown,
  path: Path,
  problems: Problem[],
  options: readonly string[],
): void {
  // A key that is nearly one of the options was meant to be that.
  const near = suggest(name, options) === undefined ? undefined : didYouMean(name, options);
  const hint = hintForKey("matrix", name) ?? near;
  if (hint !== undefined) {
    addError(problems, UNKNOWN_KEY, path, `unknown key "${name}" in matrix`, { part: "key", hint });
  } else if (!/^[A-Za-z_]\w*$/.test(name)) {
    addError(problems, "name", path, `invalid name "${name}" in "matrix"`, {
      part: "key",
      hint: "a name is made of letters, digits and _: expressions read it as matrix.name",
    });
  } else if (!Array.isArray(list)) {
    if (mayBeList(list)) return;
    addError(problems, "type", path, `"${name}" must be a list, not ${describeValue(list)}`, {
      hint: isDict(list) || list === null ? undefined : `write ${name}: [${list}]`,
    });
  } else if (list.length === 0) {
    addError(problems, "empty", path, `"${name}" must not be empty`);
  } else {
    for (const [index, item] of list.entries()) {
      if (item !== null && !Array.isArray(item)) continue;
      const message = `a value of "${name}" must be a scalar or a map, not ${describeValue(item)}`;
      addError(problems, "type", [...path, index], message);
    }
  }
}

/** Whether a value is a template, which gives a list in the run; without an end, it is a text. */
function mayBeList(value: unknown): boolean {
  return typeof value === "string" && /\{\{[^]*\}\}/.test(value);
}

/** `include` and `exclude`, whose keys are among `names` if these are given. */
function checkMaps(
  list: unknown,
  names: readonly string[] | undefined,
  path: Path,
  problems: Problem[],
): void {
  if (list === null || mayBeList(list)) return;
  if (!Array.isArray(list)) {
    const message = `"${path.at(-1)}" must be a list of maps, not ${describeValue(list)}`;
    addError(problems, "type", path, message, {
      hint: isDict(list) ? 'begin each item with "- "' : undefined,
    });
    return;
  }
  for (const [index, item] of list.entries()) {
    if (!isDict(item)) {
      if (mayBeList(item)) continue;
      const message = `an item of "${path.at(-1)}" must be a map, not ${describeValue(item)}`;
      addError(problems, "type", [...path, index], message);
    }
    for (const name of isDict(item) && names ? Object.keys(item) : []) {
      if (names!.includes(name)) continue;
      const message = `unknown name "${name}" in "exclude"`;
      addError(problems, "unknown-name", [...path, index, name], message, {
        part: "key",
        hint: didYouMean(name, names!) ?? `the matrix has ${names!.join(", ")}`,
      });
    }
  }
}

/** Reports what is wrong with the combinations of values that are known. */
function checkConstant(
  values: Dict,
  path: Path,
  problems: Problem[],
  most: number | undefined,
): void {
  try {
    combinationsOf(values, most);
    const { include: _, exclude, ...lists } = values;
    const all = exclude ? combinationsOf(lists, most) : [];
    for (const [index, item] of (exclude as readonly Dict[] | undefined ?? []).entries()) {
      const names = Object.keys(item);
      if (all.some((one) => names.every((name) => isEqual(one[name]!, item[name]!)))) continue;
      addError(problems, "matrix", [...path, "exclude", index], "it excludes no combination");
    }
  } catch (fault) {
    if (!(fault instanceof MatrixFault)) throw fault;
    addError(problems, "matrix", [...path, ...fault.path], fault.message);
  }
}
