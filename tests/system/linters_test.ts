/**
 * Runs linters on the files that carry the program to its users. Each linter also gets a broken
 * file, to prove that it finds mistakes.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { makeFormula } from "../../scripts/make_formula.ts";
import { TARGETS } from "../../scripts/compile/targets.ts";
import { CHECKOUT, listDocuments, readBlocks, readDocument } from "../support/documents.ts";
import { askTool } from "../support/programs/ask_tool.ts";
import { lintAll } from "../support/programs/lint_all.ts";

const ENGINES = fromFileUrl(new URL("../tools/engines/", import.meta.url));

const WORKFLOWS = [".github/workflows/release.yml", ".github/workflows/test.yml"];
const GITHUB = [...WORKFLOWS, "action.yml"];
const SCRIPTS = ["scripts/install.sh", "scripts/install_system_packages.sh", ".ci/run"];

/** A line of a file, a wrong line instead of it, and a word of the message. */
const MISTAKES: readonly (readonly [path: string, from: string, to: string, said: string])[] = [
  [WORKFLOWS[0]!, "needs: [try]", "needs: [tri]", "tri"],
  [WORKFLOWS[0]!, "attestations: write", "attestation: write", "attestation"],
  [WORKFLOWS[0]!, "contents: write", "contents: wrong", "wrong"],
  [WORKFLOWS[0]!, "github.ref_name", "github.refname", "refname"],
  [WORKFLOWS[0]!, "matrix.file", "matrix.fil", "fil"],
  [WORKFLOWS[0]!, "working-directory:", "workingdirectory:", "workingdirectory"],
  [WORKFLOWS[1]!, "    runs-on: ${{ matrix.os }}\n", "", "runs-on"],
  [WORKFLOWS[1]!, "container:", "containers:", "containers"],
  ["action.yml", "using: composite", "using: compsite", "compsite"],
  ["action.yml", "icon: play-circle", "icon: playcircle", "playcircle"],
  ["action.yml", "description: passed", "descripton: passed", "descripton"],
  ["Dockerfile", "WORKDIR", "WORKDR", "WORKDR"],
  ["Dockerfile", "FROM debian:stable-slim\n", "FORM debian:stable-slim\n", "FORM"],
];

Deno.test("linters find no problems in workflows, action.yml and Dockerfile", async () => {
  const texts: Record<string, string> = {};
  for (const path of [...GITHUB, "Dockerfile"]) texts[path] = await readDocument(path);
  const right = Object.keys(texts);
  for (const [index, [path, from, to]] of MISTAKES.entries()) {
    assert(texts[path]!.includes(from), `there is no ${from} in ${path}`);
    texts[`${index}/${path}`] = texts[path]!.replace(from, to);
  }
  const recipes = await recipesWith(/^on:/m);
  assert(recipes.length > 4);
  for (const [index, text] of recipes.entries()) {
    texts[`recipe${index}/.github/workflows/recipe.yml`] = text;
    right.push(`recipe${index}/.github/workflows/recipe.yml`);
  }
  for (const text of recipes) {
    assertEquals(await askTool(ENGINES, ["--frozen", "lint_github.ts"], text), [], text);
  }
  const found = await lintAll(texts);
  for (const path of right) assertEquals(found[path], [], path);
  for (const [index, [path, , , said]] of MISTAKES.entries()) {
    assertStringIncludes(found[`${index}/${path}`]!.join("\n"), said);
  }
});

/** The files that the pages about CI show and that have a line of this form. */
async function recipesWith(line: RegExp): Promise<string[]> {
  const pages = (await listDocuments()).filter((path) => path.startsWith("docs/ci/"));
  const blocks = (await Promise.all(pages.map(readDocument))).flatMap(readBlocks);
  return blocks.filter(({ text }) => line.test(text)).map(({ text }) => text);
}

Deno.test("shellcheck finds no problems in scripts, including those in workflows", async () => {
  const scripts = new Map<string, { readonly text: string; readonly shell: string }>();
  for (const path of SCRIPTS) scripts.set(path, { text: await readDocument(path), shell: "sh" });
  for (const path of GITHUB) {
    for (
      const [index, { run, shell = "bash", env = {} }] of stepsOf(await readDocument(path))
        .entries()
    ) {
      if (run === undefined || shell === "pwsh") continue;
      const set = Object.keys(env).map((name) => `export ${name}=x; `).join("");
      scripts.set(`${path}, step ${index + 1}`, { text: `${set}${run}`, shell });
    }
  }
  assert(scripts.size > 20, `${scripts.size} scripts`);
  for (const [name, { text, shell }] of scripts) {
    assertEquals(await shellcheck(text, shell), "", name);
  }
  assertStringIncludes(await shellcheck("rm -rf $HOME/$1\n", "sh"), "SC2086");
  assertStringIncludes(await shellcheck("a=(1); echo ${a[0]}\n", "sh"), "SC3030");
});

interface Step {
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** The steps of a workflow of GitHub or of an action. */
function stepsOf(text: string): readonly Step[] {
  const { jobs = {}, runs } = parse(text) as {
    readonly jobs?: Readonly<Record<string, { readonly steps?: readonly Step[] }>>;
    readonly runs?: { readonly steps: readonly Step[] };
  };
  return runs?.steps ?? Object.values(jobs).flatMap(({ steps = [] }) => steps);
}

async function shellcheck(text: string, shell: string): Promise<string> {
  const { output } = await pipe("shellcheck", [`--shell=${shell}`, "--format=gcc", "-"], text);
  return output;
}

Deno.test("the formula of a release is Ruby, and chooses a file for each system", async () => {
  const sums = TARGETS.map(({ file }, index) => `${String(index).repeat(64)}  ${file}`).join("\n");
  const formula = makeFormula("https://host/org/repo/releases", "1.2.3", sums);
  assertEquals(await pipe("ruby", ["-wc"], formula), { success: true, output: "Syntax OK\n" });
  assertEquals((await pipe("ruby", ["-wc"], formula.replace("  end\n", ""))).success, false);
  for (const { name, file } of TARGETS) {
    if (name.startsWith("windows")) continue;
    const { success, output } = await pipe("ruby", ["-w", "-", name], `${BREW}\n${formula}\nshow`);
    const sum = String(TARGETS.findIndex((target) => target.name === name)).repeat(64);
    assert(success, output);
    assertEquals(output, `https://host/org/repo/releases/download/v1.2.3/${file} ${sum} 1.2.3\n`);
  }
});

/** As much of Homebrew as evaluates a formula: what it does on the system that is asked for. */
const BREW = `
SYSTEM, PROCESSOR = ARGV[0].split("-")
class Formula
  class << self
    %w[desc homepage version license url sha256].each do |name|
      define_method(name) { |*value| value.empty? ? @said[name] : (@said ||= {})[name] = value[0] }
    end
    def on_macos = SYSTEM == "macos" && yield
    def on_linux = SYSTEM == "linux" && yield
    def on_arm = PROCESSOR == "arm64" && yield
    def on_intel = PROCESSOR == "x64" && yield
    def test = nil
  end
end
def show = puts("#{Runner.url} #{Runner.sha256} #{Runner.version}")
`;

/** Runs a program with standard input, and returns what it printed on both streams. */
async function pipe(program: string, args: readonly string[], text: string) {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: CHECKOUT,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  const [said, complaint] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { success, output: `${said}${complaint}` };
}
