import { LoadError } from "../base/errors.ts";
import type { Files, Host } from "../host/host.ts";
import { isDirectory } from "../host/walk_directories.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import type { SuiteFile } from "./suite.ts";

/** Whether an operand is a directory, or a pattern that is not the path of something. */
export async function isManyFiles(operand: string, files: Files): Promise<boolean> {
  const isList = operand.replace(/\{[^{}]*\}/g, "").includes(",");
  if (isList) return false;
  if (await files.isFile(operand).catch(() => false)) return false;
  return await isDirectory(operand, files) || isPattern(operand);
}

/** Reads a file that may be a workflow, or `file.yml:12` for the job at that line of it. */
export async function readWorkflow(operand: string, host: Host): Promise<SuiteFile> {
  const { path, line } = await splitLine(operand, host.files);
  try {
    return { path, line, document: await readDocument(path, host) };
  } catch (refusal) {
    if (refusal instanceof LoadError) return { path, refusal };
    throw refusal;
  }
}

async function splitLine(
  operand: string,
  files: Files,
): Promise<{ readonly path: string; readonly line?: number }> {
  const [, path, line] = /^(.+\.(?:ya?ml|json)):(\d+)$/i.exec(operand) ?? [];
  const isFile = (path: string) => files.isFile(path).catch(() => false);
  if (path === undefined || await isFile(operand) || !await isFile(path)) return { path: operand };
  return { path, line: Number(line) };
}

/** Whether a path is a pattern: the shell did not expand its `*`, or there was no shell. */
export function isPattern(path: string): boolean {
  return /[*?[]|\{.*\}/.test(path);
}
