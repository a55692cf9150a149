import type { Host } from "../host/host.ts";
import { evaluateKnownVars } from "../plan/evaluate_known.ts";
import { renderKnownPath } from "../plan/make_plan.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import type { DecodedDocument } from "../workflow/decode/decode_document.ts";
import type { StepDraft } from "../workflow/decode/decode_job.ts";
import type { WorkflowDraft } from "../workflow/decode/decode_workflow.ts";
import type { Limits } from "../workflow/limits.ts";
import type { EmbeddedFiles } from "../workflow/job_files/embed_job_files.ts";
import { decodeDocument, embedsFiles } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import type { Problem } from "../workflow/problem.ts";
import { locateAll } from "../workflow/locate_diagnostics.ts";
import { CHECKS } from "./checks.ts";
import { findLiteralSecrets } from "./secrets/literal_secrets.ts";
import { findMissingFiles } from "./model/missing_files.ts";
import { type Drafts, makeModel } from "./model/make_model.ts";
import type { CheckModel } from "./model/check_model.ts";

/** The findings in a document and in the job files that it embeds. */
export interface CheckedDocument {
  /** In the order of the files. */
  readonly diagnostics: readonly Diagnostic[];
  /** Texts of the files that must not be printed. */
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
  const parts = draft ? [{ document, drafts: draft, decoded }] : [];
  return await checkParts(parts, jobFiles, host, () => locateAll([{ ...decoded, document }]));
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
  return await checkParts([], jobFiles, host, () => Promise.resolve([]));
}

/** A document that could be decoded. */
interface Part {
  readonly document: Document;
  readonly drafts: Drafts;
  readonly decoded: DecodedDocument<unknown>;
}

/** Checks the document of a workflow, if there is one, and job files. */
async function checkParts(
  own: readonly Part[],
  jobFiles: Pick<EmbeddedFiles, "found" | "embedded" | "diagnostics"> | undefined,
  host: Host,
  locateOwn: () => Promise<readonly Diagnostic[]>,
): Promise<CheckedDocument> {
  const found = jobFiles?.found ?? [];
  const parts = [
    ...own,
    ...found.flatMap((decoded): readonly Part[] => {
      const { document, draft } = decoded;
      return draft
        ? [{ document, drafts: { jobs: [{ ...draft, id: document.name }] }, decoded }]
        : [];
    }),
  ];
  const models = new Map<Document, CheckModel>();
  const embeddedBy = (step: StepDraft) => {
    const document = jobFiles?.embedded.get(step);
    return document && models.get(document);
  };
  for (const { document, drafts, decoded } of parts) {
    const secrets = findLiteralSecrets(document.value, document.files);
    const model = makeModel(document, drafts, decoded, secrets, embeddedBy);
    const steps = model.jobs.flatMap(({ steps }) => steps);
    const missingFiles = await findMissingFiles(document, steps, host);
    models.set(document, { ...model, missingFiles });
  }
  for (const { document, decoded } of parts) {
    const model = models.get(document)!;
    // They look at the problems of the loader, not at those of each other.
    const problems = CHECKS.flatMap(({ find }) => [...find(model)]);
    for (const problem of problems) decoded.problems.push(problem);
  }
  const diagnostics: Diagnostic[] = [];
  for (const each of [await locateOwn(), await jobFiles?.diagnostics() ?? []]) {
    for (const diagnostic of each) diagnostics.push(diagnostic);
  }
  return {
    diagnostics,
    secrets: [...models.values()].flatMap(({ secrets }) => secrets.map(({ text }) => text)),
    jobFiles: found.map(({ document }) => document.name),
  };
}
