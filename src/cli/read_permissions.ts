import { parseHostRule } from "../action/permissions/host_rule.ts";
import type {
  HostRule,
  PathRule,
  Permissions,
  ProgramRule,
} from "../action/permissions/permissions.ts";
import { findProgram } from "../action/permissions/program_rule.ts";
import type { Host } from "../host/host.ts";
import { UsageError } from "../source/errors.ts";
import type { Invocation } from "./command.ts";

/** Reads what `--allow-…` and `--no-shell` let actions reach. Throws `UsageError`. */
export async function readPermissions(
  { lists, switches }: Invocation,
  host: Host,
): Promise<Permissions> {
  const net = listOf("allow-net", lists)?.map(readHost);
  const run = await all(listOf("allow-run", lists)?.map((text) => readProgram(text, host)));
  const read = await all(listOf("allow-read", lists)?.map((text) => readPath(text, host)));
  const write = await all(listOf("allow-write", lists)?.map((text) => readPath(text, host)));
  return {
    ...net ? { net } : {},
    ...run ? { run } : {},
    ...read ? { read } : {},
    ...write ? { write } : {},
    ...switches.has("no-shell") ? { noShell: true } : {},
  };
}

/** The values of an option, which are separated by commas; `none` alone allows nothing. */
function listOf(option: string, lists: Invocation["lists"]): readonly string[] | undefined {
  const given = lists.get(option);
  if (!given) return undefined;
  const values = given.flatMap((text) => text.split(",").map((value) => value.trim()));
  if (values.includes("")) {
    throw new UsageError(
      `option --${option} has an empty value between commas`,
      `write --${option}=none to allow nothing`,
    );
  }
  if (!values.includes("none")) return values;
  if (values.length === 1) return [];
  throw new UsageError(`option --${option} allows none and others`, 'leave out "none"');
}

function readHost(text: string): HostRule {
  const rule = parseHostRule(text);
  if (rule) return rule;
  const host = URL.parse(text)?.host;
  const hint = host
    ? `write the host alone: ${host}`
    : "hosts are written example.com, example.com:8443, *.example.com, 10.0.0.1 or [::1]:80";
  throw new UsageError(`option --allow-net cannot be "${text}"`, hint);
}

async function readProgram(text: string, host: Host): Promise<ProgramRule> {
  const surroundings = { path: host.env.get("PATH"), folder: host.files.workingFolder() };
  const path = await findProgram(text, surroundings, host);
  return path === undefined ? { text } : { text, path };
}

async function readPath(text: string, { files }: Host): Promise<PathRule> {
  return { path: await files.realPath(text) };
}

async function all<T>(
  promises: readonly Promise<T>[] | undefined,
): Promise<readonly T[] | undefined> {
  return promises && await Promise.all(promises);
}
