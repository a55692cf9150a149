import { loadRegexEngine } from "../evaluate/regex.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import { childrenOf } from "../parse/tree.ts";
import { type FunctionModule, FunctionRecord, type ValueFunction } from "./function.ts";

interface FunctionGroup {
  /** Their subject, for documents. */
  readonly title: string;
  readonly functions: readonly FunctionRecord[];
}

/** A function that the specification does not have: a `let` may hide it. */
class Added {
  constructor(readonly signature: string) {}
}

function added(signature: string): Added {
  return new Added(signature);
}

/** Functions whose bodies are in one module, in the order of the manual. */
function functionsOf(
  group: FunctionModule,
  ...signatures: readonly (string | Added)[]
): FunctionRecord[] {
  return signatures.map((one) =>
    typeof one === "string"
      ? new FunctionRecord(one, group, false)
      : new FunctionRecord(one.signature, group, true)
  );
}

const text: FunctionModule = () => import("./text.ts");
const lists: FunctionModule = () => import("./lists.ts");
const encoding: FunctionModule = () => import("./encoding.ts");

/** Functions that read files when their workflow is loaded. */
const FILES = functionsOf(
  () => import("./files.ts"),
  added("read_text(path: string)"),
  added("read_json(path: string)"),
  added("read_yaml(path: string)"),
  added("sha256_file(path: string)"),
);

const SCHEMA = functionsOf(
  () => import("./schema.ts"),
  added("schema(value: any, schema: any)"),
);

/** Functions whose value changes from call to call. */
const CHANGING = functionsOf(
  () => import("./random.ts"),
  "random_int(limit: number)",
  "random_str(length: number)",
  added("uuid()"),
  "unixtime()",
  added("now()"),
);

