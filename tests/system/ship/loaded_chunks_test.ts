/**
 * What a run does not need is not read when it starts: it can be missing.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { programEnv } from "../../support/run/run_cli.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));

/** What a run with one such step loads. */
const LOADED = [
  { uses: "hello", test: "status == 0", chunks: ["cli", "program", "start"] },
  { uses: "http", test: "res.code == 200", chunks: ["cli", "program", "start", "run", "http"] },
  {
    uses: "http",
    test: "res.code == 404",
    chunks: ["cli", "program", "start", "run", "http", "failure"],
  },
] as const;

Deno.test("a run loads the chunks of its subject alone", async (test) => {
  await using server = withServer(() => new Response("hi"));
  await withFiles({}, async (directory) => {
    const dist = `${directory}/dist`;
    const built = await deno(["run", "-A", `${CHECKOUT}scripts/bundle.ts`, dist], directory);
    assertEquals(built.code, 0, built.stderr);
    await test.step("help and the version", async () => {
      await withFiles({}, async (cwd) => {
        for (const name of ["cli", "program"]) {
          await Deno.copyFile(`${dist}/split/${name}.js`, `${cwd}/${name}.js`);
        }
        for (const option of ["--help", "--version"]) {
          const { code, stderr } = await deno(["run", "-A", `${cwd}/cli.js`, option], cwd);
          assertEquals([code, stderr], [0, ""]);
        }
      });
    });
    for (const { uses, test: condition, chunks } of LOADED) {
      await test.step(`${uses} with ${condition}`, async () => {
        const params = uses === "http" ? `with: { get: "${server.url}" }, ` : "";
        await withFiles({
          "flow.yml":
            `name: n\njobs: [{ name: j, steps: [{ uses: ${uses}, ${params}test: ${condition} }] }]\n`,
        }, async (cwd) => {
          for (const name of chunks) {
            await Deno.copyFile(`${dist}/split/${name}.js`, `${cwd}/${name}.js`);
          }
          const program = ["--no-config", "--no-npm", "--no-remote", `${cwd}/cli.js`];
          const ran = await deno(["run", "-A", ...program, "flow.yml"], cwd, programEnv({}));
          const fails = condition.includes("404");
          assertEquals([ran.code, ran.stderr], [fails ? 1 : 0, ""], ran.stdout);
          if (fails) assertEquals(ran.stdout.includes("test is false"), true, ran.stdout);
        });
      });
    }
  });
});

async function deno(args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const options = { args: [...args], cwd, env: { NO_COLOR: "1", ...env } };
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), options).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}
