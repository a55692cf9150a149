import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { openShop } from "../../scripts/demo_server.ts";
import { FORMATS, runInPieces, runWhole, withoutTimes } from "../support/run/run_pieces.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/", import.meta.url));

/** Their outputs have process ids, random values, times and numbers of rounds, which differ in every run. */
const VARYING = /^(demo|failing|load|repeat|shell|thresholds|vars|websocket)\.yml$/;

/** They need servers of their own. */
const OF_SERVERS = /^(grpc|ssh)\.yml$/;

Deno.test("examples that run in pieces give the reports of one process", async (test) => {
  const names = [...Deno.readDirSync(EXAMPLES)].flatMap(({ name }) =>
    name.endsWith(".yml") && !OF_SERVERS.test(name) ? [name] : []
  );
  for (const name of names) {
    await test.step(name, async () => {
      const cwd = await Deno.makeTempDir({ prefix: "runner_test_" });
      try {
        await copyExamples(cwd);
        // A shop of its own for each: it remembers orders.
        const whole = await withShop((env) => runWhole(name, { cwd, env }));
        const pieces = await withShop((env) => runInPieces(name, { cwd, env }));
        assertEquals([pieces.stderr, pieces.code], ["", whole.code], pieces.stdout);
        for (const format of VARYING.test(name) ? [] : FORMATS) {
          const read = (form: string) =>
            withoutTimes(Deno.readTextFileSync(`${cwd}/${form}.${format}`))
              .replace(/127\.0\.0\.1:\d+|tmp\.\w+|"Date":"[^"]*"/g, "")
              .replace(/"timing":\{[^{}]*\}/g, "");
          assertEquals(read("pieces"), read("whole"), format);
        }
      } finally {
        await Deno.remove(cwd, { recursive: true });
      }
    });
  }
});

async function withShop<T>(use: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
  const { url, password, close } = openShop();
  try {
    return await use({ SHOP_URL: url, SHOP_PASSWORD: password, API_TOKEN: "very-secret" });
  } finally {
    await close();
  }
}

async function copyExamples(to: string): Promise<void> {
  for (const directory of ["", "data/", "jobs/"]) {
    await Deno.mkdir(`${to}/${directory}`, { recursive: true });
    for await (const { name, isFile } of Deno.readDir(`${EXAMPLES}${directory}`)) {
      if (isFile) {
        await Deno.copyFile(`${EXAMPLES}${directory}${name}`, `${to}/${directory}${name}`);
      }
    }
  }
}
