import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/yaml/parse";
import { loadAll } from "js-yaml";
import { ACTION } from "../../src/base/home.ts";
import { openShop } from "../../scripts/demo_server.ts";
import {
  type Block,
  CHECKOUT,
  listDocuments,
  readBlocks,
  readDocument,
} from "../support/documents.ts";
import { PLUGIN_PLACE } from "../support/plugin_place.ts";
import { theProgram } from "../support/run/run_cli.ts";
import { Collected, runHere, runMain } from "../support/run/run_main.ts";
import { shWords } from "../support/sh_words.ts";
import { withFiles } from "../support/temp_dir.ts";

/** The host and port that the shop has in documents. */
const SHOP = "127.0.0.1:8080";
const MARKS = ["file", "fails", "output", "in checkout", "only loaded", "not run", "ci"];
/** Blocks in these languages are shown and not carried out. */
const SHOWN = [
  "csv",
  "text",
  "json",
  "console",
  "dockerfile",
  "groovy",
  "powershell",
  "python",
  "mermaid",
  "graphql",
  "js",
];

/** The output of a block, both streams together, and its exit code. */
interface Printed {
  readonly code: number;
  readonly output: string;
}

/** With UPDATE_OUTPUTS=1 outputs are written into the documents, but for those with a line `…`. */
const UPDATES = Deno.env.get("UPDATE_OUTPUTS") === "1";

for (const path of await listDocuments()) {
  const blocks = readBlocks(await readDocument(path));
  if (blocks.length === 0) continue;
  const name = `every block of ${path} works as documented`;
  // The commands of the documents are for sh.
  Deno.test(name, { ignore: Deno.build.os === "windows" }, async (test) => {
    await withFiles(programs(), async (directory) => {
      const shop = openShop({ password: "open sesame", database: `${directory}/shop.db` });
      try {
        await Deno.chmod(`${directory}/.bin/runner`, 0o755);
        await Deno.chmod(`${directory}/.bin/deno`, 0o755);
        let before: Printed | undefined;
        const outputs = new Map<Block, string>();
        for (const block of blocks) {
          await test.step(`line ${block.line}`, async () => {
            if (UPDATES && block.marks.has("output") && !/^\s*…$/m.test(block.text) && before) {
              const { host } = new URL(shop.url);
              outputs.set(block, before.output.replaceAll(directory, ".").replaceAll(host, SHOP));
            }
            before = await carryOut(withShop(block, shop.url), before, directory);
          });
        }
        if (outputs.size > 0) await writeOutputs(path, outputs);
      } finally {
        await shop.close();
      }
    });
  });
}

/** Replaces blocks of a document whose outputs have changed. */
async function writeOutputs(path: string, outputs: ReadonlyMap<Block, string>): Promise<void> {
  const lines = (await readDocument(path)).split("\n");
  for (const [{ line, text }, output] of [...outputs].reverse()) {
    if (steady(output) === steady(text)) continue;
    const indent = /^\s*/.exec(lines[line - 1]!)![0];
    const shown = output.replace(/^\s*\n/, "").trimEnd().split("\n");
    const indented = shown.map((line) => (indent + line).trimEnd());
    lines.splice(line, text.split("\n").length - 1, ...indented);
  }
  await Deno.writeTextFile(`${CHECKOUT}${path}`, lines.join("\n"));
}

/** Programs by the names that documents use. */
function programs(): Record<string, string> {
  const [program, args] = theProgram();
  return {
    ".bin/runner": `#!/bin/sh\nexec ${shWords([program, ...args])} "$@"\n`,
    ".bin/deno": `#!/bin/sh\nexec ${shWords([Deno.execPath()])} "$@"\n`,
  };
}

function withShop(block: Block, url: string): Block {
  return { ...block, text: block.text.replaceAll(SHOP, new URL(url).host) };
}

/** Does with a block what its language and its marks ask for. */
async function carryOut(
  block: Block,
  before: Printed | undefined,
  directory: string,
): Promise<Printed | undefined> {
  const { language, text, marks } = block;
  for (const mark of marks.keys()) assert(MARKS.includes(mark), `unknown mark "${mark}"`);
  const reason = marks.get("not run") ?? marks.get("only loaded");
  assert(reason !== "", "it says no reason");
  const file = marks.get("file");
  if (file !== undefined) await writeFile(`${directory}/${file}`, text);
  if (marks.has("output")) {
    if (!UPDATES) assertOutput(before, text, directory);
    return before;
  }
  if (marks.has("not run")) {
    if (language === "yaml" && file === undefined) loadAll(text);
    return undefined;
  }
  if (marks.has("ci")) {
    await checkRecipe(block);
    const commands = runnerCommands(block);
    assert(commands.length > 0 || text.includes(`${ACTION}@`), "it does not run the program");
    return await runCommands({ ...block, text: commands.join("\n") }, directory);
  }
  switch (language) {
    case "yaml":
      return await carryOutYaml(block, file, directory);
    case "sh":
      return await runCommands(block, directory);
    case "ts":
      return await runModule(block, directory);
    default:
      assert(SHOWN.includes(language), `nothing is known of "${language}"`);
      if (language === "json") JSON.parse(text);
      return undefined;
  }
}

