import type { CallExpression, Node } from "../parse/ast.ts";
import { loadRegexEngine } from "../evaluate/regex.ts";
import { childrenOf } from "../parse/tree.ts";
import { CHECK_FUNCTIONS } from "./checks.ts";
import { CONVERSION_FUNCTIONS } from "./conversion.ts";
import { ENCODING_FUNCTIONS, HASH_FUNCTIONS } from "./encoding.ts";
import { DIFF_FUNCTION } from "./diff.ts";
import { FILE_FUNCTIONS } from "./files.ts";
import type { FunctionRecord, ValueFunction } from "./function.ts";
import { JSON_PATH_FUNCTION } from "./json_path.ts";
import { JWT_FUNCTIONS } from "./jwt.ts";
import { LIST_FUNCTIONS, LOOP_FUNCTIONS } from "./lists.ts";
import { MAP_FUNCTIONS } from "./maps.ts";
import { CSS_FUNCTION } from "./markup.ts";
import { MATCH_FUNCTIONS } from "./matching.ts";
import { NUMBER_FUNCTIONS } from "./numbers.ts";
import { CHANGING_FUNCTIONS } from "./random.ts";
import { SCHEMA_FUNCTION } from "./schema.ts";
import { CAPTURE_FUNCTION, TEXT_FUNCTIONS, WORD_FUNCTIONS } from "./text.ts";
import { TIME_FUNCTIONS } from "./times/times.ts";
import { XPATH_FUNCTION } from "./xpath.ts";

/** Functions of one kind. */
interface FunctionGroup {
  /** Their subject, for documents. */
  readonly title: string;
  readonly functions: readonly FunctionRecord[];
}

/** Every function of the language, by subject. */
export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  { title: "Text", functions: TEXT_FUNCTIONS },
  { title: "Numbers", functions: NUMBER_FUNCTIONS },
  { title: "Lists, item by item", functions: LOOP_FUNCTIONS },
  { title: "Lists as a whole", functions: LIST_FUNCTIONS },
  { title: "Maps", functions: MAP_FUNCTIONS },
  {
    title: "Extraction",
    functions: [
      CAPTURE_FUNCTION,
      CSS_FUNCTION,
      JSON_PATH_FUNCTION,
      XPATH_FUNCTION,
    ],
  },
  { title: "Conversion", functions: CONVERSION_FUNCTIONS },
  { title: "Files", functions: FILE_FUNCTIONS },
  { title: "Encoding", functions: ENCODING_FUNCTIONS },
  { title: "Hashes", functions: HASH_FUNCTIONS },
  { title: "JSON Web Tokens", functions: JWT_FUNCTIONS },
  { title: "Checks", functions: CHECK_FUNCTIONS },
  { title: "Comparison of JSON", functions: [...MATCH_FUNCTIONS, DIFF_FUNCTION, SCHEMA_FUNCTION] },
  { title: "Random and time", functions: [...CHANGING_FUNCTIONS, ...TIME_FUNCTIONS] },
  { title: "Operators as functions", functions: WORD_FUNCTIONS },
];

/** Every function of the language by its name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionRecord> = new Map(
  FUNCTION_GROUPS.flatMap(({ functions }) => functions).map((record) => [record.name, record]),
);

/** Whether there is a function of that name. */
export function isFunction(name: string): boolean {
  return FUNCTIONS.has(name);
}

const NAMING_FILES = [...FUNCTIONS.values()].flatMap((record) =>
  record.kind === "value" && record.prepare ? record.name : []
);

/** Whether an expression may call a function that reads a file, which is relative to its place. */
export function mayNameFile(expression: string): boolean {
  return NAMING_FILES.some((name) => expression.includes(name));
}

/** Whether an argument of a function is a condition on the items of a list. */
export function takesPredicate(name: string, position: number): boolean {
  return FUNCTIONS.get(name)?.parameters[position]?.type === "predicate";
}

/** The calls of functions in an expression, each with its function; inner ones last. */
function callsIn(node: Node): readonly (readonly [CallExpression, FunctionRecord])[] {
  const inside = childrenOf(node).flatMap(callsIn);
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier") return inside;
  const record = FUNCTIONS.get(node.callee.name);
  return record ? [[node, record], ...inside] : inside;
}

/** The functions that load the libraries of an expression; most expressions need none. */
export function loadersOf(node: Node): readonly (() => Promise<void>)[] {
  const loaders = callsIn(node).flatMap(([, { load }]) => load ?? []);
  return usesMatches(node) ? [loadRegexEngine, ...loaders] : loaders;
}

function usesMatches(node: Node): boolean {
  return node.type === "BinaryExpression" && node.operator === "matches" ||
    childrenOf(node).some(usesMatches);
}

/** The calls in an expression that are prepared when it is loaded. */
export function callsToPrepare(
  node: Node,
): readonly (readonly [call: CallExpression, prepare: NonNullable<ValueFunction["prepare"]>])[] {
  return callsIn(node).flatMap(([call, record]) =>
    record.kind === "value" && record.prepare ? [[call, record.prepare] as const] : []
  );
}

/** Loads the libraries of all functions. */
export async function loadAllFunctions(): Promise<void> {
  for (const { load } of FUNCTIONS.values()) await load?.();
}
