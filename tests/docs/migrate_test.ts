import { assertEquals } from "@std/assert";
import { assertScenario, ORDERS, PRODUCTS, type RunFile } from "../support/migrations.ts";
import { runMain } from "../support/run/run_main.ts";

const ENV = { PASSWORD: "open sesame", SHOP_PASSWORD: "open sesame" };

/** Runs a translation that a page shows. */
function runTranslation(name: string): RunFile {
  return async (cwd, url) => {
    const { code, stdout, stderr } = await runMain([name], { cwd, env: { ...ENV, SHOP_URL: url } });
    return { code, output: stdout + stderr };
  };
}

/** Translates the file of another tool and runs the result. */
function runImport(format: string, file: string): RunFile {
  return async (cwd) => {
    const made = await runMain(["new", "--from", format, file, "-o", "imported.yml"], { cwd });
    assertEquals(made.code, 0, made.stderr);
    const { code, stdout, stderr } = await runMain([
      "--var",
      "password=open sesame",
      "imported.yml",
    ], { cwd, env: ENV });
    return { code, output: stdout + stderr };
  };
}

const PAGES = ["hurl", "postman", "bruno", "stepci", "runn", "venom"];

for (const page of PAGES) {
  Deno.test(`the translation on the page about ${page} does what its file does`, async (test) => {
    await assertScenario(test, page, ORDERS, runTranslation("orders.yml"));
  });
}

Deno.test("the translation on the page about k6 does what its script does", async (test) => {
  await assertScenario(test, "k6", PRODUCTS, runTranslation("products.yml"));
});

const IMPORTS: readonly (readonly [format: string, file: string])[] = [
  ["hurl", "orders.hurl"],
  ["postman", "collection.json"],
  ["bruno", "collection/"],
];

for (const [format, file] of IMPORTS) {
  Deno.test(`new --from ${format} makes of the file on its page what does the same`, async (test) => {
    await assertScenario(test, format, ORDERS, runImport(format, file));
  });
}
