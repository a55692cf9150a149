import type { JobFile } from "../workflow/model.ts";
import type { SuiteFiles, SuiteMember } from "./suite.ts";

/**
 * Identifies the suite that shards belong to: SHA-256 of the paths, the texts and the chosen
 * jobs of its workflows.
 */
export async function hashSuite(
  { name }: SuiteFiles,
  members: readonly SuiteMember[],
): Promise<string> {
  const parts = members.map((member) =>
    member.kind === "refused" ? [member.path] : [
      member.path,
      member.plan.jobs.map(({ job }) => job.id),
      textsOf(member.plan.workflow.jobs, [
        ...member.plan.workflow.document.files,
      ]),
    ]
  );
  const text = JSON.stringify([name ?? null, parts]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

interface WithSteps {
  readonly steps: readonly { readonly embedded?: JobFile }[];
}

/** The texts of files and of the job files that jobs embed, whatever ends their lines. */
function textsOf(jobs: readonly WithSteps[], files: JobFile["document"]["files"][number][]) {
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
  return files.map(({ text }) => text.replaceAll("\r\n", "\n"));
}
