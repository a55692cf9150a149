import { join } from "@std/path/join";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError, UsageError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import { evaluateVars } from "../plan/evaluate_vars.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { isSuite, loadSuiteFile, type SuiteDocument, type SuiteEntry } from "./decode_suite.ts";
import { findWorkflows, isManyFiles, readWorkflow } from "./find_workflows.ts";
import type { SuiteFile, SuiteFiles } from "./suite.ts";

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
  /** Finds the workflows, with the vars that they are given. Throws LoadError. */
  readonly findFiles: (environment: Readonly<Record<string, string>>) => Promise<SuiteFiles>;
}

/** What operands name: one workflow, which was read, or a suite. */
export type OpenOperands = { readonly workflow: SuiteFile } | { readonly suite: OpenSuite };

/**
 * Opens what the operands of a command name. A suite is several files, a directory, a pattern, or
 * a file that lists workflows; its workflows are found through the host `search`. Throws LoadError
 * for a suite file with errors; those of a workflow are kept until it is loaded.
 */
export async function openOperands(
  operands: readonly string[],
  host: Host,
  search = host,
): Promise<OpenOperands> {
  const [path = "", ...others] = operands;
  if (others.length > 0 || await isManyFiles(path, host.files)) {
    return { suite: suiteOfOperands(operands, search) };
  }
  const workflow = await readWorkflow(path, host);
  const { document } = workflow;
  if (!document || path.includes(",") || !isSuite(document)) return { workflow };
  return { suite: await suiteOfFile(path, document, host, search) };
}

/** Reads a file without the defaults of RUNNER_CONFIG, which are for workflows. */
function readSuiteDocument(path: string, host: Host): Promise<Document> {
  const get = (name: string) => name === "RUNNER_CONFIG" ? undefined : host.env.get(name);
  return readDocument(path, { ...host, env: { ...host.env, get } });
}

/** The document of a suite file; undefined for anything else. */
export async function readSuite(path: string, host: Host): Promise<Document | undefined> {
  if (path.includes(",") || !await host.files.isFile(path).catch(() => false)) return undefined;
  try {
    const document = await readSuiteDocument(path, host);
    return isSuite(document) ? document : undefined;
  } catch (error) {
    if (error instanceof LoadError) return undefined;
    throw error;
  }
}

/** Opens a suite file, whose document may have the defaults of RUNNER_CONFIG. Throws LoadError. */
async function suiteOfFile(
  path: string,
  read: Document,
  host: Host,
  search: Host,
): Promise<OpenSuite> {
  const document = host.env.get("RUNNER_CONFIG") ? await readSuiteDocument(path, host) : read;
  const { suite, warnings } = await loadSuiteFile(document, search);
  const at = (other: string) => besideFile(path, other);
  return {
    path,
    workers: suite.workers,
    envFiles: suite.envFiles.map(at),
    report: suite.report.map((targets) => targets.replace(REPORT_PATH, at)),
    warnings,
    findFiles: (environment) => filesOf(suite, at, environment, search),
  };
}

/** A path in `junit=out.xml,json=out.json`; `-` is standard output. */
const REPORT_PATH = /(?<=(?:^|,)[A-Za-z]+=)(?!-(?:,|$))[^]+?(?=,(?:[A-Za-z]+=|github(?:,|$))|$)/g;

/** The suite of several files, directories and patterns. */
export function suiteOfOperands(operands: readonly string[], host: Host): OpenSuite {
  return {
    envFiles: [],
    report: [],
    warnings: [],
    async findFiles() {
      const found = await findWorkflows(operands, host);
      for (const { path, document } of found.workflows) {
        if (!document || !isSuite(document)) continue;
        throw new UsageError(`the suite file '${path}' runs by itself`, `runner ${path}`);
      }
      return { setup: [], teardown: [], ...found };
    },
  };
}

/** A path that is relative to a file. */
function besideFile(file: string, path: string): string {
  const directory = file.replace(/[^/\\]*$/, "");
  return directory === "" || /^(?:[/\\]|[a-z]:[/\\])/i.test(path) ? path : join(directory, path);
}

async function filesOf(
  suite: SuiteDocument,
  at: (path: string) => string,
  environment: Readonly<Record<string, string>>,
  host: Host,
): Promise<SuiteFiles> {
  const { name, document } = suite;
  const evaluate = async (vars: DataTemplate | undefined, path: Path) =>
    vars ? await evaluateVars(vars, { path, document, owner: "suite" }, environment) : {};
  const shared = await evaluate(suite.vars, ["vars"]);
  const listed: { readonly file: SuiteFile; readonly isMap: boolean }[] = [];
  let leftOut = 0;
  for (const entry of suite.entries) {
    const found = await findEntry(entry, at, suite, host);
    leftOut += found.leftOut;
    const vars = { ...shared, ...await evaluate(entry.vars, [...entry.at, "vars"]) };
    const { tags, isMap } = entry;
    for (const workflow of found.workflows) {
      const file = { ...workflow, vars, tags };
      const other = listed.findIndex((one) => one.file.path === file.path);
      // The settings of a listed file apply if a pattern matches it, too.
      if (isMap && other >= 0 && !listed[other]!.isMap) listed[other] = { file, isMap };
      else if (isMap || other < 0) listed.push({ file, isMap });
    }
  }
  const besides = (path: string): SuiteFile => ({ path: at(path), vars: shared });
  return {
    name,
    setup: suite.setup.map(besides),
    workflows: listed.map(({ file }) => file),
    teardown: suite.teardown.map(besides),
    leftOut,
  };
}

/** The paths that a suite file lists. Throws LoadError. */
export async function findSuiteFiles(suite: SuiteDocument, path: string, host: Host) {
  const at = (other: string) => besideFile(path, other);
  const found = await Promise.all(suite.entries.map((entry) => findEntry(entry, at, suite, host)));
  const workflows = found.flatMap((one) => one.workflows.map((file) => file.path));
  return { setup: suite.setup.map(at), workflows, teardown: suite.teardown.map(at) };
}

async function findEntry(
  { path, at: location }: SuiteEntry,
  at: (path: string) => string,
  { document }: SuiteDocument,
  host: Host,
) {
  try {
    return await findWorkflows([at(path)], host);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { message, hint } = error;
    const span = document.positions().locate(location);
    const diagnostic = { severity: "error", code: "workflows", message, span, hint } as const;
    const summary = `cannot find the workflows of suite file '${document.name}'`;
    throw new LoadError(summary, [diagnostic]);
  }
}
