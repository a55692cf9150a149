import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import { LoadError } from "../source/errors.ts";
import type { Limits } from "../workflow/limits.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { checkDocument } from "./check_document.ts";

/** What was found in a workflow. */
export interface CheckedFile {
  /** The file, or the files joined by commas, as the user named them. */
  readonly name: string;
  /** Why it could not be read; the places of that are among the diagnostics. */
  readonly refusal?: LoadError;
  readonly diagnostics: readonly Diagnostic[];
  /** Texts that stand in the file and must not be printed. */
  readonly secrets: readonly string[];
}

/** Finds all that is wrong, or probably is, with a file, or several that are read as one. */
export async function checkFile(name: string, host: Host, limits: Limits): Promise<CheckedFile> {
  let document: Document;
  try {
    document = await readDocument(name, host);
  } catch (refusal) {
    if (!(refusal instanceof LoadError)) throw refusal;
    return { name, refusal, diagnostics: refusal.diagnostics, secrets: [] };
  }
  return { name, ...await checkDocument(document, host, limits) };
}
