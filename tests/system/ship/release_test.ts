import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { makeFormula } from "../../../scripts/make_formula.ts";
import { makeSbom } from "../../../scripts/make_sbom.ts";

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly jobs: Readonly<
    Record<string, {
      readonly needs?: readonly string[];
      readonly uses?: string;
      readonly steps?: readonly Step[];
    }>
  >;
}

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, ROOT));
const yaml = async (path: string) => parse(await read(path));
const exists = (path: string) => Deno.stat(new URL(path, ROOT)).then(() => true, () => false);

const WORKFLOWS = [".github/workflows/test.yml", ".github/workflows/release.yml"];
const GITHUB = [...WORKFLOWS, "action.yml"];
const config = JSON.parse(await read("deno.json"));

async function stepsOf(path: string): Promise<readonly Step[]> {
  const { jobs } = await yaml(path) as Workflow;
  return Object.values(jobs).flatMap(({ steps = [] }) => steps);
}

for (const path of WORKFLOWS) {
  Deno.test(`${path} names jobs, tasks and files that exist`, async () => {
    const { jobs } = await yaml(path) as Workflow;
    for (const { needs = [], uses } of Object.values(jobs)) {
      for (const need of needs) assert(need in jobs, `no job ${need}`);
      if (uses !== undefined) assert(await exists(uses), `no ${uses}`);
    }
    const scripts = (await stepsOf(path)).map(({ run = "" }) => run).join("\n");
    for (const [, task = ""] of scripts.matchAll(/deno task ([\w:]+)/g)) {
      assert(task in config.tasks, `no task ${task}`);
    }
    for (const [file] of scripts.matchAll(/\b(?:scripts|tests)\/[\w./]+|\bcli\.ts/g)) {
      assert(await exists(file), `no ${file}`);
    }
  });
}

for (const path of GITHUB) {
  Deno.test(`${path} pins its actions by commit, or says why not`, async () => {
    const lines = (await read(path)).split("\n");
    for (const [index, line] of lines.entries()) {
      if (!/uses: [^.]/.test(line)) continue;
      const isPinned = /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line);
      assert(isPinned || lines[index - 1]!.includes("Pinned by tag"), line);
    }
  });
}

Deno.test("the workflows use the version of deno that the tests use", async () => {
  const version = /deno@(\S+)/.exec(await read(".ci/run"))?.[1];
  for (const path of WORKFLOWS) {
    const used = [...(await read(path)).matchAll(/deno@(\S+)/g)].map(([, one]) => one);
    assert(used.length > 0);
    assertEquals(new Set(used), new Set([version]));
  }
});

Deno.test("install.sh installs the files that a release publishes", async () => {
  const release = await read(WORKFLOWS[1]!);
  const tried = [...release.matchAll(/file: (runner-[\w.-]+)/g)].map(([, file]) => file);
  assertEquals(tried, [
    "runner-linux-x64",
    "runner-linux-arm64",
    "runner-macos-x64",
    "runner-macos-arm64",
    "runner-windows-x64.exe",
  ]);
  const sums = tried.map((file, index) => `${String(index).repeat(64)}  ${file}`).join("\n");
  const formula = makeFormula("https://host/org/repo/releases", "1.2.3", sums);
  assertStringIncludes(
    formula,
    'url "https://host/org/repo/releases/download/v1.2.3/runner-macos-arm64"\n      sha256 "3333',
  );
  assertThrows(() => makeFormula("https://host", "1.2.3", ""), Error, "no checksum of runner-");
  assertStringIncludes(await read("scripts/install.ps1"), '"runner-windows-x64.exe"');
});

Deno.test("install.ps1 is what Windows PowerShell reads without a mark of its encoding: ASCII", async () => {
  assertEquals(/[^\t\n\x20-\x7e]/.exec(await read("scripts/install.ps1"))?.[0], undefined);
});

Deno.test("action.yml names files that exist, and options that the program has", async () => {
  const text = await read("action.yml");
  for (const [, file = ""] of text.matchAll(/ACTION\/([\w./]+)/g)) assert(await exists(file), file);
  assert(/"report-dir"/.test(await read("src/cli/registry.ts")));
  const { inputs, runs } = await yaml("action.yml") as {
    inputs: Record<string, unknown>;
    runs: { steps: { run?: string; shell?: string; uses?: string }[] };
  };
  for (const [, name = ""] of text.matchAll(/inputs\.([\w-]+)/g)) assert(name in inputs, name);
  // A value from outside is never part of a script.
  for (const { run, shell, uses } of runs.steps) {
    if (uses !== undefined) continue;
    assert(shell !== undefined && run !== undefined && !run.includes("${{"), run);
  }
});

Deno.test("the bill of materials names every package of the lock file", async () => {
  const lock = JSON.parse(await read("deno.lock"));
  const sbom = makeSbom(lock, "runner", "1.2.3") as {
    components: { purl: string; name: string; version: string; hashes: { content: string }[] }[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  assertEquals(sbom.components.length, Object.keys(lock.npm).length);
  for (const { purl, version, hashes } of sbom.components) {
    assert(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/.test(purl), purl);
    assert(/^\d+\.\d+\.\d+/.test(version));
    assertEquals(hashes[0]?.content.length, 128);
  }
  const known = new Set(sbom.components.map(({ purl }) => purl));
  for (const { dependsOn } of sbom.dependencies) {
    for (const ref of dependsOn) assert(known.has(ref));
  }
});

Deno.test("the version is the same everywhere", async () => {
  const { version } = config;
  assertStringIncludes(await read("src/cli/version.ts"), `"${version}"`);
  assertStringIncludes(await read("CHANGELOG.md"), version);
});

Deno.test("the package can be published, and contains only the program", async () => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["publish", "--dry-run", "--allow-dirty"],
    cwd: fromFileUrl(ROOT),
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(success, said);
  assertStringIncludes(said, "/mod.ts (");
  assertStringIncludes(said, "/src/cli/main.ts (");
  assert(
    !/\/(tests|site|scripts|docs)\//.test(said.split("Simulating")[1]!.replaceAll(ROOT.href, "/")),
    said,
  );
});
