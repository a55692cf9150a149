import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { demand } from "../../host/deno_permissions.ts";
import type { Host } from "../../host/host.ts";
import type { PluginFile, PluginFolder } from "./plugin.ts";

const WINDOWS = Deno.build.os === "windows";

/** How the files of plugins end: of several by one name the first counts. */
const ENDINGS: readonly (readonly [ending: string, kind: PluginFile["kind"]])[] = [
  [".ts", "module"],
  [".js", "module"],
  ...WINDOWS ? [[".exe", "program"], [".cmd", "program"]] as const : [["", "program"]] as const,
];

/** Where plugins are looked for; undefined without a home directory. */
export function pluginFolder({ env }: Host): PluginFolder | undefined {
  const chosen = env.get("RUNNER_PLUGIN_DIR");
  if (chosen) return { path: chosen, isChosen: true };
  const home = env.get(WINDOWS ? "USERPROFILE" : "HOME");
  return home ? { path: join(home, ".runner", "plugins"), isChosen: false } : undefined;
}

/** The file of a plugin; undefined where there is none. */
export async function findPlugin(
  folder: PluginFolder,
  name: string,
): Promise<PluginFile | undefined> {
  for (const [ending, kind] of ENDINGS) {
    const shown = join(folder.path, `runner-${name}${ending}`);
    if (await isFile(shown)) return { name, shown, path: resolve(shown), kind };
  }
  return undefined;
}

/** The names of the plugins in a directory; undefined if it cannot be read. */
export async function pluginNames(
  folder: PluginFolder,
  { files }: Host,
): Promise<readonly string[] | undefined> {
  const names = await files.list(folder.path).catch((error) => {
    if (folder.isChosen && error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  });
  return names?.flatMap((name) => {
    const ending = ENDINGS.find(([ending]) => name.endsWith(ending));
    return ending && name.startsWith("runner-")
      ? [name.slice("runner-".length, name.length - ending[0].length)]
      : [];
  });
}

async function isFile(path: string): Promise<boolean> {
  try {
    demand({ name: "read", path });
    return (await Deno.stat(path)).isFile;
  } catch {
    return false; // A file that cannot be inspected is not a plugin, whatever the reason.
  }
}
