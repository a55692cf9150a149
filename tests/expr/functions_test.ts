import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
} from "../../src/expr/evaluate/evaluate_expression.ts";

/** Expressions and their values. */
const VALUES: readonly (readonly [expression: string, value: unknown])[] = [
  ['encode_base64url("a?~é")', "YT9-w6k"],
  ['decode_base64url("YT9-w6k")', "a?~é"],
  ['decode_base64url("YQ==")', "a"],
  ['encode_url("a b/ü&")', "a%20b%2F%C3%BC%26"],
  ['decode_url("a%20b%2F%C3%BC+")', "a b/ü+"],
  ['encode_hex("aé")', "61c3a9"],
  ['decode_hex("61C3a9")', "aé"],
  ['crc32("123456789")', "cbf43926"],
  ['crc32("")', "00000000"],
  ['one_of("b", ["a", "b"])', true],
  ["one_of({a: 1}, [{a: 2}, 3])", false],
  ['cookie({cookies: [{name: "a", value: 1}, {name: "b"}, {name: "a", value: 2}]}, "a").value', 2],
  ['cookie({cookies: []}, "a")', null],
  ['cookie({code: 200}, "a")?.value', null],
  ["approx(1.0, 1.1, 0.2)", true],
  ["approx(1, 2, 0.5)", false],
  ['is_uuid("123e4567-e89b-12d3-a456-426614174000")', true],
  ['is_uuid("123e4567e89b12d3a456426614174000")', false],
  ["is_uuid(5)", false],
  ["is_uuid(uuid())", true],
  ['is_email("ann+1@mail.example.org")', true],
  ['is_email("ann@localhost")', false],
  ['is_email("ann")', false],
  ['is_url("https://example.org/a?b=1")', true],
  ['is_url("/a")', false],
  ['is_ip("127.0.0.1")', true],
  ['is_ip("256.0.0.1")', false],
  ['is_ip("1.2.3")', false],
  ['is_ip("::1")', true],
  ['is_ip("fe80::1::2")', false],
  ['is_iso_date("2024-02-29")', true],
  ['is_iso_date("2025-02-29")', false],
  ['is_iso_date("2025-03-01T12:00:00.5+01:00")', true],
  ['is_iso_date("1 March 2025")', false],
  ['md5("abc")', "900150983cd24fb0d6963f7d28e17f72"],
  ['sha1("abc")', "a9993e364706816aba3e25717850c26c9cd0d89d"],
  ['sha256("abc")', "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ['sha256("abc", "base64url")', "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"],
  ['len(sha512("abc"))', 128],
  [
    'hmac_sha256("key", "The quick brown fox jumps over the lazy dog")',
    "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
  ],
  ["let uuid = 1; uuid", 1],
  ['capture("id=42; x", "id=([0-9]+)")', ["id=42", "42"]],
  ['capture("ab", "(a)(c)?")', ["a", "a", null]],
  ['capture("ab", "c")', null],
  ['capture("code=7&a", "(?P<code>code)=")', ["code=", "code"]],
  [`css("<ul><li>one <b>1</b><li> two", "li")`, ["one 1", "two"]],
  [`css("<a HREF='/x?a=1&amp;b=2'>x</a><a>y</a>", "a", "href")`, ["/x?a=1&b=2"]],
  [`css("<form id=f><input name=csrf value=t>", "#f input[name=csrf]", "value")[0]`, "t"],
  [`css("<p>a<p class='x y'>b", "p:not(.x), .y")`, ["a", "b"]],
  [`css("<p>a<!-- b -->c", "p")`, ["ac"]],
  [`css("<?xml version='1.0'?><a><Item>1</Item><item>2</item></a>", "Item")`, ["1"]],
  ['css("<p>a", "p", "__proto__")', []],
  ['css("", "p")', []],
  ['jmespath({a: [{b: 1}, {b: 2}]}, "a[*].b")', [1, 2]],
  ['jmespath([{n: "x", p: 3}, {n: "y", p: 1}], "sort_by(@, &p)[0].n")', "y"],
  ['jmespath({a: 1}, "b.c")', null],
  ['jmespath({a: 1}, "constructor")', null],
  ['jmespath({a: [1, 2]}, "{n: length(a), sum: sum(a)}").sum', 3],
  ['jmespath([1, 2], "[?@ > `1`]")', [2]],
  ['parse_yaml("a: [1, x]\\nb: {c: null, d: 1.5}") == {a: [1, "x"], b: {c: nil, d: 1.5}}', true],
  ['parse_yaml("- &a [1]\\n- *a")', [[1], [1]]],
  ['parse_yaml("")', null],
  ['parse_csv("id, name\\n1,Ann\\n2,\\"B, C\\"\\n")[1].name', "B, C"],
  ['parse_csv("id,name\\r\\n1,Ann\\r\\n") == [{id: "1", name: "Ann"}]', true],
  ['parse_csv("id,name")', []],
  ['parse_csv("")', []],
  ['semver("1.10.0") > semver("v1.9.9")', true],
  ['semver("1.0.0-alpha") < semver("1.0.0-alpha.1")', true],
  ['semver("1.0.0-alpha.beta") > semver("1.0.0-alpha.1")', true],
  ['semver("1.0.0-beta.11") > semver("1.0.0-beta.2")', true],
  ['semver("1.0.0-rc.1") < semver("1.0.0")', true],
  ['semver("1.0.0-a-b") > semver("1.0.0-a.b")', true],
  ['semver("1.0.0+5") == semver("1.0.0")', true],
];

const LIMIT = "evaluation limit exceeded (1000000 steps)";

/** Expressions and what is wrong with them. */
const FAILURES: readonly (readonly [expression: string, message: string])[] = [
  ['decode_base64url("a+b")', "decode_base64url() cannot read this string as base64url"],
  ['decode_base64url("_w")', "decode_base64url() decodes to bytes that are not UTF-8"],
  ['decode_url("%zz")', "decode_url() cannot read this string as URL-encoded UTF-8"],
  ['decode_hex("abc")', "decode_hex() cannot read this string as hexadecimal"],
  ["encode_hex(5)", "argument 1 of encode_hex() must be a string, got int"],
  ["approx(1, 2, -1)", "approx() needs a tolerance of 0 or more"],
  ['sha256("a", "octal")', "unknown encoding of sha256()"],
  ['capture("a", "(")', "invalid regular expression: missing closing )"],
  ['jmespath({}, "a[")', "invalid JMESPath"],
  [
    'jmespath({}, "nope(@)")',
    "jmespath() has no function nope()",
  ],
  ['jmespath("a", "pad_left(@, `2000000`)")', "this makes a text longer than 1000000 characters"],
  ['jmespath(1..300, "map(&map(&map(&@, $), $), @)")', LIMIT],
  [
    'jmespath({a: "x"}, "sum(a)")',
    "jmespath() cannot evaluate this expression: a value is of the wrong type",
  ],
  [
    'parse_yaml("a: 1\\nb: [")',
    "parse_yaml() cannot read line 2 of this text as YAML: unexpected end of the stream within a flow collection",
  ],
  ['parse_yaml("&a [*a]")', "the data is nested too deeply"],
  [
    'parse_csv("a,b\\n1")',
    "parse_csv() needs as many values as names: row 1 has 1, the first row 2",
  ],
  ['parse_csv("a,a\\n1,2")', "parse_csv() needs a first row of names, each there once"],
  [`parse_csv('a\\n"x')`, "parse_csv() cannot read line 2 of this text as CSV"],
  ['semver("1.2")', "semver() needs a version like 1.2.3 or 1.2.3-rc.1"],
  ['semver("1.2.3-01")', "semver() needs a version like 1.2.3 or 1.2.3-rc.1"],
  ['capture(1, "a")', "argument 1 of capture() must be a string, got int"],
  ['css("<p>", "p[")', "invalid selector: expected name"],
  ['css("<p>", "p:nope")', "invalid selector: unknown pseudo-class :nope"],
  ['css(repeat("<b>", 501), "b")', "css() reads at most 500 elements inside each other"],
  ['css(repeat("<b>", 400) + repeat("<i></i>", 9000), "u * * * i + i + i")', LIMIT],
  ["one_of(1, 2)", "argument 2 of one_of() must be a list, got int"],
];

for (const [expression, value] of VALUES) {
  Deno.test(`${expression} is ${JSON.stringify(value)}`, () => {
    assertEquals(evaluateExpression(expression, {}), value);
  });
}

for (const [expression, message] of FAILURES) {
  Deno.test(`${expression} fails: ${message}`, () => {
    const error = assertThrows(() => evaluateExpression(expression, {}), ExpressionError);
    assertEquals(error.message, message);
  });
}

Deno.test("uuid() is another one each time", () => {
  const [a, b] = evaluateExpression("[uuid(), uuid()]", {}) as string[];
  assertMatch(a!, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assertEquals(a === b, false);
});
