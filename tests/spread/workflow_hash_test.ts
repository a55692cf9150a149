import { assertEquals, assertNotEquals } from "@std/assert";
import { hashWorkflow } from "../../src/spread/run_file.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { hostWith } from "../support/load_files.ts";
import { withFiles } from "../support/temp_dir.ts";

const FILES = {
  "flow.yml": "name: F\njobs:\n  - name: A\n    steps:\n" +
    "      - { name: in, uses: embedded, with: { path: jobs/in.yml } }\n",
  "jobs/in.yml": "name: in\nsteps:\n  - { name: in, uses: hello }\n",
};

async function hashOf(files: Readonly<Record<string, string>>): Promise<string> {
  return await withFiles(files, async (directory) => {
    const { workflow } = await loadWorkflow(`${directory}/flow.yml`, hostWith());
    return await hashWorkflow(workflow);
  });
}

Deno.test("the hash of a workflow is that of its texts, wherever they are", async () => {
  const hash = await hashOf(FILES);
  assertEquals(await hashOf(FILES), hash);
  const windows = Object.entries(FILES).map(([name, text]) =>
    [name, text.replaceAll("\n", "\r\n")] as const
  );
  assertEquals(await hashOf(Object.fromEntries(windows)), hash);
});

Deno.test("an edit of a job file, and another place of it, change the hash", async () => {
  const hash = await hashOf(FILES);
  const inner = FILES["jobs/in.yml"];
  assertNotEquals(await hashOf({ ...FILES, "jobs/in.yml": `${inner}# edited\n` }), hash);
  const moved = FILES["flow.yml"].replace("jobs/in.yml", "jobs2in.yml");
  assertNotEquals(await hashOf({ "flow.yml": moved, "jobs2in.yml": inner }), hash);
});
