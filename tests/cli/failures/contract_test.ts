import { assertEquals } from "@std/assert";
import { answerAsShop, SHOP_API } from "../../support/servers/contract_shop.ts";
import { failureAt80 } from "../../support/failures_at_80.ts";
import { withServer } from "../../support/servers/with_server.ts";

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