async function carryOutYaml(
  { text, marks }: Block,
  file: string | undefined,
  directory: string,
): Promise<Printed> {
  const { workflow, isWhole } = wholeWorkflow(text);
  const name = file ?? "page.yml";
  await writeFile(`${directory}/${name}`, file === undefined ? workflow : text);
  const isRun = isWhole && !marks.has("only loaded");
  const { code, stdout, stderr } = isRun || marks.has("fails")
    ? await runMain([name], { cwd: directory, env: envOf(directory) })
    : await listOf(name, text, workflow, directory);
  const output = stdout + stderr;
  assertEquals(code, marks.has("fails") ? 1 : 0, output);
  if (!marks.has("fails")) assertEquals(stderr, "", output);
  return { code, output };
}

/** Loads a workflow, a job file or a part of either. */
async function listOf(name: string, text: string, workflow: string, directory: string) {
  if (workflow === text) return await runMain(["--list", name], { cwd: directory });
  await writeFile(`${directory}/.page.yml`, workflow);
  return await runMain(["--list", ".page.yml"], { cwd: directory });
}

function isSuite(value: unknown): boolean {
  return typeof value === "object" && value !== null && "workflows" in value;
}

const JOB_KEYS = ["id", "needs", "skipif", "defaults", "repeat", "load"];
const TOP_KEYS = ["name", "description", "vars"];

/** The workflow that a piece of YAML is, or could be a part of. */
function wholeWorkflow(text: string): { workflow: string; isWhole: boolean } {
  const value = parse(text);
  if (isSuite(value)) return { workflow: text, isWhole: true };
  const whole = (workflow: unknown) => ({ workflow: JSON.stringify(workflow), isWhole: false });
  const inJob = (...steps: unknown[]) => whole({ name: "page", jobs: [{ name: "job", steps }] });
  if (Array.isArray(value)) {
    if (value.every((item) => "steps" in item)) {
      return whole({ name: "page", jobs: withNeeded(value) });
    }
    return inJob(...value);
  }
  assert(typeof value === "object" && value !== null, "it is not a map");
  if ("jobs" in value) {
    return { workflow: "name" in value ? text : `name: page\n${text}`, isWhole: true };
  }
  if ("steps" in value) return whole({ name: "page", jobs: [{ name: "job", ...value }] });
  const keys = Object.keys(value);
  if (keys.every((key) => TOP_KEYS.includes(key) || key.startsWith("x-"))) {
    return whole({
      name: "page",
      jobs: [{ name: "job", steps: [{ uses: "hello" }] }],
      ...value,
    });
  }
  if (keys.every((key) => JOB_KEYS.includes(key))) {
    const job = { name: "job", steps: [{ uses: "hello" }], ...value };
    return whole({ name: "page", jobs: withNeeded([job]) });
  }
  return inJob({ uses: "hello", ...value });
}

/** Jobs with those before them that they need and the page does not show. */
function withNeeded(
  jobs: readonly { readonly id?: unknown; readonly name?: unknown; readonly needs?: unknown }[],
): unknown[] {
  const names = new Set(jobs.flatMap(({ id, name }) => [id, name]));
  const needed = jobs.flatMap(({ needs }) => Array.isArray(needs) ? needs : []);
  const missing = [...new Set(needed)].filter((id) => !names.has(id));
  return [...missing.map((id) => ({ name: id, id, steps: [{ uses: "hello" }] })), ...jobs];
}

/** The texts in a value of YAML. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The commands of containers that run the image of the program. */
function containerCommands(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { image, args } = value as { readonly image?: unknown; readonly args?: unknown };
  const isRunner = typeof image === "string" && image.includes("/runner:") && Array.isArray(args);
  return [
    ...isRunner ? [`runner ${args.join(" ")}`] : [],
    ...Object.values(value).flatMap(containerCommands),
  ];
}

/** The lines in a file for a CI system that run the program. */
function runnerCommands({ language, text }: Block): string[] {
  const texts = language === "yaml"
    ? [...textsIn(parse(text)), ...containerCommands(parse(text))]
    : [...text.matchAll(/\bsh '([^']*)'/g)].map(([, command]) => command!);
  return texts.flatMap((lines) => lines.split("\n")).filter((line) => line.startsWith("runner "));
}

