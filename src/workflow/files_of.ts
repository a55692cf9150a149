import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import type { Source } from "../base/source.ts";
import type { Document, JobFile } from "./model.ts";

interface WithSteps {
  readonly steps: readonly { readonly embedded?: JobFile }[];
}

/** The files of a workflow and of the job files that its jobs embed, each once. */
export function filesOf(document: Document, jobs: readonly WithSteps[]): readonly Source[] {
  const files = [...document.files];
  const seen = new Set<JobFile>();
  const visit = ({ steps }: WithSteps) => {
    for (const { embedded } of steps) {
      if (!embedded || seen.has(embedded)) continue;
      seen.add(embedded);
      files.push(...embedded.document.files);
      visit(embedded.job);
    }
  };
  jobs.forEach(visit);
  return files;
}

/** SHA-256 of the JSON text of a value, in hex. */
export async function hashJson(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** A text with `\n` line ends. */
export function unixLines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** The path of a file from a directory, with slashes. */
export function relativeTo(directory: string, path: string): string {
  return relative(resolve(directory || "."), resolve(path)).replaceAll("\\", "/");
}
