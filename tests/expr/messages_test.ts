import { assertEquals, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
  renderTemplate,
} from "../../src/expr/evaluate_expression.ts";
import { renderExcerpt } from "../../src/base/diagnostic.ts";
import { excerptOf } from "../../src/base/source.ts";

const context = {
  vars: { base_url: "http://localhost", retries: 3, n: 7, s: "hello", xs: [1, 2, 3], half: 1.5 },
  res: {
    code: 404,
    body: { total: 3, items: [{ name: "a" }] },
    rawbody: "{}",
    cookies: [{ name: "sid" }],
  },
  outputs: { "create-user": { id: 1 }, "step-1": { id: 2 } },
  status: 0,
};

/** Each source with all that is printed about it: the message, the line, the caret, the hint. */
const EXPRESSIONS: readonly (readonly [source: string, printed: string])[] = [
  [
    `vars.bse_url + "/users"`,
    `vars has no "bse_url"
  1 | vars.bse_url + "/users"
    |      ^^^^^^^ did you mean "base_url"?`,
  ],
  [
    `fliter(res.body.items, .name == "a")`,
    `unknown function "fliter"
  1 | fliter(res.body.items, .name == "a")
    | ^^^^^^ did you mean "filter"?`,
  ],
  [
    "filtr(vars.xs, # > 1)",
    `unknown function "filtr"
  1 | filtr(vars.xs, # > 1)
    | ^^^^^ did you mean "filter"?`,
  ],
  [
    "res.cookies.sid",
    `a list has no .sid
  1 | res.cookies.sid
    |             ^^^ write cookie(res, "sid")`,
  ],
  [
    "res.code = 200",
    `unexpected "="
  1 | res.code = 200
    |          ^ use == to compare`,
  ],
  [
    "res.code === 200",
    `unexpected "=", expected a value
  1 | res.code === 200
    |            ^ use == to compare`,
  ],
  [
    "len(vars.xs) => 3",
    `unexpected "="
  1 | len(vars.xs) => 3
    |              ^ to compare write >=; a condition needs no parameter: filter(list, # > 1)`,
  ],
  [
    'vars.s eq "a"',
    `unexpected "eq"
  1 | vars.s eq "a"
    |        ^^ write an operator: a == b, a != b, a < b, a <= b, a > b or a >= b`,
  ],
  [
    "res.code !== 200",
    `unexpected "=", expected a value
  1 | res.code !== 200
    |            ^ use != without another =`,
  ],
  [
    "a <> b",
    `unexpected ">", expected a value
  1 | a <> b
    |    ^ use != for unequal`,
  ],
  [
    `vars.base_url || "3000"`,
    `expected true or false, got string
  1 | vars.base_url || "3000"
    | ^^^^^^^^^^^^^ for a fallback, use ??`,
  ],
  [
    "lenght(vars.items)",
    `unknown function "lenght"
  1 | lenght(vars.items)
    | ^^^^^^ use len(value)`,
  ],
  [
    "outputs.create-user.id == 1",
    `unknown name "user"
  1 | outputs.create-user.id == 1
    |                ^^^^ a hyphen is a minus; for one key write ["create-user"]`,
  ],
  [
    "res.code < {{vars.retries}}",
    `unexpected "{", expected a name
  1 | res.code < {{vars.retries}}
    |             ^ this field is an expression already: leave out {{ and }}`,
  ],
  [
    "{{ res.code }} == 200",
    `unexpected "{", expected a name
  1 | {{ res.code }} == 200
    |  ^ this field is an expression already: leave out {{ and }}`,
  ],
  [
    `res.body matches "\\d+"`,
    `unknown escape \\d
  1 | res.body matches "\\d+"
    |                   ^^ write \\\\ for a backslash, or a string between \`backticks\``,
  ],
  [
    `
  res.body.totl > 2 &&
  true`,
    `res.body has no "totl"
  2 |   res.body.totl > 2 &&
    |            ^^^^ did you mean "total"?`,
  ],
  [
    "(res.body.totl).x",
    `res.body has no "totl"
  1 | (res.body.totl).x
    |           ^^^^ did you mean "total"?`,
  ],
  [
    `res.body["totl"].x`,
    `res.body has no "totl"
  1 | res.body["totl"].x
    |          ^^^^^^ did you mean "total"?`,
  ],
  [
    'parse_json("5").a',
    `parse_json() needs a JSON object or array
  1 | parse_json("5").a
    | ^^^^^^^^^^^^^^^ for other JSON use fromJSON(…)`,
  ],
  [
    'int("4.5")',
    `int() cannot read this text as a whole number
  1 | int("4.5")
    | ^^^^^^^^^^ for others use float(…)`,
  ],
  [
    'float("5\\n")',
    `float() cannot read this text as a number
  1 | float("5\\n")
    | ^^^^^^^^^^^^ take off the space around it with trim(…)`,
  ],
  [
    '"5\\n" > 3',
    `cannot compare string > int
  1 | "5\\n" > 3
    | ^^^^^^^^^ turn the text into a number with float(trim(…))`,
  ],
  [
    `find(res.body.items, .name == "pot").price`,
    `find(…) found no item with .name == "pot"
  1 | find(res.body.items, .name == "pot").price
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^`,
  ],
  [
    `findLast([{nam: "pot"}], .name == "pot").price`,
    `findLast(…) found no item with .name == "pot"
  1 | findLast([{nam: "pot"}], .name == "pot").price
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ there is no "name" here; did you mean "nam"?`,
  ],
  [
    `vars.xs[findIndex(vars.xs, # > 1000)]`,
    `findIndex(…) found no item with # > 1000
  1 | vars.xs[findIndex(vars.xs, # > 1000)]
    |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^`,
  ],
  [
    `filter(vars.xs, # > 1000)[0]`,
    `index 0 is outside a list of length 0
  1 | filter(vars.xs, # > 1000)[0]
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ filter() found nothing`,
  ],
  [
    "first([]).price",
    `cannot read .price of nil
  1 | first([]).price
    | ^^^^^^^^^^^^^^^ first([]) is nil`,
  ],
  [
    "{}.price.net",
    `{} has no "price"
  1 | {}.price.net
    |    ^^^^^ it is empty`,
  ],
  [
    "res.body[vars.s].x",
    `unknown key
  1 | res.body[vars.s].x
    |          ^^^^^^ there is "total", "items"`,
  ],
  [
    "user",
    `unknown name "user"
  1 | user
    | ^^^^ there is "vars", "res", "outputs", "status"`,
  ],
  [
    "1e999",
    `this number is too large
  1 | 1e999
    | ^^^^^`,
  ],
  [
    "status a_word_that_is_rather_long",
    `unexpected word of 26 characters
  1 | status a_word_that_is_rather_long
    |        ^^^^^^^^^^^^^^^^^^^^^^^^^^ an operator is missing here, such as && between conditions`,
  ],
  [
    "'it''s'",
    `unexpected string
  1 | 'it''s'
    |     ^^^ for a quote inside a string write \\'`,
  ],
  [
    "vars.xs.length",
    `a list has no .length
  1 | vars.xs.length
    |         ^^^^^^ use len(…)`,
  ],
  [
    "vars.s.length",
    `a string has no .length
  1 | vars.s.length
    |        ^^^^^^ use len(…)`,
  ],
  [
    "res.rawbody.id",
    `a string has no .id
  1 | res.rawbody.id
    |             ^^ if it holds JSON, read it with parse_json(…) first`,
  ],
  [
    "vars.s.id",
    `a string has no .id
  1 | vars.s.id
    |        ^^`,
  ],
  [
    "'<!doctype html>'.id",
    `a string has no .id
  1 | '<!doctype html>'.id
    |                   ^^ the text looks like HTML or XML, not JSON`,
  ],
  [
    "' '.id",
    `a string has no .id
  1 | ' '.id
    |     ^^ the text is empty`,
  ],
  [
    `'{"id": 1, oops'.id`,
    `a string has no .id
  1 | '{"id": 1, oops'.id
    |                  ^^ the text begins like JSON but is not valid`,
  ],
  [
    `'{"id": 1}'.id`,
    `a string has no .id
  1 | '{"id": 1}'.id
    |             ^^ if it holds JSON, read it with parse_json(…) first`,
  ],
  [
    "vars.n.x",
    `int has no .x
  1 | vars.n.x
    |        ^`,
  ],
  [
    "vars.xs.filter(x -> x > 1)",
    `unexpected ">", expected a value
  1 | vars.xs.filter(x -> x > 1)
    |                   ^ to compare write >=; a condition needs no parameter: filter(list, # > 1)`,
  ],
  [
    "filter(vars.xs, x => x > 1)",
    `unexpected "=", expected "," or a closing bracket
  1 | filter(vars.xs, x => x > 1)
    |                   ^ to compare write >=; a condition needs no parameter: filter(list, # > 1)`,
  ],
  [
    "a & b",
    `unexpected "&"
  1 | a & b
    |   ^ write && for and`,
  ],
  [
    "a &&",
    `unexpected end of the expression, expected a value
  1 | a &&
    |     ^`,
  ],
  [
    "(1",
    `unexpected end of the expression, expected ")"
  1 | (1
    |   ^`,
  ],
  [
    "[1",
    `unexpected end of the expression, expected "," or a closing bracket
  1 | [1
    |   ^`,
  ],
  [
    "{a: 1, a: 2}",
    `the key "a" is repeated
  1 | {a: 1, a: 2}
    |        ^`,
  ],
  [
    "foo bar",
    `unexpected "bar"
  1 | foo bar
    |     ^^^ an operator is missing here, such as && between conditions`,
  ],
  [
    "res.code == 404 # not found",
    `unexpected "#"
  1 | res.code == 404 # not found
    |                 ^ a comment is written // … or /* … */`,
  ],
  [
    "# not found\nres.code == 404",
    `# is only allowed in a predicate
  1 | # not found
    | ^ a comment is written // … or /* … */`,
  ],
  [
    "/abc/",
    `unexpected "/", expected a value
  1 | /abc/
    | ^ a pattern is a string: text matches "^a+$"`,
  ],
  [
    `"abc`,
    `unterminated string
  1 | "abc
    | ^`,
  ],
  [
    "`abc",
    `unterminated string
  1 | \`abc
    | ^`,
  ],
  [
    "1 /* x",
    `unterminated comment
  1 | 1 /* x
    |   ^`,
  ],
  [
    "vars.xs.0",
    `unexpected ".0"
  1 | vars.xs.0
    |        ^^ write [0] for an item of a list`,
  ],
  [
    "vars.s ?.5 : 1",
    `unexpected "5", expected a name
  1 | vars.s ?.5 : 1
    |          ^ put a space after the ?`,
  ],
  [
    "map(vars.xs, {a: #})",
    `unexpected ":", expected "}"
  1 | map(vars.xs, {a: #})
    |                ^ put parentheses around a map here: ({name: value})`,
  ],
  [
    "#",
    `# is only allowed in a predicate
  1 | #
    | ^ it is the item inside filter(list, # > 1) and the like`,
  ],
  [
    ".name",
    `unexpected ".", expected a value
  1 | .name
    | ^ .name is a field of the item, inside filter(list, .name == 1) and the like`,
  ],
  [
    "map(vars.xs, #acc)",
    `#acc is only allowed in reduce()
  1 | map(vars.xs, #acc)
    |              ^^^^ it is what reduce(list, #acc + #) has so far`,
  ],
  [
    "map(vars.xs, #foo)",
    `unknown pointer #foo
  1 | map(vars.xs, #foo)
    |              ^^^^ use #, #acc or #index`,
  ],
  [
    "let len = 1; len",
    `"len" is already defined
  1 | let len = 1; len
    |     ^^^ choose another name`,
  ],
  [
    "let x = 1; let x = 2; x",
    `"x" is already defined
  1 | let x = 1; let x = 2; x
    |                ^ choose another name`,
  ],
  [
    "let vars = 1; vars",
    `"vars" is already defined
  1 | let vars = 1; vars
    |     ^^^^ choose another name`,
  ],
  [
    "upper(5)",
    `argument 1 of upper() must be a string, got int
  1 | upper(5)
    |       ^`,
  ],
  [
    "upper(vars.n)",
    `argument 1 of upper() must be a string, got int
  1 | upper(vars.n)
    |       ^^^^^^`,
  ],
  [
    "upper()",
    `upper() takes 1 argument, got 0
  1 | upper()
    | ^^^^^^^ write upper(text: string)`,
  ],
  [
    `split("a")`,
    `split() takes 2 to 3 arguments, got 1
  1 | split("a")
    | ^^^^^^^^^^ write split(text: string, separator: string, limit?: integer)`,
  ],
  [
    "join(vars.xs)",
    `join() needs strings, item 0 is int
  1 | join(vars.xs)
    | ^^^^^^^^^^^^^ turn the items into text first: map(list, string(#))`,
  ],
  [
    `"a" in vars.s`,
    `in needs a list or a map on its right, got string
  1 | "a" in vars.s
    | ^^^^^^^^^^^^^ for a part of a text write text contains part`,
  ],
  [
    "vars.xs contains 1",
    `contains needs two strings, got list and int
  1 | vars.xs contains 1
    | ^^^^^^^^^^^^^^^^^^ for an item of a list write item in list`,
  ],
  [
    `vars.n + "a"`,
    `cannot add int + string
  1 | vars.n + "a"
    | ^^^^^^^^^^^^ turn the other one into text with string(…)`,
  ],
  [
    "vars.n < vars.s",
    `cannot compare int < string
  1 | vars.n < vars.s
    | ^^^^^^^^^^^^^^^`,
  ],
  [
    "1 < first([]) < 3",
    `cannot compare int < nil
  1 | 1 < first([]) < 3
    | ^^^^^^^^^^^^^ first([]) is nil`,
  ],
  [
    "5 < vars.n < first([])",
    `cannot compare int < nil
  1 | 5 < vars.n < first([])
    |     ^^^^^^^^^^^^^^^^^^ first([]) is nil`,
  ],
  [
    "-vars.s",
    `cannot put - before string
  1 | -vars.s
    | ^^^^^^^`,
  ],
  [
    "vars.half % 2",
    `% needs two whole numbers, got float % int
  1 | vars.half % 2
    | ^^^^^^^^^^^^^`,
  ],
  [
    "vars.n % 0",
    `division by zero
  1 | vars.n % 0
    | ^^^^^^^^^^`,
  ],
  [
    "vars.n ?? 1 + 2",
    `?? cannot be combined with +
  1 | vars.n ?? 1 + 2
    |             ^ put parentheses around one of them`,
  ],
  [
    `"a" matches "a(b"`,
    `invalid regular expression: missing closing )
  1 | "a" matches "a(b"
    |             ^^^^^`,
  ],
  [
    `"a" matches "ab**c"`,
    `invalid regular expression: invalid nested repetition operator at character 3
  1 | "a" matches "ab**c"
    |             ^^^^^^^`,
  ],
  [
    `matches("a", "a(b")`,
    `invalid regular expression: missing closing )
  1 | matches("a", "a(b")
    |              ^^^^^`,
  ],
  [
    "vars.n ? 1 : 2",
    `expected true or false, got int
  1 | vars.n ? 1 : 2
    | ^^^^^^ compare it with something`,
  ],
  [
    "filter(vars.xs, #)",
    `expected true or false, got int
  1 | filter(vars.xs, #)
    |                 ^ compare it with something`,
  ],
  [
    "sum(vars.xs, string(#))",
    `sum() needs numbers, got string
  1 | sum(vars.xs, string(#))
    |              ^^^^^^^^^`,
  ],
  [
    "len(vars.n)",
    `len() needs a list, a map or a string, got int
  1 | len(vars.n)
    | ^^^^^^^^^^^`,
  ],
  [
    "filter(vars.n, # > 1)",
    `filter() needs a list, got int
  1 | filter(vars.n, # > 1)
    |        ^^^^^^`,
  ],
  [
    "vars.xs[9]",
    `index 9 is outside a list of length 3
  1 | vars.xs[9]
    | ^^^^^^^^^^`,
  ],
  [
    `vars.xs["a"]`,
    `a list has no ["a"]
  1 | vars.xs["a"]
    |         ^^^ write [0] for its first item`,
  ],
  [
    "vars[5]",
    `a key of a map is a string, got int
  1 | vars[5]
    | ^^^^^^^`,
  ],
  [
    "{(1): 2}",
    `a key of a map is a string, got int
  1 | {(1): 2}
    |   ^`,
  ],
  [
    "1..vars.s",
    `a range needs two whole numbers, got int..string
  1 | 1..vars.s
    | ^^^^^^^^^`,
  ],
  [
    "vars.xs[vars.s:]",
    `a bound of a part is a number, got string
  1 | vars.xs[vars.s:]
    | ^^^^^^^^^^^^^^^^`,
  ],
  [
    "reduce([], #acc + #)",
    `reduce() of an empty list needs a third argument to begin with
  1 | reduce([], #acc + #)
    | ^^^^^^^^^^^^^^^^^^^^`,
  ],
  [
    `sort([1, "a"])`,
    `cannot put string and int in order
  1 | sort([1, "a"])
    | ^^^^^^^^^^^^^^`,
  ],
  [
    `sort([1], "up")`,
    `an order is "asc" or "desc"
  1 | sort([1], "up")
    | ^^^^^^^^^^^^^^^`,
  ],
  [
    `repeat("a", -1)`,
    `repeat() needs a count of 0 or more
  1 | repeat("a", -1)
    | ^^^^^^^^^^^^^^^`,
  ],
  [
    "random_int(0)",
    `random_int() needs a limit above 0
  1 | random_int(0)
    | ^^^^^^^^^^^^^`,
  ],
  [
    "1..1e12",
    `this makes a list of more than 1000000 items
  1 | 1..1e12
    | ^^^^^^^ evaluate a smaller part of the data`,
  ],
  [
    `repeat("a", 1e9)`,
    `this makes a text longer than 1000000 characters
  1 | repeat("a", 1e9)
    | ^^^^^^^^^^^^^^^^`,
  ],
  [
    "if vars.n > 1 { 2 }",
    `unexpected end of the expression, expected "else"
  1 | if vars.n > 1 { 2 }
    |                    ^`,
  ],
  [
    "vars.n > 1 ? 2",
    `unexpected end of the expression, expected ":"
  1 | vars.n > 1 ? 2
    |               ^`,
  ],
  [
    `"\\u{110000}"`,
    `invalid character \\u{110000}
  1 | "\\u{110000}"
    |  ^^^^^^^^^^`,
  ],
  [
    "0x",
    `invalid number "0x"
  1 | 0x
    | ^^`,
  ],
  [
    "1abc",
    `invalid number "1abc"
  1 | 1abc
    | ^^^^`,
  ],
  [
    "a\\u0062",
    `a name cannot hold a backslash
  1 | a\\u0062
    | ^^^^^^^`,
  ],
  [
    "a\\b",
    `a name cannot hold a backslash
  1 | a\\b
    | ^^`,
  ],
  [
    "vars.xs[0",
    `unexpected end of the expression, expected "]"
  1 | vars.xs[0
    |          ^`,
  ],
  [
    "“a”",
    `unexpected "“"
  1 | “a”
    | ^ write a straight quote: "`,
  ],
  [
    "",
    `unexpected end of the expression, expected a value
  1 | 
    | ^`,
  ],
  [
    `日本 + "語" + nope.x`,
    `unknown name "日本"
  1 | 日本 + "語" + nope.x
    | ^^^^ there is "vars", "res", "outputs", "status"`,
  ],
];

