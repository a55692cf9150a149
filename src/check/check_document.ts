import type { Host } from "../host/host.ts";
import { evaluateKnownVars } from "../plan/evaluate_known.ts";
import { renderKnownPath } from "../plan/make_plan.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import type { DecodedDocument } from "../workflow/decode/decode_document.ts";
import type { WorkflowDraft } from "../workflow/decode/decode_workflow.ts";
import type { Limits } from "../workflow/limits.ts";
import type { EmbeddedFiles } from "../workflow/job_files/embed_job_files.ts";
import { decodeDocument, embedsFiles } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import type { Problem } from "../workflow/problem.ts";
import { locateAll } from "../workflow/locate_diagnostics.ts";
import { CHECKS } from "./checks.ts";
import { findLiteralSecrets } from "./secrets/literal_secrets.ts";
import { type Drafts, makeModel } from "./model/make_model.ts";

/** What was found in a document, and in the job files that it embeds. */
export interface CheckedDocument {
  /** In the order of the files. */
  readonly diagnostics: readonly Diagnostic[];
  /** Texts that stand in the files and must not be printed. */
  readonly secrets: readonly string[];
  /** The paths of the job files. */
  readonly jobFiles: readonly string[];
}

/** Finds everything that is wrong with a document, and all that probably is. */
export async function checkDocument(
  document: Document,
  host: Host,
  limits: Limits,
): Promise<CheckedDocument> {
  const decoded = await decodeDocument(document, limits, host);
  const { draft, problems } = decoded;
  const jobFiles = draft && embedsFiles(draft)
    ? await embedKnownFiles(draft, problems, limits, host)
    : undefined;
  const secrets = addFindings(document, draft, decoded);
  const inJobFiles = jobFiles && await checkJobFiles(jobFiles);
  const own = await locateAll([{ ...decoded, document }]);
  if (!inJobFiles) return { diagnostics: own, secrets, jobFiles: [] };
  return {
    diagnostics: [...own, ...inJobFiles.diagnostics],
    secrets: [...secrets, ...inJobFiles.secrets],
    jobFiles: inJobFiles.jobFiles,
  };
}

/** The job files that a workflow embeds, but for those whose paths only a run will know. */
async function embedKnownFiles(
  draft: WorkflowDraft,
  problems: Problem[],
  limits: Limits,
  host: Host,
): Promise<EmbeddedFiles> {
  const { embedJobFiles } = await import("../workflow/job_files/embed_job_files.ts");
  const vars = evaluateKnownVars(draft, host.env.all());
  return await embedJobFiles(draft, problems, limits, host, (path) => renderKnownPath(path, vars));
}

/** The same for a job file that no workflow embeds. */
export async function checkJobFile(
  path: string,
  host: Host,
  limits: Limits,
): Promise<CheckedDocument> {
  const { JobFiles } = await import("../workflow/job_files/job_files.ts");
  const jobFiles = new JobFiles(host, limits);
  await jobFiles.load(path);
  return await checkJobFiles(jobFiles);
}

async function checkJobFiles(
  jobFiles: Pick<EmbeddedFiles, "found" | "diagnostics">,
): Promise<CheckedDocument> {
  const secrets = jobFiles.found.flatMap((found) => {
    const { document, draft } = found;
    return addFindings(document, draft && { jobs: [{ ...draft, id: document.name }] }, found);
  });
  const names = jobFiles.found.map(({ document }) => document.name);
  return { diagnostics: await jobFiles.diagnostics(), secrets, jobFiles: names };
}

/** Adds to the problems of a document what the checks find; the result are secrets in it. */
function addFindings(
  document: Document,
  drafts: Drafts | undefined,
  decoded: DecodedDocument<unknown>,
): string[] {
  if (!drafts) return [];
  const secrets = findLiteralSecrets(document.value, document.files);
  const model = makeModel(document, drafts, decoded, secrets);
  // They look at the problems of the loader, not at those of each other.
  const found = CHECKS.flatMap(({ find }) => [...find(model)]);
  for (const problem of found) decoded.problems.push(problem);
  return secrets.map(({ text }) => text);
}
