import { assertEquals, assertStringIncludes } from "@std/assert";
import { answerAsShop, SHOP_API } from "../../support/servers/contract_shop.ts";
import { runMain } from "../../support/run/run_main.ts";
import { runInPieces } from "../../support/run/run_pieces.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { type TestServer, withServer } from "../../support/servers/with_server.ts";

/** Runs steps against the server; their URLs begin with `/v1`. */
async function runSteps(
  server: TestServer,
  steps: readonly unknown[],
  { args = [], openapi = "api.yml", files = {} }: {
    readonly args?: readonly string[];
    readonly openapi?: unknown;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
) {
  const defaults = { http: { url: `${server.url}/v1`, ...openapi === null ? {} : { openapi } } };
  const flow = { name: "Shop", jobs: [{ name: "items", defaults, steps }] };
  const all = { "api.yml": SHOP_API, "w.yml": JSON.stringify(flow, undefined, 2), ...files };
  return await withFiles(all, async (cwd) => {
    const result = await runMain([...args, "w.yml"], { cwd });
    const reports: Record<string, string> = {};
    for (const name of ["coverage.json", "summary.md", "report.html"]) {
      reports[name] = await Deno.readTextFile(`${cwd}/${name}`).catch(() => "");
    }
    return { ...result, reports };
  });
}

/** The messages of the failures in the text, without their places in the workflow. */
function messagesIn(stdout: string): string[] {
  const found = stdout.split("\nFailures\n")[0]!.matchAll(
    /^ +w\.yml:\d+:\d+: ((?:request|response|no operation) .*)$/gm,
  );
  return [...found].map(([, message]) => message!);
}

const OF = "response of GET /items/{id}:";
const LIST = "response of GET /items:";

/** Ways to break the description, each with what is said about it. */
const WAYS: readonly (readonly [way: string, path: string, ...messages: string[]])[] = [
  ["status", "/items", `${LIST} the status 500 is not described (api.yml:10:9)`],
  [
    "content type",
    "/items/1",
    `${OF} the content type text/html is not one of application/json (api.yml:34:11)`,
  ],
  ["header missing", "/items", `${LIST} the required header X-Total is missing (api.yml:13:22)`],
  [
    "header type",
    "/items",
    `${LIST} the header X-Total is "many", expected type integer (api.yml:13:48)`,
  ],
  ["no JSON", "/items/1", `${OF} the body is not JSON (api.yml:34:11)`],
  ["empty", "/items/1", `${OF} the body is missing (api.yml:34:11)`],
  ["missing", "/items/1", `${OF} body.name is missing (api.yml:50:15)`],
  ["type", "/items/1", `${OF} body.price is "12.50", expected type number or null (api.yml:52:16)`],
  ["unknown", "/items/1", `${OF} body.colour is not described (api.yml:45:7)`],
  ["enum", "/items/1", `${OF} body.kind is "toy", expected one of ["book","game"] (api.yml:51:15)`],
  ["format", "/items/1", `${OF} body.added is "yesterday", expected format date (api.yml:53:16)`],
  ["deep", "/items/1", `${OF} body.parts[1].id is "2", expected type integer (api.yml:49:13)`],
  [
    "too many",
    "/items",
    `${LIST} body is [{"id":1,"name":"tea"},{"id":1,"name":"tea"},{"id":1,"name"…, expected at most 3 items (api.yml:17:17)`,
  ],
  ["write only", "/items/1", `${OF} body.secret is only for requests (writeOnly) (api.yml:57:17)`],
];

Deno.test("a server that breaks its description is found out, in each of many ways", async () => {
  await using server = withServer(answerAsShop);
  const steps = WAYS.map(([way, path]) => ({
    uses: "http",
    with: { get: path, headers: { "x-way": way } },
  }));
  const { code, stdout } = await runSteps(server, steps);
  assertEquals(code, 1);
  assertEquals(messagesIn(stdout), WAYS.flatMap(([, , ...messages]) => messages));
});

Deno.test("requests that differ from the description fail at their place in the workflow", async () => {
  await using server = withServer(answerAsShop);
  const post = (body: unknown, fields = {}) => ({
    uses: "http",
    with: { post: "/items", body, ...fields },
  });
  const { stdout } = await runSteps(server, [
    { uses: "http", with: { get: "/items", query: { limit: 51 } } },
    { uses: "http", with: { get: "/items", query: { limit: "many" } } },
    { uses: "http", with: { get: "/items/abc" } },
    { uses: "http", with: { post: "/items" } },
    post("a=1", { headers: { "content-type": "text/plain" } }),
    post({ price: -1 }),
    post({ name: "" }),
    { uses: "http", with: { put: "/items/1" } },
    { uses: "http", with: { get: "/itemz" } },
    // Properties that only responses have may be left out, and those that only requests have sent.
    post({ name: "tea", secret: "abc" }),
  ]);
  const to = "request of POST /items:";
  assertEquals(messagesIn(stdout), [
    'request of GET /items: query parameter "limit" is 51, expected <= 50 (api.yml:8:45)',
    'request of GET /items: query parameter "limit" is "many", expected type integer (api.yml:8:45)',
    'request of GET /items/{id}: path parameter "id" is "abc", expected type integer (api.yml:30:55)',
    `${to} the required body is missing (api.yml:22:9)`,
    `${to} the content type text/plain is not one of application/json (api.yml:22:9)`,
    `${to} body.name is missing (api.yml:50:15)`,
    `${to} body.price is -1, expected >= 0 (api.yml:52:16)`,
    `${to} body.name is "", expected at least 1 character (api.yml:50:15)`,
    "no operation is described for PUT /v1/items/1 (api.yml:5:3)",
    "no operation is described for GET /v1/itemz (api.yml:5:3)",
  ]);
  assertStringIncludes(stdout, '"price": -1');
  assertStringIncludes(stdout, "the path has GET, DELETE");
  assertStringIncludes(stdout, 'did you mean "/items"?');
});

Deno.test("a step whose response matches its description has passed, also without a test", async () => {
  await using server = withServer(answerAsShop);
  const step = (params = {}) => ({ uses: "http", with: { get: "/items/1", ...params } });
  const steps = [step(), step({ openapi: { response: "warn" } }), step({ openapi: false })];
  const { stdout } = await runSteps(server, steps);
  assertStringIncludes(stdout, "\nSteps      1 passed · 2 not tested (3)\n");
  const ofRun = { openapi: null, args: ["--openapi", "api.yml", "--strict"] };
  assertStringIncludes(
    (await runSteps(server, [step()], ofRun)).stdout,
    "\nSteps      1 passed (1)\n",
  );
});

/** Parts of requests that are as a description says, in ways that many descriptions have. */
const PARTS_API = `openapi: 3.0.3
info: { title: Parts, version: "1" }
paths:
  /form:
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              allOf:
                - properties: { tags: { type: array, items: { enum: [a, b] } } }
                - properties: { count: { type: integer } }
      responses: { default: { description: ok } }
  /deep:
    get:
      parameters:
        - name: f
          in: query
          style: deepObject
          schema: { type: object, properties: { ids: { type: array, items: { type: integer } } } }
      responses: { default: { description: ok } }
  /base:
    post:
      requestBody: { content: { application/json: { schema: { $ref: "#/components/schemas/Named" } } } }
      responses:
        "200":
          description: ok
          content: { application/json: { schema: { $ref: "#/components/schemas/Named" } } }
  /versions:
    get:
      parameters: [{ name: X-Ids, in: header, schema: { type: array, items: { type: integer } } }]
      responses:
        "200":
          description: ok
          content:
            application/vnd.shop+json;version=1: { schema: { required: [old] } }
            application/vnd.shop+json;version=2: { schema: { required: [new] } }
  /größe/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses: { default: { description: ok } }
components:
  schemas:
    Base:
      type: object
      properties:
        id: { type: integer, readOnly: true }
        secret: { type: string, writeOnly: true }
    Named:
      allOf:
        - { $ref: "#/components/schemas/Base" }
        - { required: [id, secret, name], properties: { name: { type: string } } }
`;

Deno.test("lists in forms and deep objects are validated item by item", async () => {
  await using server = withServer(() => Response.json({}));
  const form = (fields: unknown) => ({ uses: "http", with: { post: "/form", form: fields } });
  const { stdout } = await runSteps(server, [
    form({ tags: ["a", "b"], count: 1 }),
    form({ tags: "a" }),
    form({ tags: ["a", "c"], count: "x" }),
    { uses: "http", with: { get: "/deep?f[ids]=1&f[ids]=2" } },
    { uses: "http", with: { get: "/deep?f[ids]=1&f[ids]=x" } },
  ], { files: { "api.yml": PARTS_API } });
  assertEquals(messagesIn(stdout), [
    'request of POST /form: body.tags[1] is "c", expected one of ["a","b"] (api.yml:11:61)',
    'request of POST /form: body.count is "x", expected type integer (api.yml:12:40)',
    'request of GET /deep: query parameter "f".ids[1] is "x", expected type integer (api.yml:20:76)',
  ]);
});

Deno.test("what one side does not send may be required by another part of an allOf", async () => {
  await using server = withServer(() => Response.json({ id: 1, name: "tea" }));
  const post = (json: unknown) => ({ uses: "http", with: { post: "/base", json } });
  const { stdout } = await runSteps(server, [
    post({ name: "tea", secret: "x" }),
    post({ secret: "x" }),
  ], { files: { "api.yml": PARTS_API } });
  assertEquals(messagesIn(stdout), ["request of POST /base: body.name is missing (api.yml:52:63)"]);
});

Deno.test("items of headers may have spaces before them", async () => {
  const headers = { "content-type": "application/vnd.shop+json; version=2" };
  await using server = withServer(() => new Response('{"new": 1}', { headers }));
  const get = (ids: string) => ({
    uses: "http",
    with: { get: "/versions", headers: { "x-ids": ids } },
  });
  const steps = [get("1, 2"), get("1, x")];
  const { stdout } = await runSteps(server, steps, { files: { "api.yml": PARTS_API } });
  assertEquals(messagesIn(stdout), [
    'request of GET /versions: header parameter "X-Ids"[1] is "x", expected type integer (api.yml:31:77)',
  ]);
});

Deno.test("a media type may be described once for each value of a parameter", async () => {
  const headers = { "content-type": "application/vnd.shop+json; version=2" };
  await using server = withServer(() => new Response('{"old": 1}', { headers }));
  const steps = [{ uses: "http", with: { get: "/versions" } }];
  const { stdout } = await runSteps(server, steps, { files: { "api.yml": PARTS_API } });
  assertEquals(messagesIn(stdout), [
    "response of GET /versions: body.new is missing (api.yml:37:60)",
  ]);
});

Deno.test("a path may contain letters that URLs encode", async () => {
  await using server = withServer(() => Response.json({}));
  const { stdout } = await runSteps(server, [
    { uses: "http", with: { get: "/größe/1" } },
    { uses: "http", with: { get: "/größe/x" } },
  ], { files: { "api.yml": PARTS_API } });
  assertEquals(messagesIn(stdout), [
    'request of GET /größe/{id}: path parameter "id" is "x", expected type integer (api.yml:40:66)',
  ]);
});

Deno.test("a body that is nested too deeply is a violation", async () => {
  const body = `{"id": 1, "name": ${"[".repeat(3000)}${"]".repeat(3000)}}`;
  const headers = { "content-type": "application/json" };
  await using server = withServer(() => new Response(body, { headers }));
  const steps = [{ uses: "http", with: { post: "/base", json: { name: "tea", secret: "x" } } }];
  const { stdout } = await runSteps(server, steps, { files: { "api.yml": PARTS_API } });
  assertEquals(messagesIn(stdout), [
    "response of POST /base: the body is nested too deeply (api.yml:27:11)",
  ]);
});

Deno.test("a step says what is checked, and a violation may be a warning", async () => {
  await using server = withServer(answerAsShop);
  const broken = { get: "/items/1", headers: { "x-way": "type" } };
  const step = (openapi: unknown) => ({ uses: "http", with: { ...broken, openapi } });
  const { code, stdout, stderr } = await runSteps(server, [
    step(false),
    step({ response: false }),
    step({ response: "warn" }),
    step({ request: false, response: "warn", base_path: "/v1" }),
  ]);
  assertEquals(code, 0, stdout);
  const warnings = stderr.split("\n").filter((line) => line.includes("body.price is"));
  assertEquals(warnings.length, 2, stderr);
  const other = await runSteps(server, [{ uses: "http", with: broken }], {
    openapi: { file: "api.yml", base_path: "/v2" },
  });
  assertEquals(messagesIn(other.stdout), [
    "no operation is described for GET /v1/items/1 (api.yml:5:3)",
  ]);
});

Deno.test("--openapi is for the steps that name no description", async () => {
  await using server = withServer(answerAsShop);
  const steps = [
    { uses: "http", with: { get: "/items/1", headers: { "x-way": "type" } } },
    { uses: "http", with: { get: "/items/1", headers: { "x-way": "type" }, openapi: false } },
  ];
  const { stdout } = await runSteps(server, steps, {
    args: ["--openapi", "api.yml"],
    openapi: null,
  });
  assertEquals(messagesIn(stdout).length, 1, stdout);
  const none = await runSteps(server, steps, { args: ["--openapi", "none.yml"], openapi: null });
  assertStringIncludes(none.stderr, "OpenAPI description 'none.yml' not found");
  const denied = await runSteps(server, steps, {
    args: ["--openapi", "api.yml", "--allow-net=127.0.0.1", "--allow-read=none"],
    openapi: null,
  });
  assertStringIncludes(
    denied.stderr,
    'cannot read the OpenAPI description "api.yml": --allow-read',
  );
});

/** Descriptions that cannot be used, and what is said at the place that names them. */
const BROKEN: readonly (readonly [text: string | undefined, error: string])[] = [
  [undefined, "OpenAPI description 'spec.yml' not found"],
  ["openapi: [3\n", 'spec.yml:1:10: this "[" is not closed'],
  ["openapi: 4.0.0\n", "OpenAPI version \"4.0.0\" of 'spec.yml' is not supported"],
  ["name: n\njobs: []\n", "'spec.yml' is not an OpenAPI description"],
  [
    'openapi: 3.1.0\npaths: { /a: { $ref: "#/paths/~1b" } }\n',
    'spec.yml:2:22: cannot resolve the reference "#/paths/~1b"',
  ],
  [
    'openapi: 3.1.0\npaths: { /a: { $ref: "none.yml" } }\n',
    "spec.yml:2:22: OpenAPI description 'none.yml' not found",
  ],
  [
    'openapi: 3.1.0\npaths: { /a: { $ref: "#/paths/~1a" } }\n',
    'spec.yml:2:22: reference cycle: "#/paths/~1a" refers to itself',
  ],
  [
    'openapi: 3.1.0\npaths: { /a: { $ref: "https://example.org/a.yml" } }\n',
    'spec.yml:2:22: remote references are not fetched: "https://example.org/a.yml"',
  ],
];

Deno.test("a description that cannot be used is found before the run", async () => {
  let count = 0;
  await using server = withServer((request) => (count++, answerAsShop(request)));
  const inJob = (steps: string, defaults = "{ http: { openapi: spec.yml } }") =>
    `name: n\njobs:\n  - name: j\n    defaults: ${defaults}\n    steps:\n${steps}`;
  const get = `      - uses: http\n        with: { get: ${server.url}/v1/items`;
  for (const [text, error] of BROKEN) {
    const files = {
      "w.yml": inJob(`${get} }\n`),
      "step.yml": inJob(`${get}, openapi: { file: spec.yml } }\n`, "{}"),
      ...text === undefined ? {} : { "spec.yml": text },
    };
    await withFiles(files, async (cwd) => {
      for (const args of [["w.yml"], ["check", "w.yml"]]) {
        const { code, stdout, stderr } = await runMain(args, { cwd });
        assertEquals(code, 1);
        assertStringIncludes(stdout + stderr, `w.yml:4:34: error: ${error}\n`);
      }
      const { stdout } = await runMain(["check", "step.yml"], { cwd });
      assertStringIncludes(stdout, `step.yml:7:`);
      assertStringIncludes(stdout, `: error: ${error}\n`);
    });
  }
  assertEquals(count, 0);
});

Deno.test("mistakes in schemas are warnings, and the schemas with them are not used", async () => {
  await using server = withServer(() => Response.json({ name: "tea", kids: [{ kids: 1 }] }));
  const schemas: Record<string, unknown> = {
    loop: { $ref: "#/components/schemas/Loop" },
    pattern: { type: "object", properties: { name: { pattern: "^(?!x)", maxLength: 2 } } },
    type: { properties: { name: { type: "strng" } } },
    tree: { $ref: "#Tree" },
  };
  const api = {
    openapi: "3.1.0",
    paths: Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [`/v1/${name}`, {
        get: {
          responses: { 200: { description: "d", content: { "application/json": { schema } } } },
        },
      }]),
    ),
    components: {
      schemas: {
        Loop: { allOf: [{ $ref: "#/components/schemas/Loop" }] },
        Tree: {
          $anchor: "Tree",
          properties: { kids: { type: "array", items: { $ref: "#Tree" } } },
        },
      },
    },
  };
  const steps = Object.keys(schemas).map((name) => ({ uses: "http", with: { get: `/${name}` } }));
  const files = { "api.yml": JSON.stringify(api) };
  const { stdout, stderr } = await runSteps(server, steps, { files });
  assertEquals(
    messagesIn(stdout).map((text) => text.replace(/ \(.*/, "")),
    [
      'response of GET /v1/pattern: body.name is "tea", expected at most 2 characters',
      "response of GET /v1/tree: body.kids[0].kids is 1, expected type array",
    ],
  );
  const of = "of the OpenAPI description is not used:";
  for (
    const warning of [
      `a schema ${of} the schema refers to itself without end (api.yml:1:`,
      `a pattern ${of} invalid regular expression: `,
      `a schema ${of} invalid schema: /properties/name/type must be equal`,
    ]
  ) assertStringIncludes(stdout + stderr, warning);
});

