import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const WORKFLOW = "name: w\njobs: [{name: j, steps: [{uses: embedded, with: {path: jobs/a.yml}, " +
  "test: res.code == 0}]}]\n";
const job = (name: string) =>
  `name: ${name}\nsteps: [{uses: hello, name: ${name}, test: 1 == 1}]\n`;

Deno.test("a job file that is not beside the workflow is taken from the current directory", async () => {
  const files = { "flows/w.yml": WORKFLOW, "jobs/a.yml": job("above") };
  await withFiles(files, async (cwd) => {
    const run = await runMain(["flows/w.yml"], { cwd });
    assertEquals([run.code, run.stderr], [0, ""]);
    assertStringIncludes(run.stdout, "above");
    const checked = await runMain(["check", "flows/w.yml"], { cwd });
    assertStringIncludes(
      checked.stdout + checked.stderr,
      "hint: 'flows/jobs/a.yml' not found; using 'jobs/a.yml' in the current directory",
    );
  });
});

Deno.test("a job file beside the workflow comes before one in the current directory", async () => {
  const files = {
    "flows/w.yml": WORKFLOW,
    "flows/jobs/a.yml": job("beside"),
    "jobs/a.yml": job("above"),
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runMain(["flows/w.yml"], { cwd });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "beside");
  });
});
