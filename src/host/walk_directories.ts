import type { DirectoryEntry, Files } from "./host.ts";

/** Which entries of directories are of interest, by their names. */
interface Interest {
  /** Whether a directory, or a link that may lead to one, is entered; by default all are. */
  readonly isEntered?: (name: string) => boolean;
  readonly isWanted: (name: string) => boolean;
}

/** The files that are named, and those that are wanted in the directories that are named. */
export async function filesIn(
  paths: readonly string[],
  files: Files,
  isWanted: Interest["isWanted"],
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    const isDirectory = await files.list(path).catch(() => undefined) !== undefined;
    const below = isDirectory ? await filesBelow(path, files, { isWanted }) : [path];
    below.forEach((each) => found.add(each));
  }
  return [...found];
}

/** Hidden directories and installed packages hold nothing that is meant to be run. */
export function isEntered(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules";
}

/**
 * The wanted files of a directory and of all below it, in the order of their names, with whatever
 * cannot be read there: who reads that learns the reason.
 */
export async function filesBelow(
  root: string,
  files: Files,
  { isEntered, isWanted }: Interest,
): Promise<readonly string[]> {
  const { directories, unreadable } = await walkDirectories(root, files, isEntered);
  const found = directories.flatMap(({ path, entries }) =>
    entries.flatMap(({ name, kind }) => kind === "file" && isWanted(name) ? [path + name] : [])
  );
  // A directory comes where its name does, before longer names that begin with it.
  const byName = (path: string) => path.replaceAll("/", "\0");
  return [...found, ...unreadable].sort((a, b) => byName(a) < byName(b) ? -1 : 1);
}

/**
 * A directory and all below it, and the paths of those that cannot be read. Links are followed, but
 * no directory is entered twice: those that links alone lead to come last.
 */
export async function walkDirectories(
  root: string,
  files: Files,
  isEntered: (name: string) => boolean = () => true,
) {
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
    if (!entries) return void unreadable.push(path.replace(/(?<=.)\/$/, "") || ".");
    directories.push({ path, entries });
    for (const { name, kind } of entries) {
      if (kind === "file" || !isEntered(name)) continue;
      if (kind === "unreadable") unreadable.push(path + name);
      else if (kind === "link") links.push(`${path}${name}/`);
      else await enter(`${path}${name}/`);
    }
  };
  for (const link of links) await enter(link);
  return { directories, unreadable };
}
