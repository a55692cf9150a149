/**
 * The conformance tests and those of `gen` again, where things are not as at home: without a home,
 * with one that cannot be written, in a folder with a name of all kinds of characters, in the C
 * locale, and as somebody who is not root. Reports go to a disk that is full, too.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";
import { runCli } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url));
const CASES = [...Deno.readDirSync(`${CHECKOUT}tests/conformance`)].length;
const TESTS = ["tests/conformance_test.ts", "tests/openapi/fixtures_test.ts"];
const IS_ROOT = Deno.uid() === 0;
const NOBODY = 65534;

interface Run {
  readonly folder: string;
  /** The words in front of `deno test`. */
  readonly as?: readonly string[];
  readonly deno?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs these tests in a checkout, and expects that all of them pass. */
async function assertConformance({ folder, as = [], deno = Deno.execPath(), env }: Run) {
  const flags = ["-A", "--no-prompt", "--no-check", "--quiet"];
  const [program, ...args] = [...as, deno, "test", ...flags, ...TESTS];
  const { code, stdout, stderr } = await new Deno.Command(program!, {
    args,
    cwd: folder,
    clearEnv: true,
    env: { PATH: Deno.env.get("PATH") ?? "", NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
  }).output();
  const told = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, told.slice(-5000));
  const passed = Number(/^ok \| (\d+) passed.* \| 0 failed/m.exec(told)?.[1] ?? 0);
  assert(passed > CASES, told.slice(-5000));
}

/** What a program has to know to be the same elsewhere. */
function own(...left: readonly string[]): Record<string, string> {
  const names = ["HOME", "TMPDIR", "RUNNER_BIN"].filter((name) => !left.includes(name));
  const given = names.flatMap((name) => {
    const value = Deno.env.get(name);
    if (value === undefined) return [];
    return [[name, name !== "RUNNER_BIN" || /^https?:/.test(value) ? value : resolve(value)]];
  });
  return { ...Object.fromEntries(given), DENO_DIR: denoDir() };
}

/** Where Deno keeps what it has downloaded. */
function denoDir(): string {
  const args = ["info", "--json"];
  const { stdout } = new Deno.Command(Deno.execPath(), { args, cwd: "/" }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

async function copy(paths: readonly string[], to: string): Promise<void> {
  const { success } = await new Deno.Command("cp", { args: ["-r", "--", ...paths, to] }).output();
  assert(success, `cp to ${to}`);
}

/** Copies what the conformance tests need of the checkout. */
async function copyCheckout(to: string): Promise<void> {
  await Deno.mkdir(`${to}/tests/support`, { recursive: true });
  const parts = ["cli.ts", "deno.json", "deno.lock", "src", "types"];
  await copy(parts.map((part) => CHECKOUT + part), to);
  const tests = ["conformance", "conformance_test.ts", "openapi", "support"];
  await copy(tests.map((part) => `${CHECKOUT}tests/${part}`), `${to}/tests`);
}

Deno.test("everything is the same without HOME", async () => {
  await assertConformance({ folder: CHECKOUT, env: own("HOME") });
});

Deno.test("everything is the same in the C locale", async () => {
  await assertConformance({ folder: CHECKOUT, env: { ...own(), LANG: "C", LC_ALL: "C" } });
});

Deno.test("everything is the same in a folder whose name has spaces and characters of all kinds", async () => {
  await withFiles({}, async (made) => {
    const folder = `${made}/a b  'c' "d" #e%20 ünï 目录 🗂`;
    await copyCheckout(folder);
    await assertConformance({ folder, env: own() });
  });
});

Deno.test({
  name: "everything is the same for who is not root, with a HOME that cannot be written",
  async fn() {
    await withFiles({ "home/.keep": "" }, async (folder) => {
      await copyCheckout(`${folder}/checkout`);
      await Deno.mkdir(`${folder}/cache`);
      await Deno.mkdir(`${folder}/tmp`);
      await copy([`${denoDir()}/npm`], `${folder}/cache`);
      await copy([Deno.execPath()], `${folder}/deno`);
      const env = { DENO_DIR: `${folder}/cache`, TMPDIR: `${folder}/tmp`, HOME: `${folder}/home` };
      await Deno.chmod(`${folder}/home`, 0o555);
      if (!IS_ROOT) return await assertConformance({ folder: `${folder}/checkout`, env });
      const theirs = ["checkout", "cache", "tmp"].map((part) => `${folder}/${part}`);
      await new Deno.Command("chown", { args: ["-R", String(NOBODY), ...theirs] }).output();
      await Deno.chmod(folder, 0o755);
      await assertConformance({
        folder: `${folder}/checkout`,
        as: ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"],
        deno: `${folder}/deno`,
        env,
      });
    });
  },
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
  name: `a full disk for reports is told, and leaves no half of one${
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
            const result = await runCli(["-q", "w.yml", `--report=${format}=${path}`], { cwd });
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
