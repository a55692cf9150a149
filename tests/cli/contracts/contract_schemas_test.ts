import { assertEquals } from "@std/assert";
import { failureAt80 } from "../../support/failures_at_80.ts";
import { runMain } from "../../support/run/run_main.ts";
import { answerAsShop, SHOP_API } from "../../support/servers/contract_shop.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

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

/** A step, and the text that is printed up to the request. */
const FAILURES: readonly (readonly [step: string, printed: string])[] = [
  [
    "{ get: /items/1, headers: { x-way: type } }",
    `
w.yml:7:22: response of GET /items/{id}: body.price is "12.50", expected
type number or null (api.yml:52:16)
  7 |         with: { get: /items/1, headers: { x-way: type } }
    |                      ^^^^^^^^
`,
  ],
  [
    "{ get: /items/1, headers: { x-way: missing } }",
    `
w.yml:7:22: response of GET /items/{id}: body.name is missing
(api.yml:50:15)
  7 |         with: { get: /items/1, headers: { x-way: missing } }
    |                      ^^^^^^^^
`,
  ],
  [
    "{ get: /items/1, headers: { x-way: unknown } }",
    `
w.yml:7:22: response of GET /items/{id}: body.colour is not described
(api.yml:45:7)
  7 |         with: { get: /items/1, headers: { x-way: unknown } }
    |                      ^^^^^^^^
`,
  ],
  [
    "{ get: /items/1, headers: { x-way: deep } }",
    `
w.yml:7:22: response of GET /items/{id}: body.parts[1].id is "2",
expected type integer (api.yml:49:13)
  7 |         with: { get: /items/1, headers: { x-way: deep } }
    |                      ^^^^^^^^
`,
  ],
  [
    "{ get: /items/1, headers: { x-way: content type } }",
    `
w.yml:7:22: response of GET /items/{id}: the content type text/html is
not one of application/json (api.yml:34:11)
  7 |         with: { get: /items/1, headers: { x-way: content type } }
    |                      ^^^^^^^^
`,
  ],
  [
    "{ get: /items, headers: { x-way: status } }",
    `
w.yml:7:22: response of GET /items: the status 500 is not described
(api.yml:10:9)
  7 |         with: { get: /items, headers: { x-way: status } }
    |                      ^^^^^^ described are 200
`,
  ],
  [
    "{ get: /items, headers: { x-way: header missing } }",
    `
w.yml:7:22: response of GET /items: the required header X-Total is
missing (api.yml:13:22)
  7 |         with: { get: /items, headers: { x-way: header missing } }
    |                      ^^^^^^
`,
  ],
  [
    "{ get: /items, query: { limit: 51 } }",
    `
w.yml:7:37: request of GET /items: query parameter "limit" is 51,
expected <= 50 (api.yml:8:45)
  7 |         with: { get: /items, query: { limit: 51 } }
    |                                     ^^^^^^^^^^^^^
`,
  ],
  [
    "{ post: /items, body: { name: tea, price: -1 } }",
    `
w.yml:7:57: request of POST /items: body.price is -1, expected >= 0
(api.yml:52:16)
  7 | …items, body: { name: tea, price: -1 } }
    |                                   ^^
`,
  ],
  [
    "{ post: /items }",
    `
w.yml:7:23: request of POST /items: the required body is missing
(api.yml:22:9)
  7 |         with: { post: /items }
    |                       ^^^^^^
`,
  ],
  [
    "{ put: /items/1 }",
    `
w.yml:7:22: no operation is described for PUT /v1/items/1 (api.yml:5:3)
  7 |         with: { put: /items/1 }
    |                      ^^^^^^^^ the path has GET, DELETE
`,
  ],
  [
    "{ get: /itemz }",
    `
w.yml:7:22: no operation is described for GET /v1/itemz (api.yml:5:3)
  7 |         with: { get: /itemz }
    |                      ^^^^^^ did you mean "/items"?
`,
  ],
];

for (const [step, printed] of FAILURES) {
  Deno.test(`the failure of ${step} at 80 columns`, async () => {
    await using server = withServer(answerAsShop);
    const text = await failureAt80(
      `name: n
jobs:
  - name: j
    defaults: { http: { url: "${server.url}/v1", openapi: api.yml } }
    steps:
      - uses: http
        with: ${step}
`,
      { "api.yml": SHOP_API },
    );
    assertEquals(`\n${text.split("\nrequest:\n")[0]}\n`, printed);
  });
}
