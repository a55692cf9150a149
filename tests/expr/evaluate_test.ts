import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
  renderTemplate,
} from "../../src/expr/evaluate_expression.ts";
import { longWork } from "../../src/base/long_work.ts";
import { Evaluation } from "../../src/expr/evaluate/evaluation.ts";
import vectors from "./vectors.json" with { type: "json" };

interface Vector {
  readonly expr: string;
  readonly env: string | Record<string, unknown>;
  readonly template?: boolean;
  readonly expect?: unknown;
  readonly error?: boolean;
}

const envs: Readonly<Record<string, Record<string, unknown>>> = vectors.envs;

for (const [group, entries] of Object.entries(vectors.groups as Record<string, Vector[]>)) {
  Deno.test(`evaluateExpression() agrees with the vectors: ${group}`, () => {
    for (const vector of entries) {
      if (vector.error) {
        assertThrows(() => outcome(vector), ExpressionError);
      } else {
        assertEquals(written(outcome(vector)), vector.expect, vector.expr);
      }
    }
  });
}

function outcome({ expr, env, template }: Vector): unknown {
  const context = typeof env === "string" ? envs[env]! : env;
  const evaluate = template ? renderTemplate : evaluateExpression;
  return evaluate(expr, context, { strict: env === "step" });
}

/** A value as the vectors write it. */
function written(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  }
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, written(part)]));
}

const context = { vars: { s: "hello", n: 7, xs: [1, 2], m: { a: 1 }, yes: true } };

Deno.test("evaluateExpression() sees nothing that a map inherits", () => {
  for (
    const name of ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "prototype"]
  ) {
    assertEquals(evaluateExpression(`vars.m.${name}`, context), null);
    assertEquals(evaluateExpression(`vars.m["${name}"]`, context), null);
    assertEquals(evaluateExpression(`get(vars.m, "${name}")`, context), null);
    assertEquals(evaluateExpression(`"${name}" in vars.m`, context), false);
    assertEquals(evaluateExpression(name, {}), null);
    assertEquals(evaluateExpression(`get(vars.s, "${name}")`, context), null);
  }
});

Deno.test("evaluateExpression() knows no members of texts, numbers, booleans and lists", () => {
  for (const owner of ["vars.s", "vars.n", "vars.yes", "vars.xs"]) {
    for (const name of ["constructor", "__proto__", "length", "at", "toString", "map"]) {
      refuses(`${owner}.${name}`);
      refuses(`${owner}["${name}"]`);
    }
  }
});

Deno.test("evaluateExpression() keeps keys with a meaning in JavaScript as data", () => {
  const polluting = [
    '{"__proto__": {polluted: 1}}',
    'fromPairs([["__proto__", {polluted: 1}]])',
    'groupBy([{polluted: 1}], "__proto__")',
    `fromJSON('{"__proto__": {"polluted": 1}}')`,
  ];
  for (const source of polluting) {
    const value = evaluateExpression(source, {}) as Record<string, unknown>;
    assertEquals(Object.keys(value), ["__proto__"]);
    assertEquals(evaluateExpression(`(${source}).polluted`, {}), null);
    assertEquals(({} as Record<string, unknown>).polluted, undefined);
  }
});

Deno.test("evaluateExpression() calls nothing but its functions, and by their bare names", () => {
  const sources = [
    "vars.m.a()",
    'vars.s.constructor("return 1")()',
    'eval("1")',
    'fetch("http://localhost")',
    'import("x")',
    "filter.call(1)",
    "constructor()",
    "toString()",
    "__proto__()",
    "hasOwnProperty(vars.m)",
    '(filter)("x")',
    'vars["m"]()',
    "[len][0](vars.s)",
    "new Date()",
    "this",
    "globalThis.Deno",
    "`${1}`()",
    "x => 1",
    "function () {}",
    "class {}",
    "vars.m = 1",
    "vars.n++",
    "delete vars.m",
    "typeof vars.m",
    "vars.host()",
  ];
  for (const source of sources) {
    refuses(source, { ...context, vars: { ...context.vars, host: () => "called" } });
  }
});

