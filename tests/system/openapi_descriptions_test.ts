/** Descriptions by several authors, from npm packages: tests/tools/package.json. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { operationsOf } from "../openapi/mock_server.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";

const PACKAGES = fromFileUrl(new URL("../tools/node_modules/", import.meta.url));

const FILES = [
  "@figma/rest-api-spec/openapi/openapi.yaml",
  "@octokit/openapi/generated/api.github.com.json",
  "@octokit/openapi/generated/github.ae.json",
  "@scalar/galaxy/dist/3.1.json",
  "@scalar/galaxy/dist/3.1.yaml",
  "kubernetes-client/lib/specs/swagger-1.13.json.gz",
  ...["2.0/json", "2.0/yaml", "3.0/json", "3.0/yaml", "3.1/json", "3.1/yaml"].flatMap((directory) =>
    [...Deno.readDirSync(`${PACKAGES}@readme/oas-examples/${directory}`)]
      .flatMap(({ name, isFile }) => isFile ? [`@readme/oas-examples/${directory}/${name}`] : [])
      .sort()
  ),
];

/** These describe only webhooks, which cannot be called. */
const WITHOUT_OPERATIONS = /\/webhooks\.(?:json|yaml)$/;

for (const file of FILES) {
  Deno.test(`gen: ${file}`, async () => {
    const text = await read(`${PACKAGES}${file}`);
    await withFiles({ "api.yaml": text }, async (cwd) => {
      const made = await runMain(["gen", "api.yaml", "-o", "w.yml"], { cwd });
      if (WITHOUT_OPERATIONS.test(file)) {
        assertEquals([made.code, made.stdout], [1, ""]);
        return;
      }
      assertEquals([made.code, made.stdout], [0, ""], made.stderr);
      assert(!/^(?!warning: |wrote w\.yml: )/m.test(made.stderr.trimEnd()), made.stderr);

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

/** Versions of a description, and the number of operations that the later one adds. */
const VERSIONS = [
  [
    "kubernetes-client/lib/specs/swagger-1.10.json.gz",
    "kubernetes-client/lib/specs/swagger-1.13.json.gz",
    69,
  ],
  [
    "@octokit/openapi/generated/ghes-2.18.json",
    "@octokit/openapi/generated/ghes-2.22.json",
    131,
  ],
] as const;

for (const [before, after, count] of VERSIONS) {
  Deno.test(`gen makes what ${after} has over ${before}`, async () => {
    await withFiles({ "api.json": await read(PACKAGES + before) }, async (cwd) => {
      const gen = (...args: string[]) => runMain(["gen", "api.json", ...args], { cwd });
      await gen("-o", "w.yml");
      await Deno.writeTextFile(`${cwd}/api.json`, await read(PACKAGES + after));
      const { stderr } = await gen("w.yml", "-o", "new.yml");
      assertStringIncludes(stderr, `w.yml: ${count} operations missing`);
      const checked = await runMain(["check", "--strict", "new.yml"], { cwd });
      assertEquals([checked.code, checked.stdout], [0, "1 workflow checked: ok\n"], checked.stderr);
    });
  });
}

async function read(path: string): Promise<string> {
  const bytes = await Deno.readFile(path);
  if (!path.endsWith(".gz")) return new TextDecoder().decode(bytes);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(unpacked).text();
}

Deno.test("a response is compared with the description of the API of GitHub", async () => {
  await using server = withServer(() => Response.json({ id: "x" }));
  const flow = {
    name: "n",
    jobs: [{
      name: "j",
      steps: [{
        uses: "http",
        with: {
          get: `${server.url}/repos/a/b/issues/1`,
          openapi: `${PACKAGES}@octokit/openapi/generated/api.github.com.json`,
        },
      }],
    }],
  };
  await withFiles({ "w.yml": JSON.stringify(flow) }, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "body.assignee is missing");
    assertStringIncludes(stdout, "operations    1 of 706 (0%)");
  });
});
