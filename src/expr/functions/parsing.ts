import type { Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { copyData } from "./copy_data.ts";
import { defineNew } from "./function.ts";

type Yaml = typeof import("../../base/yaml/parse_yaml.ts");
type ParseCsv = typeof import("@std/csv/parse").parse;

let yaml: Yaml | undefined;
let csv: ParseCsv | undefined;

/** Functions that read texts in formats other than JSON. */
export const PARSING_FUNCTIONS = [
  defineNew(
    "parse_yaml(text: string)",
    "The value of a YAML string of one document.",
    parseYaml,
    async () => {
      yaml ??= await import("../../base/yaml/parse_yaml.ts");
    },
  ),
  defineNew(
    "parse_csv(text: string)",
    "The rows of a CSV string as a list of maps, by the names in its first row.",
    parseCsv,
    async () => {
      csv ??= (await import("@std/csv/parse")).parse;
    },
  ),
] as const;

function parseYaml(run: Evaluation, text: string): Value {
  if (!yaml) throw new Error("js-yaml is not loaded");
  run.spend(text.length >> 2);
  let value: unknown;
  try {
    value = yaml.constructValues(yaml.parseYaml([{ name: "", text }]))[0];
  } catch (error) {
    if (!(error instanceof yaml.YamlFault)) throw error;
    const line = text.slice(0, error.offset).split("\n").length;
    // The text that the parser quotes may be secret.
    const reason = /["'\n]/.test(error.reason) ? "" : `: ${error.reason}`;
    throw new Fault(`parse_yaml() cannot read line ${line} of this text as YAML${reason}`);
  }
  return copyData(run, value);
}

function parseCsv(run: Evaluation, text: string): Value {
  if (!csv) throw new Error("the parser of CSV is not loaded");
  run.spend(text.length >> 2);
  let rows: readonly (readonly string[])[];
  try {
    rows = csv(text.replace(/^\ufeff/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const line = /line (\d+)/.exec(error.message)?.[1];
    const place = line === undefined ? "this text" : `line ${line} of this text`;
    throw new Fault(`parse_csv() cannot read ${place} as CSV`, 'write a quote in a value as ""');
  }
  const [header = [], ...rest] = rows;
  const columns = header.map((name) => name.trim());
  for (const [index, name] of columns.entries()) {
    const first = columns.indexOf(name);
    if (name !== "" && first === index) continue;
    throw new Fault(
      "parse_csv() needs a first row of names, each there once",
      name === ""
        ? `column ${index + 1} has no name`
        : `columns ${first + 1} and ${index + 1} have the same name`,
    );
  }
  return rest.map((fields, index) => {
    run.spend(fields.length);
    if (fields.length !== columns.length) {
      throw new Fault(
        `parse_csv() needs as many values as names: row ${
          index + 1
        } has ${fields.length}, the first row ${columns.length}`,
        'put a value with a comma in it in quotes: "a, b"',
      );
    }
    const row: Record<string, Value> = Object.create(null);
    columns.forEach((name, at) => row[name] = fields[at]!);
    return row;
  });
}
