import type { Host } from "../../host/host.ts";
import { UsageError } from "../../base/errors.ts";
import { findProgram, parseHostRule } from "./rules.ts";
import type { HostRule, PathRule, Permissions, ProgramRule } from "./permissions.ts";

/**
 * The permissions of the actions of a run, like the options of the same names on the command
 * line. A kind that is absent is not narrowed and an empty list allows nothing of its kind. With
 * any of them, `shell` steps and plugins need to be named by `run`, since nothing binds what a
 * command does.
 */
export interface WrittenPermissions {
  /** Hosts of `http` steps and their redirects: `example.com`, `*.example.com`, `[::1]:80`. */
  readonly net?: readonly string[] | undefined;
  /** Shells and plugins: `sh`, `/bin/bash`, `runner-name`. */
  readonly run?: readonly string[] | undefined;
  /** Files that may be read, and directories with everything in them: job files. */
  readonly read?: readonly string[] | undefined;
  /** Files that may be written, and directories with everything in them. */
  readonly write?: readonly string[] | undefined;
  /** Whether no `shell` step runs, whatever `run` says. */
  readonly noShell?: boolean | undefined;
}

type ListedKind = "net" | "run" | "read" | "write";

/**
 * Reads what actions may reach; undefined where nothing is narrowed. `label` gives the name by
 * which messages call a kind. Throws UsageError.
 */
export async function readPermissions(
  { net, run, read, write, noShell }: WrittenPermissions,
  host: Host,
  label: (kind: ListedKind) => string,
): Promise<Permissions | undefined> {
  if (!net && !run && !read && !write && !noShell) return undefined;
  const path = (kind: ListedKind) => (text: string) => readPath(text, host, label(kind));
  return {
    ...net ? { net: net.map((text) => readHost(text, label("net"))) } : {},
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
