import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../support/temp_dir.ts";

const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url));
const WORKFLOW = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";
const NOBODY = 65534;

/** Runs a command to its end; what it says is for the test to judge. */
async function run(command: string, args: readonly string[], cwd: string, env = {}) {
  const output = await new Deno.Command(command, { args: [...args], cwd, env }).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}

/** Runs the program as a user without access to our files, from a separate copy. */
async function runAsNobody(folder: string, args: readonly string[]) {
  const deno = `${folder}/program/deno`;
  return await run(
    "setpriv",
    [
      ...[`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", deno],
      ...["run", "-A", "--no-prompt", `${folder}/program/cli.ts`, ...args],
    ],
    folder,
    { DENO_DIR: `${folder}/program/cache`, HOME: folder, DENO_NO_UPDATE_CHECK: "1" },
  );
}

Deno.test("an unreadable file is named", async () => {
  await withFiles({ "secret.yml": WORKFLOW, "open.yml": WORKFLOW }, async (folder) => {
    const program = `${folder}/program`;
    await Deno.mkdir(program);
    const parts = ["cli.ts", "deno.json", "deno.lock", "src", "types"];
    await run("cp", ["-r", ...parts.map((part) => CHECKOUT + part), program], folder);
    await run("cp", [Deno.execPath(), `${program}/deno`], folder);
    await run("chown", ["-R", String(NOBODY), program], folder);
    await Deno.chmod(folder, 0o755);
    await Deno.chmod(`${folder}/open.yml`, 0o644);
    await Deno.chmod(`${folder}/secret.yml`, 0o600);

    const open = await runAsNobody(folder, ["open.yml"]);
    assertEquals(open.code, 0, open.stderr);
    assertStringIncludes(open.stdout, "All jobs succeeded");

    // Deno says so when it brings what only errors need.
    await runAsNobody(folder, ["missing.yml"]);
    const { code, stdout, stderr } = await runAsNobody(folder, ["secret.yml"]);
    assertEquals(
      [code, stdout, stderr],
      [1, "", "runner: error: permission denied reading 'secret.yml'\n"],
    );
  });
});
