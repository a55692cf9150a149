import { filesOf, hashJson, unixLines } from "../workflow/files_of.ts";
import type { SuiteFiles, SuiteMember } from "./suite.ts";

/**
 * Identifies the suite that shards belong to: SHA-256 of the paths, the texts and the chosen
 * jobs of its workflows.
 */
export async function hashSuite(
  { name }: SuiteFiles,
  members: readonly SuiteMember[],
): Promise<string> {
  const parts = members.map((member) => {
    if (member.kind === "refused") return [member.path];
    const { jobs, workflow } = member.plan;
    const files = filesOf(workflow.document, workflow.jobs);
    return [member.path, jobs.map(({ job }) => job.id), files.map(({ text }) => unixLines(text))];
  });
  return await hashJson([name ?? null, parts]);
}
