import { join } from "@std/path/join";
import { positionsOf } from "../base/yaml/positions.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError, UsageError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { combinationsOf, describeCombination, MatrixFault } from "../base/value/combinations.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import type { CheckContext } from "../check/model.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import { evaluateVars } from "../plan/evaluate_vars.ts";
import type { ExpressionUse } from "../workflow/decode/expressions.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { decodeSuite, loadSuiteFile, type SuiteDocument, type SuiteEntry } from "./decode_suite.ts";
import { findWorkflows } from "./find_workflows.ts";
import { outputsOfSetup } from "./load_suite.ts";
import { isManyFiles, isSuite, type OpenSuite, type SuiteFile, type SuiteFiles } from "./suite.ts";

/** Reads a file without the defaults of RUNNER_CONFIG, which are for workflows. */
function readSuiteDocument(path: string, host: Host): Promise<Document> {
  const get = (name: string) => name === "RUNNER_CONFIG" ? undefined : host.env.get(name);
  return readDocument(path, { ...host, env: { ...host.env, get } });
}

/**
 * Opens a suite file, whose document may have the defaults of RUNNER_CONFIG. Of its workflows only
 * those in `chosen` run, if that has any. Throws LoadError.
 */
export async function suiteOfFile(
  path: string,
  read: Document,
  host: Host,
  search: Host,
  chosen: readonly string[],
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
    templates: [suite.vars, ...suite.entries.flatMap(({ vars, matrix }) => [vars, matrix])]
      .filter((template) => template !== undefined),
    async findFiles(environment) {
      const files = await filesOf(suite, at, environment, search);
      return chosen.length === 0 ? files : await chooseFiles(files, chosen, path, search);
    },
  };
}

/** Leaves the workflows of a suite that files, directories and patterns name. Throws LoadError. */
async function chooseFiles(
  files: SuiteFiles,
  chosen: readonly string[],
  path: string,
  host: Host,
): Promise<SuiteFiles> {
  const { workflows } = await findWorkflows(chosen, host);
  const lines = new Map<string, number | undefined>();
  for (const file of workflows) lines.set(await host.files.realPath(file.path), file.line);
  const kept: SuiteFile[] = [];
  const found = new Set<string>();
  for (const file of files.workflows) {
    const real = await host.files.realPath(file.path);
    if (!lines.has(real)) continue;
    kept.push({ ...file, line: lines.get(real) });
    found.add(real);
  }
  for (const { path: missing } of workflows) {
    const isListed = found.has(await host.files.realPath(missing));
    if (isListed || !chosen.some((name) => name.startsWith(missing))) continue;
    const hint = didYouMean(missing, files.workflows.map((file) => file.path)) ??
      `runner --list ${path} shows them`;
    throw new UsageError(`the suite '${path}' has no workflow '${missing}'`, hint);
  }
  return { ...files, workflows: kept };
}

/** A path in `junit=out.xml,json=out.json`; `-` is standard output, and `otlp` has an address. */
const REPORT_PATH =
  /(?<=(?:^|,)(?!otlp=)[A-Za-z]+=)(?!-(?:,|$))[^]+?(?=,(?:[A-Za-z]+=|github(?:,|$))|$)/g;

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
  const evaluate = async (vars: DataTemplate | undefined, path: Path, names: Dict = environment) =>
    vars ? await evaluateVars(vars, { path, document, owner: "suite" }, names) : {};
  const shared = await evaluate(suite.vars, ["vars"]);
  const defaults = defaultsOf(suite);
  const listed: { readonly file: SuiteFile; readonly isMap: boolean }[] = [];
  let leftOut = 0;
  for (const entry of suite.entries) {
    const found = await findEntry(entry, at, suite, host);
    leftOut += found.leftOut;
    const { tags, isMap } = entry;
    for (const matrix of await matricesOf(entry, document, environment)) {
      const names = matrix ? { ...environment, matrix } : environment;
      const vars = { ...shared, ...await evaluate(entry.vars, [...entry.at, "vars"], names) };
      const title = titleOf(entry, document, found.isMany, matrix);
      for (const workflow of found.workflows) {
        const file = { ...workflow, vars, defaults, tags, title };
        const other = listed.findIndex((one) => one.file.path === file.path);
        // The settings of a listed file apply if a pattern matches it, too.
        if (isMap && other >= 0 && !listed[other]!.isMap) listed[other] = { file, isMap };
        else if (isMap || other < 0) listed.push({ file, isMap });
      }
    }
  }
  const withSharedVars = (path: string): SuiteFile => ({ path: at(path), vars: shared, defaults });
  return {
    name,
    setup: suite.setup.map(withSharedVars),
    workflows: listed.map(({ file }) => file),
    teardown: suite.teardown.map(withSharedVars),
    leftOut,
  };
}

