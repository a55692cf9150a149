import type { Denial } from "../../host/explain_denial.ts";
import type { Host } from "../../host/host.ts";
import type { HostRule, Permissions, ProgramRule } from "./permissions.ts";
import { isAbsolute, WINDOWS } from "../../host/real_path.ts";

/** Why a file may not be read or written: the file is what its path leads to through any links. */
export async function pathDenial(
  permissions: Permissions,
  kind: "read" | "write",
  path: string,
  { files }: Host,
): Promise<Denial | undefined> {
  const rules = permissions[kind];
  if (!rules) return undefined;
  // A path that leads nowhere, or in a cycle, is in none of the directories.
  const real = await files.realPath(path).catch(() => undefined);
  if (real !== undefined && rules.some((rule) => isWithin(real, rule.path))) return undefined;
  const leads = real === undefined || real === path ? "" : `, which leads to '${real}'`;
  return {
    message: `--allow-${kind} does not name '${path}'${leads}`,
    hint: `allow it with --allow-${kind}=${real ?? path}`,
  };
}

function isWithin(path: string, directory: string): boolean {
  const [inner, outer] = WINDOWS
    ? [path.toLowerCase(), directory.toLowerCase()]
    : [path, directory];
  return inner === outer || inner.startsWith(/[/\\]$/.test(outer) ? outer : outer + separator);
}

const separator = WINDOWS ? "\\" : "/";

const FORM = /^(\*\.)?(\[[^\]]*\]|[^\s:/\\@?#[\]*]+)(?::(\d{1,5}))?$/;

/**
 * Reads `example.com`, `example.com:8443`, `*.example.com`, an IP address or `[::1]:80`; undefined
 * where it is none of them.
 */
export function parseHostRule(text: string): HostRule | undefined {
  // An IPv6 address alone needs no brackets.
  const [, below, name, port] =
    FORM.exec(/^[\da-f.]*:[\da-f:.]*:/i.test(text) ? `[${text}]` : text) ??
      [];
  const host = name === undefined ? undefined : URL.parse(`http://${name}`)?.hostname;
  if (!host || port !== undefined && !isPort(Number(port))) return undefined;
  if (below !== undefined && isAddress(host)) return undefined;
  return {
    host: withoutDot(host),
    below: below !== undefined,
    ...port === undefined ? {} : { port: String(Number(port)) },
  };
}

/**
 * Why a URL is out of reach. Names are compared and never looked up: an address that a name leads
 * to needs no rule, and a rule for a name allows no address.
 */
export function netDenial({ net }: Permissions, url: URL): Denial | undefined {
  if (!net) return undefined;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = withoutDot(url.hostname);
  if (net.some((rule) => isNamed(rule, host, port))) return undefined;
  return {
    message: `--allow-net does not name ${url.hostname} port ${port}`,
    hint: `allow it with --allow-net=${url.hostname}:${port}`,
  };
}

function isNamed(rule: HostRule, host: string, port: string): boolean {
  if (rule.port !== undefined && rule.port !== port) return false;
  return rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[\d.]+$/.test(host);
}

/** A dot at the end changes where a name is looked up, and not what it means in full. */
function withoutDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** Where programs are looked for. */
interface Surroundings {
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
): Promise<string | Denial> {
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

function refuse(shell: string): Denial {
  return {
    message: `--allow-run does not name shell "${shell}"`,
    hint: `allow it with --allow-run=${shell}; the options do not restrict what its commands start`,
  };
}

/** Why a program may not be started: `path` is where `findProgram` found what `name` names. */
export function programDenial(
  { run = [] }: Permissions,
  path: string,
  name: string,
): Denial | undefined {
  if (run.some((rule) => rule.path !== undefined && isSame(rule.path, path))) return undefined;
  return {
    message: `--allow-run does not name "${name}"`,
    hint: `allow it with --allow-run=${name}`,
  };
}

/** Why a plugin may not be used: its code could reach anything. `path` is absolute. */
export async function pluginDenial(
  { run = [] }: Permissions,
  plugin: { readonly name: string; readonly path: string },
  host: Host,
): Promise<Denial | undefined> {
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
