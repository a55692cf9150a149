import { isDict } from "../base/value/value.ts";
import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";
import type { Limits } from "../workflow/limits.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import type { CheckContext } from "./model.ts";
import { checkDocument, type CheckedDocument, checkJobFile } from "./check_document.ts";

/** The findings in a workflow or in a job file. */
export interface CheckedFile extends CheckedDocument {
  /** The file, or the files joined by commas, as the user named them. */
  readonly name: string;
  /** Why it could not be read; the places of that are among the diagnostics. */
  readonly refusal?: LoadError;
  /** Whether it has the steps of a job file, and no jobs. */
  readonly isJobFile: boolean;
}

/**
 * Finds all that is wrong, or probably is, with a file, or several that are read as one. A job
 * file is checked as such.
 */
export async function checkFile(
  name: string,
  host: Host,
  limits: Limits,
  context?: CheckContext,
): Promise<CheckedFile> {
  let document: Document;
  try {
    document = await readDocument(name, host);
  } catch (refusal) {
    if (refusal instanceof LoadError) return refused(name, refusal);
    throw refusal;
  }
  // A job file is never merged with others, whatever RUNNER_CONFIG names.
  const isJobFile = document.files.at(-1)?.name === name && hasSteps(document.value);
  const checked = isJobFile
    ? await checkJobFile(name, host, limits)
    : await checkDocument(document, host, limits, context);
  return { name, isJobFile, ...checked };
}

/** The findings for a file that cannot be read. */
export function refused(name: string, refusal: LoadError): CheckedFile {
  const { diagnostics } = refusal;
  return { name, refusal, isJobFile: false, diagnostics, secrets: [], jobFiles: [] };
}

function hasSteps(value: unknown): boolean {
  return isDict(value) && Object.hasOwn(value, "steps") && !Object.hasOwn(value, "jobs");
}
