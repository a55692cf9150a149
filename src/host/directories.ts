import { demand } from "./deno_permissions.ts";
import type { DirectoryEntry } from "./host.ts";

/** The entries of a directory, by name; undefined if it cannot be read, none if it is not one. */
export async function readEntries(
  directory: string,
): Promise<readonly DirectoryEntry[] | undefined> {
  const entries: DirectoryEntry[] = [];
  try {
    demand({ name: "read", path: directory });
    for await (const { name, isFile, isDirectory, isSymlink } of Deno.readDir(directory)) {
      if (isDirectory) entries.push({ name, kind: "directory" });
      else if (isFile) entries.push({ name, kind: "file" });
      else if (isSymlink) entries.push(...await followLink(name, `${directory}/${name}`));
    }
  } catch (error) {
    const isNone = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory;
    return isNone ? [] : undefined;
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

async function followLink(name: string, path: string): Promise<readonly DirectoryEntry[]> {
  try {
    demand({ name: "read", path });
    const { isFile, isDirectory } = await Deno.stat(path);
    return isDirectory ? [{ name, kind: "link" }] : isFile ? [{ name, kind: "file" }] : [];
  } catch {
    return [{ name, kind: "unreadable" }];
  }
}

/**
 * Calls `onChange` with the path of each direct change in some directories, until the result
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
