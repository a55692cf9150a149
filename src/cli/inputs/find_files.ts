import type { Files } from "../../host/host.ts";

/**
 * The files that are named, and those that are wanted, by their names, at any depth of the
 * directories that are named, in a stable order.
 */
export async function findFiles(
  paths: readonly string[],
  isWanted: (name: string) => boolean,
  files: Files,
): Promise<readonly string[]> {
  const found = new Set<string>();
  const addFrom = async (directory: string): Promise<void> => {
    for (const { name, kind } of await files.entries(directory)) {
      const path = `${directory}/${name}`;
      if (kind === "directory") await addFrom(path);
      else if (kind === "file" && isWanted(name)) found.add(path);
    }
  };
  for (const path of paths) {
    const isDirectory = await files.list(path).catch(() => undefined) !== undefined;
    if (isDirectory) await addFrom(path.replace(/(?<=.)\/+$/, ""));
    else found.add(path);
  }
  return [...found];
}
