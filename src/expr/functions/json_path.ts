import type { JSONPathQuery } from "json-p3";
import { copyValue, hasLongIntegers, type Value } from "../../base/value/value.ts";
import { loadRegexEngine, matchesRegex, regexProblem } from "../evaluate/regex.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";
import { remember } from "../remember.ts";
import { define, type FunctionBodies, Library } from "./function.ts";

const environment = new Library(async () => {
  await loadRegexEngine();
  const { FunctionExpressionType, JSONPathEnvironment } = await import("json-p3");
  const environment = new JSONPathEnvironment();
  const { ValueType, LogicalType } = FunctionExpressionType;
  // The library's own use the regular expressions of JavaScript, which may take forever.
  for (const name of ["match", "search"]) {
    environment.functionRegister.set(name, {
      argTypes: [ValueType, ValueType],
      returnType: LogicalType,
      call: (text, pattern) => {
        if (typeof text !== "string" || typeof pattern !== "string") return false;
        const regex = toRegex(pattern, name === "match");
        const problem = regexProblem(regex);
        if (problem !== undefined) throw new Fault(`in ${name}(): ${problem}`);
        return matchesRegex(text, regex);
      },
    });
  }
  return environment;
});

/** Loads the library; `json_path()` and snapshots need it. */
export const loadJsonPath = environment.load;

export const BODIES: FunctionBodies = {
  json_path: define(
    "The list of all values that a JSONPath of RFC 9535 finds.",
    (value: Value, path: string) => find(value, path).values() as Value,
    { load: loadJsonPath, constant: { position: 1, problem: jsonPathProblem } },
  ),
};

/** The problem of a JSONPath; undefined if there is none, or before the library is loaded. */
export function jsonPathProblem(path: string): string | undefined {
  if (!environment.isLoaded) return undefined;
  const query = compile(path);
  return query instanceof Fault ? query.message : undefined;
}

/** The paths of the values that a path of RFC 9535 finds: keys and indexes, from the outside. */
export function locateByPath(
  value: Value,
  path: string,
): readonly (readonly (string | number)[])[] {
  return find(value, path).locations();
}

function find(value: Value, path: string): ReturnType<JSONPathQuery["query"]> {
  const query = compile(path);
  if (query instanceof Fault) throw query;
  if (value === null) throw new Fault("argument 1 of json_path() must not be nil");
  checkNumbers(path, value);
  return query.query(copyValue(value) as Parameters<JSONPathQuery["query"]>[0]);
}

const compile = remember((path): JSONPathQuery | Fault => {
  if (path.length > LIMITS.pattern) {
    return new Fault(`the JSONPath is longer than ${LIMITS.pattern} characters`);
  }
  if (!path.startsWith("$")) return new Fault('invalid JSONPath: it must start with "$"');
  try {
    return environment.module.compile(path);
  } catch (error) {
    // Messages end with the place in the path.
    const [, reason, at] = /^(.*?)(?: \('.*':(\d+)\))?$/s.exec((error as Error).message)!;
    const position = at === undefined ? "" : ` at character ${Number(at) + 1}`;
    return new Fault(`invalid JSONPath: ${reason!.replace(/ {2,}/g, " ")}${position}`);
  }
});

/** A regular expression of RFC 9485 for our engine: a dot is neither end of a line. */
function toRegex(pattern: string, whole: boolean): string {
  const regex = pattern.replace(
    /\\.|\[(?:\\.|[^\]\\])*\]|\./gsu,
    (part) => part === "." ? "[^\\n\\r]" : part,
  );
  return whole ? `^(?:${regex})$` : regex;
}

/** Refuses numbers in a path that its library would compare wrongly, because it reads floats. */
function checkNumbers(path: string, value: Value): void {
  const digits = path.match(/(?<![\w."'])\d{16,}/g) ?? [];
  const isWrong = digits.some((one) => Number(one) >= 2 ** 53) ||
    /[<>]/.test(path) && hasLongIntegers(value);
  if (isWrong) throw new Fault("json_path() cannot compare integers beyond ±2^53", "use filter(…)");
}
