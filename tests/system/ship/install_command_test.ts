/**
 * `deno task install` builds the program, which takes a while.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { cmdLauncher } from "../../../scripts/install/launchers.ts";
import { CHECKOUT } from "../../support/documents.ts";
import { withFiles } from "../../support/temp_dir.ts";

const FLOW = `name: Patterns
jobs:
  - name: j
    steps: [{ uses: hello, test: '"abc" matches "b"', echo: fine }]
`;

Deno.test("task install writes a command that needs neither the checkout nor a cache", async () => {
  await withFiles({ "flow.yml": FLOW, "deno.json": "no configuration" }, async (directory) => {
    // The cache of npx, which a user may clean.
    const cache = `${directory}/cache`;
    await Deno.mkdir(cache);
    await Deno.copyFile(Deno.execPath(), `${cache}/deno`);
    const prefix = `${directory}/it's here`;
    const { code, stderr } = await run(`${cache}/deno`, [
      ...["run", "-A", "scripts/install_command.ts", "--prefix", prefix],
    ], CHECKOUT);
    assertEquals(code, 0, stderr);
    assertMatch(stderr, /^installed .*\/it's here\/bin\/runner: Runner Version \d/m);
    assertStringIncludes(stderr, `add it to your PATH: export PATH="${prefix}/bin:$PATH"`);
    await Deno.remove(cache, { recursive: true });

    const none = { DENO_DIR: `${directory}/none`, HOME: directory, NPM_CONFIG_REGISTRY: "no:" };
    const passed = await run(`${prefix}/bin/runner`, ["flow.yml"], directory, none);
    assertEquals([passed.code, passed.stderr], [0, ""]);
    assertStringIncludes(passed.stdout, "fine");
    const failed = await run(`${prefix}/bin/runner`, ["missing.yml"], directory, none);
    assertEquals(failed.code, 1);

    const names = Array.from(Deno.readDirSync(`${prefix}/lib`), ({ name }) => name);
    assertEquals(names, ["runner"]);
  });
});

Deno.test("task install says where it cannot write", async () => {
  await withFiles({ "file": "" }, async (directory) => {
    const args = ["task", "--quiet", "install", "--prefix", `${directory}/file`];
    const { code, stderr } = await run(Deno.execPath(), args, CHECKOUT);
    assertEquals(code, 1);
    assertStringIncludes(stderr, `error: cannot write to ${directory}/file: `);
    assert(!/\n +at /.test(stderr), stderr);
  });
});

Deno.test("the command of Windows starts Deno where it is", () => {
  const [, , line] = cmdLauncher("C:\\100% me\\deno.exe", "C:\\100% me\\cli.js").split("\r\n");
  const options = "run --allow-all --no-config --no-lock";
  assertEquals(line, `@"C:\\100%% me\\deno.exe" ${options} "C:\\100%% me\\cli.js" %*`);
});

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
) {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", LC_ALL: "C.UTF-8", ...env },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: err! };
}
