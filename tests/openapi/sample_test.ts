import { assertEquals } from "@std/assert";
import { makeSampler } from "../../src/openapi/gen/sample.ts";
import { requiredFields } from "../../src/openapi/gen/schema.ts";
import type { Value } from "../../src/base/value/value.ts";

const sampler = await makeSampler(new Map());
const sampleOf = (schema: unknown) => sampler.sample(schema);

const object = (properties: object, rest: object = {}) => ({ type: "object", properties, ...rest });

const SAMPLES: readonly (readonly [what: string, schema: unknown, sample: Value])[] = [
  ["an example before all else", {
    type: "string",
    example: "e",
    default: "d",
    enum: ["x", "d", "e"],
  }, "e"],
  ["no example that does not fit", { type: "string", example: "e", enum: ["x"] }, "x"],
  ["the first of the examples", { examples: ["e", "f"], default: "d" }, "e"],
  ["a constant", { const: 5, default: 6 }, 5],
  ["a default before an enum", { default: "d", enum: ["x", "d"] }, "d"],
  ["the first of an enum that is not null", { enum: [null, "x", "y"] }, "x"],
  ["false as a default", { type: "boolean", default: false }, false],
  ["a number in its bounds", { type: "integer", minimum: 7, maximum: 9 }, 7],
  ["a number above its bound, as 3.0 says it", {
    minimum: 5,
    exclusiveMinimum: true,
    type: "integer",
  }, 6],
  ["a number above its bound, as 3.1 says it", { exclusiveMinimum: 5, type: "integer" }, 6],
  [
    "a number between two bounds",
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    0.5,
  ],
  ["a number below its bound", { type: "integer", exclusiveMaximum: 0 }, -1],
  ["a multiple", { type: "integer", multipleOf: 5, minimum: 11 }, 15],
  ["a multiple of a tenth", { type: "number", multipleOf: 0.1, minimum: 0.3 }, 0.3],
  ["a long text", { type: "string", minLength: 8 }, "stringst"],
  ["a short text", { type: "string", maxLength: 2 }, "st"],
  [
    "a text of a format",
    { type: "string", format: "uuid" },
    "497f6eca-6276-4993-bfeb-53cbbbba6f08",
  ],
  ["a text of a pattern", { type: "string", pattern: "^[0-9]{3}$" }, "000"],
  ["digits for \\d", { type: "string", pattern: "^97[89]-\\d{3}$" }, "978-000"],
  [
    "the first alternative of a group",
    { type: "string", pattern: "^(?:red|blue)-[a-f]+$" },
    "red-a",
  ],
  [
    "any text for a pattern that is not understood",
    { type: "string", pattern: "^(?!x).{3}$" },
    "string",
  ],
  ["base64 where a text has to be", { type: "string", format: "byte" }, "dGV4dA=="],
  ["the type that is not null", { type: ["null", "integer"] }, 1],
  ["null where there is nothing else", { type: "null" }, null],
  ["as many items as there must be", { type: "array", items: { type: "integer" }, minItems: 2 }, [
    1,
    1,
  ]],
  ["a tuple", { type: "array", prefixItems: [{ type: "boolean" }, { const: "b" }] }, [true, "b"]],
  [
    "what is required, and what has a value",
    object({ a: { type: "string" }, b: { type: "string" }, c: { default: 1 } }, {
      required: ["a"],
    }),
    { a: "string", c: 1 },
  ],
  ["everything where nothing is required", object({ a: { type: "integer" }, b: {} }), {
    a: 1,
    b: "string",
  }],
  ["nothing that only responses have", object({ id: { readOnly: true, example: 1 }, n: {} }), {
    n: "string",
  }],
  [
    "an example without what only responses have",
    object({ id: { readOnly: true } }, { example: { id: 1, n: 2 } }),
    { n: 2 },
  ],
  [
    "all parts of allOf",
    { allOf: [object({ a: { const: 1 } }), object({ b: { const: 2 } })], required: ["a", "b"] },
    { a: 1, b: 2 },
  ],
  [
    "the examples of the parts of allOf",
    {
      allOf: [
        object({ a: { type: "integer" } }, { example: { a: 7 } }),
        object({ b: { const: 2 } }),
      ],
    },
    { a: 7, b: 2 },
  ],
  ["the first of several, but null", { oneOf: [{ type: "null" }, { const: "x" }] }, "x"],
  [
    "what all choices have besides the choice",
    { ...object({ a: { const: 1 } }), anyOf: [object({ b: { const: 2 } }), object({ c: {} })] },
    { a: 1, b: 2 },
  ],
  ["a map of anything", { type: "object", additionalProperties: { type: "integer" } }, { key: 1 }],
  ["an address by the name of the property", object({ contactEmail: {}, site_url: {} }), {
    contactEmail: "user@example.com",
    site_url: "http://example.com",
  }],
  ["what is required and not described", { type: "object", required: ["a"] }, { a: "string" }],
  ["text for a schema that says nothing", true, "string"],
];

for (const [what, schema, sample] of SAMPLES) {
  Deno.test(`a sample is ${what}`, () => assertEquals(sampleOf(schema), sample));
}

Deno.test("a sample of a schema that contains itself ends", () => {
  const list: Record<string, unknown> = { type: "array" };
  list.items = list;
  assertEquals(sampleOf(list), []);

  const node: Record<string, unknown> = { type: "object", required: ["name", "next"] };
  node.properties = {
    name: { type: "string" },
    next: { nullable: true, allOf: [node] },
    other: node,
  };
  assertEquals(sampleOf(node), { name: "string", next: { name: "string", next: null } });

  const endless: Record<string, unknown> = { type: "object", required: ["next"] };
  endless.properties = { next: endless };
  assertEquals(sampleOf(endless), null);

  const choice: Record<string, unknown> = {};
  choice.oneOf = [choice, { const: "way out" }];
  assertEquals(sampleOf(choice), "way out");

  const example: Record<string, unknown> = { example: {} };
  (example.example as Record<string, unknown>).self = example.example;
  assertEquals(sampleOf(example), { self: null });
});

Deno.test("a sample of a schema that branches without end has a limited size", () => {
  const wide: Record<string, unknown> = { type: "object" };
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const level = (depth: number): unknown =>
    depth === 0
      ? { type: "string" }
      : object(Object.fromEntries(names.map((name) => [name, { allOf: [level(depth - 1)] }])));
  wide.properties = { a: level(3), b: level(3) };
  const text = JSON.stringify(sampleOf(wide));
  assertEquals(text.length < 50_000, true, String(text.length));
});

Deno.test("an example that grows through aliases is cut", () => {
  let bomb: unknown = "x";
  for (let level = 0; level < 30; level++) bomb = [bomb, bomb, bomb];
  const text = JSON.stringify(sampleOf({ example: bomb }));
  assertEquals(text.length < 200_000, true, String(text.length));
});

Deno.test("the fields of deeply nested alternatives are found in time", () => {
  let schema: unknown = { type: "object", required: ["a"], properties: { a: { type: "string" } } };
  for (let level = 0; level < 60; level++) schema = { anyOf: [schema, schema] };
  assertEquals(requiredFields(schema), [{ name: "a", isNullable: false }]);
  assertEquals(sampleOf(schema), { a: "string" });
});

Deno.test("a pattern with catastrophic backtracking does not hang", () => {
  for (const pattern of ["^(a+)+$", "^(a|a)*b$", "^(a+)+\\bx$", "^((a{1,100}){1,100}){1,100}$"]) {
    assertEquals(typeof sampleOf({ type: "string", pattern, minLength: 30 }), "string");
  }
});
