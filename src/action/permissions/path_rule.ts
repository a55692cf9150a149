import type { Host } from "../../host/host.ts";
import type { Permissions, Refusal } from "./permissions.ts";

const WINDOWS = Deno.build.os === "windows";

/** Why a file may not be read or written: the file is what its path leads to through any links. */
export async function pathRefusal(
  permissions: Permissions,
  kind: "read" | "write",
  path: string,
  { files }: Host,
): Promise<Refusal | undefined> {
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