const TEMPLATES: readonly (readonly [source: string, printed: string])[] = [
  [
    "{{.Names}}",
    `unexpected ".", expected a value
  1 | {{.Names}}
    |   ^ to keep braces as text write {{ "{{.Names}}" }}`,
  ],
  [
    "docker ps --format {{.Names}}",
    `unexpected ".", expected a value
  1 | docker ps --format {{.Names}}
    |                      ^ to keep braces as text write {{ "{{.Names}}" }}`,
  ],
  [
    "{{{vars.n}}}",
    `unexpected ".", expected ":"
  1 | {{{vars.n}}}
    |        ^ {{{ begins a map; for a brace as text put a space after it: { {{x}} }`,
  ],
  [
    "{{}}",
    `empty expression
  1 | {{}}
    | ^^^^ for the text {{ write {{ "{{" }}`,
  ],
  [
    "a {{ }} b",
    `empty expression
  1 | a {{ }} b
    |   ^^^^^ for the text {{ write {{ "{{" }}`,
  ],
  [
    "a{{ vars.nope }}",
    `vars.nope is nil, and would leave a gap in the text
  1 | a{{ vars.nope }}
    |     ^^^^^^^^^ vars has no "nope"; there is "base_url", "retries", "n", "s", "xs", "half"`,
  ],
  [
    "{{ vars.n } }}",
    `unexpected "}", expected "}}"
  1 | {{ vars.n } }}
    |           ^`,
  ],
  [
    "{{ vars.n + }}",
    `unexpected "}", expected a value
  1 | {{ vars.n + }}
    |             ^`,
  ],
  [
    "a {{ vars.n vars.s }}",
    `unexpected "vars", expected "}}"
  1 | a {{ vars.n vars.s }}
    |             ^^^^`,
  ],
  [
    "{{ vars.n }} {{ vars.bse_url.x }}",
    `vars has no "bse_url"
  1 | {{ vars.n }} {{ vars.bse_url.x }}
    |                      ^^^^^^^ did you mean "base_url"?`,
  ],
];