Deno.test("a description that a step downloads is read when it is there", async () => {
  await using server = withServer((request) =>
    request.url.endsWith("/api.yml") ? new Response(SHOP_API) : answerAsShop(request)
  );
  const { code, stdout } = await runSteps(server, [
    { uses: "http", with: { get: `${server.url}/api.yml`, save: "down.yml", openapi: false } },
    { uses: "http", with: { get: "/items/1", openapi: "down.yml" } },
  ], { openapi: null });
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "API coverage of down.yml");
});

Deno.test("a request is for a server whatever value of a variable it uses", async () => {
  await using server = withServer(() => new Response(null, { status: 204 }));
  const api = {
    openapi: "3.1.0",
    info: { title: "x", version: "1" },
    servers: [{
      url: "https://{tenant}.example.com/{stage}/v1",
      variables: {} as unknown,
    }],
    paths: { "/items": { get: { responses: { 204: { description: "none" } } } } },
  };
  const paths = ["/live/v1/items", "/test/v1/items", "/other/v1/items", "/v1/items", "/items"];
  const steps = paths.map((path) => ({ uses: "http", with: { get: `${server.url}${path}` } }));
  const none = (path: string) => `no operation is described for GET ${path}`;
  for (
    const [stage, refused] of [
      [{ default: "live", enum: ["live", "test"] }, [none("/other/v1/items"), none("/v1/items")]],
      // Without a value, any will do.
      [{}, [none("/v1/items")]],
    ] as const
  ) {
    api.servers[0]!.variables = { stage };
    const files = { "api.yml": JSON.stringify(api, undefined, 1) };
    const { stdout } = await runSteps(server, steps, { files });
    assertEquals(messagesIn(stdout).map((text) => text.replace(/ \(.*/, "")), [...refused]);
  }
});

const OLD = {
  swagger: "2.0",
  info: { title: "Old", version: "1" },
  basePath: "/v1",
  produces: ["application/json"],
  paths: {
    "/items": {
      get: {
        parameters: [
          {
            name: "ids",
            in: "query",
            type: "array",
            items: { type: "integer" },
            collectionFormat: "pipes",
          },
        ],
        responses: {
          200: {
            description: "some",
            schema: { type: "array", items: { $ref: "parts.json#/Item" } },
            headers: { "X-Total": { type: "integer", maximum: 0 } },
          },
        },
      },
      post: {
        consumes: ["application/json"],
        parameters: [{
          name: "item",
          in: "body",
          required: true,
          schema: { $ref: "parts.json#/Item" },
        }],
        responses: { 201: { description: "made" } },
      },
    },
  },
};

const PARTS = {
  Item: {
    type: "object",
    required: ["id"],
    properties: {
      id: { type: "integer", maximum: 1, exclusiveMaximum: true },
      name: { type: "string", "x-nullable": true },
    },
  },
};

Deno.test("descriptions of 2.0 and 3.0 are read as they mean it, across files", async () => {
  await using server = withServer(answerAsShop);
  const files = {
    "old.json": JSON.stringify(OLD),
    "parts.json": JSON.stringify(PARTS),
    "three.json": JSON.stringify({
      openapi: "3.0.3",
      info: OLD.info,
      paths: {
        "/v1/items": {
          post: {
            requestBody: {
              content: {
                "application/json": {
                  schema: {
                    properties: {
                      name: { type: "string", nullable: true },
                      size: { type: "number", minimum: 0, exclusiveMinimum: true },
                    },
                  },
                },
              },
            },
            responses: { 201: { description: "made" } },
          },
        },
      },
    }),
  };
  const steps = [
    { uses: "http", with: { get: "/items", query: { ids: "1|x" } } },
    { uses: "http", with: { post: "/items", body: { id: 0, name: null } } },
    { uses: "http", with: { post: "/items", body: { name: 1 } } },
  ];
  const old = await runSteps(server, steps, { openapi: "old.json", files });
  const messages = messagesIn(old.stdout).map((text) => text.replace(/ \(.*/, ""));
  assertEquals(messages, [
    'request of GET /items: query parameter "ids"[1] is "x", expected type integer',
    "response of GET /items: the header X-Total is 1, expected <= 0",
    "response of GET /items: body[0].id is 1, expected < 1",
    "request of POST /items: body.id is missing",
    "request of POST /items: body.name is 1, expected type string or null",
  ]);
  const three = await runSteps(server, [
    { uses: "http", with: { post: "/items", body: { name: null, size: 1 } } },
    { uses: "http", with: { post: "/items", body: { name: 1, size: 0 } } },
  ], { openapi: "three.json", files });
  assertEquals(messagesIn(three.stdout).map((text) => text.replace(/ \(.*/, "")), [
    "request of POST /v1/items: body.name is 1, expected type string or null",
    "request of POST /v1/items: body.size is 0, expected > 0",
  ]);
});

Deno.test("a description that cannot be read keeps the request from being sent", async () => {
  let count = 0;
  await using server = withServer((request) => (count++, answerAsShop(request)));
  const steps = [{ uses: "http", with: { get: "/items" } }];
  const denied = await runSteps(server, steps, {
    args: ["--allow-net=127.0.0.1", "--allow-read=none"],
  });
  assertStringIncludes(
    denied.stderr,
    'cannot read the OpenAPI description "api.yml": --allow-read',
  );
  // A name that only the run knows.
  const wrong = await runSteps(server, steps, {
    openapi: "{{ repeat_index == 0 ? 'late' : '' }}.yml",
    files: { "late.yml": "openapi: [3" },
  });
  assertStringIncludes(wrong.stdout, "cannot use the OpenAPI description: ");
  assertEquals(count, 0);
});

Deno.test("coverage counts operations, status codes and parameters of a run", async () => {
  await using server = withServer(answerAsShop);
  const steps = [
    { uses: "http", with: { get: "/items", query: { limit: 1 } }, test: "status == 0" },
    { uses: "http", with: { get: "/items/1" }, test: "status == 0" },
    { uses: "http", with: { get: "/items/0" }, test: "res.code == 404" },
  ];
  const reports = "coverage=coverage.json,markdown=summary.md,html=report.html";
  const run = (minimum: string) =>
    runSteps(server, steps, { args: ["--report", reports, "--min-coverage", minimum] });
  const { code, stdout, reports: files } = await run("50");
  assertEquals(code, 0, stdout);
  assertStringIncludes(
    stdout,
    `API coverage of api.yml
  operations    2 of 4 (50%)
  status codes  3 of 5 (60%)
  parameters    2 of 3 (66%)
  not called: POST /items
  not called: DELETE /items/{id}
`,
  );
  const coverage = JSON.parse(files["coverage.json"]!);
  assertEquals(coverage.coverage.operations, { covered: 2, total: 4, percent: 50 });
  assertEquals(coverage.apis[0].operations[2], {
    method: "GET",
    path: "/items/{id}",
    hits: 2,
    statuses: [{ status: "200", hits: 1 }, { status: "4XX", hits: 1 }],
    parameters: [{ in: "path", name: "id", hits: 2 }],
  });
  assertStringIncludes(files["summary.md"]!, "| Operations | 2 of 4 (50%) |");
  assertStringIncludes(files["report.html"]!, "2 of 4 (50%) operations");
  assertStringIncludes(
    stdout,
    "\n✓ 2 of 4 (50%) operations were called; at least 50% are required\n",
  );
  const below = await run("80");
  const verdict = "2 of 4 (50%) operations were called, but at least 80% are required: 2 more";
  assertEquals(below.code, 1);
  assertStringIncludes(below.stdout, `  not called: DELETE /items/{id}\n\n✗ ${verdict}\n`);
  assertEquals(below.stderr.includes("error"), false);
  assertStringIncludes(below.reports["summary.md"]!, `\n❌ ${verdict}\n`);
  assertStringIncludes(below.reports["report.html"]!, `<p class="alert">✗ ${verdict}</p>`);
  const { minimum, enough } = JSON.parse(below.reports["coverage.json"]!);
  assertEquals([minimum, enough], [80, false]);
  const quiet = await runSteps(server, steps, { args: ["--min-coverage", "80", "-q"] });
  assertEquals(quiet.code, 1);
  assertStringIncludes(quiet.stderr, `runner: error: ${verdict}\n`);
  const none = await runSteps(server, steps, { args: ["--min-coverage", "1"], openapi: null });
  assertEquals(none.code, 1);
  assertStringIncludes(none.stderr, "no request was compared with an OpenAPI description");
  const wrong = await runSteps(server, steps, { args: ["--min-coverage", "all"] });
  assertStringIncludes(wrong.stderr, 'option --min-coverage must be a percentage, not "all"');
});

Deno.test("coverage adds up over a suite", async () => {
  await using server = withServer(answerAsShop);
  const flow = (path: string) =>
    JSON.stringify({
      name: path,
      jobs: [{
        name: "j",
        steps: [{ uses: "http", with: { get: `${server.url}/v1${path}`, openapi: "api.yml" } }],
      }],
    });
  await withFiles(
    { "api.yml": SHOP_API, "a.yml": flow("/items"), "b.yml": flow("/items/1") },
    async (cwd) => {
      const { code, stdout } = await runMain(["a.yml", "b.yml"], { cwd });
      assertEquals(code, 0, stdout);
      assertStringIncludes(stdout, "operations    2 of 4 (50%)");
    },
  );
});

Deno.test("coverage adds up over the pieces of a run", async () => {
  await using server = withServer(answerAsShop);
  const defaults = { http: { url: `${server.url}/v1`, openapi: "api.yml" } };
  const job = (id: string, path: string) => ({
    ...{ id, name: id, defaults, steps: [{ uses: "http", with: { get: path } }] },
  });
  const flow = { name: "n", jobs: [job("a", "/items"), job("b", "/items/1")] };
  await withFiles({ "api.yml": SHOP_API, "flow.yml": JSON.stringify(flow) }, async (cwd) => {
    const { code, stdout } = await runInPieces("flow.yml", { cwd });
    assertEquals(code, 0, stdout);
    assertStringIncludes(stdout, "operations    2 of 4 (50%)");
  });
});
