/**
 * Installs the program of this checkout as the command `runner`: `deno task install --help`.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { homedir } from "node:os";
import { CHECKOUT } from "./bundle/bundler.ts";
import { checkedOutCommit } from "./bundle/checked_out_commit.ts";
import { makeChunks, SPLIT_ENTRY } from "./bundle/make_bundles.ts";
import { cmdLauncher, shLauncher } from "./install/launchers.ts";
import { theTask } from "./the_task.ts";

const HELP = `Installs the program of this checkout as the command runner.

Usage: ${theTask("install")} [--prefix DIR]

Options:
  --prefix DIR  Write DIR/bin/runner and DIR/lib/runner (default: ~/.local)
  -h, --help    Print this help and exit

DIR/lib/runner holds the program and the Deno that runs it: neither the checkout nor the cache
of npx is needed afterwards. Run it again after a git pull. To uninstall, delete both.`;

const isWindows = Deno.build.os === "windows";
const DENO = isWindows ? "deno.exe" : "deno";

const { help, prefix: chosen = join(homedir(), ".local") } = parseArgs(Deno.args, {
  string: ["prefix"],
  boolean: ["help"],
  alias: { h: "help" },
  unknown: (argument) => fail(`invalid argument "${argument}"`, `${theTask("install")} --help`),
});
if (help) {
  // deno-lint-ignore no-console
  console.log(HELP);
  Deno.exit();
}
if (chosen === "") fail("--prefix needs a directory", `${theTask("install")} --help`);
// The directory that the user is in: a task runs in that of deno.json.
const prefix = resolve(Deno.env.get("INIT_CWD") ?? ".", String(chosen));
const bin = join(prefix, "bin");
const lib = join(prefix, "lib", "runner");
const command = join(bin, isWindows ? "runner.cmd" : "runner");

try {
  await Deno.mkdir(bin, { recursive: true });
  await Deno.mkdir(join(prefix, "lib"), { recursive: true });
  say(`building the program of ${CHECKOUT}`);
  const commit = await checkedOutCommit();
  await writeLibrary(await makeChunks(commit).catch((error) => fail(error.message)));
  await writeCommand();
} catch (error) {
  if (!(error instanceof Error && "code" in error)) throw error;
  fail(`cannot write to ${prefix}: ${error.message}`, "--prefix DIR installs elsewhere");
}
const { stdout } = await new Deno.Command(command, { args: ["--version"] }).output();
say(`installed ${command}: ${new TextDecoder().decode(stdout).trim()}
  it runs what is in ${lib}: the program, and Deno ${Deno.version.deno}
  run this again after a git pull; to uninstall, delete both`);
const first = await firstInPath();
if (first === undefined) {
  say(
    isWindows
      ? `add it to your PATH: $env:PATH = "${bin};$env:PATH"`
      : `add it to your PATH: export PATH="${bin}:$PATH"`,
  );
} else if (first !== bin) {
  say(`another runner comes first in your PATH: ${first}`);
}
say("then: runner examples/hello.yml");

/** Writes the program and its Deno, and replaces what is there at once. */
async function writeLibrary(chunks: ReadonlyMap<string, string>): Promise<void> {
  const work = await Deno.makeTempDir({ dir: join(prefix, "lib"), prefix: ".runner_" });
  try {
    for (const [name, text] of chunks) await Deno.writeTextFile(join(work, name), text);
    const deno = join(work, DENO);
    // A link costs no space; what it links to may be deleted, as the cache of npx.
    await Deno.link(Deno.execPath(), deno).catch(() => Deno.copyFile(Deno.execPath(), deno));
    await Deno.chmod(work, 0o755).catch(() => {});
    await Deno.remove(lib, { recursive: true }).catch(ignoreMissing);
    await Deno.rename(work, lib);
  } finally {
    await Deno.remove(work, { recursive: true }).catch(ignoreMissing);
  }
}

/** Writes what starts them; on Windows for its own shells and those of Unix. */
async function writeCommand(): Promise<void> {
  const [deno, entry] = [join(lib, DENO), join(lib, SPLIT_ENTRY)];
  const files: Record<string, string> = { runner: shLauncher(deno, entry) };
  if (isWindows) files["runner.cmd"] = cmdLauncher(deno, entry);
  for (const [name, text] of Object.entries(files)) {
    // A link to another program stays that program.
    await Deno.remove(join(bin, name)).catch(ignoreMissing);
    await Deno.writeTextFile(join(bin, name), text, { mode: 0o755 });
  }
}

/** The first directory of the PATH that has the command. */
async function firstInPath(): Promise<string | undefined> {
  const name = isWindows ? "runner.cmd" : "runner";
  for (const directory of (Deno.env.get("PATH") ?? "").split(isWindows ? ";" : ":")) {
    if (await Deno.stat(join(directory, name)).then(({ isFile }) => isFile, () => false)) {
      return directory;
    }
  }
  return undefined;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

function fail(message: string, hint?: string): never {
  say(`error: ${message}${hint === undefined ? "" : `\n  ${hint}`}`);
  Deno.exit(1);
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.error(line);
}
