import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import type { DecodedDocument } from "../workflow/decode_document.ts";
import type { Limits } from "../workflow/limits.ts";
import { decodeDocument, embedsFiles } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { locateAll } from "../workflow/tell_problems.ts";
import { CHECKS } from "./checks.ts";
import { findLiteralSecrets } from "./literal_secrets.ts";
import { type Drafts, makeModel } from "./make_model.ts";

/** What was found in a document, and in the job files that it embeds. */
export interface CheckedDocument {
  /** In the order of the files. */
  readonly diagnostics: readonly Diagnostic[];
  /** Texts that stand in the files and must not be printed. */
  readonly secrets: readonly string[];
}

/** Finds everything that is wrong with a document, and all that probably is. */
export async function checkDocument(
  document: Document,
  host: Host,
  limits: Limits,
): Promise<CheckedDocument> {
  const decoded = await decodeDocument(document, limits);
  const { draft, problems } = decoded;
  const jobFiles = draft && embedsFiles(draft)
    ? await (await import("../workflow/embed_job_files.ts"))
      .embedJobFiles(draft, problems, limits, host)
    : undefined;
  const secrets = addFindings(document, draft, decoded);
  for (const found of jobFiles?.found ?? []) {
    const job = found.draft && { ...found.draft, id: found.document.name };
    for (const text of addFindings(found.document, job && { jobs: [job] }, found)) {
      secrets.push(text);
    }
  }
  const diagnostics = [
    ...await locateAll([{ ...decoded, document }]),
    ...await jobFiles?.diagnostics() ?? [],
  ];
  return { diagnostics, secrets };
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
