import { globToRegExp } from "@std/path/glob-to-regexp";
import type { DirectoryEntry, Files } from "../host/host.ts";
import { isEntered, walkDirectories } from "../host/walk_directories.ts";

/** Whether a path is a pattern: the shell did not expand its `*`, or there was no shell. */
export function isPattern(path: string): boolean {
  return /[*?[]|\{.*\}/.test(path);
}

/**
 * The files that match a pattern, by name: `*`, `?`, `[…]` and `{…,…}` stay inside of a
 * name, `**` is any number of directories. As in a shell, a leading dot must be written. What
 * cannot be read on the way is among them: who reads it learns the reason.
 */
export async function expandPattern(
  pattern: string,
  files: Files,
  isWanted = (_path: string) => true,
): Promise<readonly string[]> {
  const [first = "", ...rest] = splitPath(pattern);
  const found = first === ""
    ? await expand("/", rest, files)
    : await expand("", [first, ...rest], files);
  const kept = found.filter((path) => path.endsWith("/") || isWanted(path));
  return [...new Set(kept.map((path) => path.replace(/(?<=.)\/$/, "")))];
}

/** The names in a pattern; a slash in braces separates nothing. */
function splitPath(pattern: string): readonly string[] {
  return pattern.split(/\/+(?![^{]*\})/);
}

/** What cannot be read has a slash at its end. */
async function expand(
  directory: string,
  [name, ...rest]: readonly string[],
  files: Files,
): Promise<readonly string[]> {
  if (name === undefined) return [];
  // Two of them mean no more than one, and would be walked through many times.
  if (name === "**" && rest[0] === "**") return await expand(directory, rest, files);
  if (name === "**") return await expandDeeply(directory, rest, files);
  if (!isPattern(name) && rest.length > 0) return await expand(`${directory}${name}/`, rest, files);
  const fits = matcher(name);
  const entries = await files.entries(directory || ".");
  if (!entries) return [directory || "./"];
  return await expandEach(entries.filter((entry) => fits(entry.name)), directory, rest, files);
}

/** `**` matches any number of directories. */
async function expandDeeply(
  root: string,
  rest: readonly string[],
  files: Files,
): Promise<readonly string[]> {
  const { directories, unreadable } = await walkDirectories(root, files, isEntered);
  const found: string[] = [];
  for (const { path } of directories) {
    found.push(...await expand(path, rest.length === 0 ? ["*"] : rest, files));
  }
  return [...found, ...unreadable.map((path) => `${path}/`)];
}

async function expandEach(
  entries: readonly DirectoryEntry[],
  directory: string,
  rest: readonly string[],
  files: Files,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, kind } of entries) {
    const isFile = kind === "file" || kind === "unreadable";
    if (rest.length === 0) {
      if (isFile) found.push(directory + name);
    } else if (kind === "unreadable") found.push(`${directory}${name}/`);
    else if (!isFile) found.push(...await expand(`${directory}${name}/`, rest, files));
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
