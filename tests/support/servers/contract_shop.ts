/** A small API, its description, and a server that keeps to it or not. */

/** The description. */
export const SHOP_API = `openapi: 3.1.0
info: { title: Shop, version: "1" }
servers: [{ url: https://shop.example/v1 }]
paths:
  /items:
    get:
      parameters:
        - { name: limit, in: query, schema: { type: integer, maximum: 50 } }
      responses:
        "200":
          description: some
          headers:
            X-Total: { required: true, schema: { type: integer } }
          content:
            application/json:
              schema:
                type: array
                maxItems: 3
                items: { $ref: "#/components/schemas/Item" }
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: "#/components/schemas/Item" }
      responses:
        "201": { description: made }
  /items/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: integer } }
    get:
      responses:
        "200":
          description: one
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Item" }
        4XX: { description: none }
    delete:
      responses:
        "204": { description: gone }
components:
  schemas:
    Item:
      type: object
      required: [id, name]
      additionalProperties: false
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, minLength: 1 }
        kind: { enum: [book, game] }
        price: { type: [number, "null"], minimum: 0 }
        added: { type: string, format: date }
        parts:
          type: array
          items: { $ref: "#/components/schemas/Item" }
        secret: { type: string, writeOnly: true }
`;

const ITEM = { id: 1, name: "tea" };
const JSON_TYPE = { "content-type": "application/json" };

/** Answers as the description says, or breaks it in the way that a header of the request names. */
export function answerAsShop(request: Request): Response {
  const { pathname } = new URL(request.url);
  const way = request.headers.get("x-way") ?? "";
  const one = (item: unknown) => Response.json(item);
  switch (way) {
    case "status":
      return new Response("", { status: 500 });
    case "content type":
      return new Response("<p>tea</p>", { headers: { "content-type": "text/html" } });
    case "header missing":
      return Response.json([ITEM]);
    case "header type":
      return Response.json([ITEM], { headers: { "x-total": "many" } });
    case "no JSON":
      return new Response("{", { headers: JSON_TYPE });
    case "empty":
      return new Response("", { headers: JSON_TYPE });
    case "missing":
      return one({ id: 1 });
    case "type":
      return one({ ...ITEM, price: "12.50" });
    case "unknown":
      return one({ ...ITEM, colour: "green" });
    case "enum":
      return one({ ...ITEM, kind: "toy" });
    case "format":
      return one({ ...ITEM, added: "yesterday" });
    case "deep":
      return one({ ...ITEM, parts: [ITEM, { id: "2", name: "lid" }] });
    case "too many":
      return Response.json([ITEM, ITEM, ITEM, ITEM], { headers: { "x-total": "4" } });
    case "write only":
      return one({ ...ITEM, secret: "abc" });
    case "a body":
      return Response.json(ITEM, { status: 200 });
  }
  if (request.method === "DELETE") return new Response(null, { status: 204 });
  if (request.method === "POST") return new Response("", { status: 201 });
  if (pathname === "/v1/items") return Response.json([ITEM], { headers: { "x-total": "1" } });
  return pathname.endsWith("/0") ? new Response("", { status: 404 }) : one(ITEM);
}
