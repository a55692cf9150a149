import { join } from "@std/path/join";
import type { Files, Host } from "../host/host.ts";
import { filesBelow, isDirectory, isEntered } from "../host/walk_directories.ts";
import { LoadError } from "../base/errors.ts";
import { suggest } from "../base/text/suggest.ts";
import { isDict } from "../base/value/value.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import { expandPattern, isPattern } from "./expand_pattern.ts";
import type { Document } from "../workflow/model.ts";
import type { SuiteFile } from "./suite.ts";

/** The files that paths, directories and patterns select. */
interface FoundFiles {
  /** Each file once, in the order of the operands, and below each by name. */
  readonly workflows: readonly SuiteFile[];
  /** The number of YAML files that are not workflows. */
  readonly leftOut: number;
}

/** Whether an operand is a directory, or a pattern that is not the path of something. */
export async function isManyFiles(operand: string, files: Files): Promise<boolean> {
  const isList = operand.replace(/\{[^{}]*\}/g, "").includes(",");
  if (isList) return false;
  if (await isDirectory(operand, files)) return true;
  return isPattern(operand) && !await files.isFile(operand).catch(() => false);
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
      if (isNew(operand, known)) workflows.push({ path: operand });
      continue;
    }
    const paths = await isDirectory(operand, files)
      ? await yamlFilesIn(operand, files)
      : await expandPattern(operand, files, (path) => /\.(?:ya?ml|json)$/i.test(path));
    if (paths.length === 0) throw nothingFound(operand);
    for (const path of paths) {
      if (!isNew(path, known)) continue;
      const file = await readWorkflow(path, host);
      if (file) workflows.push(file);
      else leftOut++;
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
function isWorkflow(value: Document["value"]): boolean {
  if (!isDict(value)) return false;
  if (Object.hasOwn(value, "jobs")) return true;
  return Object.hasOwn(value, "name") &&
    Object.keys(value).some((key) => Array.isArray(value[key]) && suggest(key, ["jobs"]));
}

/** A file that may be a workflow; undefined where it is something else. */
async function readWorkflow(path: string, host: Host): Promise<SuiteFile | undefined> {
  try {
    const document = await readDocument(path, host);
    return isWorkflow(document.value) ? { path, document } : undefined;
  } catch (refusal) {
    if (refusal instanceof LoadError) return { path, refusal };
    throw refusal;
  }
}
