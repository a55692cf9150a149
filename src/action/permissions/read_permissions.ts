import type { Host } from "../../host/host.ts";
import { UsageError } from "../../source/errors.ts";
import { parseHostRule } from "./host_rule.ts";
import type { HostRule, PathRule, Permissions, ProgramRule } from "./permissions.ts";
import { findProgram } from "./program_rule.ts";

/** Permissions as people write them: the options of the command line, or an object of a program. */
export interface WrittenPermissions {
  readonly net?: readonly string[] | undefined;
  readonly run?: readonly string[] | undefined;
  readonly read?: readonly string[] | undefined;
  readonly write?: readonly string[] | undefined;
  readonly noShell?: boolean | undefined;
}

/** A kind of which permissions are a list. */
export type ListedKind = "net" | "run" | "read" | "write";

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
  throw new UsageError(`${label} cannot be "${text}"`, hint);
}

async function readProgram(text: string, host: Host): Promise<ProgramRule> {
  const surroundings = { path: host.env.get("PATH"), folder: host.files.workingFolder() };
  const path = await findProgram(text, surroundings, host);
  return path === undefined ? { text } : { text, path };
}

async function readPath(text: string, { files }: Host, label: string): Promise<PathRule> {
  // It would be the working folder with all that is in it.
  if (text === "") {
    throw new UsageError(`${label} cannot be ""`, 'write "." for the working folder');
  }
  return { path: await files.realPath(text) };
}
