import { pathDenial } from "../../action/permissions/rules.ts";
import { fileProblem } from "../../action/step_file.ts";
import { convertParameter, INTEGER_TEXT } from "../../action/parameter.ts";
import { decodeText } from "../../base/text/decode_text.ts";
import { LoadError, StepError } from "../../base/errors.ts";
import { jsonFault, jsonOrText, parseJson } from "../../base/value/parse_json.ts";
import {
  describeValue,
  type Dict,
  isDict,
  mergeDicts,
  readInteger,
  type Value,
} from "../../base/value/value.ts";
import { findNamedFile } from "../../workflow/job_files/job_path.ts";
import type { ColumnType, DataFormat, RowsFile } from "../../workflow/model.ts";
import type { Path } from "../../base/source.ts";
import type { Scope } from "../../expr/expression.ts";
import type { RunExecution } from "../run_state.ts";
import { FieldError, inField, isTrue, NothingToRun } from "./evaluate_field.ts";

/** A file of rows, as a step names it. */
interface RowsOf {
  /** The path as written, relative to the file of the step. */
  readonly written: string;
  readonly file: RowsFile;
  /** The path of the key that names it. */
  readonly at: Path;
}

/**
 * The rows of a file. Those of CSV and JSONL are parsed one by one. Throws `StepError` with the path
 * of the file for what cannot be read.
 */
export async function* readRows(run: RunExecution, rows: RowsOf): AsyncGenerator<Value> {
  const { file: { format, types } } = rows;
  const path = await findFile(run, rows);
  const kind = format ?? formatOf(path);
  const text = await readText(path, run);
  if (text.trim() === "") throw new StepError(`the data file "${path}" is empty`);
  if (types === "auto") {
    const values = ROWS[kind](text, path);
    return yield* kind === "csv" ? convertByValues(await Array.fromAsync(values)) : values;
  }
  let number = 0;
  for await (const row of ROWS[kind](text, path)) {
    number++;
    yield types.size === 0 ? row : convertRow(row, types, `row ${number} of "${path}"`);
  }
}

/** What the rows of a data file are chosen by. */
interface ChosenRows {
  readonly scope: Scope;
  /** The vars that `where` sees, with the columns. */
  readonly vars: Dict;
  /** Where the file is named, below the key of its owner. */
  readonly field: Path;
  readonly owner: Path;
  /** The key of the condition. */
  readonly where: Path;
}

/** The rows of a data file that fit its `where`, as many as its `limit` allows. */
export async function* readChosenRows(
  run: RunExecution,
  file: RowsFile,
  { scope, vars, field, owner, where: condition }: ChosenRows,
): AsyncGenerator<Value> {
  const { limit = Infinity, where } = file;
  const written = inField(field, () => file.file.renderText(scope), file.file);
  let rows = 0;
  let chosen = 0;
  const isChosen = (value: unknown) => {
    const row = isDict(value as Dict) ? value as Dict : { item: value } as Dict;
    const names = { ...scope.names, vars: mergeDicts(vars, row) };
    return isTrue(where!, { ...scope, names }, condition);
  };
  try {
    if (limit > 0) {
      for await (const value of readRows(run, { written, file, at: [...owner, ...field] })) {
        rows++;
        if (where && !isChosen(value)) continue;
        yield value;
        if (++chosen === limit) break;
      }
    }
  } catch (error) {
    throw error instanceof FieldError ? error : new FieldError(field, error);
  }
  if (chosen > 0) return;
  if (limit === 0) throw new NothingToRun("limit is 0");
  throw new NothingToRun(
    rows > 0 ? `no row of "${written}" fits "where"` : `"${written}" has no rows`,
  );
}

async function readText(path: string, { host }: RunExecution): Promise<string> {
  try {
    return decodeText(await host.files.read(path));
  } catch (error) {
    throw fileProblem(error, { what: "the data file", parameter: "file", path }, path);
  }
}

async function findFile(run: RunExecution, { written, at }: RowsOf): Promise<string> {
  const { document, host, options: { permissions } } = run;
  const path = await findNamedFile(document, at, written, host);
  const refusal = permissions && await pathDenial(permissions, "read", path, host);
  if (!refusal) return path;
  throw new StepError(`cannot read the data file "${path}": ${refusal.message}`, refusal.hint);
}

function formatOf(path: string): DataFormat {
  const format = EXTENSIONS[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""];
  if (format) return format;
  throw new StepError(
    `unknown format of the data file "${path}"`,
    "give it: iteration: { file: …, format: csv }; the formats are csv, json, jsonl and yaml",
  );
}

const EXTENSIONS: Readonly<Record<string, DataFormat>> = {
  csv: "csv",
  tsv: "csv",
  json: "json",
  jsonl: "jsonl",
  ndjson: "jsonl",
  yaml: "yaml",
  yml: "yaml",
};

type ReadRows = (text: string, path: string) => AsyncIterable<Value>;

const ROWS: { readonly [F in DataFormat]: ReadRows } = {
  csv: csvRows,
  jsonl: jsonLines,
  async *json(text, path) {
    yield* listOf(parseRow(text, path), path);
  },
  async *yaml(text, path) {
    const { readYaml } = await import("../../base/yaml/read_yaml.ts");
    try {
      const { value } = await readYaml([{ name: path, text }], "data file");
      yield* listOf(value, path);
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      const [first] = error.diagnostics;
      throw first ? invalid(path, "YAML", first) : new StepError(error.message);
    }
  },
};