Deno.test("evaluateExpression() runs no code of its context", () => {
  let calls = 0;
  const called = () => {
    calls++;
    return "called";
  };
  class Host {
    field = "data";
    get secret() {
      return called();
    }
    method() {
      return called();
    }
  }
  class Shadow extends Array {
    override map(): never[] {
      called();
      return [];
    }
    override get length(): number {
      return called().length;
    }
  }
  const host = {
    vars: {
      date: new Date(),
      map: new Map([["size", 1]]),
      set: new Set([1]),
      object: new Host(),
      list: Object.setPrototypeOf([1, 2], { map: called, some: called, every: called }),
      shadow: Shadow.from([]),
      regex: /x/g,
      error: new Error("no"),
      call: called,
      symbol: Symbol("s"),
      big: 12n,
      huge: 2n ** 64n,
      nothing: undefined,
      toJSON: called,
      toString: called,
      valueOf: called,
      [Symbol.toPrimitive]: called,
      get trap() {
        return called();
      },
      nested: {
        get trap() {
          return called();
        },
      },
    },
  };
  const expected: Record<string, unknown> = {
    "vars.call": null,
    "vars.symbol": null,
    "vars.trap": null,
    '"trap" in vars.nested': false,
    "vars.nested.trap": null,
    "vars.big": 12,
    "vars.huge": 18446744073709551616n,
    "vars.nothing": null,
    "vars.toString": null,
    "vars.date.getTime": null,
    "len(vars.date)": 0,
    "vars.map.size": null,
    "vars.map.get": null,
    "vars.object.field": "data",
    "vars.object.secret": null,
    "vars.object.method": null,
    "vars.error.message": null,
    "map(vars.list, # + 1)": [2, 3],
    "vars.list == [1, 2]": true,
    "string(vars.list)": "[1,2]",
    "string(vars.nested)": '{"trap":null}',
    "vars.nested == {}": false,
    "string(vars.date)": "{}",
    "vars.call ?? 5": 5,
    "type(vars.call)": "nil",
  };
  for (const [source, value] of Object.entries(expected)) {
    assertEquals(evaluateExpression(source, host), value, source);
  }
  for (
    const source of ["vars.call()", "vars.date.getTime()", "vars.object.method()", "-vars.date"]
  ) {
    refuses(source, host);
  }
  for (const name of Object.keys(host.vars)) {
    for (
      const source of [
        `string(vars.${name})`,
        `toJSON(vars)`,
        `vars.${name} == vars`,
        `values(vars)`,
      ]
    ) evaluateExpression(source, host);
  }
  renderTemplate("text {{ vars }} and {{ vars.object }}", host);
  assertEquals(calls, 0);
});

Deno.test("evaluateExpression() stops work that would not end", () => {
  const sources = [
    "1..1e12",
    "1..1000001",
    'repeat("a", 1000000000)',
    `map(1..100000, ${"1 + ".repeat(900)}1)`,
    'reduce(1..40, #acc + #acc, "aaaaaaaa")',
    'reduce(1..40, concat(#acc, #acc), ["a"])',
    'map(1..1000000, upper(repeat("a", 1000)))',
    'map(1..100000, repeat("a", 10000) + "b")',
    "reduce(1..30, [#acc, #acc], [1]) == reduce(1..30, [#acc, #acc], [1])",
    "string(reduce(1..30, [#acc, #acc], [1]))",
    "toJSON(reduce(1..30, {a: #acc, b: #acc}, 1))",
    "flatten(reduce(1..30, [#acc, #acc], [1]))",
    "max(reduce(1..30, [#acc, #acc], [1]))",
    "match_json(reduce(1..30, {a: #acc, b: #acc}, 1), reduce(1..30, {a: #acc, b: #acc}, 1))",
    "reduce(1..100000, [#acc], [])",
    "map(1..10000, # in 1..10000)",
    "let x = 1..100000; map(x, sort(x))",
    'replace(repeat("a", 1000000), "a", "bb")',
    'replace(repeat("a", 1000), "", repeat("b", 10000))',
    'join(map(1..1000, repeat("a", 10000)), "")',
    'string(map(1..1000, repeat("a", 100000)))',
    'split(repeat("a", 1000000), "") | map(upper(#))  | map(split(repeat(#, 1000), ""))',
  ];
  for (const source of sources) refuses(source, {});
});

