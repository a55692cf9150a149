import { CHECKOUT, readFirstWorkflow, runForPicture, type ShownRun } from "./run_for_picture.ts";

const RUNS = `${CHECKOUT}site/runs/`;
const FAILING: readonly string[] = ["order.yml", "prices.yml", "mistakes.yml"];

/** What the first page of the site shows: files in site/runs/ and what running them prints. */
export async function runForSite(): Promise<ReadonlyMap<string, string>> {
  const runs: ShownRun[] = [
    { file: "shop.yml", text: await readFirstWorkflow(), args: ["--var", "limit=4"], code: 1 },
  ];
  for await (const { name } of Deno.readDir(RUNS)) {
    if (!name.endsWith(".yml") || name === "shop.yml") continue;
    const text = await Deno.readTextFile(RUNS + name);
    runs.push({ file: name, text, code: FAILING.includes(name) ? 1 : 0 });
  }
  const files = new Map<string, string>();
  for (const run of runs) {
    files.set(`${RUNS}${run.file}`, run.text);
    files.set(`${RUNS}${run.file.replace(".yml", ".ansi")}`, `${await runForPicture(run)}\n`);
  }
  return files;
}
