import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { isDict } from "../base/value/value.ts";
import type { Template } from "../expr/expression.ts";
import { type DecodedDocument, decodeDocument } from "./decode/decode_document.ts";
import { completeWorkflow, decodeWorkflow, type WorkflowDraft } from "./decode/decode_workflow.ts";
import type { JobFiles } from "./job_files/job_files.ts";
import { type Limits, readLimits } from "./limits.ts";
import type { Document, Workflow } from "./model.ts";
import { hasErrors, type Problem } from "./problem.ts";
import { parseDocument, readFiles, readTextFile } from "./read_files.ts";

/** A workflow that may run, and its diagnostics. */
export interface Loaded {
  readonly workflow: Workflow;
  readonly warnings: readonly Diagnostic[];
  /** Notes for verbose output only. */
  readonly hints: readonly Diagnostic[];
  /** What static analysis needs. */
  readonly decoded: DecodedWorkflow;
}

/** A workflow that could be decoded, and the job files that it embeds. */
export interface DecodedWorkflow extends DecodedDocument<WorkflowDraft> {
  readonly document: Document;
  readonly draft: WorkflowDraft;
  readonly jobFiles?: JobFiles;
}

/**
 * Loads a workflow from a file, or from several whose paths are separated by commas, and the job
 * files that it embeds. Throws LoadError with everything that is wrong with them.
 */
export async function loadWorkflow(
  argument: string,
  host: Host,
  permissions?: Permissions,
): Promise<Loaded> {
  return await loadDocument(await readDocument(argument, host), host, permissions);
}

/** The same for a document that was read already. */
export async function loadDocument(
  document: Document,
  host: Host,
  permissions?: Permissions,
): Promise<Loaded> {
  const limits = { ...readLimits(host.env), permissions };
  const decoded = await decodeDocument(decodeWorkflow, document, limits, host);
  const { draft, problems } = decoded;
  const jobFiles = draft && await embedJobFiles(draft, problems, limits, host);
  const inJobFiles = jobFiles?.diagnostics() ?? [];
  const workflow = draft && completeWorkflow(draft);
  if (!draft || !workflow || hasErrors(problems) || hasErrors(inJobFiles)) {
    const { loadError } = await import("./locate_diagnostics.ts");
    throw loadError(problems, document, inJobFiles);
  }
  const here = problems.length === 0
    ? []
    : (await import("./locate_diagnostics.ts")).locateDiagnostics(problems, document);
  const found = [...here, ...inJobFiles];
  return {
    workflow: jobFiles ? jobFiles.attach(workflow) : workflow,
    warnings: found.filter(({ severity }) => severity !== "hint"),
    hints: found.filter(({ severity }) => severity === "hint"),
    decoded: { ...decoded, document, draft, jobFiles },
  };
}

/**
 * Reads a file, or several, as one YAML document, whose top-level keys replace those in the file
 * of RUNNER_CONFIG. Throws LoadError if they are not YAML.
 */
export async function readDocument(argument: string, host: Host): Promise<Document> {
  const files = await readFiles(argument, host);
  const config = host.env.get("RUNNER_CONFIG");
  if (!config) return await parseDocument(files);
  const name = files.map((file) => file.name).join(",");
  const configFile = await readTextFile(config, host, "RUNNER_CONFIG file");
  const document = await parseDocument([configFile, ...files]);
  const { value } = await parseDocument([configFile]);
  // A configuration holds defaults; replacing them is not worth a message.
  const replaced = document.replaced.filter(({ before }) => before !== config);
  const defaults = isDict(value) && isDict(value.defaults) ? [value.defaults] : undefined;
  return { ...document, name, replaced, defaults };
}

/**
 * Loads and checks all job files whose paths are plain text, and those that `render` knows already
 * though they depend on vars. Errors in paths are added to the problems of the workflow. Undefined
 * if no step embeds a file.
 */
export async function embedJobFiles(
  draft: WorkflowDraft,
  problems: Problem[],
  limits: Limits,
  host: Host,
  render?: (path: Template) => string | undefined,
): Promise<JobFiles | undefined> {
  if (!draft.jobs.some(({ steps }) => steps.some(({ action }) => action?.embeds))) return undefined;
  const { JobFiles } = await import("./job_files/job_files.ts");
  const jobFiles = new JobFiles(host, limits, draft.document.defaults);
  await jobFiles.embed(draft, problems, render);
  return jobFiles;
}
