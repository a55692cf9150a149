import { globToRegExp } from "@std/path/glob-to-regexp";
import type { DirectoryEntry, Files } from "../host/host.ts";

/** Whether a path is a pattern: the shell did not expand its `*`, or there was no shell. */
export function isPattern(path: string): boolean {
  return /[*?[]|\{.*\}/.test(path);
}

/**
 * The files that match a pattern, by name: `*`, `?`, `[…]` and `{…,…}` stay inside of a
 * name, `**` is any number of directories. As in a shell, a leading dot must be written.
 */
export async function expandPattern(pattern: string, files: Files): Promise<readonly string[]> {
  const [first = "", ...rest] = splitPath(pattern);
  const found = first === ""
    ? await expand("/", rest, files)
    : await expand("", [first, ...rest], files);
  return [...new Set(found)];
}

/** The names in a pattern; a slash in braces separates nothing. */
function splitPath(pattern: string): readonly string[] {
  return pattern.split(/\/+(?![^{]*\})/);
}

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
  const entries = (await files.entries(directory || ".")).filter((entry) => fits(entry.name));
  return await expandEach(entries, directory, rest, files);
}

/** `**` matches any number of directories; links may lead in a cycle. */
async function expandDeeply(
  directory: string,
  rest: readonly string[],
  files: Files,
): Promise<readonly string[]> {
  const here = await expand(directory, rest.length === 0 ? ["*"] : rest, files);
  const entries = await files.entries(directory || ".");
  const below = entries.filter(({ name, kind }) =>
    kind === "directory" && !name.startsWith(".") && name !== "node_modules"
  );
  return [...here, ...await expandEach(below, directory, ["**", ...rest], files)];
}

async function expandEach(
  entries: readonly DirectoryEntry[],
  directory: string,
  rest: readonly string[],
  files: Files,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { name, kind } of entries) {
    if (rest.length === 0) {
      if (kind === "file") found.push(directory + name);
    } else if (kind !== "file") found.push(...await expand(`${directory}${name}/`, rest, files));
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
