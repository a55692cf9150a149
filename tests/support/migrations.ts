/**
 * The files of docs/migrate/: those of other tools and their translations, and what both must do.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { readBlocks, readDocument } from "./documents.ts";
import { withFiles } from "./temp_dir.ts";
import { type Seen, type Spoil, watchShop } from "./servers/watched_shop.ts";

/** What a run of a file comes to: its exit code and what it printed. */
export interface Verdict {
  readonly code: number;
  readonly output: string;
}

/** Runs a file in a directory with the files of its page. */
export type RunFile = (cwd: string, url: string) => Promise<Verdict>;

/** The requests of a file against a good server, and ways to break the server. */
export interface Scenario {
  readonly requests: readonly Seen[];
  readonly spoils: Readonly<Record<string, Spoil>>;
}

const ORDER = "/orders/1001";
const TEA = { product: "tea", count: 2 };
const LOGIN = { customer: "ann", password: "open sesame" };

/** Signs in, orders tea, reads the order and deletes it. */
export const ORDERS: Scenario = {
  requests: [
    { method: "POST", path: "/login", scheme: "", body: LOGIN, code: 200 },
    { method: "POST", path: "/orders", scheme: "Bearer", body: TEA, code: 201 },
    { method: "GET", path: ORDER, scheme: "Bearer", body: undefined, code: 200 },
    { method: "DELETE", path: ORDER, scheme: "Bearer", body: undefined, code: 204 },
  ],
  spoils: {
    "the login is refused": ["POST /login", () => [403, { error: "wrong password" }]],
    "the order has another code": ["POST /orders", (_, body) => [200, body]],
    "the total is wrong": [
      "POST /orders",
      (code, body) => [code, { ...body as object, total: 10 }],
    ],
    "the order is of a mug": [`GET ${ORDER}`, (code, body) => [
      code,
      { ...body as object, product: "mug" },
    ]],
    "the order cannot be read": [`GET ${ORDER}`, (_, body) => [500, body]],
    "the order is not deleted": [`DELETE ${ORDER}`, () => [500, { error: "no" }]],
  },
};

/** Asks for the products a hundred times. */
export const PRODUCTS: Scenario = {
  requests: Array.from({ length: 100 }, () => ({
    method: "GET",
    path: "/products",
    scheme: "",
    body: undefined,
    code: 200,
  })),
  spoils: {
    "the products are not there": ["GET /products", (_, body) => [500, body]],
    "the first is a mug": ["GET /products", (code) => [code, [{ name: "mug", price: 12 }]]],
  },
};

/** The files that a page shows, with the shop at a URL. */
async function filesOf(page: string, url: string): Promise<Record<string, string>> {
  const blocks = readBlocks(await readDocument(`docs/migrate/${page}.md`));
  return Object.fromEntries(blocks.flatMap(({ text, marks }) => {
    const name = marks.get("file");
    return name === undefined ? [] : [[name, text.replaceAll("http://127.0.0.1:8080", url)]];
  }));
}

/** Checks that a file passes with exactly these requests, and fails for each way to break them. */
export async function assertScenario(
  test: Deno.TestContext,
  page: string,
  { requests, spoils }: Scenario,
  run: RunFile,
): Promise<void> {
  const runAgainst = async (spoil?: Spoil) => {
    await using shop = watchShop(spoil);
    const files = await filesOf(page, shop.url);
    return { ...await withFiles(files, (cwd) => run(cwd, shop.url)), seen: shop.seen };
  };
  await test.step("it passes, and sends what it should", async () => {
    const { code, output, seen } = await runAgainst();
    assertEquals(code, 0, output);
    assertEquals(seen, requests);
  });
  for (const [title, spoil] of Object.entries(spoils)) {
    await test.step(`it fails if ${title}`, async () => {
      const { code, output } = await runAgainst(spoil);
      assertEquals(code === 0, false, output);
    });
  }
}
