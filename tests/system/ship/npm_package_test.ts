/**
 * The npm package is installed as users do, which downloads Deno.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CHECKOUT } from "../../support/documents.ts";
import { isRunning, until } from "../../support/run/processes.ts";
import { withFiles } from "../../support/temp_dir.ts";

const PATTERNS = `name: Patterns
jobs:
  - name: j
    steps: [{ uses: hello, test: '"abc" matches "b"', echo: fine }]
`;
const SLEEPS = `name: Sleeps
jobs:
  - name: j
    steps: [{ uses: shell, with: { cmd: "echo $$ > pid; sleep 60" } }]
    finally: [{ uses: shell, with: { cmd: "echo cleaned up > cleaned" } }]
`;
const FILES = { "patterns.yml": PATTERNS, "sleeps.yml": SLEEPS, "package.json": "{}" };
/** One that can replace its process by another. */
const NEWER = `node-linux-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}@24`;

Deno.test("the npm package installs the command", async (test) => {
  await withFiles(FILES, async (directory) => {
    await run("deno", ["task", "--quiet", "npm"], CHECKOUT);
    const packed = await run("npm", ["pack", "--silent", `${CHECKOUT}/dist/npm`], directory);
    const archive = `./${packed.stdout.trim()}`;
    const prefix = `${directory}/prefix`;
    const install = ["install", "--global", "--prefix", prefix, "--no-fund", "--no-audit"];
    const installed = await run("npm", [...install, archive], directory);
    assertEquals(installed.code, 0, installed.stderr);
    const runner = `${prefix}/bin/runner`;

    await test.step("it needs no network for its libraries, and no cache", async () => {
      const none = { DENO_DIR: `${directory}/none`, NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/" };
      const { code, stdout, stderr } = await run(runner, ["patterns.yml"], directory, none);
      assertEquals([code, stderr], [0, ""]);
      assertStringIncludes(stdout, "fine");
      const help = await run(runner, ["help", "secrets"], directory, none);
      assertEquals([help.code, help.stderr], [0, ""]);
    });

    await test.step("it depends on Deno for each system that has it", async () => {
      const { optionalDependencies } = JSON.parse(
        await Deno.readTextFile(`${CHECKOUT}/dist/npm/package.json`),
      );
      const name = `deno@${Deno.version.deno}`;
      const view = await run("npm", ["view", name, "optionalDependencies", "--json"], directory);
      assertEquals(optionalDependencies, JSON.parse(view.stdout));
    });

    await run("npm", ["install", "--no-save", NEWER], directory);
    const newer = `${directory}/node_modules/${NEWER.split("@")[0]}/bin`;
    for (const [which, path] of [["this Node.js", ""], ["a newer Node.js", `${newer}:`]] as const) {
      const env = { PATH: `${path}${Deno.env.get("PATH")}` };

      await test.step(`with ${which} it passes on the exit code and the standard input`, async () => {
        const failing = PATTERNS.replace('"b"', '"x"');
        const { code, stdout, stderr } = await run(runner, ["/dev/stdin"], directory, env, failing);
        assertEquals([code, stderr], [1, ""]);
        assertStringIncludes(stdout, "test is false");
      });

      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        await test.step(`with ${which} it ends by ${signal} as the program does`, async () => {
          const { code, stdout, pid } = await interrupt(runner, directory, env, signal);
          assertEquals(code, 1);
          assertStringIncludes(stdout, `interrupted by ${signal}`);
          assertEquals(isRunning(pid), false);
          assertEquals(await Deno.readTextFile(`${directory}/cleaned`), "cleaned up\n");
          await Deno.remove(`${directory}/cleaned`);
        });
      }
    }

    await test.step("npx runs it from the archive", async () => {
      const args = ["--yes", "--package", archive, "runner", "patterns.yml"];
      const { code, stdout, stderr } = await run("npx", args, directory);
      assertEquals(code, 0, stderr);
      assertStringIncludes(stdout, "fine");
    });

    await test.step("it says so if npm has left out Deno", async () => {
      await Deno.remove(`${prefix}/lib/node_modules/@runner/runner/node_modules`, {
        recursive: true,
      });
      const { code, stderr } = await run(runner, ["patterns.yml"], directory);
      assertEquals(code, 1);
      assert(/^runner: error: the npm package @deno\/\S+ is not installed\n/.test(stderr), stderr);
    });
  });
});

/** Sends a signal to the command while a step runs; gives the process of the step. */
async function interrupt(
  runner: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
  signal: Deno.Signal,
) {
  const child = new Deno.Command(runner, {
    args: ["sleeps.yml"],
    cwd,
    env: { ...env, NO_COLOR: "1" },
    stdout: "piped",
  }).spawn();
  let pid = 0;
  await until(async () => {
    pid = Number(await Deno.readTextFile(`${cwd}/pid`).catch(() => ""));
    return pid > 0;
  }, "the step runs");
  child.kill(signal);
  const { code, stdout } = await child.output();
  await Deno.remove(`${cwd}/pid`);
  return { code, stdout: new TextDecoder().decode(stdout), pid };
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  input = "",
) {
  const child = new Deno.Command(program === "deno" ? Deno.execPath() : program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", LC_ALL: "C.UTF-8", ...env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await new Response(input).body?.pipeTo(child.stdin).catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: err! };
}
