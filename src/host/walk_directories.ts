import type { DirectoryEntry, Files } from "./host.ts";

type IsOfInterest = (name: string) => boolean;

/** Hidden directories and installed packages hold nothing that is meant to be run. */
export const isEntered: IsOfInterest = (name) => !name.startsWith(".") && name !== "node_modules";

/** Whether a path leads to a directory that can be read. */
export async function isDirectory(path: string, files: Files): Promise<boolean> {
  return path !== "" && await files.list(path).catch(() => undefined) !== undefined;
}

/** The named files, and the wanted files in the named directories. */
export async function filesIn(
  paths: readonly string[],
  files: Files,
  isWanted: IsOfInterest,
): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) =>
      await isDirectory(path, files) ? await filesBelow(path, files, isWanted) : [path]
    ),
  );
  return [...new Set(found.flat())];
}

/**
 * The wanted files of a directory and of all below it, in the order of their names, with whatever
 * cannot be read there: who reads that learns the reason.
 */
export async function filesBelow(
  root: string,
  files: Files,
  isWanted: IsOfInterest,
  isEntered?: IsOfInterest,
): Promise<readonly string[]> {
  const { directories, unreadable } = await walkDirectories(root, files, isEntered);
  const found = directories.flatMap(({ path, entries }) =>
    entries.flatMap(({ name, kind }) =>
      (kind === "file" || kind === "unreadable") && isWanted(name) ? [path + name] : []
    )
  );
  // A directory comes where its name does, before longer names that begin with it.
  const byName = (path: string) => path.replaceAll("/", "\0");
  return [...found, ...unreadable].sort((a, b) => byName(a) < byName(b) ? -1 : 1);
}

/**
 * A directory and all below it, and the paths of those that cannot be read, links that lead nowhere
 * included unless their names are those of files. Links are followed, but no directory is entered
 * twice: those that links alone lead to come last.
 */
export async function walkDirectories(root: string, files: Files, isEntered?: IsOfInterest) {
  /** Their paths end with a slash; that of the current directory is empty. */
  const directories: { path: string; entries: readonly DirectoryEntry[] }[] = [];
  const unreadable: string[] = [];
  const entered = new Set<string>();
  const links = [root === "." || root === "" ? "" : `${root.replace(/\/+$/, "")}/`];
  const enter = async (path: string) => {
    const real = await files.realPath(path || ".").catch(() => path);
    if (entered.has(real)) return;
    entered.add(real);
    const entries = await files.entries(path || ".");
    if (!entries) return void unreadable.push(path.slice(0, -1) || root);
    directories.push({ path, entries });
    for (const { name, kind } of entries) {
      if (kind === "file" || isEntered?.(name) === false) continue;
      if (kind === "unreadable") { if (!/\.[A-Za-z]\w*$/.test(name)) unreadable.push(path + name); }
      else if (kind === "link") links.push(`${path}${name}/`);
      else await enter(`${path}${name}/`);
    }
  };
  for (const link of links) await enter(link);
  return { directories, unreadable };
}
