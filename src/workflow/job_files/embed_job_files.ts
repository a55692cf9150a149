import { ExpressionError } from "../../base/errors.ts";
import type { Template } from "../../expr/expression.ts";
import type { Host } from "../../host/host.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import type { StepDraft } from "../decode/decode_step.ts";
import type { WorkflowDraft } from "../decode/decode_workflow.ts";
import { attachJobFiles, type FoundJobFile, JobFiles } from "./job_files.ts";
import { checkJobPath, jobPathOf } from "./job_path.ts";
import type { Limits } from "../limits.ts";
import type { CompleteJobs, Document, Job, JobFile, Workflow } from "../model.ts";
import { addError, hasErrors, type Problem } from "../problem.ts";
import { loadError } from "../locate_diagnostics.ts";

/** The job files that a workflow embeds. */
export interface EmbeddedFiles {
  /** The files that could be decoded, each before those that it embeds. */
  readonly found: readonly FoundJobFile[];
  /** The job file that a step of the workflow or of a job file embeds. */
  readonly embedded: ReadonlyMap<StepDraft, Document>;
  /** Their problems, each with its place. */
  diagnostics(): Promise<readonly Diagnostic[]>;
  /** The workflow with the files at its steps, except for those whose paths depend on its vars. */
  attach(workflow: Workflow): Workflow;
}

/**
 * Loads and checks all job files whose paths are plain text, and those that `render` knows already
 * though they depend on vars. Errors in paths are added to the problems of the workflow.
 */
export async function embedJobFiles(
  draft: WorkflowDraft,
  problems: Problem[],
  limits: Limits,
  host: Host,
  render: RenderPath = () => undefined,
): Promise<EmbeddedFiles> {
  const jobFiles = new JobFiles(host, limits);
  const steps = draft.jobs.flatMap((job) => job.steps);
  const open = new Set<StepDraft>();
  const files = await jobFiles.embed(
    { document: draft.document, steps, problems },
    (step, path) => {
      if (!checkJobPath(step, path, problems)) return undefined;
      open.add(step);
      return render(path);
    },
  );
  return {
    get found() {
      return jobFiles.found;
    },
    embedded: jobFiles.embedded,
    diagnostics: () => jobFiles.diagnostics(),
    attach(workflow) {
      const attached = { ...workflow, jobs: attachAll(workflow.jobs, files) };
      if (open.size === 0) return attached;
      const loadJobFiles = (render: RenderPath) => loadOpen(attached, jobFiles, open, render);
      return { ...attached, loadJobFiles };
    },
  };
}

/** Renders the template of a path; undefined where the file is to be left out. */
type RenderPath = (path: Template) => string | undefined;

/** Loads the files whose paths are known by now. Throws LoadError. */
async function loadOpen(
  { document, jobs }: Workflow,
  jobFiles: JobFiles,
  open: ReadonlySet<StepDraft>,
  render: RenderPath,
): Promise<CompleteJobs> {
  const problems: Problem[] = [];
  const steps = jobs.flatMap((job) => job.steps).filter((step) => open.has(step));
  const known = new Set(jobFiles.found);
  const files = await jobFiles.embed({ document, steps, problems }, (step, path) => {
    try {
      return render(path);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const { message, start, end, hint } = error;
      const details = { range: { start, end }, ...hint === undefined ? {} : { hint } };
      addError(problems, "job-path", jobPathOf(step), message, details);
      return undefined;
    }
  });
  const inJobFiles = await jobFiles.diagnostics(known);
  if (hasErrors(problems) || hasErrors(inJobFiles)) {
    throw await loadError(problems, [], document, inJobFiles);
  }
  const warnings = inJobFiles.filter(({ severity }) => severity !== "hint");
  return { jobs: attachAll(jobs, files), warnings };
}

function attachAll(
  jobs: readonly Job[],
  files: ReadonlyMap<StepDraft, JobFile>,
): readonly Job[] {
  return jobs.map((job) => attachJobFiles(job, files));
}
