import type { Host } from "../../host/host.ts";
import { isAbsolute, WINDOWS } from "../../host/real_path.ts";
import type { Permissions, ProgramRule, Refusal } from "./permissions.ts";

/** Where programs are looked for. */
interface Surroundings {
  /** The variable PATH. */
  readonly path: string | undefined;
  /** The directory to which relative paths refer. */
  readonly directory: string;
}

/**
 * The file of a program, named as on a command line; undefined if it does not exist.
 * Links on the way to its directory are followed, but not if it is a link itself: the name of a program
 * may decide what it does.
 */
export async function findProgram(
  name: string,
  { path, directory }: Surroundings,
  { files }: Host,
): Promise<string | undefined> {
  const places = (WINDOWS ? /[/\\]/ : /\//).test(name)
    ? [name]
    : path
    ? path.split(WINDOWS ? ";" : ":").map((folder) => `${folder || "."}/${name}`)
    : [];
  for (const folder of places) {
    for (const ending of WINDOWS ? ["", ".exe", ".cmd", ".bat", ".com"] : [""]) {
      const file = isAbsolute(folder) ? folder + ending : `${directory}/${folder}${ending}`;
      if (!await files.isFile(file).catch(() => false)) continue;
      const end = Math.max(file.lastIndexOf("/"), WINDOWS ? file.lastIndexOf("\\") : -1);
      const real = await files.realPath(file.slice(0, end) || "/");
      return `${real.replace(/[/\\]$/, "")}${WINDOWS ? "\\" : "/"}${file.slice(end + 1)}`;
    }
  }
  return undefined;
}

/** The path by which a shell is started, or why it may not be started. */
export async function permittedShell(
  permissions: Permissions,
  shell: string,
  surroundings: Surroundings,
  host: Host,
): Promise<string | Refusal> {
  if (permissions.noShell) {
    return { message: "--no-shell forbids it", hint: "leave --no-shell out to let commands run" };
  }
  const found = await findProgram(shell, surroundings, host);
  const rules = permissions.run ?? [];
  // A program that does not exist cannot run: the attempt reports it.
  if (found === undefined) return rules.some(({ text }) => text === shell) ? shell : refuse(shell);
  return rules.some(({ path }) => path !== undefined && isSame(path, found))
    ? found
    : refuse(shell);
}

function refuse(shell: string): Refusal {
  return {
    message: `--allow-run does not name shell "${shell}"`,
    hint: `allow it with --allow-run=${shell}; the options do not restrict what its commands start`,
  };
}

/** Why a program may not be started: `path` is where `findProgram` found what `name` names. */
export function programRefusal(
  { run = [] }: Permissions,
  path: string,
  name: string,
): Refusal | undefined {
  if (run.some((rule) => rule.path !== undefined && isSame(rule.path, path))) return undefined;
  return {
    message: `--allow-run does not name "${name}"`,
    hint: `allow it with --allow-run=${name}`,
  };
}

/** Why a plugin may not be used: its code could reach anything. `path` is absolute. */
export async function pluginRefusal(
  { run = [] }: Permissions,
  plugin: { readonly name: string; readonly path: string },
  host: Host,
): Promise<Refusal | undefined> {
  const file = plugin.path.split(WINDOWS ? /[/\\]/ : "/").at(-1)!;
  const program = `runner-${plugin.name}`;
  const found = await findProgram(plugin.path, { path: undefined, directory: "" }, host);
  const isNamed = ({ text, path }: ProgramRule) =>
    text === program || text === file ||
    path !== undefined && found !== undefined && isSame(path, found);
  if (run.some(isNamed)) return undefined;
  return {
    message: `--allow-run does not name the plugin "${file}"`,
    hint: `allow it with --allow-run=${program}; the options do not restrict what it does`,
  };
}

function isSame(one: string, other: string): boolean {
  return WINDOWS ? one.toLowerCase() === other.toLowerCase() : one === other;
}
