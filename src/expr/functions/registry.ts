import type { CallExpression, Node } from "../parse/ast.ts";
import { childrenOf } from "../parse/tree.ts";
import { BIT_FUNCTIONS } from "./bits.ts";
import { CHECK_FUNCTIONS } from "./check_functions.ts";
import { CONVERSION_FUNCTIONS } from "./conversion.ts";
import { ENCODING_FUNCTIONS } from "./encoding.ts";
import { EXTRACTION_FUNCTIONS } from "./extraction.ts";
import type { FunctionRecord, ValueFunction } from "./function.ts";
import { HASH_FUNCTIONS } from "./hashes.ts";
import { LIST_FUNCTIONS } from "./lists.ts";
import { LOOP_FUNCTIONS } from "./loops.ts";
import { MAP_FUNCTIONS } from "./maps.ts";
import { MATCH_FUNCTIONS } from "./matching/match_json.ts";
import { SCHEMA_FUNCTION } from "./matching/schema_functions.ts";
import { NUMBER_FUNCTIONS } from "./numbers.ts";
import { PARSING_FUNCTIONS } from "./parsing.ts";
import { CHANGING_FUNCTIONS } from "./random.ts";
import { TIME_FUNCTIONS } from "./time_functions.ts";
import { TEXT_FUNCTIONS } from "./text_functions.ts";
import { JWT_FUNCTIONS } from "./tokens.ts";
import { WORD_FUNCTIONS } from "./word_functions.ts";

/** Functions of one kind. */
interface FunctionGroup {
  /** Their subject, for documents. */
  readonly title: string;
  readonly functions: readonly FunctionRecord[];
}

/** Every function of the language, by what it is about. */
export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  { title: "Text", functions: TEXT_FUNCTIONS },
  { title: "Numbers", functions: NUMBER_FUNCTIONS },
  { title: "Bits", functions: BIT_FUNCTIONS },
  { title: "Lists, item by item", functions: LOOP_FUNCTIONS },
  { title: "Lists as a whole", functions: LIST_FUNCTIONS },
  { title: "Maps", functions: MAP_FUNCTIONS },
  { title: "Extraction", functions: EXTRACTION_FUNCTIONS },
  { title: "Conversion", functions: [...CONVERSION_FUNCTIONS, ...PARSING_FUNCTIONS] },
  { title: "Encoding", functions: ENCODING_FUNCTIONS },
  { title: "Hashes", functions: HASH_FUNCTIONS },
  { title: "JSON Web Tokens", functions: JWT_FUNCTIONS },
  { title: "Checks", functions: CHECK_FUNCTIONS },
  { title: "Comparison of JSON", functions: [...MATCH_FUNCTIONS, SCHEMA_FUNCTION] },
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

/** Whether an argument of a function is a condition on the items of a list. */
export function takesPredicate(name: string, position: number): boolean {
  return FUNCTIONS.get(name)?.parameters[position]?.type === "predicate";
}

/** The loaders of the functions of an expression; most functions need none. */
export function loadersOf(node: Node): readonly (() => Promise<void>)[] {
  const inside = childrenOf(node).flatMap(loadersOf);
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier") return inside;
  const load = FUNCTIONS.get(node.callee.name)?.load;
  return load ? [load, ...inside] : inside;
}

/** The calls in an expression that are prepared when it is loaded. */
export function callsToPrepare(
  node: Node,
): readonly (readonly [call: CallExpression, prepare: NonNullable<ValueFunction["prepare"]>])[] {
  const inside = childrenOf(node).flatMap(callsToPrepare);
  if (node.type !== "CallExpression" || node.callee.type !== "Identifier") return inside;
  const record = FUNCTIONS.get(node.callee.name);
  return record?.kind === "value" && record.prepare ? [[node, record.prepare], ...inside] : inside;
}

/** Loads what any function needs. */
export async function loadAllFunctions(): Promise<void> {
  for (const { load } of FUNCTIONS.values()) await load?.();
}
