import { assertEquals } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const PETS_API = `openapi: 3.1.0
info: { title: Pets, version: "1" }
paths:
  /pet:
    get:
      responses:
        "200":
          description: ok
          content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } }
components:
  schemas:
    Pet:
      oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }]
      discriminator: { propertyName: kind, mapping: { cat: "#/components/schemas/Cat" } }
    Base: { type: object, required: [kind], properties: { kind: { type: string } } }
    Cat:
      allOf:
        - { $ref: "#/components/schemas/Base" }
        - properties: { kind: { enum: [cat, Cat] }, lives: { maximum: 9 } }
    Dog:
      allOf:
        - { $ref: "#/components/schemas/Base" }
        - { required: [bark], properties: { kind: { const: Dog } } }
`;

/** Bodies of a response, and what is wrong with them, with the location of the schema. */
const PETS: readonly (readonly [body: unknown, ...messages: string[]])[] = [
  [{ kind: "cat", lives: 9 }],
  [{ kind: "Cat" }],
  [{ kind: "Dog", bark: true }],
  [{ kind: "cat", lives: 10 }, "body.lives is 10, expected <= 9 (api.yml:19:60)"],
  [{ kind: "Dog" }, "body.bark is missing (api.yml:23:11)"],
  [
    { kind: "bird", bark: true },
    'body.kind is "bird", expected one of ["cat","Cat"] (api.yml:19:31)',
    'body.kind is "bird", expected "Dog" (api.yml:23:51)',
    'body is {"bark":true,"kind":"bird"}, expected one schema of oneOf (api.yml:13:7)',
  ],
];

for (const [body, ...messages] of PETS) {
  Deno.test(`a discriminator chooses the schema of ${JSON.stringify(body)}`, async () => {
    await using server = withServer(() => Response.json(body));
    const workflow = `name: n
jobs:
  - name: j
    steps:
      - { uses: http, with: { url: "${server.url}", get: /pet, openapi: api.yml } }
`;
    await withFiles({ "api.yml": PETS_API, "w.yml": workflow }, async (cwd) => {
      const { stdout } = await runMain(["w.yml"], { cwd });
      const found = stdout.split("\nFailures\n")[0]!.matchAll(/: response of GET \/pet: (.*)$/gm);
      assertEquals([...found].map(([, message]) => message), messages);
    });
  });
}

const FORMS_API = `swagger: "2.0"
info: { title: Forms, version: "1" }
paths:
  /forms:
    post:
      consumes: [application/x-www-form-urlencoded, text/plain]
      parameters:
        - { name: count, in: formData, type: integer, required: true }
        - { name: ids, in: formData, type: array, collectionFormat: multi, items: { type: integer } }
        - { name: size, in: formData, type: integer, allowEmptyValue: true }
        - { name: page, in: query, type: integer, allowEmptyValue: true }
      responses: { "200": { description: ok } }
`;

/** Requests of a form, and what is wrong with them. */
const FORMS: readonly (readonly [request: string, ...messages: string[]])[] = [
  ["post: /forms, form: { count: 1, ids: [1, 2], size: '' }"],
  ["post: '/forms?page=', form: { count: 1 }"],
  ["post: /forms, body: count, headers: { content-type: text/plain }"],
  ["post: /forms", 'the required form field "count" is missing (api.yml:8:11)'],
  [
    "post: /forms, form: { count: x, ids: [1, y] }",
    'form field "count" is "x", expected type integer (api.yml:8:11)',
    'form field "ids"[1] is "y", expected type integer (api.yml:9:83)',
  ],
];

for (const [request, ...messages] of FORMS) {
  Deno.test(`the form of OpenAPI 2.0 in ${request}: ${messages.length} violations`, async () => {
    await using server = withServer(() => new Response("ok"));
    const workflow = `name: n
jobs:
  - name: j
    defaults: { http: { url: "${server.url}", openapi: api.yml } }
    steps:
      - { uses: http, with: { ${request} } }
`;
    await withFiles({ "api.yml": FORMS_API, "w.yml": workflow }, async (cwd) => {
      const { code, stdout } = await runMain(["w.yml"], { cwd });
      const found = stdout.split("\nFailures\n")[0]!.matchAll(/: request of POST \/forms: (.*)$/gm);
      assertEquals([...found].map(([, message]) => message), messages);
      assertEquals(code, messages.length === 0 ? 0 : 1, stdout);
    });
  });
}
