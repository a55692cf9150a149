import { assert, assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { Draws } from "../../src/expr/draws.ts";
import { evaluateExpression, ExpressionError } from "../../src/expr/evaluate_expression.ts";
import { crypto, totp } from "../../src/expr/functions/encoding.ts";
import { FUNCTIONS } from "../../src/expr/functions/registry.ts";
import { parseExpression } from "../../src/expr/parse_expression.ts";

/** Expressions and their values. */
const VALUES: readonly (readonly [expression: string, value: unknown])[] = [
  // Integers beyond ±2^53 are as exact as shorter ones.
  ["9007199254740993", 9007199254740993n],
  ["-9_007_199_254_740_993 + 0x20000000000001", 0],
  ["9007199254740993 - 2", 9007199254740991],
  ["9007199254740991 + 2", 9007199254740993n],
  ["3037000500 * 3037000500", 9223372037000250000n],
  ["2 ** 64 - 1", 18446744073709551615n],
  ["9007199254740993 % 10", 3],
  ["1e16 + 1", 1e16],
  ["9007199254740993 == 9007199254740992", false],
  ["9007199254740993 == 9007199254740993", true],
  ["10000000000000000 == 1e16", true],
  ["9007199254740992 < 9007199254740993 < 9007199254740993.5e3", true],
  ["type(9007199254740993)", "int"],
  [
    "string([9007199254740993, {a: 9007199254740995}])",
    '[9007199254740993,{"a":9007199254740995}]',
  ],
  ['int("-9223372036854775808")', -9223372036854775808n],
  ["float(9007199254740993)", 9007199254740992],
  ["fromJSON(toJSON({a: 9007199254740993}))", { a: 9007199254740993n }],
  ["9007199254740993 in [9007199254740992]", false],
  ["uniq([9007199254740993, 9007199254740992, 9007199254740993])", [
    ...[9007199254740993n, 9007199254740992],
  ]],
  ["sort([9007199254740995, 1.5, 9007199254740993])", [1.5, 9007199254740993n, 9007199254740995n]],
  ["[max(9007199254740993, 9007199254740992), min([9007199254740993, 1])]", [9007199254740993n, 1]],
  ["sum([9007199254740993, 1])", 9007199254740994n],
  ["groupBy([9007199254740993, 9007199254740992], #)", {
    ...{ "9007199254740993": [9007199254740993n], "9007199254740992": [9007199254740992] },
  }],
  ["match_json({a: 9007199254740993}, {a: 9007199254740992})", false],
  ['match_json({a: 9007199254740993}, {a: is_type("integer")})', true],
  ["includes_json({a: 9007199254740993}, {a: 9007199254740993})", true],
  ['json_path([{a: 9007199254740993}, {a: 5}], "$[?@.a != 5].a")', [9007199254740993n]],
  ["[abs(-9007199254740993), floor(9007199254740993), int(1e16) + 1]", [
    ...[9007199254740993n, 9007199254740993n, 10000000000000001n],
  ]],
  ["approx(9007199254740993, 9007199254740992, 0)", false],
  ['jwt(jwt_sign({id: 9007199254740993}, "k")).claims.id', 9007199254740993n],
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
  [
    'hmac_sha1("key", "The quick brown fox jumps over the lazy dog", "base64")',
    "3nybhbi3iqa8ino29wqQcBydtNk=",
  ],
  ['hmac_sha512("key", "")[0:16]', "84fa5aa0279bbc47"],
  ['totp("GEZD GNBV GY3T QOJQ", {digits: 8}) matches "^[0-9]{8}$"', true],
  ['pick({a: 1, b: 2, "__proto__": 3}, ["b", "c", "__proto__"])', { b: 2, ["__proto__"]: 3 }],
  ['omit({a: 1, b: 2}, ["a", "x"])', { b: 2 }],
  ["merge({a: {x: 1, y: 2}, b: [1]}, {a: {y: 3}}, {b: [2], c: nil})", {
    a: { x: 1, y: 3 },
    b: [2],
    c: null,
  }],
  ["diff({a: 1, b: [1, 2]}, {b: [1.0, 2], a: 1})", []],
  ["diff({a: 1, b: [1, 2]}, {a: 2, b: [1, 3, 4], c: nil})", [
    { path: "$.a", left: 1, right: 2 },
    { path: "$.b[1]", left: 2, right: 3 },
    { path: "$.b[2]", right: 4 },
    { path: "$.c", right: null },
  ]],
  ['diff([{id: 1, at: {t: 5}}], [{id: 2, at: {t: 6}}], {ignore: ["$..id", "$[*].at.t"]})', []],
  ['diff([1, 2, 3], [9, 2, 4], {ignore: ["$[0]"]})', [{ path: "$[2]", left: 3, right: 4 }]],
  ['diff("1", 1)', [{ path: "$", left: "1", right: 1 }]],
  [`xpath("<a><b id='1'>x</b><b id='2'>y<c>z</c></b></a>", "//b")`, ["x", "yz"]],
  [`xpath("<a><b id='1'>x</b><b id='2'>y</b></a>", "/a/b[@id=2]/text()")`, ["y"]],
  [`xpath("<a><b id='1'/><b id='2'/></a>", "//b/@id")`, ["1", "2"]],
  [`xpath("<a><b/><b/></a>", "count(//b)")`, 2],
  [`xpath("<a><b/></a>", "boolean(//c)")`, false],
  [`xpath("<a><B>x</B></a>", "string(//B)")`, "x"],
  [`xpath("<a>1</a>", "//nothing")`, []],
  [`xpath("<a><b>2</b><b>1</b></a>", "//b[last()] | //b[1]")`, ["2", "1"]],
  [`xpath("<a><b>1</b><b>2</b></a>", "//b[2]/preceding-sibling::b")`, ["1"]],
  [`xpath("<a><![CDATA[1 < 2]]><!-- c --></a>", "/a")`, ["1 < 2"]],
  [`xpath("<a xmlns='u:1'><b xmlns:n='u:2' n:k='v'/></a>", "//x:b/@y:k", {x: "u:1", y: "u:2"})`, [
    "v",
  ]],
  [`xpath("<a xmlns='u:1'>x</a>", "//a")`, []],
  [`xpath("<a xmlns='u:1'>x</a>", "//*[local-name()='a']")`, ["x"]],
  [`xpath("<!DOCTYPE html><UL><LI>1<LI>2</UL>", "//li")`, ["1", "2"]],
  // HTML implies html, head and body.
  [`xpath("<!DOCTYPE html><p>x", "/html/body/p")`, ["x"]],
  [`xpath("<!DOCTYPE html><title>t</title><p>x", "/html/head/title")`, ["t"]],
  [`xpath("<!DOCTYPE html><title>t</title><p>x", "/html/body/*")`, ["x"]],
  [`xpath("<!DOCTYPE html><title>t</title>text<b>x", "string(/html/body)")`, "textx"],
  [`xpath("<html><meta><body><p>x</body></html>", "count(/html/head/meta | /html/body/p)")`, 2],
  [`xpath("<html><head></head><title>t</title><p>x</html>", "/html/body/p")`, ["x"]],
  [`css("<p>x", "html > body > p")`, ["x"]],
  // The namespaces of the root element.
  [`xpath("<n:a xmlns:n='u:1'><n:b>x</n:b></n:a>", "//n:b")`, ["x"]],
  [`xpath("<a xmlns='u:1'><b>x</b></a>", "/_:a/_:b")`, ["x"]],
  [`xpath("<a xmlns='u:1'>x</a>", "/_:a", {_: "u:2"})`, []],
  ["let uuid = 1; uuid", 1],
  ['date("2026-01-02")', "2026-01-02T00:00:00.000Z"],
  ['date("2026-01-02 15:04:05", "DateTime", "Europe/Zurich")', "2026-01-02T14:04:05.000Z"],
  ['date("2026-07-02T15:04:05+02:00")', "2026-07-02T13:04:05.000Z"],
  ['date("2026-07-02T15:04:05.123456789Z")', "2026-07-02T15:04:05.123Z"],
  ['date("Fri, 02 Jan 2026 03:04:05 GMT")', "2026-01-02T03:04:05.000Z"],
  ['date("02 Jan 26 03:04 +0100")', "2026-01-02T02:04:00.000Z"],
  ['date("02.01.2026 3:04PM", "02.01.2006 3:04PM")', "2026-01-02T15:04:00.000Z"],
  ['date("2/3/2026", "%-d/%-m/%Y")', "2026-03-02T00:00:00.000Z"],
  ['date("March 2, 2026", "January 2, 2006")', "2026-03-02T00:00:00.000Z"],
  ["date(1767323045)", "2026-01-02T03:04:05.000Z"],
  ['format_date("2026-01-02T03:04:05Z", "2006-01-02")', "2026-01-02"],
  [
    'format_date("2026-07-02T23:04:05Z", "RFC1123", "Europe/Zurich")',
    "Fri, 03 Jul 2026 01:04:05 CEST",
  ],
  [
    'format_date("2026-01-02T03:04:05.060Z", "%Y-%m-%d %H:%M:%S.%L %z")',
    "2026-01-02 03:04:05.060 +0000",
  ],
  [
    'format_date("2026-01-02T03:04:05.060Z", "Jan _2 15:04:05.000 2006")',
    "Jan  2 03:04:05.060 2026",
  ],
  [
    'format_date(0, "Monday, 2 January 2006, 3:04 pm", "America/New_York")',
    "Wednesday, 31 December 1969, 7:00 pm",
  ],
  ['format_date("2026-01-02T03:04:05Z", "RFC3339", "Asia/Kolkata")', "2026-01-02T08:34:05+05:30"],
  ['int(format_date("2026-01-02T03:04:05Z", "%s"))', 1767323045],
  ['format_date("2026-12-31T00:00:00Z", "%j %u %e%%")', "365 4 31%"],
  ['date_parts("2026-01-02T03:04:05.678Z")', {
    ...{ year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, millisecond: 678 },
    ...{ weekday: 5, yearday: 2, offset: 0, unix: 1767323045 },
  }],
  ['date_parts("2026-01-01T03:04:05Z", "America/New_York").yearday', 365],
  ['date_parts("2026-07-01T12:00:00Z", "Europe/Zurich").offset', 7200],
  ['date_parts("2026-03-01T12:00:00Z").weekday', 7],
  ["date_parts(0).year", 1970],
  ['duration("1h30m")', 5400],
  ['duration("-1.5s")', -1.5],
  ['date("2026-01-02") + duration("24h")', "2026-01-03T00:00:00.000Z"],
  ['duration("1h") + date("2026-01-02")', "2026-01-02T01:00:00.000Z"],
  ['date("2026-01-02") - duration("1ms")', "2026-01-01T23:59:59.999Z"],
  ['date("2026-01-02T01:00:00+01:00") - date("2026-01-01")', 86400],
  ['date("2026-01-02") - date("2026-01-01") < duration("25h")', true],
  ['"2026-01-02T00:30:00+01:00" < "2026-01-02T00:00:00Z"', true],
  ['"2026-01-02T00:00:00.5Z" > "2026-01-02T00:00:00Z"', true],
  ['"2026-01-02T00:00:00.1239Z" > "2026-01-02T00:00:00.12345Z"', true],
  ['"2026-01-02T00:00:00.123456Z" >= "2026-01-02T00:00:00.1239+00:00"', false],
  ['"2026-01-02T00:00:00.123400Z" <= "2026-01-02T01:00:00.1234+01:00"', true],
  ['now() - date(unixtime()) < duration("1m")', true],
  ["now() <= now()", true],
  ['is_iso_date(now()) && now() < now() + duration("24h")', true],
  ["let date = 1; date", 1],
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

/** Expressions and what is wrong with them. */
const FAILURES: readonly (readonly [expression: string, message: string])[] = [
  ["9007199254740993 / 3", "cannot compute int beyond ±2^53 / int exactly"],
  ["9007199254740993 * 1.5", "cannot compute int beyond ±2^53 * float exactly"],
  ["10 ** 300 * 10 ** 300", "the result of int beyond ±2^53 * int beyond ±2^53 is too large"],
  ["2 ** 1024", "the result of int ** int is too large"],
  ['9007199254740993 < "a"', "cannot compare int beyond ±2^53 < string"],
  ["[1][9007199254740993]", "index 9007199254740993 is outside a list of length 1"],
  [
    'repeat("a", 9007199254740993)',
    "argument 2 of repeat() must be a whole number, got int beyond ±2^53",
  ],
  ["mean(9007199254740993)", "cannot compute int beyond ±2^53 / int exactly"],
  ["1..9007199254740993", "a range needs two whole numbers, got int..int beyond ±2^53"],
  [
    'json_path([], "$[?@ == 9007199254740993]")',
    "json_path() cannot compare integers beyond ±2^53",
  ],
  [
    'json_path([9007199254740993], "$[?@ > 5]")',
    "json_path() cannot compare integers beyond ±2^53",
  ],
  ['decode_base64url("a+b")', "decode_base64url() cannot read this string as base64url"],
  ['decode_base64url("_w")', "decode_base64url() decodes to bytes that are not UTF-8"],
  ['decode_url("%zz")', "decode_url() cannot read this string as URL-encoded UTF-8"],
  ['decode_hex("abc")', "decode_hex() cannot read this string as hexadecimal"],
  ["encode_hex(5)", "argument 1 of encode_hex() must be a string, got int"],
  ["approx(1, 2, -1)", "approx() needs a tolerance of 0 or more"],
  ['xpath("<a/>", "//[")', 'invalid XPath: "[" is not closed'],
  [
    'xpath("<a/>", "count(1)")',
    "this XPath cannot be evaluated: a function or a type in it does not fit",
  ],
  ['xpath("<a/>", "//a[1]]")', 'invalid XPath: "]" closes nothing'],
  [`xpath("<a/>", "//a[.='x]")`, "invalid XPath: a quote is not closed"],
  ['xpath("<a/>", "//a and ")', "invalid XPath: it ends too early"],
  [`xpath("<a/>", "//a[ends-with(., 'x')]")`, "XPath 1.0 has no function ends-with()"],
  ['xpath("text", "//a")', "this text has no elements"],
  ['xpath("<a><b>1</a>", "string(//c)")', "this is not well-formed XML: <b> is not closed"],
  ['xpath("<a><b>1</b>", "//b")', "this is not well-formed XML: <a> is not closed"],
  ['xpath("<a>1</a></b>", "//a")', "this is not well-formed XML: </b> closes nothing"],
  ['xpath("<a><b>1</B></a>", "//b")', "this is not well-formed XML: </B> closes nothing"],
  ['xpath("<a><b>1</b", "//b")', "this is not well-formed XML: <b> is not closed"],
  [
    `css("<?xml version='1.0'?><a><b>1</a>", "b")`,
    "this is not well-formed XML: <b> is not closed",
  ],
  ['xpath("<a/>", "//_:a")', 'xpath() does not know the namespace of the prefix "_"'],
  ['xpath("<a/>", "//n:a")', 'xpath() does not know the namespace of the prefix "n"'],
  [
    'xpath("<a/>", "nope()")',
    "XPath 1.0 has no function nope()",
  ],
  ['xpath("<a/>", "//n:a", {n: 1})', "the namespaces of xpath() must be strings"],
  ['xpath(repeat("<a>", 600), "//a")', "xpath() reads at most 500 elements inside each other"],
  ['date("soon")', 'date() cannot read "soon"'],
  ['date("2026-02-30")', 'date() cannot read "2026-02-30"'],
  ['date("2026-01-02", "YYYY-MM-DD")', 'date() cannot read the layout "YYYY-MM-DD"'],
  ['date("02/01", "2006-01-02")', 'date() cannot read "02/01" with the layout "2006-01-02"'],
  ["date([1])", "date() needs a string or a Unix time, got list"],
  ['date_parts("soon")', 'date_parts() needs a time, got "soon"'],
  ['date_parts(0, "Mars")', 'unknown time zone "Mars" of date_parts()'],
  ['format_date("soon", "2006")', 'format_date() needs a time, got "soon"'],
  [
    'format_date(now(), "2006", "Mars/Olympus")',
    'unknown time zone "Mars/Olympus" of format_date()',
  ],
  ['duration("soon")', 'duration() cannot read "soon"'],
  ['now() + duration("100000000h")', "this time is not in the years 0 to 9999"],
  ['sha256("a", "octal")', 'unknown encoding "octal" of sha256()'],
  ['capture("a", "(")', "invalid regular expression: missing closing )"],
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
  ['semver("1.2")', 'semver() cannot read "1.2"'],
  ['semver("1.2.3-01")', 'semver() cannot read "1.2.3-01"'],
  ['semver("1.10.0") > "1.9.0"', "cannot compare semver(…) > string"],
  [
    'capture("a", "(?<!b)a")',
    "invalid regular expression: lookaround is not supported at character 1",
  ],
  [
    'capture("aa", "(a)\\\\1")',
    "invalid regular expression: backreferences are not supported at character 4",
  ],
  ['capture(1, "a")', "argument 1 of capture() must be a string, got int"],
  ['css("<p>", "p[")', "invalid selector: expected name"],
  ['css("<p>", "p:nope")', "invalid selector: unknown pseudo-class :nope"],
  ['css(repeat("<b>", 501), "b")', "css() reads at most 500 elements inside each other"],
  ["omit({a: 1}, [1])", "omit() needs a list of keys, which are strings, got int in it"],
  ["diff(1, 2, {ignored: []})", 'unknown option "ignored" of diff()'],
  ['diff(1, 2, {ignore: "$.id"})', "ignore of diff() must be a list of JSONPaths, got string"],
  ['diff(1, 2, {ignore: ["id"]})', 'invalid JSONPath: it must start with "$"'],
  ['totp("a1")', "totp() cannot read this string as base32"],
  ['totp("ABCD", {digits: 0})', "digits of totp() must be an integer from 1 to 10"],
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

const NAMES = `
  trim trimPrefix trimSuffix upper lower split splitAfter replace repeat join indexOf lastIndexOf
  hasPrefix hasSuffix abs ceil floor round max min mean median
  all any one none filter map count sum find findIndex findLast findLastIndex
  groupBy sortBy reduce first last take reverse uniq concat flatten sort keys values toPairs fromPairs
  len get type int float parse_int parse_float string toJSON fromJSON parse_json toBase64 fromBase64
  encode_base64 decode_base64 match_json diff_json random_int random_str unixtime contains startsWith
  endsWith matches secret
  encode_base64url decode_base64url encode_url decode_url encode_hex decode_hex crc32 uuid one_of
  cookie approx is_uuid is_email is_url is_ip is_iso_date md5 sha1 sha256 sha512 hmac_sha1 hmac_sha256 hmac_sha512 totp
  capture css json_path semver parse_yaml parse_csv
  xpath jwt jwt_verify jwt_sign now date format_date date_parts duration
  pick omit merge diff read_text read_json read_yaml sha256_file includes_json unordered anything is_type schema
`.trim().split(/\s+/);

Deno.test("the language has these functions and no others", () => {
  assertEquals([...FUNCTIONS.keys()].sort(), NAMES.toSorted());
});

Deno.test("totp() gives the passwords of RFC 6238", async () => {
  await crypto.load();
  const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  const at = (seconds: number, options = {}) =>
    totp(secret, { digits: 8, ...options }, seconds * 1000);
  assertEquals([at(59), at(1111111109), at(20000000000)], ["94287082", "07081804", "65353130"]);
  const long = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA====";
  assertEquals(totp(long.toLowerCase(), { digits: 8, algorithm: "sha256" }, 59_000), "46119246");
  assertEquals(at(59, { digits: 6, period: 60 }), at(30, { digits: 6, period: 60 }));
});

Deno.test("every function documents its parameters and result", async () => {
  const parameter = "(\\.\\.\\.)?\\w+\\??(: (any|string|number|integer|int64|list|map))?";
  const signature = new RegExp(`^\\w+\\((${parameter}(, ${parameter})*)?\\)$`);
  for (const record of FUNCTIONS.values()) {
    assertMatch(record.signature, signature);
    assertMatch(await record.summary(), /^[A-Z].*\.$/);
  }
});

const SHOP = {
  teas: [
    { name: "Assam", price: 4, tags: ["black", "strong"] },
    { name: "Sencha", price: 6.5, tags: ["green"], origin: { country: "JP" } },
    { name: "Mate", price: 3, tags: [], stock: null },
  ],
  pot: { price: 30 },
  limit: 5,
};

/** Paths and what they find: each kind of selector, filter and function of RFC 9535. */
const PATHS: readonly (readonly [path: string, found: unknown])[] = [
  ["$.teas[0].name", ["Assam"]],
  ["$['teas'][-1]['name']", ["Mate"]],
  ["$.teas[*].price", [4, 6.5, 3]],
  ["$..price", [4, 6.5, 3, 30]],
  ["$..country", ["JP"]],
  ["$.teas[1:].name", ["Sencha", "Mate"]],
  ["$.teas[::-1].name", ["Mate", "Sencha", "Assam"]],
  ["$.teas[:2:2].name", ["Assam"]],
  ["$.teas[0,2].price", [4, 3]],
  ["$.teas[0]['price','name']", [4, "Assam"]],
  ["$.pot.*", [30]],
  ["$.nothing", []],
  ["$.teas[9]", []],
  ["$.teas[?@.price < $.limit].name", ["Assam", "Mate"]],
  ["$.teas[?@.origin].name", ["Sencha"]],
  ["$.teas[?!@.origin && @.price >= 4].name", ["Assam"]],
  ["$.teas[?@.price && @.tags && @.origin].name", ["Sencha"]],
  ["$.teas[?@.price && (@.stock || @.origin)].name", ["Sencha", "Mate"]],
  ["$.teas[?@.stock || @.name && @.price && @.tags && @.origin].name", ["Sencha", "Mate"]],
  ['$.teas[?@.name != "a && b && c" && @.price && @["origin"]].name', ["Sencha"]],
  ["$.teas[?@.stock == null].name", ["Mate"]],
  ["$.teas[?@.none == @.nil].price", [4, 6.5, 3]],
  ["$.teas[?length(@.name) == 5].name", ["Assam"]],
  ["$.teas[?count(@.tags[*]) == 0].name", ["Mate"]],
  ["$.teas[?value(@..country) == 'JP'].name", ["Sencha"]],
  ["$.teas[?match(@.name, '[A-M].*')].name", ["Assam", "Mate"]],
  ["$.teas[?match(@.name, 'a')].name", []],
  ["$.teas[?search(@.name, 'e.')].name", ["Sencha"]],
  ["$.teas[?search(@.tags[0], @.name)].name", []],
];

for (const [path, found] of PATHS) {
  Deno.test(`${path} finds ${JSON.stringify(found)}`, () => {
    assertEquals(evaluateExpression("json_path(shop, path)", { shop: SHOP, path }), found);
  });
}

/** Paths and what is wrong with them. */
const PATH_FAILURES: readonly (readonly [path: string, message: string])[] = [
  ["teas[0]", 'invalid JSONPath: it must start with "$"'],
  ["$.teas[0", "invalid JSONPath: unclosed bracketed selection at character 9"],
  ["$.teas[?@.a = 1]", "invalid JSONPath: unexpected filter selector token '=' at character 13"],
  ["$[9007199254740992]", "invalid JSONPath: index out of range at character 3"],
  ["$[?size(@)]", "invalid JSONPath: no such function 'size' at character 4"],
  ["$[?length(@.a)]", "invalid JSONPath: result of length() must be compared at character 4"],
  ["$[?count() == 1]", "invalid JSONPath: count() takes 1 argument, 0 given at character 4"],
  ["$.teas[?match(@.name, '(')]", "in match(): invalid regular expression: missing closing )"],
  ["$" + ".a".repeat(500), "the JSONPath is longer than 1000 characters"],
];

for (const [path, message] of PATH_FAILURES) {
  Deno.test(`${path.slice(0, 60)} fails: ${message}`, () => {
    const evaluate = () => evaluateExpression("json_path(shop, path)", { shop: SHOP, path });
    assertEquals(assertThrows(evaluate, ExpressionError).message, message);
  });
}

Deno.test("a pattern in a JSONPath cannot take forever", () => {
  const text = "a".repeat(5000) + "b";
  const path = "$[?match(@, '^(a+)+$')]";
  assertEquals(evaluateExpression("json_path(texts, path)", { texts: [text], path }), []);
});

function refusal(source: string, scope: Record<string, unknown>): string {
  return assertThrows(() => evaluateExpression(source, scope), ExpressionError).message;
}

Deno.test("css() takes time by the number of elements, not by the square of it", () => {
  const text = "<p>".repeat(120_000);
  assertEquals(evaluateExpression('css(text, "a")', { text }), []);
  assertEquals(evaluateExpression('len(css(text, "p + p"))', { text }), 119_999);
});

Deno.test("json_path() finds values in the order of the document", () => {
  const value = { a: [{ b: 1 }, { b: [{ b: 2 }] }], b: 3 };
  assertEquals(evaluateExpression('json_path(value, "$..b")', { value }), [3, 1, [{ b: 2 }], 2]);
});

Deno.test("date() refuses layouts that divide a text in countless ways", () => {
  for (const [text, layout] of [["1".repeat(60) + "x", "%-d"], ["a".repeat(90) + "1", "%Z"]]) {
    const many = layout!.repeat(30);
    assertEquals(
      refusal("date(text, many)", { text, many }),
      `date() cannot read the layout "${many}"`,
    );
  }
  const long = "2006".repeat(10_000);
  assertEquals(
    refusal("date(`2026`, long)", { long }).slice(0, 29),
    "date() cannot read the layout",
  );
});

function draw(expression: string, seed: string, position = "here"): unknown {
  const random = new Draws(seed).at(() => position);
  return parseExpression(expression).evaluate({ names: {}, strict: true, random });
}

Deno.test("a seed and a place decide what random functions give", () => {
  for (const expression of ["uuid()", "random_int(1000000000)", "random_str(16)"]) {
    assertEquals(draw(expression, "a"), draw(expression, "a"));
    assertNotEquals(draw(expression, "a"), draw(expression, "b"));
    assertNotEquals(draw(expression, "a"), draw(expression, "a", "there"));
  }
  // Workflows depend on these values: they must stay what they are.
  assertEquals(draw("[uuid(), random_int(100), random_str(8)]", "1"), FIXED);
});

const FIXED = ["ad5632e9-e34f-4ef5-9570-c0feaa684d74", 16, "KFkVyDgl"];

Deno.test("seeded numbers are even, and seeded UUIDs are of version 4", () => {
  const random = new Draws("x").at(() => "");
  const counts = Array.from({ length: 16 }, () => 0);
  for (let i = 0; i < 16_000; i++) counts[random.next() >>> 28]!++;
  for (const count of counts) assert(count > 850 && count < 1150, `${counts}`);
  const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  for (const seed of ["1", "2", "3"]) assertMatch(String(draw("uuid()", seed)), uuid);
  assertMatch(String(evaluateExpression("uuid()", {})), uuid);
});
