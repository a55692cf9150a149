/** Descriptions by several authors, from npm packages: tests/tools/package.json. */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { operationsOf } from "../openapi/mock_server.ts";
import { runMain } from "../support/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const PACKAGES = fromFileUrl(new URL("../tools/node_modules/", import.meta.url));

const FILES = [
  "@figma/rest-api-spec/openapi/openapi.yaml",
  "@octokit/openapi/generated/api.github.com.json",
  "@octokit/openapi/generated/github.ae.json",
  "@scalar/galaxy/dist/3.1.json",
  "@scalar/galaxy/dist/3.1.yaml",
  "kubernetes-client/lib/specs/swagger-1.13.json.gz",
  ...["2.0/json", "2.0/yaml", "3.0/json", "3.0/yaml", "3.1/json", "3.1/yaml"].flatMap((folder) =>
    [...Deno.readDirSync(`${PACKAGES}@readme/oas-examples/${folder}`)]
      .flatMap(({ name, isFile }) => isFile ? [`@readme/oas-examples/${folder}/${name}`] : [])
      .sort()
  ),
];

/** These describe only webhooks, which cannot be called. */
const WITHOUT_OPERATIONS = /\/webhooks\.(?:json|yaml)$/;

for (const file of FILES) {
  Deno.test(`gen: ${file}`, async () => {
    const text = await read(`${PACKAGES}${file}`);
    await withFiles({ "api.yaml": text }, async (cwd) => {
      const started = performance.now();
      const made = await runMain(["gen", "api.yaml", "-o", "w.yml"], { cwd });
      const seconds = (performance.now() - started) / 1000;
      if (WITHOUT_OPERATIONS.test(file)) {
        assertEquals([made.code, made.stdout], [1, ""]);
        return;
      }
      assertEquals([made.code, made.stdout], [0, ""], made.stderr);
      assert(!/^(?!warning: )/m.test(made.stderr.trimEnd() || "warning: "), made.stderr);
      assert(seconds < 5, `${seconds} s`);

      const checked = await runMain(["check", "--strict", "w.yml"], { cwd });
      assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);

      const workflow = await Deno.readTextFile(`${cwd}/w.yml`);
      const steps = workflow.split("\n").filter((line) => line === "        uses: http").length;
      const operations = operationsOf(parse(text) as Readonly<Record<string, unknown>>).length;
      assert(steps >= operations && operations > 0, `${steps} steps for ${operations} operations`);

      const again = await runMain(["gen", "api.yaml"], { cwd });
      assertEquals(again.stdout, workflow);
    });
  });
}

async function read(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  if (!path.endsWith(".gz")) return new TextDecoder().decode(bytes);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(unpacked).text();
}
