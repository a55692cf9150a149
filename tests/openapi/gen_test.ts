/**
 * Generates a workflow from each description in `fixtures`, compares it with the text in
 * `expected` (UPDATE_SNAPSHOTS=1 writes that anew, to be read before it is committed), and runs it
 * against servers that are built from the same descriptions.
 *
 * @module
 */
import { runMain } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";
import { type MockOptions, mockServer, operationsOf, resolveLocally } from "./mock_server.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { assertPassed } from "../support/assert_passed.ts";

const HERE = fromFileUrl(new URL("./", import.meta.url));

const EXPECTED = [
  ["shop", "shop.yaml", ""],
  ["library", "library/openapi.json", ""],
  ["legacy", "legacy.yaml", ""],
  ["tree", "tree.yaml", ""],
  ["hostile", "hostile.json", ""],
  [
    "doors",
    "doors.yaml",
    "warning: no credentials are sent to GET /both: two security schemes need the same header\n" +
    "warning: no credentials are sent to GET /old and to 1 more operation: " +
    'the security scheme "digest" has the unsupported type "digest"\n' +
    'warning: no credentials are sent to GET /gone: unknown security scheme "gone"\n',
  ],
] as const;

for (const [name, file, warnings] of EXPECTED) {
  Deno.test(`gen makes the expected workflow of the description "${name}"`, async () => {
    const cwd = `${HERE}fixtures`;
    const { code, stdout, stderr } = await runMain(["gen", file], { cwd });
    assertEquals([code, stderr], [0, warnings]);
    const expected = `${HERE}expected/${name}.txt`;
    if (Deno.env.get("UPDATE_SNAPSHOTS") === "1") Deno.writeTextFileSync(expected, stdout);
    assertEquals(stdout, Deno.readTextFileSync(expected));

    const root = file.split("/")[0]!;
    await withFiles({ "w.yml": stdout, ...filesAt(cwd, root) }, async (directory) => {
      const checked = await runMain(["check", "--strict", "w.yml"], { cwd: directory });
      assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);
    });
  });
}

/** A file, or all files of a directory, by their paths. */
function filesAt(directory: string, path: string): Record<string, string> {
  const whole = `${directory}/${path}`;
  if (Deno.statSync(whole).isFile) return { [path]: Deno.readTextFileSync(whole) };
  const inside = [...Deno.readDirSync(whole)].map(({ name }) =>
    filesAt(directory, `${path}/${name}`)
  );
  return Object.assign({}, ...inside);
}

const FIXTURES = fromFileUrl(new URL("./fixtures/", import.meta.url));

const SECRETS = {
  API_TOKEN: "secret-token",
  API_KEY: "secret-key",
};

function description(name: string): Readonly<Record<string, unknown>> {
  const text = Deno.readTextFileSync(`${FIXTURES}${name}`);
  return resolveLocally(parse(text) as Readonly<Record<string, unknown>>);
}

async function generateAndRun(name: string, options: MockOptions, env = {}) {
  await using server = mockServer(description(name), options);
  return await withFiles({}, async (directory) => {
    const made = await runMain(["gen", name, "-o", `${directory}/w.yml`], { cwd: FIXTURES });
    assertEquals([made.code, made.stdout], [0, ""], made.stderr);
    const base = `${server.url}${options.basePath ?? ""}`;
    const result = await runMain(["w.yml"], {
      cwd: directory,
      env: { BASE_URL: base, ...SECRETS, ...env },
    });
    return { ...result, seen: server.seen };
  });
}

Deno.test("a generated workflow passes against a server of the same description", async () => {
  const { code, stdout, seen } = await generateAndRun("shop.yaml", { basePath: "/api" });
  assertEquals(code, 0, `${stdout}\n${seen.join("\n")}`);
  assertPassed(stdout);
  assertEquals(seen.length, operationsOf(description("shop.yaml")).length);
  const customer = /\/customers\/(\d+) /.exec(seen.join("\n"))?.[1];
  const order = seen.findIndex((line) => line.startsWith("POST /customers/"));
  assert(customer !== undefined && Number(customer) > 40, "the id is the one that the server gave");
  assertStringIncludes(seen[order]!, `/customers/${customer}/orders `);
  assertEquals(seen.at(-1), `DELETE /customers/${customer} 204`, "what others use is deleted last");
});

