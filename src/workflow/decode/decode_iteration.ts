import { PARAMETER_TYPES } from "../../action/parameters.ts";
import { typeMeantBy } from "../../base/other_tools.ts";
import type { Path } from "../../base/source.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { combinationsOf } from "../../base/value/combinations.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { onlyExpression } from "../../expr/parse/tree.ts";
import { holdsTemplate } from "../../expr/template/template_data.ts";
import type { ColumnType, DataFile, DataFormat, Iteration, NameRule, Rows } from "../model.ts";
import { addError, addWarning, type Problem, warnOfBraces } from "../problem.ts";
import { decodeFields, type Decoding, namesIn, NO_TIME } from "./decode_fields.ts";
import { decodeMatrixValues } from "./decode_matrix.ts";
import { STEP_FIELDS } from "./fields.ts";
import { LOAD_DATA } from "./load_fields.ts";
import { ITERATION, ITERATION_MATRIX } from "./step_maps.ts";

/** Decodes the iteration of a step; undefined, with a problem reported, if it is invalid. */
export function decodeIteration(
  value: unknown,
  path: Path,
  decoding: Decoding,
): Iteration | undefined {
  if (!isDict(value)) return decodeList(value, path, 1, decoding);
  const fields = decodeFields(value, path, ITERATION, decoding);
  if (!fields) return undefined;
  const { problems } = decoding;
  const kinds = ["list", "matrix", "file", "until"].filter((key) => Object.hasOwn(value, key));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const message = kind === undefined
      ? '"iteration" needs "list", "matrix", "file" or "until"'
      : `"${kinds.join('" and "')}" cannot be combined`;
    addError(problems, "iteration", path, message, {
      hint: "give one of list, matrix, file and until",
    });
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (ONLY_WITH.get(key)?.includes(kind) ?? true) continue;
    const message = `"${key}" has no effect with "${kind}"`;
    addError(problems, "iteration", [...path, key], message, { part: "key" });
  }
  const { parallel = 1, file, until, max, interval = NO_TIME, where, limit, format } = fields;
  if (kind === "list") return decodeList(value.list, [...path, "list"], parallel, decoding);
  if (kind === "matrix") {
    return decodeCombinations(value.matrix, [...path, "matrix"], parallel, decoding);
  }
  if (kind === "until") {
    if (max === undefined && !Object.hasOwn(value, "max")) {
      addError(problems, "missing", path, '"until" needs "max": how often the step may run');
    }
    if (max === undefined || !until) return undefined;
    return { kind: "loop", until, max, interval };
  }
  if (!file) return undefined;
  const types = decodeTypes(fields.types, [...path, "types"], decoding);
  return { kind: "file", file, parallel, types, format: format as DataFormat, where, limit };
}

/** Decodes `data` of `load`: a path, a list, or a map with one of them. */
export function decodeRows(value: unknown, path: Path, decoding: Decoding): Rows | undefined {
  const { problems, expressions } = decoding;
  const { names } = LOAD_DATA.fields.file;
  const ofFile = { kind: "file", parallel: 1, types: new Map() } as const;
  if (typeof value === "string") {
    const file = expressions.template(value, path, names);
    // What a template gives, a list or the path of a file, is known only at run time.
    return file && onlyExpression(file)
      ? { kind: "template", list: file, field: ["load", "data"], parallel: 1 }
      : file && { ...ofFile, file };
  }
  if (!isDict(value)) return decodeList(value, path, 1, decoding, names) as Rows | undefined;
  const fields = decodeFields(value, path, LOAD_DATA, decoding);
  if (!fields) return undefined;
  if (Object.hasOwn(value, "list") === Object.hasOwn(value, "file")) {
    addError(problems, "load", path, '"data" needs either "file" or "list"');
    return undefined;
  }
  if (Object.hasOwn(value, "list")) {
    return decodeList(value.list, [...path, "list"], 1, decoding, names) as Rows | undefined;
  }
  const { file, where, limit, format } = fields;
  const types = decodeTypes(fields.types, [...path, "types"], decoding);
  return file && { ...ofFile, file, types, format: format as DataFormat, where, limit };
}

/** The keys that go with some kinds of iteration alone. */
const ONLY_WITH: ReadonlyMap<string, readonly string[]> = new Map([
  ["format", ["file"]],
  ["where", ["file"]],
  ["limit", ["file"]],
  ["types", ["file"]],
  ["parallel", ["list", "matrix", "file"]],
  ["max", ["until"]],
  ["interval", ["until"]],
]);

function decodeList(
  value: unknown,
  path: Path,
  parallel: number,
  decoding: Decoding,
  names: NameRule = namesIn(STEP_FIELDS.fields.iteration, decoding),
): Iteration | undefined {
  const { problems, expressions } = decoding;
  if (typeof value === "string" && holdsTemplate(value)) {
    const list = expressions.template(value, path, names);
    // Braces without an end are text.
    if (!list?.parts.every((part) => typeof part === "string")) {
      const field = path.slice(path.findLastIndex((key) => key === "iteration" || key === "load"));
      return list && { kind: "template", list, field, parallel };
    }
  }
  if (!Array.isArray(value)) {
    const message = `"${path.at(-1)}" must be a list, not ${describeValue(value)}`;
    const hint = typeof value === "number"
      ? `to run the step ${value} times, write iteration: "{{1..${value}}}"`
      : 'a file is given as iteration: { file: cases.csv }, and a list of a run as "{{…}}"';
    addError(problems, "type", path, message, { hint });
    return undefined;
  }
  if (value.length === 0) warnOfNoEntry(problems, path);
  const entries = value.map((item: unknown, index): DataTemplate => {
    const at = [...path, index];
    warnOfBraces(problems, item, at);
    const data = expressions.data(item ?? {}, at, names);
    // The value of a template is known only at run time.
    if (isDict(item ?? {}) || data.kind === "template") return data;
    return { kind: "map", entries: [["item", data]] };
  });
  return { kind: "list", entries, parallel };
}

function decodeCombinations(
  matrix: unknown,
  path: Path,
  parallel: number,
  decoding: Decoding,
): Iteration | undefined {
  const { problems, limits: { repeatCount: most } } = decoding;
  const before = problems.length;
  const decoded = decodeMatrixValues(matrix, path, decoding, ITERATION_MATRIX, most);
  if (!decoded || problems.length > before) return undefined;
  const { values, names } = decoded;
  if (values.kind !== "constant") return { kind: "matrix", values, names, most, parallel };
  const entries = combinationsOf(values.value as Dict, most)
    .map((value): DataTemplate => ({ kind: "constant", value }));
  return { kind: "list", entries, parallel };
}

function warnOfNoEntry(problems: Problem[], path: Path): void {
  addWarning(problems, "never-runs", path, `"${path.at(-1)}" is empty`, {
    part: "key",
    hint: "the step runs once for each entry, and so never",
  });
}

function decodeTypes(
  types: Dict | "auto" = {},
  path: Path,
  { problems }: Decoding,
): DataFile["types"] {
  if (types === "auto") return types;
  const decoded = new Map<string, ColumnType>();
  for (const [column, type] of Object.entries(types)) {
    if (typeof type === "string" && PARAMETER_TYPES.includes(type)) {
      decoded.set(column, type as ColumnType);
      continue;
    }
    const message = `unknown type ${describeValue(type)} of "${column}"`;
    const hint = didYouMean(typeMeantBy(String(type)) ?? String(type), PARAMETER_TYPES) ??
      `the types are ${PARAMETER_TYPES.join(", ")}`;
    addError(problems, "type", [...path, column], message, { hint });
  }
  return decoded;
}
