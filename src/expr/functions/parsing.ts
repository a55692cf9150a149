import type { Value } from "../../base/value/value.ts";
import { Fault } from "../fault.ts";
import { limitValue } from "../limits.ts";
import { defineNew, Library } from "./function.ts";

const yaml = new Library(() => import("../../base/yaml/parse_yaml.ts"));
const csv = new Library(() => import("@std/csv/parse"));

/** Functions that read texts in formats other than JSON. */
export const PARSING_FUNCTIONS = [
  defineNew(
    "parse_yaml(text: string)",
    "The value of a YAML string of one document.",
    readYaml,
    { load: yaml.load },
  ),
  defineNew(
    "parse_csv(text: string)",
    "The rows of a CSV string as a list of maps, by the names in its first row.",
    readCsv,
    { load: csv.load },
  ),
] as const;

function readYaml(text: string): Value {
  const { constructValues, parseYaml, YamlFault } = yaml.module;
  let value: Value;
  try {
    value = constructValues(parseYaml([{ name: "", text }]))[0] as Value ?? null;
  } catch (error) {
    if (!(error instanceof YamlFault)) throw error;
    const line = text.slice(0, error.offset).split("\n").length;
    // The text that the parser quotes may be secret.
    const reason = /["'\n]/.test(error.reason) ? "" : `: ${error.reason}`;
    throw new Fault(`parse_yaml() cannot read line ${line} of this text as YAML${reason}`);
  }
  limitValue(value);
  return value;
}

function readCsv(text: string): Value {
  let rows: readonly (readonly string[])[];
  try {
    rows = csv.module.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const line = /line (\d+)/.exec(error.message)?.[1];
    const location = line === undefined ? "this text" : `line ${line} of this text`;
    throw new Fault(`parse_csv() cannot read ${location} as CSV`, 'write a quote in a value as ""');
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
