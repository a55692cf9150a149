import { demand } from "./deno_permissions.ts";

/** More links in a row are taken for a cycle. */
const MAX_LINKS = 40;

/**
 * The absolute path that a path leads to, without links, also if nothing exists there yet.
 * Throws as Deno does.
 */
export async function realPath(path: string, links = 0): Promise<string> {
  demand({ name: "read", path });
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const target = await readLink(path);
  if (target !== undefined) {
    if (links === MAX_LINKS) throw new Deno.errors.FilesystemLoop(`too many links: ${path}`);
    return await realPath(isAbsolute(target) ? target : join(parentOf(path), target), links + 1);
  }
  const directory = parentOf(path);
  if (directory === path) throw new Deno.errors.NotFound(path);
  const real = await realPath(directory, links);
  const name = nameOf(path);
  if (name === ".") return real;
  return name === ".." ? parentOf(real) : join(real, name);
}

/** The target of a link; undefined if it is not a link or does not exist. */
async function readLink(path: string): Promise<string | undefined> {
  try {
    return (await Deno.lstat(path)).isSymlink ? await Deno.readLink(path) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether names of files are those of Windows. */
export const WINDOWS = Deno.build.os === "windows";
const SEPARATORS = WINDOWS ? /[/\\]+$/ : /\/+$/;

/** Whether a path begins at the root of a file system. */
export function isAbsolute(path: string): boolean {
  return WINDOWS ? /^([a-z]:)?[/\\]/i.test(path) : path.startsWith("/");
}

function join(directory: string, name: string): string {
  return `${directory.replace(SEPARATORS, "")}${WINDOWS ? "\\" : "/"}${name}`;
}

function endOf(path: string): number {
  return Math.max(path.lastIndexOf("/"), WINDOWS ? path.lastIndexOf("\\") : -1);
}

function nameOf(path: string): string {
  const whole = path.replace(SEPARATORS, "");
  return whole.slice(endOf(whole) + 1);
}

export function parentOf(path: string): string {
  const whole = path.replace(SEPARATORS, "");
  const end = endOf(whole);
  if (end < 0) return whole === "" ? path : ".";
  return whole.slice(0, end + 1).replace(SEPARATORS, "") || whole.slice(0, end + 1);
}
