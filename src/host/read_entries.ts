import { demand } from "./deno_permissions.ts";
import type { DirectoryEntry } from "./host.ts";

/** The entries of a directory, by name; none if it cannot be read. */
export async function readEntries(directory: string): Promise<readonly DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  try {
    demand({ name: "read", path: directory });
    for await (const { name, isFile, isDirectory, isSymlink } of Deno.readDir(directory)) {
      if (isDirectory) entries.push({ name, kind: "directory" });
      else if (isFile) entries.push({ name, kind: "file" });
      else if (isSymlink) entries.push(...await followLink(name, `${directory}/${name}`));
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

async function followLink(name: string, path: string): Promise<readonly DirectoryEntry[]> {
  try {
    demand({ name: "read", path });
    const { isFile, isDirectory } = await Deno.stat(path);
    return isDirectory ? [{ name, kind: "link" }] : isFile ? [{ name, kind: "file" }] : [];
  } catch (error) {
    if (isRefusal(error)) return [];
    throw error;
  }
}

/** Whether the directory is missing or closed, or its links form a cycle. */
function isRefusal(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable ||
    error instanceof Deno.errors.FilesystemLoop;
}
