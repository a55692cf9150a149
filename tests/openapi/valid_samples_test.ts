/** What `gen` sends fits the schemas that it was made from: runs hold requests against them. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

const SCHEMAS: Readonly<Record<string, object>> = {
  "distinct texts": { type: "array", minItems: 3, uniqueItems: true, items: { type: "string" } },
  "distinct short texts": {
    type: "array",
    minItems: 3,
    uniqueItems: true,
    items: { type: "string", maxLength: 2 },
  },
  "distinct integers": {
    type: "array",
    minItems: 4,
    uniqueItems: true,
    items: { type: "integer", maximum: 4, minimum: 1 },
  },
  "distinct words of an enum": {
    type: "array",
    minItems: 2,
    uniqueItems: true,
    items: { type: "string", enum: ["a", "b"] },
  },
  "distinct booleans": {
    type: "array",
    minItems: 2,
    uniqueItems: true,
    items: { type: "boolean" },
  },
  "distinct ids": {
    type: "array",
    minItems: 3,
    uniqueItems: true,
    items: { type: "string", format: "uuid" },
  },
  "distinct objects": {
    type: "array",
    minItems: 2,
    uniqueItems: true,
    items: { type: "object", required: ["id"], properties: { id: { type: "integer" } } },
  },
  "distinct dates": {
    type: "array",
    minItems: 2,
    uniqueItems: true,
    items: { type: "string", format: "date" },
  },
  "a wrong example": { type: "integer", example: "text" },
  "a wrong default": { type: "string", maxLength: 3, default: "too long" },
  "an example that lacks a field": {
    type: "object",
    required: ["id"],
    properties: { id: { type: "integer" }, name: { type: "string" } },
    example: { name: "x" },
  },
  "an example with a field too many": {
    type: "object",
    additionalProperties: false,
    properties: { name: { type: "string" } },
    example: { name: "x", other: 1 },
  },
  "an example of items that come twice": {
    type: "array",
    uniqueItems: true,
    items: { type: "string", example: "a" },
    minItems: 2,
  },
  "an int32 below its bound": { type: "integer", format: "int32", maximum: -5 },
  "an int64 above all of int32": { type: "integer", format: "int64", minimum: 9007199254740991 },
  "an int32 that is a multiple": {
    type: "integer",
    format: "int32",
    multipleOf: 7,
    minimum: 100,
    maximum: 110,
  },
  "a multiple below a bound": { type: "integer", multipleOf: 5, maximum: 0 },
  "a fraction between close bounds": {
    type: "number",
    exclusiveMinimum: 0.1,
    exclusiveMaximum: 0.2,
  },
  "an integer between fractions": { type: "integer", minimum: 0.5, maximum: 1.5 },
  "base64 of a length": { type: "string", format: "byte", minLength: 12 },
  "a short address": { type: "string", format: "uri", maxLength: 12 },
  "a long name": { type: "string", format: "email", minLength: 40 },
  "a format with a pattern": { type: "string", format: "email", pattern: "^[a-z]+@tea\\.example$" },
  "a date": { type: "string", format: "date" },
  "a time": { type: "string", format: "time" },
  "a moment": { type: "string", format: "date-time" },
  "a duration": { type: "string", format: "duration" },
  "a host": { type: "string", format: "hostname" },
  "an address of IPv6": { type: "string", format: "ipv6" },
  "a pointer": { type: "string", format: "json-pointer" },
  "a template": { type: "string", format: "uri-template" },
  "no items": { type: "array", maxItems: 0, items: { type: "string" } },
  "a map of several": {
    type: "object",
    minProperties: 2,
    additionalProperties: { type: "integer" },
  },
  "a required field of another schema": {
    type: "object",
    required: ["x"],
    additionalProperties: { type: "integer" },
  },
};

Deno.test("keywords beside a $ref count since 3.1, and each operation goes to its server", async () => {
  const seen: string[] = [];
  await using server = withServer((request) => {
    seen.push(`${request.method} ${new URL(request.url).pathname}`);
    return new Response(null, { status: 204 });
  });
  const responses = { 204: { description: "done" } };
  const schema = {
    $ref: "#/components/schemas/Tea",
    required: ["kind"],
    properties: { kind: { $ref: "#/components/schemas/Kind", maxLength: 2 } },
  };
  const description = {
    openapi: "3.1.0",
    info: { title: "x", version: "1" },
    servers: [{ url: `${server.url}/{version}/{shop}`, variables: { version: { default: "v1" } } }],
    components: {
      schemas: {
        Kind: { type: "string" },
        Tea: { type: "object", required: ["id"], properties: { id: { type: "integer" } } },
      },
    },
    paths: {
      "/teas": {
        post: {
          requestBody: { required: true, content: { "application/json": { schema } } },
          responses,
        },
      },
      "/two": { servers: [{ url: `${server.url}/v2` }], get: { responses } },
      "/three": { get: { servers: [{ url: `${server.url}/v3` }], responses } },
      "/four": { get: { servers: [{ url: "/v4" }], responses } },
    },
  };
  await withFiles({ "api.json": JSON.stringify(description) }, async (cwd) => {
    const { stdout: made } = await runMain(["gen", "api.json"], { cwd });
    await Deno.writeTextFile(`${cwd}/w.yml`, made);
    const unset = await runMain(["w.yml"], { cwd });
    assertEquals([unset.code, seen], [1, []], made);
    const env = { SERVER_SHOP: "tea" };
    const { code, stdout } = await runMain(["w.yml"], { cwd, env });
    assertEquals(code, 0, `${stdout}\n${made}`);
    assertEquals(seen.sort(), [
      "GET /v2/two",
      "GET /v3/three",
      "GET /v4/four",
      "POST /v1/tea/teas",
    ]);
    // Without what is beside the $ref, this would be a valid request.
    await Deno.writeTextFile(`${cwd}/w.yml`, made.replace(/kind: .*/, "kind: long"));
    const wrong = await runMain(["w.yml"], { cwd, env });
    assertEquals(wrong.code, 1, wrong.stdout);
    assertStringIncludes(wrong.stdout, 'body.kind is "long", expected at most 2 characters');
  });
});

for (const version of ["3.0.3", "3.1.0"]) {
  Deno.test(`what gen makes of a description of ${version} fits its schemas`, async () => {
    await using server = withServer(() => new Response(null, { status: 204 }));
    const responses = { 204: { description: "done" } };
    const paths = Object.entries(SCHEMAS).map(([name, schema]) => {
      const content = {
        "application/json": {
          schema: { type: "object", required: ["value"], properties: { value: schema } },
        },
      };
      const post = { summary: name, requestBody: { required: true, content }, responses };
      return [`/${name.replaceAll(" ", "-")}`, { post }] as const;
    });
    const description = {
      openapi: version,
      info: { title: "x", version: "1" },
      servers: [{ url: server.url }],
      paths: Object.fromEntries(paths),
    };
    // In 3.0, the exclusive bounds are booleans.
    const text = JSON.stringify(
      description,
      (key, value) => version === "3.0.3" && key.startsWith("exclusive") ? undefined : value,
    );
    await withFiles({ "api.json": text }, async (cwd) => {
      assertEquals((await runMain(["gen", "api.json", "-o", "w.yml"], { cwd })).code, 0);
      const { code, stdout } = await runMain(["w.yml"], { cwd });
      assertEquals(code, 0, stdout);
    });
  });
}
