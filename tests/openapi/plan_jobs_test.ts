import { assertEquals } from "@std/assert";
import { planJobs } from "../../src/openapi/gen/plan_jobs.ts";
import { findLinks } from "../../src/openapi/gen/links.ts";
import type { Operation } from "../../src/openapi/gen/api.ts";

/** An operation as a line: `tag: POST /pets -> id name`, with the fields of its response. */
function operation(line: string): Operation {
  const [, tag = "", method = "", path = "", fields] =
    /^(\w+): (\w+) (\S+)(?: -> (.*))?$/.exec(line) ?? [];
  const field = (name: string): [string, unknown] => {
    const [first, ...inner] = name.split(".");
    return [first!, inner.length === 0 ? { type: "string" } : schema(inner.join("."))];
  };
  const schema = (names: string) => ({
    type: "object",
    properties: Object.fromEntries(names.split(" ").map(field)),
  });
  return {
    method: method.toLowerCase(),
    path,
    tag,
    parameters: [],
    success: { kind: "any" },
    security: [],
    statuses: [],
    ...(fields === undefined ? {} : {
      response: { type: "object", required: [], schema: schema(fields) },
    }),
  };
}

/** Jobs as lines, with the links of each operation behind it: `{p} = field of POST /path`. */
function plan(...lines: readonly string[]): string[] {
  const operations = lines.map(operation);
  const { jobs, links } = planJobs(operations, findLinks(operations));
  return jobs.flatMap(({ id, needs, operations }) => [
    needs.length === 0 ? `${id}:` : `${id} needs ${needs.join(" ")}:`,
    ...operations.map((operation) => {
      const created = [...links.get(operation) ?? []].map(([name, { creator, field }]) =>
        ` {${name}} = ${field.join(".")} of ${creator.path}`
      );
      return `- ${operation.method.toUpperCase()} ${operation.path}${created.join("")}`;
    }),
  ]);
}

Deno.test("a resource is created before it is read, changed and deleted", () => {
  assertEquals(
    plan(
      "a: DELETE /pets",
      "a: DELETE /pets/{id}",
      "a: PATCH /pets/{id}",
      "a: PUT /pets/{id}",
      "a: GET /pets/{id}",
      "a: POST /pets/{id}/photo",
      "a: DELETE /pets/{id}/photo",
      "a: GET /pets",
      "a: POST /pets -> id",
    ),
    [
      "a:",
      "- POST /pets",
      "- GET /pets",
      "- GET /pets/{id} {id} = id of /pets",
      "- PUT /pets/{id} {id} = id of /pets",
      "- PATCH /pets/{id} {id} = id of /pets",
      "- POST /pets/{id}/photo {id} = id of /pets",
      "- DELETE /pets/{id}/photo {id} = id of /pets",
      "- DELETE /pets/{id} {id} = id of /pets",
      "- DELETE /pets",
    ],
  );
});

Deno.test("nested resources: the outer one is created first and deleted last", () => {
  assertEquals(
    plan(
      "a: DELETE /users/{user}",
      "a: DELETE /users/{user}/orders/{order}",
      "a: POST /users/{user}/orders -> id",
      "a: POST /users -> id",
    ),
    [
      "a:",
      "- POST /users",
      "- POST /users/{user}/orders {user} = id of /users",
      "- DELETE /users/{user}/orders/{order} {user} = id of /users {order} = id of /users/{user}/orders",
      "- DELETE /users/{user} {user} = id of /users",
    ],
  );
});

Deno.test("a job needs the jobs that create its resources, which are deleted after all users", () => {
  assertEquals(
    plan(
      "users: POST /users -> id",
      "users: DELETE /users/{id}",
      "orders: POST /users/{id}/orders -> id",
      "orders: DELETE /users/{id}/orders/{orderId}",
      "bills: GET /users/{id}/orders/{orderId}/bill",
      "health: GET /health",
    ),
    [
      "users:",
      "- POST /users",
      "orders needs users:",
      "- POST /users/{id}/orders {id} = id of /users",
      "bills needs users orders:",
      "- GET /users/{id}/orders/{orderId}/bill {id} = id of /users {orderId} = id of /users/{id}/orders",
      "health:",
      "- GET /health",
      "users_cleanup needs users orders bills orders_cleanup:",
      "- DELETE /users/{id} {id} = id of /users",
      "orders_cleanup needs orders bills:",
      "- DELETE /users/{id}/orders/{orderId} {id} = id of /users {orderId} = id of /users/{id}/orders",
    ],
  );
});

Deno.test("a link that would cause a dependency cycle is dropped", () => {
  assertEquals(
    plan(
      "a: POST /as -> id",
      "b: POST /bs -> id",
      "a: GET /bs/{id}",
      "b: GET /as/{id}",
    ),
    [
      "a needs b:",
      "- POST /as",
      "- GET /bs/{id} {id} = id of /bs",
      "b:",
      "- POST /bs",
      "- GET /as/{id}",
    ],
  );
});

const FIELDS: readonly (readonly [path: string, fields: string, found: string])[] = [
  ["/pets/{petId}", "id petId", "petId"],
  ["/pets/{petId}", "name id", "id"],
  ["/pets/{pet_id}", "petID", "petID"],
  ["/pets/{id}", "_id", "_id"],
  ["/pets/{id}", "petId ownerId", "petId"],
  ["/pets/{uuid}", "id uuid", "uuid"],
  ["/pets/{pet}", "name id", "id"],
  ["/pets/{name}", "id name", "name"],
  ["/pets/{petName}", "id name", "name"],
  ["/pods/{name}", "kind metadata.name", "metadata.name"],
  ["/pets/{id}", "data.id", "data.id"],
  ["/companies/{companyId}", "company.id", "company.id"],
];

for (const [path, fields, found] of FIELDS) {
  Deno.test(`the parameter of ${path} is found among ${fields}`, () => {
    const collection = path.slice(0, path.lastIndexOf("/"));
    const name = path.slice(path.indexOf("{") + 1, -1);
    assertEquals(plan(`a: POST ${collection} -> ${fields}`, `a: GET ${path}`).slice(1), [
      `- POST ${collection}`,
      `- GET ${path} {${name}} = ${found} of ${collection}`,
    ]);
  });
}

Deno.test("a parameter that is in no response is not linked", () => {
  for (
    const lines of [
      ["a: POST /pets -> title", "a: GET /pets/{id}"],
      ["a: POST /pets", "a: GET /pets/{id}"],
      ["a: GET /pets -> id", "a: GET /pets/{id}"],
      ["a: POST /pets -> id", "a: GET /owners/{id}"],
      ["a: POST /pets -> id", "a: GET /pets/{id}.json"],
      ["a: POST /pets -> other.id", "a: GET /pets/{id}"],
    ]
  ) {
    assertEquals(plan(...lines).some((line) => line.includes("=")), false, lines.join());
  }
});
