import { join } from "@std/path/join";
import { LoadError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import { evaluateVars } from "../plan/evaluate_vars.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { loadSuiteFile, type SuiteDocument, type SuiteEntry } from "./decode_suite.ts";
import { findWorkflows } from "./find_workflows.ts";
import type { OpenSuite, SuiteFile, SuiteFiles } from "./suite.ts";

/** Reads a file without the defaults of RUNNER_CONFIG, which are for workflows. */
export function readSuiteDocument(path: string, host: Host): Promise<Document> {
  const get = (name: string) => name === "RUNNER_CONFIG" ? undefined : host.env.get(name);
  return readDocument(path, { ...host, env: { ...host.env, get } });
}

/** Opens a suite file, whose document may have the defaults of RUNNER_CONFIG. Throws LoadError. */
export async function suiteOfFile(
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
  const evaluate = (vars: DataTemplate | undefined, path: Path) =>
    vars ? evaluateVars(vars, { path, document, owner: "suite" }, environment) : {};
  const shared = evaluate(suite.vars, ["vars"]);
  const listed: { readonly file: SuiteFile; readonly isMap: boolean }[] = [];
  let leftOut = 0;
  for (const entry of suite.entries) {
    const found = await findEntry(entry, at, suite, host);
    leftOut += found.leftOut;
    const vars = { ...shared, ...evaluate(entry.vars, [...entry.at, "vars"]) };
    const { tags, isMap } = entry;
    for (const workflow of found.workflows) {
      const file = { ...workflow, vars, tags };
      const other = listed.findIndex((one) => one.file.path === file.path);
      // The settings of a listed file apply if a pattern matches it, too.
      if (isMap && other >= 0 && !listed[other]!.isMap) listed[other] = { file, isMap };
      else if (isMap || other < 0) listed.push({ file, isMap });
    }
  }
  const withSharedVars = (path: string): SuiteFile => ({ path: at(path), vars: shared });
  return {
    name,
    setup: suite.setup.map(withSharedVars),
    workflows: listed.map(({ file }) => file),
    teardown: suite.teardown.map(withSharedVars),
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
