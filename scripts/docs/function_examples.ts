import { evaluateExpression } from "../../src/expr/evaluate_expression.ts";
import { shortJson } from "../../src/base/value/render_json.ts";
import type { Value } from "../../src/base/value/value.ts";

/** An expression that uses each function; its value is computed when the page is made. */
const EXAMPLES = [
  'trim("  tea ")',
  'trimPrefix("v1.2", "v")',
  'trimSuffix("a.yml", ".yml")',
  'upper("tea")',
  'lower("TEA")',
  'split("a,b,c", ",")',
  'splitAfter("a,b", ",")',
  'replace("a-b-c", "-", "+")',
  'repeat("ab", 3)',
  'join(["a", "b"], ", ")',
  'indexOf("banana", "an")',
  'lastIndexOf("banana", "an")',
  'hasPrefix("order-7", "order-")',
  'hasSuffix("a.yml", ".yml")',
  "abs(-2)",
  "ceil(1.2)",
  "floor(1.8)",
  "round(2.5)",
  "max(1, 3, 2)",
  "min([1, 3, 2])",
  "mean(1, 2, 3)",
  "median([1, 9, 2])",
  "all([1, 2], # > 0)",
  "any([1, 2], # > 1)",
  "none([1, 2], # > 2)",
  "one([1, 2], # > 1)",
  "filter([{n: 1}, {n: 2}], .n > 1)",
  "map([1, 2], # * 10)",
  "count([1, 2, 3], # > 1)",
  "sum([{n: 1}, {n: 2}], .n)",
  "find([1, 2, 3], # > 1)",
  "findIndex([1, 2, 3], # > 1)",
  "findLast([1, 2, 3], # > 1)",
  "findLastIndex([1, 2, 3], # > 1)",
  'groupBy(["tea", "milk", "jam"], len(#))',
  "sortBy([{n: 2}, {n: 1}], .n)",
  "reduce([1, 2, 3], #acc + #)",
  "first([1, 2])",
  "last([1, 2])",
  "take([1, 2, 3], 2)",
  "reverse([1, 2])",
  "uniq([1, 2, 1])",
  "concat([1], [2])",
  "flatten([1, [2, [3]]])",
  'sort([2, 1, 3], "desc")',
  "keys({a: 1, b: 2})",
  "values({a: 1, b: 2})",
  "toPairs({a: 1})",
  'fromPairs([["a", 1]])',
  'len("tea")',
  'get({a: 1}, "b") ?? 0',
  'pick({id: 7, name: "tea"}, ["name"])',
  'omit({id: 7, name: "tea"}, ["id"])',
  "merge({a: {x: 1}, b: 2}, {a: {y: 3}})",
  'cookie({cookies: [{name: "sid", value: "a1"}]}, "sid").value',
  'capture("order 42", "(\\\\d+)")',
  'css("<h1>Shop</h1>", "h1")',
  'css("<a href=\'/x\'>x</a>", "a", "href")',
  'json_path({items: [{price: 1}, {price: 2}]}, "$..price")',
  'xpath("<a><b>1</b><b>2</b></a>", "//b")',
  'xpath("<a><b>1</b><b>2</b></a>", "count(//b)")',
  "type(1.5)",
  'int("42")',
  'float("1.5")',
  'parse_int("42")',
  'parse_float("1.5")',
  "string(1.5)",
  "toJSON([1])",
  'fromJSON("1")',
  'parse_json("{\\"a\\": 1}").a',
  'secret("abc")',
  'toBase64("tea")',
  'fromBase64("dGVh")',
  'encode_base64("tea")',
  'decode_base64("dGVh")',
  'parse_yaml("a: [1, 2]")',
  'parse_csv("name,price\\ntea,3")',
  'read_text("name.txt")',
  'read_json("expected.json")',
  'read_yaml("expected.yml")',
  'sha256_file("logo.png") == sha256("…")',
  'encode_base64url("a?~")',
  'decode_base64url("YT9-")',
  'encode_url("a b&c")',
  'decode_url("a%20b%26c")',
  'encode_hex("tea")',
  'decode_hex("746561")',
  'crc32("tea")',
  'md5("tea")',
  'sha1("tea", "base64")',
  'sha256("tea", "base64url")',
  'len(sha512("tea"))',
  'hmac_sha256("key", "tea", "base64")',
  'hmac_sha1("key", "tea", "base64")',
  'len(hmac_sha512("key", "tea"))',
  'len(totp("JBSWY3DPEHPK3PXP"))',
  'jwt(jwt_sign({sub: "ann"}, "key")).header',
  'jwt_verify(jwt_sign({sub: "ann"}, "key"), "key")',
  'jwt(jwt_sign({}, "key", {algorithm: "HS512"})).header.alg',
  'one_of("paid", ["paid", "sent"])',
  "approx(9.99, 10, 0.02)",
  'semver("1.10.0") > semver("1.9.0")',
  'is_uuid("123e4567-e89b-12d3-a456-426614174000")',
  'is_email("ann@example.org")',
  'is_url("/items")',
  'is_ip("::1")',
  'is_iso_date("2026-02-30")',
  'match_json({id: "a7"}, {id: "/^[a-z]\\\\d$/"})',
  "diff_json({a: 1}, {a: 2})",
  'includes_json({id: 7, state: "paid"}, {state: "paid"})',
  "includes_json({id: 7}, {id: anything()})",
  'includes_json({id: 7}, {id: is_type("integer")})',
  "includes_json([1, 2], unordered([2, 1]))",
  "diff({a: 1, b: 2}, {a: 1, b: 3, c: 4})",
  'diff({id: 7, a: 1}, {id: 8, a: 1}, {ignore: ["$.id"]})',
  'schema(res.body, {required: ["id"]})',
  "random_int(6) < 6",
  "len(random_str(8))",
  "is_uuid(uuid())",
  "unixtime() > 0",
  "now() <= now()",
  'date("02.01.2026", "02.01.2006")',
  'date("2026-03-02") - date("2026-03-01") == duration("24h")',
  'format_date("2026-01-02T15:04:05Z", "2 Jan 2006")',
  'format_date("2026-01-02T15:04:05Z", "%H:%M", "Asia/Tokyo")',
  'date_parts("2026-01-02T15:04:05Z").weekday',
  'duration("1h30m")',
  'contains("banana", "nan")',
  'startsWith("order-7", "order")',
  'endsWith("a.yml", ".yml")',
  'matches("order-7", "^order-\\\\d+$")',
];

