import { assertEquals, assertStringIncludes } from "@std/assert";
import { theProgram } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

const WORKFLOW = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";

/** Runs the program as somebody who is not root. */
async function runAsNobody(cwd: string, args: readonly string[]) {
  const [program, before] = theProgram();
  const { code, stdout, stderr } = await new Deno.Command("setpriv", {
    args: ["--reuid=65534", "--regid=65534", "--clear-groups", program, ...before, ...args],
    cwd,
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

Deno.test("a file that may not be read is told by its name", async () => {
  await withFiles({ "secret.yml": WORKFLOW, "open.yml": WORKFLOW }, async (folder) => {
    await Deno.chmod(folder, 0o755);
    await Deno.chmod(`${folder}/secret.yml`, 0o600);
    await Deno.chmod(`${folder}/open.yml`, 0o644);
    const { code, stdout, stderr } = await runAsNobody(folder, ["secret.yml"]);
    assertEquals([code, stdout], [1, ""]);
    assertEquals(
      stderr.split("\n")[0],
      "runner: error: permission denied reading 'secret.yml'",
    );
    const open = await runAsNobody(folder, ["open.yml"]);
    assertEquals(open.code, 0, open.stderr);
    assertStringIncludes(open.stdout, "All jobs succeeded");
  });
});
