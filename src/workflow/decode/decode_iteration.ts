import { isGiven, PARAMETER_TYPES } from "../../action/parameter.ts";
import { choice, integer, map, type Rule } from "../../action/rule.ts";
import { typeMeantBy } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { combinationsOf } from "../../base/value/combinations.ts";
import { describeValue, type Dict, isDict, type Value } from "../../base/value/value.ts";
import type { DataTemplate, NameRule } from "../../expr/expression.ts";
import { onlyExpression } from "../../expr/parse/tree.ts";
import { holdsTemplate } from "../../expr/template.ts";
import type { ColumnType, Iteration, Rows, RowsFile } from "../model.ts";
import { addWarning, warnOfBraces } from "../problem.ts";
import { type DecodedMatrix, matrix, matrixMaps } from "./decode_matrix.ts";
import { IN_ITERATION, IN_JOB, IN_STEP } from "./expressions.ts";
import { expression, isReported, type Key, NO_TIME, rule, template, time } from "./key.ts";

/** Entries that are in the file, or that a template gives. */
type Entries = Extract<Iteration, { readonly kind: "list" | "template" }>;

/** A list, or a template that gives one in the run. */
function entries(summary: string, names: NameRule): Rule<Entries> {
  return rule(
    { type: ["list", "string"], summary, key: { kind: "iteration", names } },
    readEntries,
  );
}

/** The types of columns, by their names or all by their values. */
const types = rule(
  {
    type: ["string", "map"],
    values: ["auto"],
    summary:
      "The types of columns, or auto to infer them from the values of a CSV file; by default, all are strings.",
    key: { kind: "types" },
  },
  (types, key): RowsFile["types"] => {
    if (types === "auto") return types;
    if (!isDict(types)) {
      throw key.wrong(`${key.name} must be a map or "auto", not ${describeValue(types)}`);
    }
    const decoded = new Map<string, ColumnType>();
    for (const [column, type] of Object.entries(types)) {
      if (typeof type === "string" && PARAMETER_TYPES.includes(type)) {
        decoded.set(column, type as ColumnType);
        continue;
      }
      const hint = didYouMean(typeMeantBy(String(type)) ?? String(type), PARAMETER_TYPES) ??
        `the types are ${PARAMETER_TYPES.join(", ")}`;
      key.of(column).wrong(`unknown type ${describeValue(type)} of "${column}"`, hint);
    }
    return decoded;
  },
);

/** The keys of rows in a file. */
function rowsOfFile(names: NameRule, where: string) {
  return {
    file: template(`A file with the ${where}`, names).with({ namesFile: "any" }),
    format: choice(["csv", "json", "jsonl", "yaml"], "The format of the file.")
      .with({ default: "by the extension" }),
    where: expression("Selects rows of the file; it reads the columns as vars.", names)
      .key({ isOccasional: true }),
    limit: integer("The maximum number of rows that are used.", { min: 0 }),
    types,
  };
}

/** The keys that go with some kinds of iteration alone. */
const ONLY_WITH = {
  ...{ format: ["file"], where: ["file"], limit: ["file"], types: ["file"] },
  ...{ parallel: ["list", "matrix", "file"], max: ["until"], interval: ["until"] },
};

const { file, format, where, limit } = rowsOfFile(
  IN_ITERATION,
  "entries, relative to the file of the step.",
);

const ITERATION = {
  list: entries(
    "The entries, or a template that returns a list when the step runs.",
    IN_ITERATION,
  ),
  file,
  format,
  where,
  limit,
  matrix: matrix(
    matrixMaps(IN_ITERATION),
    "Named lists; the entries are all combinations of their values.",
    IN_ITERATION,
  )
    .as((decoded, param) => readCombinations(decoded, param as Key)),
  types,
  parallel: integer("How many entries are run at once.", { min: 1 }).default(1),
  until: expression("Runs the step until it is true; evaluated after each entry.", IN_STEP),
  max: integer("The maximum number of entries; required with until.", { min: 1 }),
  interval: time("The time between two entries of until.", IN_STEP).key({ isOccasional: true }),
};

