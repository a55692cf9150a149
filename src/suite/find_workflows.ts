import { globToRegExp } from "@std/path/glob-to-regexp";
import { join } from "@std/path/join";
import { LoadError } from "../base/errors.ts";
import { suggest } from "../base/text/suggest.ts";
import { isDict } from "../base/value/value.ts";
import type { DirectoryEntry, Files, Host } from "../host/host.ts";
import { filesBelow, isDirectory, isEntered, walkDirectories } from "../host/walk_directories.ts";
import type { Document } from "../workflow/model.ts";
import { isManyFiles, isPattern, readWorkflow, type SuiteFile } from "./suite.ts";

/** The files that paths, directories and patterns select. */
interface FoundFiles {
  /** Each file once, in the order of the operands, and below each by name. */
  readonly workflows: readonly SuiteFile[];
  /** The number of YAML files that are not workflows. */
  readonly leftOut: number;
}

/**
 * The workflows that paths select. In directories, and among the files that fit a pattern,
 * other YAML files are left out; a file that is named must be a workflow. Throws LoadError where
 * nothing fits a pattern.
 */
export async function findWorkflows(operands: readonly string[], host: Host): Promise<FoundFiles> {
  const { files } = host;
  const workflows: SuiteFile[] = [];
  const known = new Set<string>();
  let leftOut = 0;
  for (const operand of operands) {
    if (!await isManyFiles(operand, files)) {
      if (isNew(operand, known)) workflows.push(await readWorkflow(operand, host));
      continue;
    }
    const paths = await isDirectory(operand, files)
      ? await yamlFilesIn(operand, files)
      : await expandPattern(operand, files, (path) => /\.(?:ya?ml|json)$/i.test(path));
    if (paths.length === 0) throw nothingFound(operand);
    for (const path of paths) {
      if (!isNew(path, known)) continue;
      const file = await readWorkflow(path, host);
      if (file.document && !isWorkflow(file.document)) leftOut++;
      else workflows.push(file);
    }
  }
  return { workflows, leftOut };
}

function isNew(path: string, known: Set<string>): boolean {
  const key = join(path);
  if (known.has(key)) return false;
  known.add(key);
  return true;
}

function nothingFound(operand: string): LoadError {
  const hint = /[*?]/.test(operand) ? "no file fits this pattern" : undefined;
  return isPattern(operand)
    ? new LoadError(`workflow file '${operand}' not found`, [], hint)
    : new LoadError(`no workflow in '${operand}'`, [], "it has no .yml or .yaml file");
}

/** The YAML files of a directory, and whatever cannot be read there. */
export async function yamlFilesIn(directory: string, files: Files): Promise<readonly string[]> {
  const isWanted = (name: string) => /\.ya?ml$/i.test(name) && !name.startsWith(".");
  return await filesBelow(directory, files, isWanted, isEntered);
}

/** Whether it has `jobs`, or a name and a list whose key is a near miss of `jobs`. */
function isWorkflow({ value }: Document): boolean {
  if (!isDict(value)) return false;
  if (Object.hasOwn(value, "jobs")) return true;
  return Object.hasOwn(value, "name") &&
    Object.keys(value).some((key) => Array.isArray(value[key]) && suggest(key, ["jobs"]));
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
