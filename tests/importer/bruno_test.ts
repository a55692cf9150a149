import { assertEquals, assertStringIncludes } from "@std/assert";
import { importCase } from "../support/import_case.ts";
import { runMain } from "../support/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { BRUNO } from "./inputs.ts";

Deno.test("new --from bruno translates a collection", async () => {
  await importCase({
    args: ["bruno", "shop"],
    files: BRUNO,
    env: { TOKEN: "token-of-the-shop", TEA: "Assam", PASSWORD: "tea-for-two" },
    notes: [
      "the environment z.bru: only the first becomes vars",
      "the assertion res.custom: eq 1",
      'the script: console.log("x")',
    ],
    lines: [
      "name: Tea shop",
      "host: URL",
      'token: "{{TOKEN}}"',
      'post: "{{vars.host}}/orders/main?x=1"',
      "&& res.body.path startsWith '/orders'",
      "&& res.body.id in [6, 7]",
      "order: res.body.id",
      'get: "{{vars.host}}/orders/{{outputs.order}}"',
    ],
    seen: ([form, create, read]) => {
      assertEquals([form!.method, form!.body, form!.headers.get("x-all")], [
        "PUT",
        "a=1&b=Assam",
        "yes",
      ]);
      assertEquals(create!.headers.get("authorization"), "Bearer token-of-the-shop");
      assertEquals([create!.headers.get("x-own"), create!.headers.get("x-off")], ["Assam", null]);
      assertEquals(JSON.parse(create!.body), { tea: "Assam" });
      assertEquals(read!.path, "/orders/7");
      assertEquals(read!.headers.get("authorization"), `Basic ${btoa("ann:tea-for-two")}`);
    },
  });
});

Deno.test("new --from bruno leaves out requests without a URL, and vars may be made of others", async () => {
  await importCase({
    args: ["bruno", "shop"],
    files: {
      "shop/bruno.json": '{"name": "Tea shop"}',
      "shop/environments/a.bru":
        "vars {\n  api: {{host}}/v1\n  host: URL\n  key: {{process.env.SHOP_KEY}}\n  both: {{key}}/{{key}}\n}\n",
      "shop/a.bru": "meta {\n  name: first\n  seq: 1\n}\n\nget {\n  url: {{api}}/a?k={{both}}\n}\n",
      "shop/b.bru": "meta {\n  name: empty\n  seq: 2\n}\n\nget {\n  url: \n}\n",
    },
    env: { SHOP_KEY: "tea" },
    notes: ['the request "empty": it has no'],
    lines: ["api: URL/v1"],
    seen: (requests) => assertEquals(requests.map(({ path }) => path), ["/v1/a?k=tea/tea"]),
  });
});

Deno.test("new --from bruno says what is wrong with a collection", async () => {
  const files = {
    "open/a.bru": "get {\n  url: x\n",
    "text/a.bru": "meta {\n}\nhello\n",
    "none/bruno.json": "{}",
    "request/a.bru": "meta {\n  name: x\n}\n",
    "list/bruno.json": "[]",
    "list/a.bru": "get {\n  url: x\n}\n",
    "broken/bruno.json": "{",
    "broken/a.bru": "get {\n  url: x\n}\n",
  };
  await withFiles(files, async (cwd) => {
    const run = async (dir: string) =>
      (await runMain(["new", "--from", "bruno", dir], { cwd })).stderr;
    assertStringIncludes(await run("open"), 'a.bru:1:1: error: the block "get" is not closed');
    assertStringIncludes(await run("text"), "a.bru:3:1: error: expected a block");
    assertStringIncludes(await run("request"), "a.bru:1:1: error: the request is missing");
    assertStringIncludes(
      await run("list"),
      "bruno.json:1:1: error: the file must be a map, not a list",
    );
    assertStringIncludes(await run("none"), "the directory has no requests of Bruno");
    assertStringIncludes(
      await run("broken"),
      "bruno.json:1:2: error: invalid JSON: it ends too early",
    );
    assertStringIncludes(await run("nowhere"), "'nowhere' is no directory, or nothing is in it");
  });
});
