import { assertEquals, assertThrows } from "@std/assert";
import { type SchemaDraft, SchemaFault } from "../../src/expr/json_schema/schema_tree.ts";
import { loadSchemaCompiler, type SchemaDocument } from "../../src/expr/json_schema/validator.ts";
import { renderMismatches } from "../../src/base/value/difference.ts";
import type { Dict, Value } from "../../src/base/value/value.ts";

const URI = "file:///schemas/order.json";

async function violations(
  schema: unknown,
  value: Value,
  { draft = "2020-12", others = [] }: {
    readonly draft?: SchemaDraft;
    readonly others?: readonly SchemaDocument[];
  } = {},
): Promise<string[]> {
  const { compile } = await loadSchemaCompiler(draft);
  const found = compile({ uri: URI, schema }, others)(value);
  return renderMismatches(found, (text) => text);
}

/** Schemas, values, and the violations as they are shown. */
const CASES: readonly (readonly [schema: unknown, value: Value, lines: readonly string[]])[] = [
  [{ type: "string" }, "a", []],
  [{ type: ["string", "null"] }, 1, ["@ the value itself", "- type string or null", "+ 1"]],
  [{ required: ["a"] }, {}, ["@ .a", "- required", "+ (missing)"]],
  [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, [
    "@ .b",
    "- no such property",
    "+ 1",
  ]],
  [{ items: { minimum: 1 } }, [1, 0], ["@ [1]", "- >= 1", "+ 0"]],
  [{ items: { multipleOf: 0.01 } }, [19.99, 0.07, 4.35, 1e6 + 0.1], []],
  [{ not: { type: "integer" } }, 1, [
    "@ the value itself",
    '- nothing that "not" describes',
    "+ 1",
  ]],
  [{ prefixItems: [{}], items: false }, [1, 2], [
    "@ the value itself",
    "- at most 1 item",
    "+ [1,2]",
  ]],
  [{ contains: { const: 9 } }, [], [
    "@ the value itself",
    '- at least 1 item that "contains" describes',
    "+ []",
  ]],
  [{ contains: true, minContains: 0, maxContains: 2 }, [1, 2, 3], [
    "@ the value itself",
    '- 0 to 2 items that "contains" describes',
    "+ [1,2,3]",
  ]],
  [{ multipleOf: 0.01 }, 1.234, ["@ the value itself", "- a multiple of 0.01", "+ 1.234"]],
  [{ enum: ["a", 1] }, "b", ["@ the value itself", '- one of ["a",1]', '+ "b"']],
  [{ properties: { a: { const: 1 } } }, { a: 2 }, ["@ .a", "- 1", "+ 2"]],
  [{ pattern: "^a" }, "b", ["@ the value itself", "- /^a/", '+ "b"']],
  // Patterns are those of ECMAScript.
  [{ pattern: "^\\s[\\s\\S]\\u00e9\\cC\\p{Letter}[\\b]\\/$" }, "\u00a0xé\u0003ä\b/", []],
  [{ pattern: "^\\S$" }, "\u2003", ["@ the value itself", "- /^\\S$/", '+ "\u2003"']],
  [{ patternProperties: { "^\\p{Script=Greek}+$": false } }, { a: 1 }, []],
  [{ format: "email" }, "b", ["@ the value itself", "- format email", '+ "b"']],
  [{ minLength: 2, maxLength: 3 }, "abcd", [
    "@ the value itself",
    "- at most 3 characters",
    '+ "abcd"',
  ]],
  [{ uniqueItems: true }, [{ a: 1 }, { a: 1 }], [
    "@ the value itself",
    "- items that differ",
    '+ [{"a":1},{"a":1}]',
  ]],
  [{ anyOf: [{ type: "null" }, { required: ["a"] }] }, {}, [
    "@ the value itself: by anyOf[0]",
    "- type null",
    "+ {}",
    "@ .a: by anyOf[1]",
    "- required",
    "+ (missing)",
    "@ the value itself",
    "- a schema of anyOf",
    "+ {}",
  ]],
  [{ properties: { "a/b": { type: "string" } } }, { "a/b": 1 }, [
    '@ ["a/b"]',
    "- type string",
    "+ 1",
  ]],
];

for (const [schema, value, lines] of CASES) {
  const title = `${JSON.stringify(value)} by ${JSON.stringify(schema)}`;
  Deno.test(`${title} has ${lines.length === 0 ? "no violation" : "violations"}`, async () => {
    assertEquals(await violations(schema, value), lines);
  });
}