const TEXT = "abcdefgh ".repeat(50_000);
const MAP = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));
const LARGE = {
  text: TEXT,
  emoji: "é😀".repeat(50_000),
  list: Array.from({ length: 100_000 }, (_, at) => at),
  map: MAP,
  same: { ...MAP },
  maps: Array.from({ length: 5_000 }, (_, id) => ({ id, tags: ["a"] })),
  xml: `<a>${"<b></b>".repeat(2_000)}</a>`,
};
/** They take long because of the size of their operands; each was free, or nearly so. */
const COSTLY = [
  ...["list[1:]", "emoji[1:3]", "emoji[5]", "text[1:3]", "(1..100000)[0]"],
  ...['text contains "zz"', 'text matches "zz$"', 'text startsWith "z"', '{"a": 1} in maps'],
  ...["map == same", "map != same", "find(list, # == 0)", "any(list, true)"],
  ...[
    "let copy = [map, maps]; 1",
    "reduce([1, 2], [maps])",
    "len(emoji)",
    "len(map)",
    'get(map, "a")',
  ],
  ...['contains(text, "zz")', 'capture(text, "(zz)")', 'matches(text, "(x?){50}z")'],
  ...["keys(map)", "merge(map, same)", 'omit(map, ["k1"])', 'pick(map, ["k1"])', "uniq(maps)"],
  ...["match_json(map, same)", "includes_json(map, same)", "diff(maps, maps)", "flatten([maps])"],
  ...["string(map)", "toJSON(maps)", 'json_path(map, "$.k1")', 'one_of({"a": 1}, maps)'],
  ...['trim(text, "z")', 'replace(text, "", "b", 1)', 'split(text, "", 2)'],
  ...['css(xml, "c")', 'xpath(xml, "//c")'],
];

Deno.test("evaluateExpression() counts the size of what a loop works on", () => {
  const { step } = Evaluation.prototype;
  // With a thousandth of the limit, five turns are too many only because of the size.
  Evaluation.prototype.step = function (count = 1) {
    step.call(this, count * 1000);
  };
  try {
    assertEquals(evaluateExpression("any(1..5, list[5] == -1)", LARGE), false);
    for (const costly of COSTLY) {
      const evaluate = () => evaluateExpression(`any(1..5, (${costly}) == "never")`, LARGE);
      const { message } = assertThrows(evaluate, ExpressionError);
      assertStringIncludes(message, "evaluation limit exceeded", costly);
    }
  } finally {
    Evaluation.prototype.step = step;
  }
});

Deno.test("evaluateExpression() accepts patterns that cause catastrophic backtracking elsewhere", () => {
  const text = "a".repeat(100_000) + "!";
  assertEquals(evaluateExpression("text matches `^(a+)+$`", { text }), false);
  assertEquals(evaluateExpression("text matches `^(a|a)*$`", { text }), false);
});

Deno.test("evaluateExpression() refuses patterns that are too large", () => {
  for (const pattern of ["(a{1000}){1000}", "a".repeat(1001), "(?=a)", String.raw`(a)\1`]) {
    refuses("'a' matches pattern", { pattern });
  }
});

Deno.test("evaluateExpression() refuses sources that are too deep, too long or too many parts", () => {
  const deep = [
    "(".repeat(5000) + "1" + ")".repeat(4999),
    "[".repeat(5000),
    "!".repeat(9000) + "x",
    "-".repeat(9000) + "1",
    "a ? ".repeat(2400) + "1",
    "a ? 1 : ".repeat(1200) + "1",
    "1 ** ".repeat(1900) + "1",
    "{a: ".repeat(2400),
    "if a { 1 } else ".repeat(600) + "{ 2 }",
    "let x = 1; ".repeat(900) + "1",
    "not ".repeat(2400) + "true",
    "f(".repeat(4000),
    "a[".repeat(4000),
    "map(x, ".repeat(1400),
    "# | ".repeat(2000),
    "1 + ".repeat(2400) + "1",
    "a.b".repeat(4000),
    "1".repeat(1_000_000),
    " ".repeat(10_001),
    '"' + "a".repeat(10_000) + '"',
  ];
  for (const source of deep) refuses(source, {});
});

