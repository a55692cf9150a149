import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { createHash } from "node:crypto";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { assertPassed } from "../support/assert_passed.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/http/", import.meta.url));

async function passes(name: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { code, stdout, stderr } = await runMain([`${EXAMPLES}${name}`], { env });
  assertEquals([code, stderr], [0, ""], stdout);
  assertPassed(stdout);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Responds with the whole decoded body of a request. */
async function received(request: Request): Promise<Response> {
  const encoding = request.headers.get("content-encoding");
  const body = encoding === "gzip"
    ? request.body!.pipeThrough(new DecompressionStream("gzip"))
    : request.body;
  const bytes = await new Response(body).bytes();
  const type = request.headers.get("content-type");
  const facts = { size: bytes.length, sha256: sha256(bytes), type, encoding };
  return Response.json(facts, { status: 201 });
}

/** The fields and the files of a form. */
async function receivedForm(request: Request): Promise<Response> {
  const form = await request.formData();
  const fields: Record<string, string> = {};
  const files: Record<string, unknown> = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    const [first] = values;
    if (first instanceof File) {
      const { name: filename, type } = first;
      files[name] = { name: filename, type, sha256: sha256(await first.bytes()) };
    } else {
      fields[name] = values.join(",");
    }
  }
  return Response.json({ fields, files }, { status: 201 });
}

Deno.test("examples/http/upload.yml sends files as bodies and in a form", async () => {
  await using server = withServer((request) =>
    request.method === "PUT" ? received(request) : receivedForm(request)
  );
  await passes("upload.yml", { SITE_URL: server.url });
});

Deno.test("examples/http/download.yml saves and verifies an archive", async () => {
  const archive = crypto.getRandomValues(new Uint8Array(60_000));
  await using server = withServer((request) => {
    if (request.method === "PUT") return received(request);
    const { pathname } = new URL(request.url);
    if (pathname === "/SHA256SUMS") return new Response(`${sha256(archive)}  app.tgz\n`);
    if (pathname === "/app.tgz") return new Response(archive);
    return new Response("no such release", { status: 404 });
  });
  await withFiles({}, async (directory) => {
    await passes("download.yml", { SITE_URL: server.url, DOWNLOAD_FOLDER: directory });
    assertEquals(await Deno.readFile(`${directory}/app.tgz`), archive);
    assertEquals([...Deno.readDirSync(directory)].length, 1);
  });
});

const PRODUCTS = [{ name: "lamp", price: 40 }, { name: "chair", price: 65 }, { name: "desk" }];

Deno.test("examples/http/graphql.yml queries a shop", async () => {
  await using server = withServer(async (request) => {
    const { query, variables, operationName } = await request.json();
    if (query.includes("products(")) {
      return Response.json({ data: { products: PRODUCTS.slice(0, variables.first) } });
    }
    if (query.includes("LastOrder") && operationName === "LastOrder") {
      return Response.json({ data: { order: { id: 7, total: 105 } } });
    }
    const message = 'Cannot query field "nothing" on type "Query".';
    return Response.json({ errors: [{ message }] });
  });
  await passes("graphql.yml", { SHOP_URL: `${server.url}/graphql` });
});
