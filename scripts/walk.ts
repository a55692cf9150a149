/**
 * Counts what runs: `deno task walk [file]` runs a few workflows with coverage and prints, for each,
 * how many files and named functions of src took part, and how many were loaded. With a file it
 * runs that workflow alone and lists the files with their functions.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { openShop } from "./demo_server.ts";

const CHECKOUT = fromFileUrl(new URL("../", import.meta.url));
const SRC = new URL("../src/", import.meta.url).href;

interface Walk {
  readonly name: string;
  readonly args?: readonly string[];
  readonly steps: string;
}

const GET = '{ uses: http, with: { get: "{{vars.shop}}/products" }';
const WALKS: readonly Walk[] = [
  { name: "hello", steps: "{ uses: hello, test: status == 0 }" },
  { name: "http, passed", steps: `${GET}, test: res.code == 200 }` },
  { name: "http, failed", steps: `${GET}, test: res.code == 404 }` },
  {
    name: "db",
    steps:
      '{ uses: db, with: { dsn: ":memory:", query: select 1 as a }, test: "res.rows[0].a == 1" }',
  },
  {
    name: "http, failed, --report html",
    args: ["--report=html=report.html"],
    steps: `${GET}, test: res.code == 404 }`,
  },
];

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly count: number }[];
  }[];
}

/** Runs the program in a directory, and gives the names of the functions that ran, by file. */
async function walk(directory: string, args: readonly string[]): Promise<Map<string, string[]>> {
  const coverage = `${directory}/coverage`;
  await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `--coverage=${coverage}`, `${CHECKOUT}cli.ts`, ...args],
    cwd: directory,
    env: { SHOP_URL: shop.url },
    stdout: "null",
    stderr: "null",
  }).output();
  const ran = new Map<string, string[]>();
  for await (const { name } of Deno.readDir(coverage)) {
    if (!name.endsWith(".json")) continue;
    const { url, functions }: Script = JSON.parse(
      await Deno.readTextFile(`${coverage}/${name}`),
    );
    if (!url.startsWith(SRC)) continue;
    const names = functions.filter(({ functionName, ranges }) =>
      functionName !== "" && ranges[0]!.count > 0
    ).map(({ functionName }) => functionName);
    ran.set(url.slice(SRC.length), names);
  }
  await Deno.remove(coverage, { recursive: true });
  return ran;
}

function say(...cells: readonly (string | number)[]): void {
  const [name = "", ...counts] = cells;
  // deno-lint-ignore no-console
  console.log(`${name}`.padEnd(30) + counts.map((count) => `${count}`.padStart(11)).join(""));
}

const shop = openShop();
const directory = await Deno.makeTempDir({ prefix: "runner_walk_" });
try {
  const [file] = Deno.args;
  if (file !== undefined) {
    const ran = await walk(directory, [await Deno.realPath(file)]);
    for (const [path, names] of [...ran].sort(([a], [b]) => a < b ? -1 : 1)) {
      if (names.length > 0) say(path, " ", names.join(" "));
    }
  } else {
    say("", "files", "functions", "loaded");
    for (const { name, args = [], steps } of WALKS) {
      const yaml =
        `name: n\nvars: { shop: "{{SHOP_URL}}" }\njobs: [{ name: j, steps: [${steps}] }]\n`;
      await Deno.writeTextFile(`${directory}/w.yml`, yaml);
      const ran = [...(await walk(directory, [...args, "w.yml"])).values()];
      const [files, functions] = [ran.filter((names) => names.length > 0), ran.flat()];
      say(name, files.length, functions.length, ran.length);
    }
  }
} finally {
  await Deno.remove(directory, { recursive: true });
  await shop.close();
}
