import { formatJson, formatValue } from "../../base/value/format_value.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import { integer, isNumber, readInteger, typeName, type Value } from "../../base/value/value.ts";
import { limitText, limitValue } from "../limits.ts";
import { Fault, kindOf } from "../fault.ts";
import { define, defineWithEvaluation, type FunctionBodies, Library } from "./function.ts";

const yaml = new Library(() => import("../../base/yaml/parse_yaml.ts"));
const csv = new Library(() => import("@std/csv/parse"));

/** Functions from one type to another, and of texts in a format. */
export const BODIES: FunctionBodies = {
  type: define(
    "The name of the type of a value.",
    (value: Value) => typeName(value),
  ),
  int: define(
    "The integer in a string, or the integer part of a number.",
    (value: Value) => toInteger("int", value),
  ),
  float: define(
    "The number in a string; a number as a float.",
    (value: Value) => isNumber(value) ? Number(value) : toNumber("float", value),
  ),
  parse_int: define(
    "The integer in a string, or the integer part of a number.",
    (value: Value) => toInteger("parse_int", value),
  ),
  parse_float: define(
    "The number in a string.",
    (text: string) => toNumber("parse_float", text),
  ),
  string: define("The value as a string.", (value: Value) => {
    limitValue(value);
    const text = formatValue(value);
    limitText(text.length);
    return text;
  }),
  toJSON: define("The value as JSON, indented.", toJson),
  fromJSON: define(
    "The value of a JSON string.",
    (text: string) => readJson("fromJSON", text),
  ),
  parse_json: define(
    "The list or map of a JSON string.",
    (text: string) => {
      const value = readJson("parse_json", text);
      if (typeof value === "object" && value !== null) return value;
      throw new Fault(
        "parse_json() needs a JSON object or array",
        "for other JSON use fromJSON(…)",
      );
    },
  ),
  secret: defineWithEvaluation(
    "The value, which reports show as `***` from then on; in a list or map, every value.",
    (run, value: Value) => {
      run.scope.addSecret?.(value);
      return value;
    },
  ),
  toBase64: define("The string in base64.", encode),
  fromBase64: define(
    "The string that a base64 string encodes.",
    (text: string) => decode("fromBase64", text),
  ),
  encode_base64: define("The string in base64.", encode),
  decode_base64: define(
    "The string that a base64 string encodes.",
    (text: string) => decode("decode_base64", text),
  ),
  parse_yaml: define(
    "The value of a YAML string of one document.",
    readYaml,
    { load: yaml.load },
  ),
  parse_csv: define(
    "The rows of a CSV string as a list of maps, by the names in its first row.",
    readCsv,
    { load: csv.load },
  ),
};

/** A byte order mark is a character like any other. */
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

const DECIMAL = /^[+-]?(\d[\d_]*\.?[\d_]*|\.\d+)(e[+-]?\d+)?$/i;

function toInteger(name: string, value: Value): number | bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return integer(BigInt(Math.trunc(value)));
    throw new Fault(`${name}() needs a number that is finite`);
  }
  if (typeof value !== "string" || !/^[+-]?\d+$/.test(value)) {
    throw unreadable(name, "a whole number", value);
  }
  const number = readInteger(value);
  if (number === undefined) throw new Fault(`${name}() got a number that is too large`);
  return number === 0 ? 0 : number; // no negative zero
}

function toNumber(name: string, value: Value): number {
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (DECIMAL.test(text)) return Number(text.replaceAll("_", ""));
  const special = SPECIAL.get(text.replace(/^[+-]/, ""));
  if (special === undefined) throw unreadable(name, "a number", value);
  return text.startsWith("-") ? -special : special;
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["inf", Infinity],
  ["infinity", Infinity],
  ["nan", NaN],
]);

function unreadable(name: string, wanted: string, value: Value): Fault {
  if (typeof value !== "string") {
    return new Fault(`${name}() needs a number or a string, got ${kindOf(value)}`);
  }
  const text = value.trim();
  const hint = text === value
    ? "for others use float(…)"
    : "take off the space around it with trim(…)";
  const isNumber = DECIMAL.test(text);
  return new Fault(`${name}() cannot read this text as ${wanted}`, isNumber ? hint : undefined);
}

/** With the marks of HTML escaped, so that a page can contain it. */
function toJson(value: Value): string {
  limitValue(value);
  const text = formatJson(value, "  ").replace(
    /[<>&\u2028\u2029]/g,
    (mark) => "\\u" + mark.charCodeAt(0).toString(16).padStart(4, "0"),
  );
  limitText(text.length);
  return text;
}

function readJson(name: string, text: string): Value {
  try {
    return parseJson(text) as Value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The engine's own message quotes the text, which may hold a secret.
    const position = / at position \d+/.exec(error.message)?.[0] ?? "";
    const deep = error.message.includes("levels deep") ? ": it is nested too deeply" : position;
    throw new Fault(`${name}() cannot read this text as JSON${deep}`);
  }
}

function encode(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

function decode(name: string, text: string): string {
  try {
    return UTF8.decode(Uint8Array.fromBase64(text, { lastChunkHandling: "strict" }));
  } catch {
    const isUrl = /^[\w-]*={0,2}$/.test(text);
    const hint = isUrl ? "it may be base64url: use decode_base64url(…)" : undefined;
    throw new Fault(`${name}() cannot read this text as base64`, hint);
  }
}

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