Deno.test("an invalid expression is shown with its place and a suggestion", () => {
  for (const [source, printed] of EXPRESSIONS) {
    assertEquals(printedError(source, evaluateExpression), printed, source);
  }
});

Deno.test("an invalid template is shown with its place and a suggestion", () => {
  for (const [source, printed] of TEMPLATES) {
    assertEquals(printedError(source, renderTemplate), printed, source);
  }
});

Deno.test("a name from another tool suggests the one to use", () => {
  const hints: Record<string, string> = {
    "uuidv4()": "uuid()",
    "timestamp()": "now()",
    'base64("x")': "encode_base64(text)",
    "random(5)": "random_int(100)",
    'env("HOME")': "vars at the top of the workflow",
    "env.HOME": "vars at the top of the workflow",
    'default(vars.n, "x")': "??",
    "tojson(1)": "toJSON",
    'fromjson("1")': "fromJSON",
    'fromJson("1")': "fromJSON",
    'jsonpath(res.body, "$.x")': "res.body.items[0].name",
    "length(vars.s)": "len(value)",
    "typeof(1)": "type(value)",
    "vars.s.length()": "len(value)",
    'JSON.parse("1")': "fromJSON(text)",
    "Date.now()": "write now()",
    'vars.s.contains("a")': "value contains",
    'vars.s.startsWith("a")': "value startsWith",
    'vars.s.matches("a")': "value matches",
    "vars.xs.filter(# > 1)": "filter(value, …)",
    "vars.s.upper()": "upper(value)",
    "steps.x": "outputs",
    "iteration.x": "the values of an entry are in vars",
    "undefined": "nil",
    "body.total == 1": "res.body",
    "code == 200": "res.code",
    "exists(res.body.total)": "!= nil",
    "parseInt(vars.s)": "int(text)",
    // Operators and quotes.
    "res.code == 200 vars.n == 7": "&&",
    "res.code == 200, vars.n == 7": "&&",
    "res.code == 200 AND vars.n == 7": "write and",
    "vars.s is string": "type(value)",
    "res.body exists": "!= nil",
    "res.body.items[*].name": "map(list, .name)",
    "res.code == 2xx": "200 <= res.code < 300",
    // Texts that are compared with numbers.
    "'7.50' > 7": "float(…)",
    "7 > '7.50'": "float(…)",
    "'12.5ms' < 50": "rt.sec",
    "vars.s =~ 'h'": "matches",
    "vars.s ~= 'h'": "matches",
    "vars.s == 'it's'": "\\'",
    'vars.s == "a "b" c"': '\\"',
    "not vars.s == 'x'": "not (a == b)",
    "!vars.n": "not (a == b)",
    // Keys with hyphens.
    "outputs.step-1.id": '["step-1"]',
    "outputs.step-1 == 2": '["step-1"]',
    "outputs.a-b-2.id": '["a-b-2"]',
  };
  for (const [source, part] of Object.entries(hints)) {
    const { hint = "" } = errorOf(source, evaluateExpression);
    assertEquals(hint.includes(part), true, `${source}: ${hint}`);
  }
});

type Evaluate = (source: string, context: Record<string, unknown>, options: object) => unknown;

function errorOf(source: string, evaluate: Evaluate): ExpressionError {
  return assertThrows(() => evaluate(source, context, { strict: true }), ExpressionError);
}

function printedError(source: string, evaluate: Evaluate): string {
  const { message, start, end, hint } = errorOf(source, evaluate);
  const location = excerptOf({ source: { name: "", text: source }, start, end });
  return `${message}\n${renderExcerpt(location, hint)}`;
}

Deno.test("a comment ends before the braces of its template", () => {
  const text = "{{ vars.n // seven }} and {{ vars.s /* {{ */ }}";
  assertEquals(renderTemplate(text, context), "7 and hello");
  assertEquals(renderTemplate("{{ vars.n // seven\n + 1 }}", context), 8);
});
