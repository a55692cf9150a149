import type { JSONPathEnvironment, JSONPathQuery } from "json-p3";
import type { Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { loadRegexEngine, matchesRegex, regexProblem } from "../evaluate/regex.ts";
import { LIMITS } from "../expression_limits.ts";
import { Fault } from "../fault.ts";
import { checkNumbers, copyData } from "./copy_data.ts";

let environment: JSONPathEnvironment | undefined;
/** The evaluation for which patterns are matched. */
let evaluation: Evaluation | undefined;
const compiled = new Map<string, JSONPathQuery | Fault>();
const CACHE_SIZE = 100;

/** Loads what evaluates JSONPaths, which few workflows need. */
export async function loadJsonPath(): Promise<void> {
  if (environment) return;
  await loadRegexEngine();
  const { FunctionExpressionType, JSONPathEnvironment } = await import("json-p3");
  const made = new JSONPathEnvironment();
  const { ValueType, LogicalType } = FunctionExpressionType;
  // The library's own use the regular expressions of JavaScript, which may take forever.
  for (const name of ["match", "search"]) {
    made.functionRegister.set(name, {
      argTypes: [ValueType, ValueType],
      returnType: LogicalType,
      call: (text, pattern) => {
        if (typeof text !== "string" || typeof pattern !== "string") return false;
        const regex = toRegex(pattern, name === "match");
        const problem = regexProblem(regex);
        if (problem !== undefined) throw new Fault(`in ${name}(): ${problem}`);
        return matchesRegex(text, regex, evaluation!);
      },
    });
  }
  environment ??= made;
}

/** The problem of a JSONPath; undefined if there is none, or before the library is loaded. */
export function jsonPathProblem(path: string): string | undefined {
  if (!environment) return undefined;
  const query = compile(path);
  return query instanceof Fault ? query.message : undefined;
}

/** The values that a path of RFC 9535 finds. */
export function selectByPath(run: Evaluation, value: Value, path: string): Value {
  return find(run, value, path).values() as Value;
}

/** The paths of the values that a path of RFC 9535 finds: keys and indexes, from the outside. */
export function locateByPath(
  run: Evaluation,
  value: Value,
  path: string,
): readonly (readonly (string | number)[])[] {
  return find(run, value, path).locations();
}

function find(run: Evaluation, value: Value, path: string): ReturnType<JSONPathQuery["query"]> {
  const query = compile(path);
  if (query instanceof Fault) throw query;
  if (value === null) throw new Fault("argument 1 of json_path() must not be nil");
  checkNumbers("json_path", path, value);
  evaluation = run;
  return query.query(copyData(run, value) as Parameters<JSONPathQuery["query"]>[0]);
}

function compile(path: string): JSONPathQuery | Fault {
  const known = compiled.get(path);
  if (known) return known;
  const query = compileNew(path);
  if (compiled.size >= CACHE_SIZE) compiled.delete(compiled.keys().next().value!);
  compiled.set(path, query);
  return query;
}

function compileNew(path: string): JSONPathQuery | Fault {
  if (!environment) throw new Error("json-p3 is not loaded");
  if (path.length > LIMITS.pattern) {
    return new Fault(`the JSONPath is longer than ${LIMITS.pattern} characters`);
  }
  if (!path.startsWith("$")) return new Fault('invalid JSONPath: it must start with "$"');
  try {
    return environment.compile(path);
  } catch (error) {
    // Messages end with the place in the path.
    const [, reason, at] = /^(.*?)(?: \('.*':(\d+)\))?$/s.exec((error as Error).message)!;
    const place = at === undefined ? "" : ` at character ${Number(at) + 1}`;
    return new Fault(`invalid JSONPath: ${reason!.replace(/ {2,}/g, " ")}${place}`);
  }
}

/** A regular expression of RFC 9485 for our engine: a dot is neither end of a line. */
function toRegex(pattern: string, whole: boolean): string {
  const regex = pattern.replace(
    /\\.|\[(?:\\.|[^\]\\])*\]|\./gsu,
    (part) => part === "." ? "[^\\n\\r]" : part,
  );
  return whole ? `^(?:${regex})$` : regex;
}
