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