Deno.test("credentials come from the environment; without them the workflow fails", async () => {
  const { code, stdout, seen } = await generateAndRun(
    "shop.yaml",
    { basePath: "/api" },
    { API_TOKEN: "", API_KEY: "" },
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout, "res.code == 201");
  assert(seen.includes("POST /customers 401"), seen.join("\n"));
  assert(seen.includes("POST /login 200"), "operations without security need none");
});

const BROKEN: readonly (readonly [what: string, MockOptions["spoil"], shown: string])[] = [
  [
    "the code is another one",
    (operation, status, body) => [operation === "POST /customers" ? 200 : status, body],
    "res.code == 201",
  ],
  [
    "a required field is missing",
    (operation, status, body) => {
      if (operation !== "POST /customers") return [status, body];
      const { email: _, ...rest } = body as Record<string, unknown>;
      return [status, rest];
    },
    "res.body.email != nil",
  ],
  [
    "a required field that may be null is missing",
    (operation, status, body) => {
      if (!/^GET .*\/\d+$/.test(operation)) return [status, body];
      const { deleted_at: _, ...rest } = body as Record<string, unknown>;
      return [status, rest];
    },
    '"deleted_at" in res.body',
  ],
  [
    "a string is not a list",
    (operation, status, body) => [status, operation === "GET /customers" ? { items: body } : body],
    'type(res.body) == "array"',
  ],
];

for (const [what, spoil, shown] of BROKEN) {
  Deno.test(`a generated workflow fails where ${what}`, async () => {
    const { code, stdout } = await generateAndRun("shop.yaml", {
      basePath: "/api",
      ...(spoil ? { spoil } : {}),
    });
    assertEquals(code, 1, stdout);
    assertStringIncludes(stdout, shown);
  });
}

Deno.test("strings of a description arrive unchanged", async () => {
  const asked: { method: string; url: string; body: string }[] = [];
  await using server = withServer(async (request) => {
    const { method, url } = request;
    asked.push({ method, url, body: await request.text() });
    return new URL(url).pathname === "/b" && method === "POST"
      ? Response.json({ "a-b": 1, "c d": 2, ["__proto__"]: 3 }, { status: 201 })
      : new Response("ok");
  });
  const { code, stdout } = await withFiles({}, async (cwd) => {
    await runMain(["gen", "hostile.json", "-o", `${cwd}/w.yml`], { cwd: FIXTURES });
    const env = { BASE_URL: server.url, PASSWORD: "from-the-environment" };
    return await runMain(["w.yml"], { cwd, env });
  });
  assertEquals(code, 0, stdout);
  assertEquals(asked.length, 6);

  const get = asked.find(({ method, url }) => method === "GET" && url.includes("/a/"))!;
  const url = new URL(get.url);
  assertEquals(decodeURIComponent(url.pathname), "/a/{{id}} a/b?ä");
  const raw = JSON.parse(Deno.readTextFileSync(`${FIXTURES}hostile.json`));
  const sent = raw.paths["/a/{id}"].get.parameters.slice(1) as { name: string; example: string }[];
  assertEquals(
    [...url.searchParams],
    sent.map(({ name, example }): [string, string] => [name, example]),
  );

  const { example } = raw.paths["/a/{id}"].post.requestBody.content["application/json"];
  const post = asked.find(({ method, url }) => method === "POST" && url.includes("/a/"))!;
  const body = JSON.parse(post.body) as Record<string, unknown>;
  assertEquals(Object.keys(body).sort(), Object.keys(example).sort());
  for (const name of ["<<", "0o17", "float", "none", "empty", "list"]) {
    assertEquals(body[name], example[name], name);
  }
  assertEquals(Object.getOwnPropertyDescriptor(body, "__proto__")?.value, { polluted: true });
  assertEquals(body.password, "from-the-environment");
  assert(!JSON.stringify(body).includes("ghp_"), "no secret of the description is sent");
});

