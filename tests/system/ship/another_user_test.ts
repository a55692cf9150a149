import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../../support/temp_dir.ts";
import { assertPassed } from "../../support/assert_passed.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));
const WORKFLOW = "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n";
const NOBODY = 65534;
/** A user without a name and without a home, such as that of a mounted directory in a container. */
const UNKNOWN = 4242;

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
async function runAs(user: number, directory: string, args: readonly string[], env = {}) {
  const deno = `${directory}/program/deno`;
  return await run(
    "setpriv",
    [
      ...[`--reuid=${user}`, `--regid=${user}`, "--clear-groups", deno],
      ...["run", "-A", "--no-prompt", `${directory}/program/cli.ts`, ...args],
    ],
    directory,
    {
      DENO_DIR: `${directory}/program/cache`,
      HOME: directory,
      DENO_NO_UPDATE_CHECK: "1",
      // A build server says that no snapshot may be written.
      CI: "",
      ...env,
    },
  );
}

/** Copies the program into a directory that a user owns. */
async function copyProgram(user: number, directory: string) {
  const program = `${directory}/program`;
  await Deno.mkdir(program);
  const parts = ["cli.ts", "deno.json", "deno.lock", "src", "types"];
  await run("cp", ["-r", ...parts.map((part) => CHECKOUT + part), program], directory);
  await run("cp", [Deno.execPath(), `${program}/deno`], directory);
  await run("chown", ["-R", String(user), program], directory);
}

const MAILS = `name: n
jobs: [{name: j, steps: [{uses: mail-latency, with: {mail_dir: mails, output_dir: .}}]}]
`;

Deno.test("an unreadable file is named", async () => {
  const files = {
    ...{ "secret.yml": WORKFLOW, "open.yml": WORKFLOW, "m.yml": MAILS, "mails/a": "" },
    ...{ "flows/a.yml": WORKFLOW, "flows/sub/b.yml": WORKFLOW },
  };
  await withFiles(files, async (directory) => {
    await copyProgram(NOBODY, directory);
    await Deno.chmod(directory, 0o755);
    await Deno.chmod(`${directory}/open.yml`, 0o644);
    await Deno.chmod(`${directory}/secret.yml`, 0o600);
    await Deno.chmod(`${directory}/mails/a`, 0o600);
    await Deno.chmod(`${directory}/flows`, 0o755);
    await Deno.chmod(`${directory}/flows/sub`, 0o700);

    const open = await runAs(NOBODY, directory, ["open.yml"]);
    assertEquals(open.code, 0, open.stderr);
    assertPassed(open.stdout);

    // Deno says so when it brings what only errors need.
    await runAs(NOBODY, directory, ["missing.yml"]);
    const { code, stdout, stderr } = await runAs(NOBODY, directory, ["secret.yml"]);
    assertEquals(
      [code, stdout, stderr],
      [1, "", "runner: error: permission denied reading 'secret.yml'\n"],
    );
    for (const args of [["flows"], ["flows/**/*.yml"], ["check", "flows"]]) {
      const { code, stdout, stderr } = await runAs(NOBODY, directory, args);
      assertEquals(code, 1);
      assertStringIncludes(stdout + stderr, "permission denied reading 'flows/sub'");
    }
    const mails = await runAs(NOBODY, directory, ["m.yml"]);
    assertStringIncludes(
      mails.stdout.replace(/\s+/g, " "),
      'cannot read the mail "mails/a": permission denied (EACCES)',
    );
  });
});

Deno.test("a user who is not in passwd, without a home, runs a workflow and writes reports", async () => {
  const files = {
    "w.yml": `name: n
jobs:
  - name: j
    steps:
      - { uses: shell, with: { cmd: id -u }, test: 'trim(res.stdout) == "${UNKNOWN}"' }
      - { uses: echo, id: kept, with: { message: tea }, snapshot: { of: res.message } }
`,
    "bad.yml": WORKFLOW.replace("}]}]", ", test: 1 > 2}]}]"),
  };
  await withFiles(files, async (directory) => {
    await copyProgram(UNKNOWN, directory);
    await run("chown", ["-R", String(UNKNOWN), directory], directory);
    for (const home of ["/", "/nowhere", ""]) {
      const env = { HOME: home };
      const args = ["--report-dir", "out", "w.yml"];
      const { code, stdout, stderr } = await runAs(UNKNOWN, directory, args, env);
      assertEquals(code, 0, stdout + stderr);
      assertEquals((await Deno.stat(`${directory}/out/report.html`)).uid, UNKNOWN);
      assertEquals((await runAs(UNKNOWN, directory, ["bad.yml"], env)).code, 1);
      // What failed could not be kept, and that is not a reason to fail.
      const again = await runAs(UNKNOWN, directory, ["--rerun-failed", "w.yml"], env);
      assertEquals(again.code, 0, again.stdout + again.stderr);
    }
    assertEquals((await Deno.stat(`${directory}/__snapshots__`)).isDirectory, true);
  });
});
