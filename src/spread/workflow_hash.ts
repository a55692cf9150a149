import { RunnerError } from "../base/errors.ts";
import type { Workflow } from "../workflow/model.ts";
import { filesOf, hashJson, relativeTo, unixLines } from "../workflow/files_of.ts";

/**
 * Identifies the workflow that all pieces of a run must have: SHA-256 of the texts of its files and
 * of its job files, with their paths relative to the directory of the first.
 */
export async function hashWorkflow({ document, jobs }: Workflow): Promise<string> {
  const files = filesOf(document, jobs);
  const directory = (files[0]?.name ?? "").replace(/[^/\\]*$/, "");
  const parts = files.map(({ name, text }) =>
    [relativeTo(directory, name), unixLines(text)] as const
  );
  return await hashJson([...parts].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0));
}

/** Throws RunnerError if the files of a workflow are not those that a run was prepared with. */
export function refuseOtherWorkflow(
  path: string,
  sha256: string,
  expected: string,
  runPath: string,
): void {
  if (sha256 === expected) return;
  throw new RunnerError(
    `'${path}' is not the workflow that '${runPath}' was made of`,
    `its files have the hash ${sha256.slice(0, 12)}, not ${expected.slice(0, 12)}: ` +
      "all pieces need the same files",
  );
}
