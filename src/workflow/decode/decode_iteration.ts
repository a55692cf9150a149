import { PARAMETER_TYPES } from "../../action/parameters.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { holdsTemplate } from "../../expr/template/template_data.ts";
import { typeMeantBy } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { describeValue } from "../../base/value/value.ts";
import { decodeFields } from "./decode_fields.ts";
import { type Decoding, isRawMap, NO_TIME, type RawMap, warnOfOpenBraces } from "./decode_value.ts";
import { ITERATION } from "./nested_fields.ts";
import { seeing } from "./name_rules.ts";
import type { ColumnType, DataFormat, Iteration, NameRule } from "../model.ts";
import { addError, addWarning } from "../problem.ts";

/** Decodes the iteration of a step; undefined, with a problem reported, if it is invalid. */
export function decodeIteration(
  value: unknown,
  path: Path,
  names: NameRule,
  decoding: Decoding,
): Iteration | undefined {
  if (!isRawMap(value)) return decodeList(value, path, 1, names, decoding);
  const table = { ...ITERATION, fields: withCleanupNames(names) };
  const fields = decodeFields(value, path, table, decoding);
  if (!fields) return undefined;
  const { problems } = decoding;
  const kinds = ["list", "file", "until"].filter((key) => Object.hasOwn(value, key));
  if (kinds.length !== 1) {
    const message = kinds.length === 0
      ? '"iteration" needs "list", "file" or "until"'
      : `"${kinds.join('" and "')}" cannot be combined`;
    addError(problems, "iteration", path, message, { hint: "give one of list, file and until" });
    return undefined;
  }
  const [kind] = kinds;
  for (const key of Object.keys(value)) {
    const only = ONLY_WITH[key];
    if (only === undefined || only.includes(kind!)) continue;
    const message = `"${key}" has no effect with "${kind}"`;
    addError(problems, "iteration", [...path, key], message, { part: "key" });
  }
  const { parallel = 1, file, until, max, interval = NO_TIME, where, limit, format } = fields;
  atLeast(1, parallel, [...path, "parallel"], decoding);
  if (kind === "list") return decodeList(value.list, [...path, "list"], parallel, names, decoding);
  if (kind === "until") {
    if (max === undefined && !Object.hasOwn(value, "max")) {
      addError(problems, "missing", path, '"until" needs "max": how often the step may run');
    }
    if (max === undefined || !until) return undefined;
    atLeast(1, max, [...path, "max"], decoding);
    return { kind: "loop", until, max, interval };
  }
  if (!file) return undefined;
  if (limit !== undefined) atLeast(0, limit, [...path, "limit"], decoding);
  return {
    kind: "file",
    file,
    parallel,
    types: decodeTypes(fields.types, [...path, "types"], decoding),
    ...format === undefined ? {} : { format: format as DataFormat },
    ...where ? { where } : {},
    ...limit === undefined ? {} : { limit },
  };
}

/** The keys that go with some kinds of iteration alone. */
const ONLY_WITH: Readonly<Record<string, readonly string[]>> = {
  format: ["file"],
  where: ["file"],
  limit: ["file"],
  types: ["file"],
  parallel: ["list", "file"],
  max: ["until"],
  interval: ["until"],
};

/** The table for a step whose expressions see more names than others. */
function withCleanupNames({ known = [] }: NameRule): typeof ITERATION.fields {
  const fields = Object.entries(ITERATION.fields).map(([key, field]) => {
    if (!("names" in field)) return [key, field];
    const more = known.filter((name) => name === "run" || name === "job");
    return [key, { ...field, names: seeing(field.names, more) }];
  });
  return Object.fromEntries(fields);
}

function atLeast(least: number, value: number, path: Path, { problems }: Decoding): void {
  if (value >= least) return;
  addError(problems, "range", path, `"${path.at(-1)}" must be at least ${least}, not ${value}`);
}

function decodeList(
  value: unknown,
  path: Path,
  parallel: number,
  names: NameRule,
  { problems, expressions }: Decoding,
): Iteration | undefined {
  if (typeof value === "string" && holdsTemplate(value)) {
    const list = expressions.template(value, path, names);
    if (list?.parts.every((part) => typeof part === "string")) return refuseText(value, path);
    const field = path.slice(path.lastIndexOf("iteration"));
    return list && { kind: "template", list, field, parallel };
  }
  if (!Array.isArray(value)) return refuseText(value, path);
  if (value.length === 0) {
    addWarning(problems, "never-runs", path, `"${path.at(-1)}" is empty`, {
      part: "key",
      hint: "the step runs once for each entry, and so never",
    });
  }
  const entries = value.map((item: unknown, index): DataTemplate => {
    const at = [...path, index];
    warnOfOpenBraces(problems, item, at);
    const data = expressions.data(item ?? {}, at, names);
    // The value of a template is known only at run time.
    if (isRawMap(item ?? {}) || data.kind === "template") return data;
    return { kind: "map", entries: [["item", data]] };
  });
  return { kind: "list", entries, parallel };

  function refuseText(value: unknown, path: Path): undefined {
    const message = `"${path.at(-1)}" must be a list, not ${describeValue(value)}`;
    const hint = typeof value === "number"
      ? `to run the step ${value} times, write iteration: "{{1..${value}}}"`
      : 'a file is given as iteration: { file: cases.csv }, and a list of a run as "{{…}}"';
    addError(problems, "type", path, message, { hint });
  }
}

function decodeTypes(
  types: RawMap = {},
  path: Path,
  { problems }: Decoding,
): ReadonlyMap<string, ColumnType> {
  const decoded = new Map<string, ColumnType>();
  for (const [column, type] of Object.entries(types)) {
    if (isColumnType(type)) {
      decoded.set(column, type);
      continue;
    }
    const message = `unknown type ${describeValue(type)} of "${column}"`;
    const hint = didYouMean(typeMeantBy(String(type)) ?? String(type), PARAMETER_TYPES) ??
      `the types are ${PARAMETER_TYPES.join(", ")}`;
    addError(problems, "type", [...path, column], message, { hint });
  }
  return decoded;
}

function isColumnType(type: unknown): type is ColumnType {
  return typeof type === "string" && PARAMETER_TYPES.includes(type);
}
