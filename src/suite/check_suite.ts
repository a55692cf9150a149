import { isRawMap } from "../workflow/decode/decode_value.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import { LoadError } from "../source/errors.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import { decodeSuite } from "./decode_suite.ts";
import { findSuiteFiles, readSuite } from "./open_suite.ts";

/** The data of a suite file that `check` needs. */
export interface CheckedSuite {
  readonly diagnostics: readonly Diagnostic[];
  /** Its workflows, with setup and teardown. */
  readonly files: readonly string[];
  /**
   * Whether to drop a finding in one of them, since the suite provides the missing value, or may
   * use what setup publishes.
   */
  readonly isGiven: (found: Diagnostic, file: string) => boolean;
}

/** Checks a suite file by itself; undefined for any other file. */
export async function checkSuite(path: string, host: Host): Promise<CheckedSuite | undefined> {
  const document = await readSuite(path, host);
  if (!document) return undefined;
  const { suite, diagnostics } = await decodeSuite(document, host);
  if (!suite) return { diagnostics, files: [], isGiven: () => false };
  const given = new Set<string>();
  const values = isRawMap(document.value) ? document.value : {};
  const entries = Array.isArray(values.workflows) ? values.workflows : [];
  for (const map of [values, ...entries]) {
    if (!isRawMap(map) || !isRawMap(map.vars)) continue;
    for (const name of Object.keys(map.vars)) given.add(`undefined variable "${name}"`);
  }
  const found: Diagnostic[] = [...diagnostics];
  let files: readonly string[] = [];
  let setup: ReadonlySet<string> = new Set();
  try {
    const around = await findSuiteFiles(suite, path, host);
    files = [...around.setup, ...around.workflows, ...around.teardown];
    setup = new Set(around.setup);
    for (const file of around.setup) {
      for (const id of await publishersIn(file, host)) given.add(`no step publishes "${id}"`);
    }
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    for (const diagnostic of error.diagnostics) found.push(diagnostic);
  }
  return {
    diagnostics: found,
    files,
    // The message goes on where the output may be nil.
    isGiven: ({ message, code }, file) =>
      given.has(message.replace(/: this is always nil$/, "")) ||
      code === "unused-output" && setup.has(file),
  };
}

/** The ids of the steps of a workflow that publish something. */
async function publishersIn(path: string, host: Host): Promise<readonly string[]> {
  try {
    const { value } = await readDocument(path, host);
    const jobs = isRawMap(value) && Array.isArray(value.jobs) ? value.jobs : [];
    const steps = jobs.flatMap((job) => isRawMap(job) && Array.isArray(job.steps) ? job.steps : []);
    return steps.flatMap((step) =>
      isRawMap(step) && typeof step.id === "string" && isRawMap(step.outputs) ? [step.id] : []
    );
  } catch (error) {
    if (error instanceof LoadError) return [];
    throw error;
  }
}