interface GithubStep {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** Checks that what a file for GitHub gives to the action of this repository is what it takes. */
async function checkRecipe({ language, text }: Block): Promise<void> {
  if (language !== "yaml") return;
  const { jobs = {} } = parse(text) as { jobs?: Record<string, { steps: GithubStep[] }> };
  const action = parse(await Deno.readTextFile(`${CHECKOUT}action.yml`)) as {
    readonly inputs: Readonly<Record<string, unknown>>;
    readonly outputs: Readonly<Record<string, unknown>>;
  };
  for (const { uses, with: inputs = {} } of Object.values(jobs).flatMap(({ steps }) => steps)) {
    if (!uses?.startsWith(`${ACTION}@`)) continue;
    for (const name of Object.keys(inputs)) assert(name in action.inputs, `no input "${name}"`);
  }
  for (const [, name = ""] of text.matchAll(/steps\.runner\.outputs\.(\w+)/g)) {
    assert(name in action.outputs, `no output "${name}"`);
  }
}

/** The report is in the form that a terminal shows, and a run remembers what failed. */
function envOf(directory: string): Record<string, string> {
  return { RUNNER_OUTPUT: "spinner", XDG_CACHE_HOME: `${directory}/.cache` };
}

/** Runs commands until the first that fails: in this process, or by a shell if they need one. */
async function runCommands(block: Block, directory: string): Promise<Printed> {
  const commands = plainCommands(block.text);
  const { code, output } = commands && !block.marks.has("in checkout")
    ? await runInProcess(commands, directory)
    : await runInShell(block, directory);
  assertEquals(code, block.marks.has("fails") ? 1 : 0, output);
  return { code, output };
}

/** The arguments of commands of the program alone that need no shell. */
function plainCommands(text: string): string[][] | undefined {
  const lines = text.split("\n").map((line) => line.replace(/(^|\s)#.*/, "").trim());
  const commands = lines.filter((line) => line !== "").map((line) => {
    if (!/^runner(?: +(?:[\w.,:@%+=/-]|'[^']*'|"[^"$`\\]*")+)*$/.test(line)) return undefined;
    const parts = [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)];
    return parts.slice(1).map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));
  });
  return commands.every((command) => command !== undefined) ? commands : undefined;
}

async function runInProcess(
  commands: readonly (readonly string[])[],
  directory: string,
): Promise<Printed> {
  const both = new Collected();
  for (const args of commands) {
    const options = { cwd: directory, env: envOf(directory) };
    const { code } = await runHere(args, options, { stdout: both, stderr: both });
    if (code !== 0) return { code, output: both.text };
  }
  return { code: 0, output: both.text };
}

async function runInShell({ text, marks }: Block, directory: string): Promise<Printed> {
  const path = Deno.env.get("PATH") ?? "";
  const inherited = ["HOME", "DENO_DIR", "XDG_CACHE_HOME", "TMPDIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const { code, stdout } = await new Deno.Command("sh", {
    args: ["-euc", `exec 2>&1\n${text}`],
    cwd: marks.has("in checkout") ? CHECKOUT : directory,
    clearEnv: true,
    env: {
      ...Object.fromEntries(inherited),
      RUNNER_OUTPUT: "spinner",
      PATH: `${directory}/.bin:${path}`,
    },
    stdin: "null",
  }).output();
  return { code, output: new TextDecoder().decode(stdout) };
}

/** Runs a module that uses the library. */
async function runModule(block: Block, directory: string): Promise<Printed> {
  const file = moduleName(block);
  await writeFile(`${directory}/${file}`, block.text);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--config", `${CHECKOUT}deno.json`, file],
    cwd: directory,
    env: { NO_COLOR: "1" },
  }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, output);
  return { code, output };
}

function moduleName({ marks, line }: Block): string {
  return marks.get("file") ?? `page_${line}.ts`;
}

/** Compares printed output with that in a document; times and ports differ each run. */
function assertOutput(printed: Printed | undefined, wanted: string, directory: string): void {
  assert(printed, "no block before it printed anything");
  const actual = steady(printed.output).replaceAll(directory, ".");
  const pieces = `\n${steady(wanted)}\n`.split(/\n[ \t]*…(?=\n)/);
  let rest = `\n${actual}\n`;
  for (const [index, piece] of pieces.entries()) {
    const at = rest.indexOf(piece);
    const isPlaced = index === 0 ? at === 0 : at >= 0;
    if (!isPlaced) assertEquals(actual, steady(wanted));
    rest = rest.slice(at + piece.length);
  }
  if (rest !== "" && !steady(wanted).endsWith("…")) assertEquals(actual, steady(wanted));
}

function steady(text: string): string {
  return text.replace(/^\s*\n/, "").trimEnd()
    .replaceAll(PLUGIN_PLACE, "looked for in ~/.runner/plugins")
    .replace(/(?<=^ *(?:\d+\. )?[✓✗○] .*) \([\d.]+m?s\)/gm, "")
    .replace(/(?<=^ +[✓✗⚠] .*) {2,}(?=[\d.]+m?s)/gm, "  ")
    .replace(/\b(\d+m)?\d+(\.\d+)?(s|ms|µs)\b/g, "0ms")
    .replace(/127\.0\.0\.1:\d{4,5}\b/g, "127.0.0.1:8080")
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z\b/g, "2026-01-01T00:00:00.000Z")
    .replace(/(?<=\ndate: ).*/gi, "…")
    .replace(/[ \t]+$/gm, "");
}

async function writeFile(path: string, text: string): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text);
}
