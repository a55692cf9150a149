import { globToRegExp } from "@std/path/glob-to-regexp";
import type { DirectoryEntry, Files } from "../host/host.ts";
import { isEntered, walkDirectories } from "../host/walk_directories.ts";

/** Whether a path is a pattern: the shell did not expand its `*`, or there was no shell. */
export function isPattern(path: string): boolean {
  return /[*?[]|\{.*\}/.test(path);
}

/**
 * The files that match a pattern, by name: `*`, `?`, `[…]` and `{…,…}` stay inside of a
 * name, `**` is any number of directories. As in a shell, a leading dot must be written. Whatever
 * cannot be read on the way is among them: who reads it learns the reason.
 */
export async function expandPattern(
  pattern: string,
  files: Files,
  isWanted = (_path: string) => true,
): Promise<readonly string[]> {
  const [first = "", ...rest] = splitPath(pattern);
  const search = { files, isWanted };
  const found = first === ""
    ? await expand("/", rest, search)
    : await expand("", [first, ...rest], search);
  return [...new Set(found)];
}

interface Search {
  readonly files: Files;
  readonly isWanted: (path: string) => boolean;
}

/** The names in a pattern; a slash in braces separates nothing. */
function splitPath(pattern: string): readonly string[] {
  return pattern.split(/\/+(?![^{]*\})/);
}

async function expand(
  directory: string,
  [name, ...rest]: readonly string[],
  search: Search,
): Promise<readonly string[]> {
  if (name === undefined) return [];
  // Two of them mean no more than one, and would be walked through many times.
  if (name === "**" && rest[0] === "**") return await expand(directory, rest, search);
  if (name === "**") return await expandDeeply(directory, rest, search);
  if (!isPattern(name) && rest.length > 0) {
    return await expand(`${directory}${name}/`, rest, search);
  }
  const entries = await search.files.entries(directory || ".");
  if (!entries) return [directory.replace(/(?<=.)\/$/, "") || "."];
  const fits = matcher(name);
  return await expandEach(entries.filter((entry) => fits(entry.name)), directory, rest, search);
}

/** `**` matches any number of directories. */
async function expandDeeply(
  directory: string,
  rest: readonly string[],
  search: Search,
): Promise<readonly string[]> {
  const { directories, unreadable } = await walkDirectories(directory, search.files, isEntered);
  const found: string[] = [];
  for (const { path } of directories) {
    found.push(...await expand(path, rest.length === 0 ? ["*"] : rest, search));
  }
  return [...found, ...unreadable];
}

async function expandEach(
  entries: readonly DirectoryEntry[],
  directory: string,
  rest: readonly string[],
  search: Search,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, kind } of entries) {
    const path = directory + name;
    const isFile = kind === "file" || kind === "unreadable";
    if (rest.length === 0 ? isFile && search.isWanted(path) : kind === "unreadable") {
      found.push(path);
    } else if (rest.length > 0 && !isFile) found.push(...await expand(`${path}/`, rest, search));
  }
  return found;
}

function matcher(pattern: string): (name: string) => boolean {
  if (!isPattern(pattern)) return (name) => name === pattern;
  try {
    const expression = globToRegExp(pattern);
    return (name) => expression.test(name) && (pattern.startsWith(".") || !name.startsWith("."));
  } catch {
    // A range that runs backwards, like [z-a], fits nothing.
    return () => false;
  }
}