const iterationMap = map(ITERATION, "", {
  alternatives: [{
    names: ["list", "matrix", "file", "until"],
    required: true,
    hint: "give one of list, matrix, file and until",
  }],
  onlyWith: ONLY_WITH,
  check(_, param, raw) {
    const isAlone = !["list", "matrix", "file"].some((name) => isGiven(raw, name));
    if (!isGiven(raw, "until") || !isAlone || Object.hasOwn(raw, "max")) return;
    param.wrong('"until" needs "max": how often the step may run', undefined, { code: "missing" });
  },
}).key({ what: "iteration" }).as((
  { list, matrix, file, until, max, parallel, interval = NO_TIME, where, limit, format, types },
): Iteration => {
  if (list) return { ...list, parallel };
  if (matrix) return { ...matrix, parallel };
  if (until) return { kind: "loop", until, max: max!, interval };
  return { kind: "file", file: file!, parallel, types: types ?? new Map(), format, where, limit };
});

/** The iteration of a step: a list, a template that gives one, or a map. */
export const iteration = rule<Iteration>({
  ...iterationMap.form,
  type: ["list", "string", "map"],
  key: { kind: "iteration", what: "iteration", title: "iteration", names: IN_ITERATION },
}, (value, key) => isDict(value) ? iterationMap.parse(value, key) : readEntries(value, key));

const DATA = {
  ...rowsOfFile(IN_JOB, "rows, relative to this file."),
  list: entries("The rows, or a template that returns a list.", IN_JOB),
};

const dataMap = map(DATA, "", {
  alternatives: [{ names: ["file", "list"], required: true }],
  onlyWith: { format: ["file"], where: ["file"], limit: ["file"], types: ["file"] },
}).key({ what: "data" }).as(({ list, file, types = new Map(), format, where, limit }): Rows =>
  list ?? { kind: "file", file: file!, parallel: 1, types, format, where, limit }
);

/** The rows of a load job: a path, a list, or a map with one of them. */
export function rows(summary: string): Rule<Rows> {
  const { fields, alternatives } = dataMap.form;
  return rule({
    ...{ type: ["string", "list", "map"], summary, fields, alternatives, namesFile: "any" },
    key: { kind: "rows", names: IN_JOB, what: "data", title: "data of load" },
  }, (value, key): Rows => {
    if (isDict(value)) return dataMap.parse(value, key);
    if (typeof value !== "string") return readEntries(value, key);
    const file = key.decoding.expressions.template(value, key);
    if (!file) throw isReported();
    // What a template gives, a list or the path of a file, is known only at run time.
    return onlyExpression(file)
      ? { kind: "template", list: file, field: ["load", "data"], parallel: 1 }
      : { kind: "file", file, parallel: 1, types: new Map() };
  });
}

function readEntries(value: Value, key: Key): Entries {
  const { path, decoding: { problems, expressions } } = key;
  if (typeof value === "string" && holdsTemplate(value)) {
    const list = expressions.template(value, key);
    if (!list) throw isReported();
    // Braces without an end are text.
    if (list.parts.some((part) => typeof part !== "string")) {
      const field = path.slice(path.findLastIndex((key) => key === "iteration" || key === "load"));
      return { kind: "template", list, field, parallel: 1 };
    }
  }
  if (!Array.isArray(value)) {
    const hint = typeof value === "number"
      ? `to run the step ${value} times, write iteration: "{{1..${value}}}"`
      : 'a file is given as iteration: { file: cases.csv }, and a list of a run as "{{…}}"';
    throw key.wrong(`${key.name} must be a list, not ${describeValue(value)}`, hint);
  }
  if (value.length === 0) {
    addWarning(problems, "never-runs", path, `${key.name} is empty`, {
      part: "key",
      hint: "the step runs once for each entry, and so never",
    });
  }
  const entries = value.map((item: Value, index): DataTemplate => {
    const at = key.of(index);
    warnOfBraces(problems, item, at.path);
    const data = expressions.data(item ?? {}, at);
    // The value of a template is known only at run time.
    if (isDict(item ?? {}) || data.kind === "template") return data;
    return { kind: "map", entries: [["item", data]] };
  });
  return { kind: "list", entries, parallel: 1 };
}

function readCombinations(
  { values, names, isWhole }: DecodedMatrix,
  { decoding: { limits: { repeatCount: most } } }: Key,
): Extract<Iteration, { readonly kind: "list" | "matrix" }> {
  if (!isWhole) throw isReported();
  if (values.kind !== "constant") return { kind: "matrix", values, names, most, parallel: 1 };
  const entries = combinationsOf(values.value as Dict, most)
    .map((value): DataTemplate => ({ kind: "constant", value }));
  return { kind: "list", entries, parallel: 1 };
}