/** A later version of the shop, as replacements in its text. */
const LATER: readonly (readonly [before: string | RegExp, after: string])[] = [
  [
    / {8}- name: sort\n.*\n.*created\] }\n/,
    "        - { name: region, in: query, required: true, schema: { type: string, example: eu } }\n",
  ],
  ["required: [name, email]", "required: [name, email, country]"],
  ["note: { type: string }\n", "note: { type: string }\n        country: { type: string }\n"],
  [/ {8}"202":\n(?:.*\n){4} {8}"201":/, '        "200":'],
  ["  /health:\n", "  /status/health:\n"],
  [
    / {2}\/export:\n[^]*?(?=components:)/,
    `  /customers/{customerId}/notes:
    get:
      operationId: listNotes
      tags: [Customers]
      parameters: [{ $ref: "#/components/parameters/CustomerId" }]
      responses: { "200": { description: Notes } }
  /invoices:
    post:
      operationId: createInvoice
      tags: [Invoices]
      parameters: [{ name: access_token, in: query, required: true, schema: { type: string } }]
      responses:
        "201":
          description: The invoice
          content:
            application/json:
              schema: { type: object, required: [id], properties: { id: { type: string } } }
  /invoices/{id}:
    get:
      operationId: getInvoice
      tags: [Invoices]
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "200": { description: The invoice } }
`,
  ],
];

Deno.test("gen makes what a workflow lacks, lists what is gone, and leaves the workflow alone", async () => {
  const shop = Deno.readTextFileSync(`${FIXTURES}shop.yaml`);
  await withFiles({ "api.yaml": shop }, async (cwd) => {
    const gen = (...args: string[]) => runMain(["gen", "api.yaml", ...args], { cwd });
    const text = () => Deno.readTextFileSync(`${cwd}/w.yml`);
    await gen("-o", "w.yml");
    const mine = text().replace("id: get_customer\n", "id: again # not get_customer\n");
    Deno.writeTextFileSync(`${cwd}/w.yml`, mine);
    const same = await gen("w.yml");
    assertEquals([same.code, same.stdout, same.stderr], [
      ...[0, "", "w.yml: no operation is missing\n"],
    ]);

    const later = LATER.reduce((text, [before, after]) => text.replace(before, after), shop);
    Deno.writeTextFileSync(`${cwd}/api.yaml`, later);
    const lists = `w.yml: 3 operations missing, 1 gone
  missing  POST /invoices
  missing  GET /invoices/{id}
  missing  GET /customers/{customerId}/notes
  gone     GET /export (export)
`;
    const printed = await gen("w.yml");
    assertEquals([printed.code, printed.stderr.split("\n").toSorted()], [
      ...[0, lists.split("\n").toSorted()],
    ]);
    assertStringIncludes(printed.stdout, 'get: "/invoices/{{outputs.create_invoice.id}}"');
    assertStringIncludes(printed.stdout, "id: list_notes");
    assert(!printed.stdout.includes("/status/health"), "its step is known by its id");
    const refused = await gen("w.yml", "-o", "w.yml");
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, "'w.yml' already exists");
    assertStringIncludes(refused.stderr, "or print what it lacks: runner gen api.yaml w.yml");
    const written = await gen("w.yml", "-o", "new.yml");
    assertStringIncludes(written.stderr, "new.yml");
    assertEquals(Deno.readTextFileSync(`${cwd}/new.yml`), printed.stdout);
    const checked = await runMain(["check", "--strict", "new.yml"], { cwd });
    assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);
    assertEquals(text(), mine);
    await gen("-o", "w.yml", "--force");
    assertEquals(text(), (await gen()).stdout);
    const other = await gen("api.yaml");
    assertStringIncludes(other.stderr, "'api.yaml' is not a workflow");
  });
});
