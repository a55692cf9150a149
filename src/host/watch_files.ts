import { demand } from "./deno_permissions.ts";

/**
 * Calls `onChange` with the path of whatever changes directly in some directories, until the result
 * is called. Directories that do not exist are left out.
 */
export function watchDirectories(
  directories: readonly string[],
  onChange: (path: string) => void,
): () => void {
  const watchers = directories.flatMap((directory) => {
    demand({ name: "read", path: directory });
    try {
      return [Deno.watchFs(directory, { recursive: false })];
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
  });
  for (const watcher of watchers) void follow(watcher, onChange);
  return () => watchers.forEach((watcher) => watcher.close());
}

async function follow(watcher: Deno.FsWatcher, onChange: (path: string) => void): Promise<void> {
  for await (const { kind, paths } of watcher) {
    if (kind !== "access") paths.forEach(onChange);
  }
}
