/**
 * What depends on where and as whom the program runs, under unusual conditions:
 * as a user other than root, with a HOME that cannot be written, in a directory with a name of
 * unusual characters, in the C locale; and without a HOME. Reports go to a disk that is full, too.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { stripAnsiCode } from "@std/fmt/colors";
import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { assertPassed } from "../../support/assert_passed.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));
/** What depends on where and as whom the program runs. */
const CASES = [
  "embedded runs a job file as a step",
  "http sends a request",
  "iteration reads the rows of a file",
  "mistakes in job files are reported with those of the workflow",
  "shell runs a command",
];
const TESTS = [
  ...[
    "test",
    "-A",
    "--no-check",
    "--no-prompt",
    "tests/conformance_test.ts",
    "tests/smoke_test.ts",
  ],
  `--filter=/^smoke: |^conformance: (${CASES.join("|")})$/`,
];
const IS_ROOT = Deno.uid() === 0;
const NOBODY = 65534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

interface Environment {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The words that start Deno. */
  readonly deno?: readonly string[];
}

/** Runs the tests in a place; none of them may fail. */
async function passAll({ cwd, env, deno = [Deno.execPath()] }: Environment): Promise<void> {
  const [program, ...args] = [...deno, ...TESTS];
  const { code, stdout, stderr } = await new Deno.Command(program!, {
    args,
    cwd,
    clearEnv: true,
    env: { ...env, DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  const output = stripAnsiCode(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  assertEquals(code, 0, output.slice(-50_000));
  const passed = Number(/^ok \| (\d+) passed/m.exec(output)?.[1]);
  assert(passed > CASES.length + 10, output);
}

/** The environment of the tests, without HOME. RUNNER_BIN may be relative to this directory. */
function environment(): Record<string, string> {
  const { HOME: _, ...env } = Deno.env.toObject();
  const bin = env.RUNNER_BIN;
  if (bin && !/^https?:/.test(bin)) env.RUNNER_BIN = resolve(bin);
  return { ...env, DENO_DIR: denoDir() };
}

/** Where Deno keeps what it has downloaded. */
function denoDir(): string {
  const args = ["info", "--json"];
  const { stdout } = new Deno.Command(Deno.execPath(), { args, cwd: "/" }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** The directories of PATH that the user of the tests may read. */
function readablePath(): string[] {
  const directories = (Deno.env.get("PATH") ?? "").split(":");
  const [program, ...args] = [...IS_ROOT ? AS_NOBODY : [], "test", "-x"];
  return directories.filter((directory) =>
    new Deno.Command(program!, { args: [...args, directory] }).outputSync().success
  );
}

async function run(command: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args] }).output();
  assert(success, `${command}: ${new TextDecoder().decode(stderr)}`);
}

/** Makes a place in `directory` that is independent of the checkout, for a user other than root. */
async function makeForeign(directory: string, marks = ""): Promise<Environment> {
  const cwd = `${directory}/a b  'c' "d" ${marks}ünï 目录 🗂`;
  const cache = `${directory}/cache`;
  const tmp = `${directory}/tmp`;
  const bin = `${directory}/bin`;
  const home = `${directory}/home`;
  for (const path of [cwd, cache, tmp, bin, home]) await Deno.mkdir(path);
  const pack = 'tar -C "$1" --exclude=./dist --exclude=node_modules -cf - . | tar -C "$2" -xf -';
  await run("sh", "-c", pack, "sh", CHECKOUT, cwd);
  // Packages and the bundler; the rest of the cache is made anew.
  await run("sh", "-c", 'cd "$1" && cp -r $(ls -d npm dl) "$2"', "sh", denoDir(), cache);
  await run("cp", Deno.execPath(), `${bin}/deno`);
  await Deno.chmod(home, 0o555);
  await Deno.chmod(directory, 0o755);
  if (IS_ROOT) await run("chown", "-R", String(NOBODY), cwd, cache, tmp);
  const theirs = { DENO_DIR: cache, TMPDIR: tmp, HOME: home, LANG: "C", LC_ALL: "C" };
  const unlessWritable = ["sh", "-c", '! test -w "$HOME" && exec "$@"', "sh"];
  return {
    cwd,
    env: { ...environment(), ...theirs, PATH: [bin, ...readablePath()].join(":") },
    deno: [...IS_ROOT ? AS_NOBODY : [], ...unlessWritable, `${bin}/deno`],
  };
}

Deno.test("the program works in unusual environments", async (test) => {
  await test.step("not root, read-only HOME, a directory with an odd name, the C locale", () =>
    withFiles({}, async (directory) => passAll(await makeForeign(directory))));
  await test.step("a directory whose name looks like part of a URL", () =>
    withFiles({}, async (directory) => passAll(await makeForeign(directory, "#e%20 "))));
  await test.step("no HOME", () => passAll({ cwd: CHECKOUT, env: environment() }));
});

/** Whether a file system of a few kilobytes can be mounted; some containers do not allow it. */
const CAN_MOUNT = IS_ROOT && await canMount();

async function canMount(): Promise<boolean> {
  return await withFiles({}, async (directory) => {
    if (!await mount(directory, "64k")) return false;
    await unmount(directory);
    return true;
  });
}

async function mount(directory: string, size: string): Promise<boolean> {
  const args = ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory];
  return (await new Deno.Command("mount", { args }).output()).success;
}

async function unmount(directory: string): Promise<void> {
  await new Deno.Command("umount", { args: [directory] }).output();
}

Deno.test({
  name: `a full disk for reports is an error and leaves no partial report${
    CAN_MOUNT ? "" : " (skipped: nothing can be mounted here)"
  }`,
  ignore: !CAN_MOUNT,
  async fn(test) {
    const jobs = Array.from(
      { length: 500 },
      (_, index) => `- {name: job ${index}, steps: [{name: step ${index}, uses: hello}]}\n`,
    );
    const yaml = `name: n\njobs:\n${jobs.join("")}`;
    await withFiles({ "w.yml": yaml, "disk/.keep": "" }, async (cwd) => {
      const formats = ["junit", "tap", "json", "ndjson", "ctrf", "markdown", "html"];
      for (const format of formats) {
        await test.step(format, async () => {
          assert(await mount(`${cwd}/disk`, "4k"));
          try {
            const path = `disk/report.${format}`;
            const result = await runMain(["-q", "w.yml", `--report=${format}=${path}`], { cwd });
            assertEquals(result.code, 1, result.stdout);
            assertEquals(
              result.stderr,
              `runner: error: cannot write the report '${path}': No space left on device\n`,
            );
            assertPassed(result.stdout);
            // One that grows while it is written keeps what it has.
            const left = [...Deno.readDirSync(`${cwd}/disk`)].map(({ name }) => name);
            assertEquals(left, format === "ndjson" ? [`report.${format}`] : []);
          } finally {
            await unmount(`${cwd}/disk`);
          }
        });
      }
    });
  },
});