/** The items of a file that is one list. */
function listOf(list: unknown, path: string): readonly Value[] {
  if (Array.isArray(list)) return list;
  throw new StepError(`the data file "${path}" must hold a list, not ${describeValue(list)}`);
}

async function* jsonLines(text: string, path: string): AsyncGenerator<Value> {
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() !== "") yield parseRow(line, path, index);
  }
}

function parseRow(json: string, path: string, linesBefore = 0): Value {
  try {
    return parseJson(json) as Value;
  } catch (error) {
    const { offset, message } = jsonFault(json, error as SyntaxError);
    const line = linesBefore + json.slice(0, offset).split("\n").length;
    throw invalid(`${path}:${line}`, "JSON", { message });
  }
}

async function* csvRows(text: string, path: string): AsyncGenerator<Value> {
  const { CsvParseStream } = await import("@std/csv/parse-stream");
  // Programs that import the library do not see the types of this one.
  const parser: TransformStream<string, readonly string[]> = new CsvParseStream({
    separator: separatorOf(text),
  });
  const stream = ReadableStream.from([text]).pipeThrough(parser);
  let columns: readonly string[] | undefined;
  let number = 0;
  try {
    for await (const fields of stream) {
      if (!columns) {
        columns = columnsOf(fields, path);
        continue;
      }
      number++;
      if (fields.length !== columns.length) {
        const count = fields.length === 1 ? "1 value" : `${fields.length} values`;
        throw new StepError(
          `row ${number} of "${path}" has ${count} for ${columns.length} columns`,
          'put a value with a comma in it in quotes: "a, b"',
        );
      }
      const row: Record<string, Value> = Object.create(null);
      columns.forEach((column, index) => row[column] = fields[index]!);
      yield row;
    }
  } catch (error) {
    throw error instanceof SyntaxError ? invalid(path, "CSV", error) : error;
  }
}

/** Returns the separator: a comma, or a semicolon or tab if the first line has no comma. */
function separatorOf(text: string): string {
  const [line = ""] = text.split("\n", 1);
  return [",", ";", "\t"].find((character) => line.includes(character)) ?? ",";
}

/** The names in the first row. */
function columnsOf(fields: readonly string[], path: string): readonly string[] {
  const columns = fields.map((field) => field.trim());
  const wrong = columns.find((name, index) => name === "" || columns.indexOf(name) !== index);
  if (wrong === undefined) return columns;
  throw new StepError(
    wrong === ""
      ? `a column of "${path}" has no name`
      : `two columns of "${path}" are called "${wrong}"`,
    "the first row has the names of the columns, by which they are read: vars.<column>",
  );
}

function invalid(path: string, format: string, { message }: Pick<Error, "message">): StepError {
  return new StepError(`the data file "${path}" is not valid ${format}: ${message}`);
}

function convertRow(row: Value, types: ReadonlyMap<string, ColumnType>, where: string): Value {
  if (!isDict(row)) return row;
  const converted: Record<string, Value> = Object.assign(Object.create(null), row);
  for (const [column, type] of types) {
    if (!Object.hasOwn(row, column)) {
      const names = Object.keys(row).join(", ");
      throw new StepError(`${where} has no column "${column}"`, `its columns are ${names}`);
    }
    converted[column] = convertCell(row[column]!, type, `"${column}" in ${where}`);
  }
  return converted;
}

/** Converts each column of a CSV file to the type that all its cells have. */
function convertByValues(rows: readonly Value[]): readonly Value[] {
  const columns = Object.keys(rows[0] as Dict ?? {});
  const cellsOf = (column: string) => rows.map((row) => (row as Dict)[column] as string);
  const types = new Map(columns.map((column) => [column, typeOf(cellsOf(column))]));
  return rows.map((row, index) => convertRow(row, types, `row ${index + 1}`));
}

/**
 * The type of the cells of a column. Digits after a zero, as in 007, are no number: such texts are
 * numbers of articles or postal codes, whose zeros count.
 */
function typeOf(cells: readonly string[]): ColumnType {
  const written = cells.filter((cell) => cell !== "");
  const haveAll = (pattern: RegExp) =>
    written.length > 0 && written.every((cell) => pattern.test(cell));
  if (haveAll(/^-?(?:0|[1-9]\d*)$/)) return "integer";
  if (haveAll(/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/)) return "number";
  return haveAll(/^(?:true|false)$/i) ? "boolean" : "string";
}

/** An empty cell is nil, unless it should be a string. Spreadsheets write booleans as `TRUE`. */
function convertCell(value: Value, type: ColumnType, where: string): Value {
  if (value === null || value === "" && type !== "string") return null;
  const isNumeric = type === "integer" || type === "number";
  const isNested = type === "list" || type === "map" || type === "any";
  const cell = typeof value !== "string"
    ? value
    : isNested
    ? jsonOrText(value)
    : type === "boolean"
    ? value.toLowerCase()
    : isNumeric && INTEGER_TEXT.test(value)
    ? readInteger(value.trim()) ?? value
    : value;
  if (isNumeric && typeof cell === "bigint") return cell;
  const converted = convertParameter(type, cell);
  if (converted !== undefined) return converted;
  throw new StepError(`${where} must be of type ${type}, not ${describeValue(value)}`);
}
