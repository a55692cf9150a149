import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Plan } from "../plan/plan.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import type { Document } from "../workflow/model.ts";
import type { OuterDefaults } from "../workflow/read_files.ts";
import type { Files, Host } from "../host/host.ts";
import { readDocument } from "../workflow/load_workflow.ts";

/** A workflow file that a suite consists of. */
export interface SuiteFile {
  /** The file, or several joined by commas. */
  readonly path: string;
  /** A line of the job to run, from 1; all run without it. */
  readonly line?: number;
  /** Read already, where that was needed to know that it is a workflow. */
  readonly document?: Document;
  /** Why it cannot be read. */
  readonly refusal?: LoadError;
  /** The vars that a suite file adds or replaces. */
  readonly vars?: Dict;
  /** The defaults that a suite file gives. */
  readonly defaults?: OuterDefaults;
  /** Additional tags of all its jobs. */
  readonly tags?: readonly string[];
  /** Its name in reports, from that of the workflow and its vars. Throws LoadError. */
  readonly title?: (name: string, vars: Dict) => Promise<string>;
}

/** Files that are run together. */
export interface SuiteFiles {
  /** The name that a suite file gives. */
  readonly name?: string;
  readonly setup: readonly SuiteFile[];
  readonly workflows: readonly SuiteFile[];
  readonly teardown: readonly SuiteFile[];
  /** The number of YAML files that are not workflows. */
  readonly leftOut: number;
}

/** A workflow of a suite. */
export interface SuiteMember {
  readonly path: string;
  /** From 0, in the order of the suite. */
  readonly index: number;
  /** The path, with a number after it for further entries of the same path. */
  readonly key: string;
  /** The name that the suite file gives to it. */
  readonly name?: string;
  readonly plan: Plan;
}

/** Workflows that are run together. */
export interface Suite {
  readonly name?: string;
  readonly setup: readonly SuiteMember[];
  readonly workflows: readonly SuiteMember[];
  readonly teardown: readonly SuiteMember[];
  /** The shard of the workflows. */
  readonly shard?: Shard;
  /** The same for all shards. */
  readonly hash: string;
}

/** One of several shares of a suite. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly of: number;
}

/** A suite whose files are known, before anything of them is evaluated. */
export interface OpenSuite {
  /** The path of the suite file, if there is one. */
  readonly path?: string;
  /** The maximum number of workflows at once, by its file. */
  readonly workers?: number;
  /** The files that its file adds to the environment. */
  readonly envFiles: readonly string[];
  /** Reports that its file asks for. */
  readonly report: readonly string[];
  readonly warnings: readonly Diagnostic[];
  /** The templates in its file that read the environment. */
  readonly templates: readonly DataTemplate[];
  /** Finds the workflows, with the vars that they are given. Throws LoadError. */
  readonly findFiles: (environment: Readonly<Record<string, string>>) => Promise<SuiteFiles>;
}

/** Whether a document is a suite and not a workflow. */
export function isSuite({ value }: Document): boolean {
  return isDict(value) && Object.hasOwn(value, "workflows") && !Object.hasOwn(value, "jobs");
}

/** Whether an operand is a directory, or a pattern that is not the path of something. */
export async function isManyFiles(operand: string, files: Files): Promise<boolean> {
  const isList = operand.replace(/\{[^{}]*\}/g, "").includes(",");
  if (isList) return false;
  if (await files.isFile(operand).catch(() => false)) return false;
  const { isDirectory } = await import("../host/walk_directories.ts");
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
