import { isDict } from "../base/value/value.ts";
import type { CheckContext } from "../check/model.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import { decodeSuite } from "./decode_suite.ts";
import { outputsOfSetup } from "./load_suite.ts";
import { readSuite } from "./open_suite.ts";
import { defaultsOf, findSuiteFiles } from "./suite_of_file.ts";

/** The data of a suite file that `check` needs. */
interface CheckedSuite {
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
  const { suite, diagnostics } = await decodeSuite(document, host);
  if (!suite) return { diagnostics, files: [], context: {}, setup: [] };
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
  return { diagnostics: found, files, context: { vars, outputs, defaults }, setup };
}
