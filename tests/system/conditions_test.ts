/**
 * All tests of `deno task test` again under unusual conditions: as a user other than root,
 * with a HOME that cannot be written, in a directory with a name of unusual characters, in the C.UTF-8
 * locale; and without a HOME. Reports go to a disk that is full, too.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { stripAnsiCode } from "@std/fmt/colors";
import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";
import config from "../../deno.json" with { type: "json" };
import { runMain } from "../support/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url));
/** The arguments of `deno test` in the task. */
const SUITE = config.tasks.test.command.split(" ").slice(2);
/** Those of the program as users start it. */
const PROGRAM_TESTS = ["-A", "tests/conformance_test.ts", "tests/openapi/fixtures_test.ts"];
const CASES = [...Deno.readDirSync(`${CHECKOUT}tests/conformance`)].length;
const IS_ROOT = Deno.uid() === 0;
const NOBODY = 65534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The words that start Deno. */
  readonly deno?: readonly string[];
}

interface Counts {
  readonly passed: number;
  /** Those that the filter leaves out. */
  readonly left: number;
}

/** Runs the suite, or some of it, of which nothing may fail. */
async function runSuite(place: Place, args: readonly string[] = SUITE): Promise<Counts> {
  const { cwd, env, deno = [Deno.execPath()] } = place;
  const [program, ...words] = [...deno, "test", "--no-check", "--no-prompt", ...args];
  const { code, stdout, stderr } = await new Deno.Command(program!, {
    args: words,
    cwd,
    clearEnv: true,
    env: { ...env, DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  const told = stripAnsiCode(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  const failed = told.slice(Math.max(told.lastIndexOf("\n ERRORS"), told.length - 50_000));
  assertEquals(code, 0, failed);
  const summary = /^ok \| (\d+) passed.* \| 0 failed(?:.*?(\d+) filtered out)?/m.exec(told);
  assert(summary, failed);
  return { passed: Number(summary[1]), left: Number(summary[2] ?? 0) };
}

/** What the tests inherit, without HOME. A path of RUNNER_BIN may be relative to this directory. */
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

async function run(command: string, ...args: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args: [...args] }).output();
  assert(success, `${command}: ${new TextDecoder().decode(stderr)}`);
}

/** Makes a place in `folder` that is independent of the checkout, for a user other than root. */
async function makeForeign(folder: string, marks = ""): Promise<Place> {
  const cwd = `${folder}/a b  'c' "d" ${marks}ünï 目录 🗂`;
  const cache = `${folder}/cache`;
  const tmp = `${folder}/tmp`;
  const bin = `${folder}/bin`;
  const home = `${folder}/home`;
  for (const path of [cwd, cache, tmp, bin, home]) await Deno.mkdir(path);
  const pack = 'tar -C "$1" --exclude=./dist --exclude=node_modules -cf - . | tar -C "$2" -xf -';
  await run("sh", "-c", pack, "sh", CHECKOUT, cwd);
  // Packages and the bundler; the rest of the cache is made anew.
  await run("sh", "-c", 'cd "$1" && cp -r $(ls -d npm dl) "$2"', "sh", denoDir(), cache);
  await run("cp", Deno.execPath(), `${bin}/deno`);
  await Deno.chmod(home, 0o555);
  await Deno.chmod(folder, 0o755);
  if (IS_ROOT) await run("chown", "-R", String(NOBODY), cwd, cache, tmp);
  // In a locale that is not UTF-8 the program writes ASCII, which has tests of its own.
  const theirs = { DENO_DIR: cache, TMPDIR: tmp, HOME: home, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" };
  const unlessWritable = ["sh", "-c", '! test -w "$HOME" && exec "$@"', "sh"];
  return {
    cwd,
    env: { ...environment(), ...theirs, PATH: `${bin}:${Deno.env.get("PATH")}` },
    deno: [...IS_ROOT ? AS_NOBODY : [], ...unlessWritable, `${bin}/deno`],
  };
}

Deno.test("all tests pass in unusual environments", async (test) => {
  const home = Deno.env.get("HOME") ?? "/";
  const { left: all } = await runSuite(
    { cwd: CHECKOUT, env: { ...environment(), HOME: home } },
    ["--filter=this is the name of no test", ...SUITE],
  );
  /** A few can be ignored: root may read everything. */
  const assertAll = ({ passed }: Counts) => assert(passed > 0.99 * all, `${passed} of ${all}`);

  await test.step("not root, read-only HOME, a directory with an odd name, the C.UTF-8 locale", async () => {
    await withFiles({}, async (folder) => assertAll(await runSuite(await makeForeign(folder))));
  });

  await test.step("a directory whose name looks like part of a URL", async () => {
    // Not all tests: Deno misreads an import map that leads into such a directory.
    await withFiles({}, async (folder) => {
      const { passed } = await runSuite(await makeForeign(folder, "#e%20 "), PROGRAM_TESTS);
      assert(passed > CASES, `${passed} of ${CASES}`);
    });
  });

  await test.step("no HOME", async () => {
    assertAll(await runSuite({ cwd: CHECKOUT, env: environment() }));
  });
});

/** Whether a file system of a few kilobytes can be mounted; some containers do not allow it. */
const CAN_MOUNT = IS_ROOT && await canMount();

async function canMount(): Promise<boolean> {
  return await withFiles({}, async (folder) => {
    if (!await mount(folder, "64k")) return false;
    await unmount(folder);
    return true;
  });
}

async function mount(folder: string, size: string): Promise<boolean> {
  const args = ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder];
  return (await new Deno.Command("mount", { args }).output()).success;
}

async function unmount(folder: string): Promise<void> {
  await new Deno.Command("umount", { args: [folder] }).output();
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
            assertStringIncludes(result.stdout, "All jobs succeeded");
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
