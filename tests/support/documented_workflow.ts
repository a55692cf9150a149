import { assertEquals } from "@std/assert";
import { assertPassed } from "./assert_passed.ts";
import { readBlocks, readDocument } from "./documents.ts";
import { runHere } from "./run/run_main.ts";
import { withFiles } from "./temp_dir.ts";

/** Runs the workflow of a name in a page of docs/, with variables of the environment. */
export async function assertRuns(
  page: string,
  name: string,
  env: Readonly<Record<string, string>>,
) {
  const blocks = readBlocks(await readDocument(`docs/${page}.md`));
  const [flow, ...others] = blocks.filter(({ text }) => text.startsWith(`name: ${name}\n`));
  assertEquals(others, []);
  const { code, stdout, stderr } = await withFiles(
    { "flow.yml": flow!.text },
    (cwd) => runHere(["flow.yml"], { cwd, env: { NO_COLOR: "1", ...env } }),
  );
  assertEquals([code, stderr], [0, ""], stdout);
  assertPassed(stdout);
}
