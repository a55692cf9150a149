import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { demand } from "../../host/deno_permissions.ts";
import type { Host } from "../../host/host.ts";
import type { PluginDirectory, PluginFile } from "./plugin.ts";

const WINDOWS = Deno.build.os === "windows";

/** The file extensions of plugins: of several files with one name the first is used. */
const ENDINGS: readonly (readonly [ending: string, kind: PluginFile["kind"]])[] = [
  [".ts", "module"],
  [".js", "module"],
  ...WINDOWS ? [[".exe", "program"], [".cmd", "program"]] as const : [["", "program"]] as const,
];

/** Where plugins are looked for; undefined without a home directory. */
export function pluginDirectory({ env }: Host): PluginDirectory | undefined {
  const chosen = env.get("RUNNER_PLUGIN_DIR");
  if (chosen) return { path: chosen, isChosen: true };
  const home = env.get(WINDOWS ? "USERPROFILE" : "HOME");
  return home ? { path: join(home, ".runner", "plugins"), isChosen: false } : undefined;
}

/** The file of a plugin; undefined where there is none. */
export async function findPlugin(
  directory: PluginDirectory,
  name: string,
): Promise<PluginFile | undefined> {
  for (const [ending, kind] of ENDINGS) {
    const shown = join(directory.path, `runner-${name}${ending}`);
    if (await isFile(shown)) return { name, shown, path: resolve(shown), kind };
  }
  return undefined;
}

/** The names of the plugins in a directory; undefined if it cannot be read. */
export async function pluginNames(
  directory: PluginDirectory,
  { files }: Host,
): Promise<readonly string[] | undefined> {
  const names = await files.list(directory.path).catch((error) => {
    if (directory.isChosen && error instanceof Deno.errors.NotCapable) throw error;
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
