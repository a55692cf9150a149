import type { Denial } from "../../host/explain_denial.ts";
import type { Host } from "../../host/host.ts";
import type { HostRule, PathRule, Permissions, ProgramRule } from "./permissions.ts";
import { isAbsolute, WINDOWS } from "../../host/real_path.ts";
import { UsageError } from "../../base/errors.ts";

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
  return inner === outer || inner.startsWith(/[/\\]$/.test(outer) ? outer : outer + SEPARATOR);
}

const SEPARATOR = WINDOWS ? "\\" : "/";

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

/** Why no server may be opened at an address; a rule without a port allows any, also a free one. */
export function listenDenial(
  { listen = [] }: Permissions,
  host: string,
  port: number,
): Denial | undefined {
  const { hostname } = new URL(`http://${host.includes(":") ? `[${host}]` : host}`);
  if (listen.some((rule) => isNamed(rule, withoutDot(hostname), String(port)))) return undefined;
  const at = `${hostname}${port === 0 ? "" : `:${port}`}`;
  return {
    message: `--allow-listen does not name ${at}`,
    hint: `allow it with --allow-listen=${at}`,
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

/** `example.com.` is the same host as `example.com`. */
function withoutDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

/** Where `findProgram` searches. */
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
  const candidates = (WINDOWS ? /[/\\]/ : /\//).test(name)
    ? [name]
    : path
    ? path.split(WINDOWS ? ";" : ":").map((folder) => `${folder || "."}/${name}`)
    : [];
  for (const candidate of candidates) {
    for (const ending of WINDOWS ? ["", ".exe", ".cmd", ".bat", ".com"] : [""]) {
      const path = candidate + ending;
      const file = isAbsolute(path) ? path : `${directory}/${path}`;
      if (!await files.isFile(file).catch(() => false)) continue;
      const slash = Math.max(file.lastIndexOf("/"), WINDOWS ? file.lastIndexOf("\\") : -1);
      const real = await files.realPath(file.slice(0, slash) || "/");
      return `${real.replace(/[/\\]$/, "")}${SEPARATOR}${file.slice(slash + 1)}`;
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
  const rules = permissions.run ?? [];
  if (rules === "any") return shell;
  const found = await findProgram(shell, surroundings, host);
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
  if (run === "any") return undefined;
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
  if (run === "any") return undefined;
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

/**
 * The permissions of the actions of a run, like the options of the same names on the command
 * line. A kind that is absent is not narrowed and an empty list allows nothing of its kind. With
 * any of them, `shell` steps and plugins need to be named by `run`, since nothing binds what a
 * command does.
 */
export interface WrittenPermissions {
  /** Hosts of `http` steps and their redirects: `example.com`, `*.example.com`, `[::1]:80`. */
  readonly net?: readonly string[] | undefined;
  /**
   * Addresses at which `listen` opens servers: `127.0.0.1`, `0.0.0.0:9000`. None if `net` is given
   * and this is not.
   */
  readonly listen?: readonly string[] | undefined;
  /** Shells and plugins: `sh`, `/bin/bash`, `runner-name`. */
  readonly run?: readonly string[] | undefined;
  /** Files that may be read, and directories with everything in them: job files. */
  readonly read?: readonly string[] | undefined;
  /** Files that may be written, and directories with everything in them. */
  readonly write?: readonly string[] | undefined;
  /** Whether no `shell` step runs, whatever `run` says. */
  readonly noShell?: boolean | undefined;
}

type ListedKind = "net" | "listen" | "run" | "read" | "write";

/**
 * Reads what actions may reach; undefined where nothing is narrowed. `label` gives the name by
 * which messages call a kind. Throws UsageError.
 */
export async function readPermissions(
  { net, listen, run, read, write, noShell }: WrittenPermissions,
  host: Host,
  label: (kind: ListedKind) => string,
): Promise<Permissions | undefined> {
  if (!net && !listen && !run && !read && !write && !noShell) return undefined;
  const path = (kind: ListedKind) => (text: string) => readPath(text, host, label(kind));
  return {
    ...net ? { net: net.map((text) => readHost(text, label("net"))) } : {},
    ...listen ? { listen: listen.map((text) => readHost(text, label("listen"))) } : {},
    ...run ? { run: await Promise.all(run.map((text) => readProgram(text, host))) } : {},
    ...read ? { read: await Promise.all(read.map(path("read"))) } : {},
    ...write ? { write: await Promise.all(write.map(path("write"))) } : {},
    ...noShell ? { noShell: true } : {},
  };
}

function readHost(text: string, label: string): HostRule {
  const rule = parseHostRule(text);
  if (rule) return rule;
  const host = URL.parse(text)?.host;
  const hint = host
    ? `write the host alone: ${host}`
    : "hosts are written example.com, example.com:8443, *.example.com, 10.0.0.1 or [::1]:80";
  throw new UsageError(`invalid value "${text}" for ${label}`, hint);
}

async function readProgram(text: string, host: Host): Promise<ProgramRule> {
  const surroundings = { path: host.env.get("PATH"), directory: host.files.workingDirectory() };
  const path = await findProgram(text, surroundings, host);
  return path === undefined ? { text } : { text, path };
}

async function readPath(text: string, { files }: Host, label: string): Promise<PathRule> {
  // It would be the working directory with everything in it.
  if (text === "") {
    throw new UsageError(`invalid value "" for ${label}`, 'write "." for the working directory');
  }
  return { path: await files.realPath(text) };
}