/** The defaults that it gives to its workflows. */
function defaultsOf({ defaults, document }: SuiteDocument): SuiteFile["defaults"] {
  return defaults && { values: defaults, document };
}

/** The combinations of the matrix of an entry; one `undefined` without a matrix. Throws LoadError. */
async function matricesOf(
  { matrix, at }: SuiteEntry,
  document: Document,
  environment: Readonly<Record<string, string>>,
): Promise<readonly (Dict | undefined)[]> {
  if (!matrix) return [undefined];
  const path = [...at, "matrix"];
  const values = await evaluateVars(matrix, { path, document, owner: "suite" }, environment);
  try {
    return combinationsOf(values);
  } catch (fault) {
    if (!(fault instanceof MatrixFault)) throw fault;
    const { message } = fault;
    const span = positionsOf(document).locate([...path, ...fault.path]);
    const diagnostic = { severity: "error", code: "matrix", message, span } as const;
    throw new LoadError(`cannot evaluate "${path.join(".")}" of the suite`, [diagnostic]);
  }
}

/**
 * Makes the names of the workflows of an entry: its `name`, followed by those of the workflows if
 * there may be several, and by the values of its matrix unless it has templates.
 */
function titleOf(
  { name, at }: SuiteEntry,
  document: Document,
  isMany: boolean,
  matrix: Dict | undefined,
): SuiteFile["title"] {
  if (!name && !matrix) return undefined;
  const isConstant = name?.parts.every((part) => typeof part === "string") ?? true;
  const suffix = matrix && isConstant ? ` (${describeCombination(matrix)})` : "";
  return async (workflow, vars) => {
    if (!name) return workflow + suffix;
    const template: DataTemplate = {
      kind: "map",
      entries: [["name", { kind: "template", template: name, nilOmits: '"name"' }]],
    };
    const names = { vars, ...matrix ? { matrix } : {} };
    const evaluated = await evaluateVars(template, { path: at, document, owner: "suite" }, names);
    return evaluated.name + suffix + (isMany ? ` › ${workflow}` : "");
  };
}

/** The paths that a suite file lists. Throws LoadError. */
async function findSuiteFiles(suite: SuiteDocument, path: string, host: Host) {
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
    const operand = at(path);
    const isMany = await isManyFiles(operand, host.files);
    return { isMany, ...await findWorkflows([operand], host) };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { message, hint } = error;
    const span = positionsOf(document).locate(location);
    const diagnostic = { severity: "error", code: "workflows", message, span, hint } as const;
    const summary = `cannot find the workflows of suite file '${document.name}'`;
    throw new LoadError(summary, [diagnostic]);
  }
}

/** The data of a suite file that `check` needs. */
interface CheckedSuite {
  readonly document: Document;
  /** Its expressions and templates. */
  readonly uses: readonly ExpressionUse[];
  readonly diagnostics: readonly Diagnostic[];
  /** Its workflows, with setup and teardown. */
  readonly files: readonly string[];
  /** What the suite gives to them. */
  readonly context: CheckContext;
  /** Those of setup, whose outputs other files may read. */
  readonly setup: readonly string[];
}

/** Checks a suite file by itself; undefined for any other file. */
export async function checkSuite(path: string, host: Host): Promise<CheckedSuite | undefined> {
  const document = await readSuite(path, host);
  if (!document) return undefined;
  const { suite, diagnostics, uses } = await decodeSuite(document, host);
  const read = { document, uses };
  if (!suite) return { ...read, diagnostics, files: [], context: {}, setup: [] };
  const defaults = defaultsOf(suite);
  const vars = new Set<string>();
  const values = isDict(document.value) ? document.value : {};
  const entries = Array.isArray(values.workflows) ? values.workflows : [];
  for (const map of [values, ...entries]) {
    if (!isDict(map) || !isDict(map.vars)) continue;
    for (const name of Object.keys(map.vars)) vars.add(name);
  }
  const found: Diagnostic[] = [...diagnostics];
  let files: readonly string[] = [];
  let setup: readonly string[] = [];
  try {
    const around = await findSuiteFiles(suite, path, host);
    files = [...around.setup, ...around.workflows, ...around.teardown];
    setup = around.setup;
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    for (const diagnostic of error.diagnostics) found.push(diagnostic);
  }
  const outputs = await outputsOfSetup(setup.map((path) => ({ path })), host);
  return { ...read, diagnostics: found, files, context: { vars, outputs, defaults }, setup };
}

/** The document of a suite file; undefined for anything else. */
async function readSuite(path: string, host: Host): Promise<Document | undefined> {
  if (path.includes(",") || !await host.files.isFile(path).catch(() => false)) return undefined;
  try {
    const document = await readSuiteDocument(path, host);
    return isSuite(document) ? document : undefined;
  } catch (error) {
    if (error instanceof LoadError) return undefined;
    throw error;
  }
}
