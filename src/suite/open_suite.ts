import { join } from "@std/path/join";
import type { DataTemplate } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import { decodeText } from "../base/text/decode_text.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError, UsageError } from "../base/errors.ts";
import { evaluateVars } from "../plan/evaluate_vars.ts";
import type { Path } from "../base/source.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import { isSuite, loadSuiteFile, type SuiteDocument, type SuiteEntry } from "./decode_suite.ts";
import { findWorkflows, isManyFiles } from "./find_workflows.ts";
import type { SuiteFile, SuiteFiles } from "./suite.ts";

/** A suite whose files are known, before anything of them is evaluated. */
export interface OpenSuite {
  /** The suite file itself, where there is one. */
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

/** Whether the arguments of a command line are a suite: several files, or one that lists others. */
export async function isSuiteOf(operands: readonly string[], host: Host): Promise<boolean> {
  const [only = "", ...others] = operands;
  if (others.length > 0) return true;
  return await isManyFiles(only, host.files) || await readSuite(only, host) !== undefined;
}

/** Opens the suite that operands name. Throws LoadError and UsageError. */
export async function openSuite(operands: readonly string[], host: Host): Promise<OpenSuite> {
  const [only] = operands.length === 1 ? operands : [];
  const isFile = only !== undefined && !await isManyFiles(only, host.files);
  const document = isFile ? await readSuite(only, host) : undefined;
  if (!document) return ofOperands(operands, host);
  const { suite, warnings } = await loadSuiteFile(document, host);
  const at = (path: string) => besideFile(only!, path);
  return {
    path: only!,
    ...suite.workers === undefined ? {} : { workers: suite.workers },
    envFiles: suite.envFiles.map(at),
    report: suite.report.map((targets) => targets.replace(REPORT_PATH, at)),
    warnings,
    findFiles: (environment) => filesOf(suite, at, environment, host),
  };
}

/** A path in `junit=out.xml,json=out.json`; `-` is standard output. */
const REPORT_PATH = /(?<=(?:^|,)[A-Za-z]+=)(?!-(?:,|$))[^]+?(?=,(?:[A-Za-z]+=|github(?:,|$))|$)/g;

function ofOperands(operands: readonly string[], host: Host): OpenSuite {
  return {
    envFiles: [],
    report: [],
    warnings: [],
    async findFiles() {
      const found = await findWorkflows(operands, host);
      for (const { path } of found.workflows) {
        if (await readSuite(path, host) === undefined) continue;
        throw new UsageError(`the suite file '${path}' runs by itself`, `runner ${path}`);
      }
      return { setup: [], teardown: [], ...found };
    },
  };
}

/** The document of a suite file; undefined for anything else. */
export async function readSuite(path: string, { files, env, ...host }: Host) {
  if (path.includes(",") || !await files.isFile(path).catch(() => false)) return undefined;
  const text = await files.read(path).then(decodeText).catch(() => "");
  if (!/(?:^|[{,])\s*["']?workflows["']?\s*:/m.test(text)) return undefined;
  // A suite has no defaults of workflows.
  const plain = { get: (name: string) => name === "RUNNER_CONFIG" ? undefined : env.get(name) };
  try {
    const document = await readDocument(path, { ...host, files, env: { ...env, ...plain } });
    return isSuite(document) ? document : undefined;
  } catch (error) {
    if (error instanceof LoadError) return undefined;
    throw error;
  }
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
  const given = (path: string): SuiteFile => ({ path: at(path), vars: shared });
  const workflows: SuiteFile[] = [];
  let leftOut = 0;
  for (const entry of suite.entries) {
    const found = await findEntry(entry, at, suite, host);
    leftOut += found.leftOut;
    const vars = { ...shared, ...await evaluate(entry.vars, [...entry.at, "vars"]) };
    const { tags, isMap } = entry;
    for (const file of found.workflows) {
      const other = workflows.findIndex(({ path }) => path === file.path);
      const isPlain = other >= 0 && !isMapped.has(workflows[other]!);
      const listed = { ...file, vars, ...tags ? { tags } : {} };
      if (isMap) isMapped.add(listed);
      // The settings of a listed file apply if a pattern matches it, too.
      if (isPlain && isMap) workflows[other] = listed;
      else if (isMap || other < 0) workflows.push(listed);
    }
  }
  return {
    ...name === undefined ? {} : { name },
    setup: suite.setup.map(given),
    workflows,
    teardown: suite.teardown.map(given),
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

/** Files of which a suite says more than the path. */
const isMapped = new WeakSet<SuiteFile>();

async function findEntry(
  { path, at: place }: SuiteEntry,
  at: (path: string) => string,
  { document }: SuiteDocument,
  host: Host,
) {
  try {
    return await findWorkflows([at(path)], host);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { message, hint } = error;
    const span = (await document.positions()).locate(place);
    throw new LoadError(`cannot find the workflows of suite file '${document.name}'`, [{
      severity: "error",
      code: "workflows",
      message,
      span,
      ...hint === undefined ? {} : { hint },
    }]);
  }
}