Deno.test("evaluateExpression() accepts 250 levels of nesting, and no more", () => {
  for (
    const [open, close] of [
      ["(", ")"],
      ["1 + (", ")"],
      ["[", "]"],
      ["{a: ", "}"],
      ["abs(", ")"],
      ["!", ""],
      ["1 ** ", ""],
      ["false ? 2 : ", ""],
    ] as const
  ) {
    const value = open === "!" ? "true" : "1";
    const nest = (levels: number) => open.repeat(levels) + value + close.repeat(levels);
    evaluateExpression(nest(250), {});
    const { message } = refuses(nest(251), {});
    assertEquals(message, "this expression is nested more than 250 levels deep");
  }
  const mixed = "1 == 1 + 2 * (";
  refuses(mixed.repeat(250) + "1" + ")".repeat(250), {});
});

Deno.test("evaluateExpression() takes long chains within its limits", () => {
  assertEquals(evaluateExpression("1 + ".repeat(900) + "1", {}), 901);
  assertEquals(evaluateExpression("(".repeat(100) + "1" + ")".repeat(100), {}), 1);
});

Deno.test("evaluateExpression() walks data that is nested deeply, or refuses it", () => {
  for (const source of ["data == other", "string(data)", "flatten(data)", "max(data)"]) {
    refuses(source, { data: nested(200_000), other: nested(200_000) });
  }
});

Deno.test("messages never quote values", () => {
  const context = { secret: "s3cr3t-value", list: ["s3cr3t-value"], map: { a: 1 } };
  const sources = [
    "int(secret)",
    "float(secret)",
    "fromJSON(secret)",
    "parse_json('{' + secret)",
    "decode_base64(secret)",
    "secret + 1",
    "secret.x",
    "secret < 1",
    "-secret",
    "secret ? 1 : 2",
    "map[secret].x",
    "'a' matches ('(' + secret)",
    "upper(list)",
    "join([1], secret)",
    "sort([secret, 1])",
    "sort([1], secret)",
    "list[secret]",
  ];
  for (const source of sources) {
    const error = refuses(source, context);
    assertEquals(`${error.message} ${error.hint ?? ""}`.includes("s3cr3t"), false, source);
  }
});

Deno.test("random_int() and random_str() give every value a fair chance", () => {
  const draws = evaluateExpression("map(1..3000, random_int(3))", {}) as number[];
  for (const value of [0, 1, 2]) {
    const count = draws.filter((draw) => draw === value).length;
    // Six standard deviations either way: chance alone fails this once in 500 million runs.
    assertEquals(count > 845 && count < 1155, true, `${value} came ${count} times`);
  }
  assertEquals(
    new Set(evaluateExpression('split(random_str(20000), "")', {}) as string[]).size,
    62,
  );
  assertEquals((evaluateExpression("random_int(9007199254740991)", {}) as number) >= 0, true);
});

function refuses(source: string, names: Record<string, unknown> = context): ExpressionError {
  return assertThrows(
    () => evaluateExpression(source, names, { strict: true }),
    ExpressionError,
  );
}

function nested(levels: number): unknown {
  let data: unknown = 1;
  for (let i = 0; i < levels; i++) data = [data];
  return data;
}

const LIBRARY = { evaluateExpression, renderTemplate } as const;

/** A call as JavaScript may make it, whatever the types say. */
type Call = (source: unknown, context?: unknown, options?: unknown) => unknown;

for (const [name, evaluate] of Object.entries(LIBRARY) as [keyof typeof LIBRARY, Call][]) {
  const text = (source: string) => name === "renderTemplate" ? `a {{ ${source} }}` : source;

  Deno.test(`${name}() throws an ExpressionError where it is misused`, () => {
    const sources = [undefined, null, 1, [], {}, Symbol("s"), new String("1")];
    for (const source of sources) assertThrows(() => evaluate(source, {}), ExpressionError);
    for (const context of [undefined, null, 1, "x"]) {
      assertThrows(() => evaluate(text("1"), context), ExpressionError);
    }
  });

  Deno.test(`${name}() takes no options for no wishes`, () => {
    assertEquals(evaluate(text("1 + 1"), {}, null), evaluate(text("1 + 1"), {}));
  });
}

Deno.test("an evaluation that takes long says so once, before it blocks the program", () => {
  let count = 0;
  longWork.begins = () => void count++;
  try {
    evaluateExpression("len(1..100)", {});
    assertEquals(count, 0);
    evaluateExpression("count(1..300000, # > 1)", {});
    assertEquals(count, 1);
  } finally {
    longWork.begins = undefined;
  }
});
