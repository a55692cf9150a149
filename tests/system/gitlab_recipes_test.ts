/** The files for GitLab that the documents show, run by gitlab-ci-local. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { printYaml } from "../../src/base/yaml/print_yaml.ts";
import { openShop } from "../../scripts/demo_server.ts";
import { type Block, readBlocks, readDocument } from "../support/documents.ts";
import { theProgram } from "../support/run/run_cli.ts";
import { shWords } from "../support/sh_words.ts";
import { withFiles } from "../support/temp_dir.ts";

const ENGINES = fromFileUrl(new URL("../tools/engines/", import.meta.url));

/**
 * Keys that ask for a container, download a release or choose when a pipeline runs. With an
 * `after_script`, gitlab-ci-local loses the artifacts of isolated shells.
 */
const OF_GITLAB = ["image", "before_script", "default", "rules", "after_script"];

const PAGES = [
  { page: "docs/ci/gitlab.md", jobs: 1, last: "Steps      1 passed (1)" },
  { page: "docs/ci/sharding.md", jobs: 4, last: "Workflows  1 passed (1)" },
];

for (const { page, jobs, last } of PAGES) {
  Deno.test(`the file for GitLab on ${page} runs in gitlab-ci-local`, async () => {
    const blocks = readBlocks(await readDocument(page));
    const recipe = blocks.find(({ text }) => text.includes("$CI_"));
    assert(recipe, "the page has no file for GitLab");
    const shop = openShop();
    try {
      await withFiles(filesOf(blocks, recipe.text), async (cwd) => {
        await Deno.chmod(`${cwd}/bin/runner`, 0o755);
        await makeRepository(cwd);
        const { code, text } = await runGitlab(cwd, shop.url);
        assertEquals(code, 0, text);
        assertEquals(text.match(/ PASS /g)?.length, jobs, text);
        assertStringIncludes(text, last);
        assertStringIncludes(await readAll(`${cwd}/.gitlab-ci-local/artifacts`), "<testsuites");
      });
      await withFiles(filesOf(blocks, recipe.text.replace("script:", "scripts:")), async (cwd) => {
        await makeRepository(cwd);
        assertEquals((await runGitlab(cwd, shop.url)).code, 1);
      });
    } finally {
      await shop.close();
    }
  });
}

/** The workflows of a page, its file for GitLab without containers, and the program. */
function filesOf(blocks: readonly Block[], recipe: string): Record<string, string> {
  const workflows = blocks.flatMap(({ marks, text }) => {
    const name = marks.get("file");
    return name === undefined ? [] : [[name, text]];
  });
  const [program, args] = theProgram();
  return {
    ...Object.fromEntries(workflows),
    ".gitlab-ci.yml": printYaml(withoutContainers(parse(recipe))),
    "bin/runner": `#!/bin/sh\nexec ${shWords([program, ...args])} "$@"\n`,
  };
}

function withoutContainers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([key]) => !OF_GITLAB.includes(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutContainers(inner)]));
}

/** GitLab's files belong to a repository with a remote. */
async function makeRepository(cwd: string): Promise<void> {
  for (
    const args of [
      ["init", "-q"],
      ["remote", "add", "origin", "git@gitlab.com:some/project.git"],
      ["add", "flows", ".gitlab-ci.yml"],
      ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "flows"],
    ]
  ) assertEquals((await new Deno.Command("git", { args, cwd }).output()).code, 0);
}

async function runGitlab(cwd: string, shop: string): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--quiet", "--frozen", "--config", `${ENGINES}deno.json`],
      ...[`${ENGINES}run_gitlab.ts`, "--shell-isolation", "--force-shell-executor"],
    ],
    cwd,
    env: { PATH: `${cwd}/bin:${Deno.env.get("PATH")}`, SHOP_URL: shop, RUNNER_OUTPUT: "stream" },
  }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  // deno-lint-ignore no-control-regex
  return { code, text: text.replace(/\x1b\[[0-9;]*m/g, "") };
}

/** The texts of all files below a directory. */
async function readAll(directory: string): Promise<string> {
  let text = "";
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    text += isDirectory ? await readAll(path) : await Deno.readTextFile(path);
  }
  return text;
}
