import { flag, integer, parametersOf, readEach, type Rule, type Shape } from "../../action/rule.ts";
import { combinationsOf, MatrixFault } from "../../base/value/combinations.ts";
import { isEqual } from "../../base/value/compare.ts";
import { didYouMean, suggest } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import type { DataTemplate, NameRule } from "../../expr/expression.ts";
import { holdsTemplates } from "../../expr/template.ts";
import { hintForKey } from "../../base/other_tools.ts";
import type { Matrix } from "../model.ts";
import { addError, type Problem } from "../problem.ts";
import { IN_MATRIX } from "./expressions.ts";
import { isNote, rule, UNKNOWN_KEY } from "./key.ts";

/** The values of a matrix, and their names if all are known. */
export interface DecodedMatrix {
  readonly values: DataTemplate;
  readonly names: readonly string[] | undefined;
  /** Whether nothing is wrong with it. */
  readonly isWhole: boolean;
  /** The values of its other keys. */
  readonly options: Dict;
}

/** The keys that every matrix has beside the names of its values. */
export function matrixMaps(names: NameRule): Shape {
  const maps = (summary: string) =>
    rule(
      { type: ["list", "string"], summary, key: { kind: "iteration", names } },
      (value) => value,
    );
  return {
    include: maps(
      "A list of maps. Each adds its values to the combinations that it matches, or becomes one more combination.",
    ),
    exclude: maps("A list of maps: the combinations with these values are left out."),
  };
}

/** The keys of the matrix of a job beside the names of its values. */
export const JOB_MATRIX = {
  ...matrixMaps(IN_MATRIX),
  parallel: integer("How many of the jobs run at once; the others wait in order.", { min: 1 })
    .with({ default: "no limit" }),
  fail_fast: flag("Whether nothing new starts in any of the jobs once one of them has failed.")
    .with({ default: "false" }),
};

export const jobMatrix = matrix(JOB_MATRIX, "", IN_MATRIX).key({ title: "matrix" }).as((
  { values, names, options: { parallel, fail_fast } },
) => ({
  matrix: {
    values,
    parallel: parallel as number | undefined,
    failFast: fail_fast === true ? true : undefined,
  } satisfies Matrix,
  names,
}));

/** Lists of values by name, beside the keys of a shape. */
export function matrix(shape: Shape, summary: string, names: NameRule): Rule<DecodedMatrix> {
  const options = Object.keys(shape);
  return rule({
    ...{ type: "map", summary, fields: parametersOf(shape) },
    key: { kind: "matrix", what: "matrix", names },
  }, (value, key) => {
    const { path, decoding: { problems, expressions, limits } } = key;
    if (!isDict(value)) {
      const message = `"matrix" must be a map, not ${describeValue(value)}`;
      throw key.wrong(message, NAME_VALUES);
    }
    const lists = Object.entries(value).filter(([name]) =>
      !options.includes(name) && !isNote(name)
    );
    const before = problems.length;
    for (const [name, list] of lists) checkList(name, list, [...path, name], problems, options);
    const axes = lists.map(([name]) => name);
    const { include = null, exclude = null } = value;
    checkMaps(include, undefined, [...path, "include"], problems);
    checkMaps(exclude, axes, [...path, "exclude"], problems);
    if (axes.length === 0 && include === null) {
      key.wrong('"matrix" has no values', NAME_VALUES, { code: "empty" });
    }
    const values: Dict = Object.fromEntries([
      ...lists,
      ...include === null ? [] : [["include", include] as const],
      ...exclude === null ? [] : [["exclude", exclude] as const],
    ]);
    if (problems.length === before && !holdsTemplates(values)) {
      const most = path.includes("iteration") ? limits.repeatCount : undefined;
      checkConstant(values, path, problems, most);
    }
    const isKnown = Array.isArray(include) ? include.every(isDict) : include === null;
    const read = Object.entries(shape).map(([name, rule]) =>
      [name, readEach([[name, value[name]]], rule, key).values[0]] as const
    );
    return {
      values: expressions.data(values, key),
      names: isKnown
        ? [...new Set([...axes, ...(include as Dict[] | null ?? []).flatMap(Object.keys)])]
        : undefined,
      isWhole: problems.length === before,
      options: Object.fromEntries(read) as Dict,
    };
  });
}

const NAME_VALUES = "give each list of values a name: matrix: { env: [staging, prod] }";

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