Deno.test("each draft has its own rules", async () => {
  assertEquals(await violations({ maximum: 3, exclusiveMaximum: true }, 3, { draft: "4" }), [
    "@ the value itself",
    "- < 3",
    "+ 3",
  ]);
  const beside = { $ref: "#/definitions/a", minimum: 2, definitions: { a: {} } };
  assertEquals(await violations(beside, 1, { draft: "7" }), []);
  assertEquals((await violations(beside, 1, { draft: "2019-09" })).length, 3);
  const tuple = { prefixItems: [{ type: "string" }] };
  assertEquals((await violations(tuple, [1], { draft: "2020-12" })).length, 3);
  assertEquals(await violations(tuple, [1], { draft: "7" }), []);
});

Deno.test("schemas refer to others by their URIs, also into parts of a document", async () => {
  const others = [
    { uri: "file:///schemas/item.json", schema: { $defs: { name: { type: "string" } } } },
    {
      uri: "file:///api.yml",
      schema: { components: { schemas: { Id: { type: "integer" } } } },
    },
  ];
  const schema = {
    properties: {
      id: { $ref: "/api.yml#/components/schemas/Id" },
      name: { $ref: "item.json#/$defs/name" },
    },
  };
  assertEquals(await violations(schema, { id: "1", name: 2 }, { others }), [
    "@ .id",
    "- type integer",
    '+ "1"',
    "@ .name",
    "- type string",
    "+ 2",
  ]);
});

/** Schemas that are wrong, and why. */
const FAULTS: readonly (readonly [schema: unknown, message: string])[] = [
  [5, "a schema must be a map, true or false"],
  [
    { properties: { a: { type: "strng" } } },
    "invalid schema: /properties/a/type must be equal to one of the allowed values: " +
    "array, boolean, integer, null, number, object, string",
  ],
  [{ minLength: -1 }, "invalid schema: /minLength must be >= 0"],
  [
    { pattern: "(?=a)" },
    'invalid regular expression: lookaround is not supported at character 1, in pattern "(?=a)"',
  ],
  [{ $ref: "#/$defs/a" }, 'unknown schema "file:///schemas/order.json#/$defs/a"'],
];

for (const [schema, message] of FAULTS) {
  Deno.test(`the schema ${JSON.stringify(schema)} is refused`, async () => {
    const { compile } = await loadSchemaCompiler("2020-12");
    const error = assertThrows(() => compile({ uri: URI, schema }), SchemaFault);
    assertEquals(error.message, message);
  });
}

Deno.test("a schema that refers to itself without end is refused", async () => {
  const { compile } = await loadSchemaCompiler("2020-12");
  const validate = compile({ uri: URI, schema: { $ref: "#" } });
  assertThrows(() => validate({}), SchemaFault, "refers to itself without end");
});

Deno.test("uniqueItems takes time by the number of items, not by the square of it", async () => {
  const many = Array.from({ length: 20_000 }, (_, id) => ({ id }));
  assertEquals(await violations({ uniqueItems: true }, many), []);
});

const LONG = 9007199254740993n;

/** Keywords that compare numbers, and an integer that they do not let through. */
const LONG_CASES: readonly (readonly [schema: Dict, value: Value, expected: string])[] = [
  [{ minimum: LONG }, 9007199254740992, ">= 9007199254740993"],
  [{ maximum: 9007199254740992 }, LONG, "<= 9007199254740992"],
  [{ multipleOf: 2 }, LONG, "a multiple of 2"],
  [{ const: { a: LONG } }, { a: 9007199254740992 }, '{"a":9007199254740993}'],
  [{ enum: [LONG, 1] }, 9007199254740995n, "one of [9007199254740993,1]"],
  [{ type: "string" }, LONG, "type string"],
  [{ uniqueItems: true }, [LONG, LONG], "items that differ"],
];

Deno.test("integers beyond 2^53 are compared digit by digit, in every draft", async () => {
  for (const draft of ["2020-12", "2019-09", "7", "4"] as const) {
    const isOf4 = draft === "4";
    const exclusive: typeof LONG_CASES = [
      [
        isOf4 ? { minimum: LONG, exclusiveMinimum: true } : { exclusiveMinimum: LONG },
        LONG,
        "> 9007199254740993",
      ],
      [
        isOf4 ? { maximum: LONG, exclusiveMaximum: true } : { exclusiveMaximum: LONG },
        LONG,
        "< 9007199254740993",
      ],
    ];
    for (const [schema, value, expected] of [...LONG_CASES, ...exclusive]) {
      const inside = { properties: { list: { items: schema } } };
      const [location, wanted] = await violations(inside, { list: [value] }, { draft });
      assertEquals([location, wanted], ["@ .list[0]", `- ${expected}`], draft);
    }
    const fits = { type: "integer", minimum: LONG, maximum: LONG, multipleOf: 3, enum: [LONG] };
    assertEquals(await violations(fits, LONG, { draft }), []);
    const pair = [LONG, 9007199254740992];
    assertEquals(await violations({ uniqueItems: true }, pair, { draft }), []);
    assertEquals(await violations({ maxLength: 2n ** 63n, type: "string" }, "a", { draft }), []);
  }
});