/** Examples that need a run, with their values. */
const GIVEN: ReadonlyMap<string, string> = new Map([
  ['schema(res.body, {required: ["id"]})', "true"],
  ['read_text("name.txt")', '"tea\\n"'],
  ['read_json("expected.json")', '{"total": 3}'],
  ['read_yaml("expected.yml")', '{"total": 3}'],
  ['sha256_file("logo.png") == sha256("…")', "false"],
]);

/** The examples of a function with their values: `abs(-2) → 2`. Throws if it has none. */
export function examplesOf(name: string): readonly string[] {
  const mine = EXAMPLES.filter((example) => ownerOf(example) === name);
  if (mine.length === 0) throw new Error(`function_examples.ts has no example of ${name}()`);
  return mine.map((example) => `${example} → ${GIVEN.get(example) ?? valueOf(example)}`);
}

/** Functions whose examples are inside of a call of another one. */
const INNER =
  /\b(anything|is_type|unordered|jwt_verify|totp|random_str|uuid|hmac_sha512|duration(?=\("24h))\(/;

function ownerOf(example: string): string {
  const inner = INNER.exec(example)?.[1];
  if (inner !== undefined && inner !== "duration") return inner;
  if (example.startsWith("len(sha512")) return "sha512";
  if (example.includes("algorithm")) return "jwt_sign";
  return /^\w+/.exec(example)![0];
}

function valueOf(example: string): string {
  return shortJson(evaluateExpression(example, {}) as Value, 1000);
}