/** Every function of the language, by subject. */
export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  {
    title: "Text",
    functions: functionsOf(
      text,
      "trim(text: string, characters?: string)",
      "trimPrefix(text: string, prefix?: string)",
      "trimSuffix(text: string, suffix?: string)",
      "upper(text: string)",
      "lower(text: string)",
      "split(text: string, separator: string, limit?: integer)",
      "splitAfter(text: string, separator: string, limit?: integer)",
      "replace(text: string, old: string, new: string, limit?: integer)",
      "repeat(text: string, count: integer)",
      "join(list: list, separator?: string)",
      "indexOf(text: string, part: string)",
      "lastIndexOf(text: string, part: string)",
      "hasPrefix(text: string, prefix: string)",
      "hasSuffix(text: string, suffix: string)",
    ),
  },
  {
    title: "Numbers",
    functions: functionsOf(
      () => import("./numbers.ts"),
      "abs(number: number)",
      "ceil(number: number)",
      "floor(number: number)",
      "round(number: number)",
      "max(...numbers: any)",
      "min(...numbers: any)",
      "mean(...numbers: any)",
      "median(...numbers: any)",
    ),
  },
  {
    title: "Lists, item by item",
    functions: functionsOf(
      lists,
      "all(list: list, predicate)",
      "any(list: list, predicate)",
      "none(list: list, predicate)",
      "one(list: list, predicate)",
      "filter(list: list, predicate)",
      "map(list: list, predicate)",
      "count(list: list, predicate?)",
      "sum(list: list, predicate?)",
      "find(list: list, predicate)",
      "findIndex(list: list, predicate)",
      "findLast(list: list, predicate)",
      "findLastIndex(list: list, predicate)",
      "groupBy(list: list, predicate)",
      "sortBy(list: list, predicate, order?: string)",
      "reduce(list: list, predicate, initial?: any)",
    ),
  },
  {
    title: "Lists as a whole",
    functions: functionsOf(
      lists,
      "first(list: any)",
      "last(list: any)",
      "take(list: list, count: integer)",
      "reverse(list: list)",
      "uniq(list: list)",
      "concat(...lists: list)",
      "flatten(list: list)",
      "sort(list: list, order?: string)",
    ),
  },
  {
    title: "Maps",
    functions: functionsOf(
      () => import("./maps.ts"),
      "keys(map: map)",
      "values(map: map)",
      "toPairs(map: map)",
      "fromPairs(list: list)",
      "len(value: any)",
      "get(value: any, key: any)",
      added("pick(map: map, keys: list)"),
      added("omit(map: map, keys: list)"),
      added("merge(map: map, ...others: map)"),
      added("cookie(res: map, name: string)"),
    ),
  },
  {
    title: "Extraction",
    functions: [
      ...functionsOf(text, added("capture(text: string, pattern: string)")),
      ...functionsOf(
        () => import("./markup.ts"),
        added("css(text: string, selector: string, attribute?: string)"),
      ),
      ...functionsOf(
        () => import("./json_path.ts"),
        added("json_path(value: any, path: string)"),
      ),
      ...functionsOf(
        () => import("./xpath.ts"),
        added("xpath(text: string, expression: string, namespaces?: map)"),
      ),
    ],
  },
  {
    title: "Conversion",
    functions: functionsOf(
      () => import("./conversion.ts"),
      "type(value: any)",
      "int(value: any)",
      "float(value: any)",
      "parse_int(value: any)",
      "parse_float(text: string)",
      "string(value: any)",
      "toJSON(value: any)",
      "fromJSON(text: string)",
      "parse_json(text: string)",
      "secret(value: any)",
      "toBase64(text: string)",
      "fromBase64(text: string)",
      "encode_base64(text: string)",
      "decode_base64(text: string)",
      added("parse_yaml(text: string)"),
      added("parse_csv(text: string)"),
    ),
  },
  { title: "Files", functions: FILES },
  {
    title: "Encoding",
    functions: functionsOf(
      encoding,
      added("encode_base64url(text: string)"),
      added("decode_base64url(text: string)"),
      added("encode_url(text: string)"),
      added("decode_url(text: string)"),
      added("encode_hex(text: string)"),
      added("decode_hex(text: string)"),
      added("crc32(text: string)"),
    ),
  },
  {
    title: "Hashes",
    functions: functionsOf(
      encoding,
      added("md5(text: string, encoding?: string)"),
      added("sha1(text: string, encoding?: string)"),
      added("sha256(text: string, encoding?: string)"),
      added("sha512(text: string, encoding?: string)"),
      added("hmac_sha1(key: string, text: string, encoding?: string)"),
      added("hmac_sha256(key: string, text: string, encoding?: string)"),
      added("hmac_sha512(key: string, text: string, encoding?: string)"),
      added("totp(secret: string, options?: map)"),
    ),
  },
  {
    title: "JSON Web Tokens",
    functions: functionsOf(
      () => import("./jwt.ts"),
      added("jwt(token: string)"),
      added("jwt_verify(token: string, key: any)"),
      added("jwt_sign(claims: map, key: any, options?: map)"),
    ),
  },
  {
    title: "Checks",
    functions: functionsOf(
      () => import("./checks.ts"),
      added("one_of(value: any, list: list)"),
      added("approx(a: number, b: number, tolerance: number)"),
      added("semver(version: string)"),
      added("is_uuid(value: any)"),
      added("is_email(value: any)"),
      added("is_url(value: any)"),
      added("is_ip(value: any)"),
      added("is_iso_date(value: any)"),
    ),
  },
  {
    title: "Comparison of JSON",
    functions: [
      ...functionsOf(
        () => import("./matching.ts"),
        "match_json(actual: map, expected: map)",
        "diff_json(actual: map, expected: map)",
        added("includes_json(actual: any, part: any)"),
        added("anything()"),
        added("is_type(name: string)"),
        added("unordered(list: list)"),
      ),
      ...functionsOf(
        () => import("./diff.ts"),
        added("diff(left: any, right: any, options?: map)"),
      ),
      ...SCHEMA,
    ],
  },
  {
    title: "Random and time",
    functions: [
      ...CHANGING,
      ...functionsOf(
        () => import("./times.ts"),
        added("date(time: any, layout?: string, zone?: string)"),
        added("format_date(time: any, layout: string, zone?: string)"),
        added("date_parts(time: any, zone?: string)"),
        added("duration(text: string)"),
      ),
    ],
  },
  {
    title: "Operators as functions",
    functions: functionsOf(
      text,
      "contains(text: any, part: any)",
      "startsWith(text: any, part: any)",
      "endsWith(text: any, part: any)",
      "matches(text: any, pattern: any)",
    ),
  },
];

/** Every function of the language by its name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionRecord> = new Map(
  FUNCTION_GROUPS.flatMap(({ functions }) => functions).map((record) => [record.name, record]),
);

/** Whether an expression may call a function that reads a file, which is relative to its place. */
export function mayNameFile(expression: string): boolean {
  return [...FILES, ...SCHEMA].some(({ name }) => expression.includes(name));
}

/** Whether the value of a function changes from call to call. */
export function isChanging(name: string): boolean {
  return CHANGING.some((record) => record.name === name);
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

/** Loads the functions that expressions call, and their libraries: before they are evaluated. */
export async function loadFunctions(nodes: readonly Node[]): Promise<void> {
  if (nodes.some(usesMatches)) await loadRegexEngine();
  const records = nodes.flatMap(callsIn).map(([, record]) => record);
  for (const record of new Set(records)) await record.load();
}

function usesMatches(node: Node): boolean {
  return node.type === "BinaryExpression" && node.operator === "matches" ||
    childrenOf(node).some(usesMatches);
}

/** The calls in a loaded expression that are prepared. */
export function callsToPrepare(
  node: Node,
): readonly (readonly [call: CallExpression, prepare: NonNullable<ValueFunction["prepare"]>])[] {
  return callsIn(node).flatMap(([call, { body }]) =>
    body.kind === "value" && body.prepare ? [[call, body.prepare] as const] : []
  );
}

export async function loadAllFunctions(): Promise<void> {
  for (const record of FUNCTIONS.values()) await record.load();
}
