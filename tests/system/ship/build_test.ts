/**
 * Builds take a while, and binaries need packages from npm in place of the runtime.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));
const COMMIT = "0123456789abcdef0123456789abcdef01234567";

Deno.test("builds are reproducible in another directory", async (test) => {
  await withFiles({}, async (directory) => {
    const { stdout } = await run("git", ["ls-files", "-z"], CHECKOUT);
    const places = [`${directory}/one`, `${directory}/a/place/far/away`];
    for (
      const path of stdout.split("\0").filter((path) =>
        /^(src|scripts|types|docs)\/|^[^/]+$/.test(path)
      )
    ) {
      for (const directory of places) {
        const target = `${directory}/${path}`;
        await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
        await Deno.copyFile(
          `${places[0] === directory ? CHECKOUT : `${places[0]}/`}${path}`,
          target,
        );
      }
    }
    const builds = await Promise.all(places.map(async (directory) => {
      const built = await run(
        "deno",
        ["run", "-A", "scripts/bundle.ts", "dist", COMMIT],
        directory,
      );
      assertEquals(built.code, 0, built.stdout + built.stderr);
      return await digests(`${directory}/dist`);
    }));
    assertEquals(builds[0], builds[1]);
    const split = `${places[1]}/dist/split/cli.js`;
    const { stdout: version } = await run("deno", ["run", "-A", split, "--version"], directory);
    assertStringIncludes(version, "(commit: 0123456)\n");
    await test.step("conformance tests pass from a URL that leads elsewhere", () =>
      conformFromUrl(`${places[0]}/dist/runner.js`));
    await test.step("without the runtime for binaries nothing is written, and a message says so", () =>
      compileWithout(places[0]!));
    await test.step("binaries have the printed names and checksums", () => compileWith(places[0]!));
  });
});

/** Cases that need no library: no registry answers here. */
const CASES = [
  "embedded runs a job file as a step",
  "http sends a request",
  "retry until polls",
  "several mistakes are reported at once",
  "shell runs a command",
];

async function conformFromUrl(file: string): Promise<void> {
  const text = await Deno.readTextFile(file);
  const asked: string[] = [];
  await using server = withServer((request) => {
    const { pathname, origin } = new URL(request.url);
    asked.push(pathname);
    if (pathname === "/latest/download/runner.js") {
      return Response.redirect(`${origin}/objects/8f2c1d?signature=x`, 302);
    }
    return pathname === "/objects/8f2c1d"
      ? new Response(text, { headers: { "content-type": "application/octet-stream" } })
      : new Response("no", { status: 503 });
  });
  const program = `${server.url}/latest/download/runner.js`;
  await withFiles({}, async (cache) => {
    const env = { DENO_DIR: cache, NPM_CONFIG_REGISTRY: server.url, JSR_URL: server.url };
    // Only the first start says that it downloads something.
    const first = await run("deno", ["run", "-A", program, "--version"], cache, env);
    assertMatch(first.stdout, /^Runner Version /);
    const { code, stdout, stderr } = await run(
      "deno",
      [
        ...["test", "-A", "--no-check", "--reporter=dot", "tests/conformance_test.ts"],
        `--filter=/^conformance: (${CASES.join("|")})$/`,
      ],
      CHECKOUT,
      {
        RUNNER_BIN: program,
        RUNNER_BIN_ENV: JSON.stringify(env),
      },
    );
    assertMatch(stdout, new RegExp(`^ok \\| ${CASES.length} passed \\| 0 failed `, "m"));
    assertEquals(code, 0, stderr);
    assert((await namesIn(cache)).includes("remote"), "it was not run from there");
  });
  assertEquals(asked, ["/latest/download/runner.js", "/objects/8f2c1d"]);
}

const NAME = `linux-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
const COMPILE = ["run", "-A", "scripts/compile.ts", NAME];

async function compileWithout(directory: string): Promise<void> {
  const before = await namesIn(`${directory}/dist`);
  // Nobody answers there.
  const { code, stderr } = await run("deno", COMPILE, directory, {
    HTTPS_PROXY: "http://127.0.0.1:9",
  });
  assertEquals(code, 1);
  assertStringIncludes(stderr, "cannot make the binaries, and nothing was written");
  assertMatch(stderr, new RegExp(`^  ${NAME}: .*https://dl.deno.land/`, "m"));
  assertStringIncludes(stderr, '"deno task compile:check"');
  assertEquals(/\n +at /.test(stderr), false, stderr);
  assertEquals(await namesIn(`${directory}/dist`), before);
}

async function compileWith(directory: string): Promise<void> {
  const { code, stderr } = await run("deno", COMPILE, directory, { DENORT_BIN: "/bin/true" });
  assertEquals(code, 0, stderr);
  const dist = `${directory}/dist`;
  const files = ["runner.js", "runner-pages.js", `runner-${NAME}`];
  assertEquals(await namesIn(dist), [...files, "SHA256SUMS", "split"].sort());
  const checked = await run("sha256sum", ["--check", "SHA256SUMS"], dist);
  assertEquals(checked.stdout, files.map((file) => `${file}: OK\n`).join(""));
}

async function namesIn(directory: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(directory), ({ name }) => name)).sort();
}

/** The checksums of the files in a directory. */
async function digests(directory: string): Promise<Record<string, string>> {
  const { stdout } = await run("sh", ["-c", "find . -type f -exec sha256sum {} +"], directory);
  const lines = stdout.trimEnd().split("\n").map((line) => line.split("  "));
  return Object.fromEntries(lines.map(([sum, path]) => [path, sum]));
}

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(
    program === "deno" ? Deno.execPath() : program,
    { args: [...args], cwd, env: { NO_COLOR: "1", ...env } },
  ).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out!, stderr: err! };
}
