import type { Permissions } from "../../action/permissions/permissions.ts";
import { readPermissions as read } from "../../action/permissions/read_permissions.ts";
import type { Host } from "../../host/host.ts";
import { UsageError } from "../../base/errors.ts";
import type { Invocation } from "../command.ts";

/** Reads what `--allow-…` and `--no-shell` let actions reach. Throws `UsageError`. */
export async function readPermissionOptions(
  { lists, switches }: Invocation,
  host: Host,
): Promise<Permissions | undefined> {
  const written = {
    net: listOf("allow-net", lists),
    run: listOf("allow-run", lists),
    read: listOf("allow-read", lists),
    write: listOf("allow-write", lists),
    noShell: switches.has("no-shell"),
  };
  return await read(written, host, (kind) => `option --allow-${kind}`);
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
