import type { Host } from "../host/host.ts";
import { evaluateKnownVars } from "../plan/evaluate_vars.ts";
import { renderKnownPath } from "../plan/make_plan.ts";
import type { Plan } from "../plan/plan.ts";
import type { DataTemplate } from "../expr/expression.ts";
import { onlyExpression } from "../expr/parse/tree.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { excerptOf } from "../base/source.ts";
import type { Dict } from "../base/value/value.ts";
import type { DecodedDocument } from "../workflow/decode/decode_document.ts";
import type { StepDraft } from "../workflow/decode/decode_step.ts";
import type { Limits } from "../workflow/limits.ts";
import type { JobFiles } from "../workflow/job_files/job_files.ts";
import { decodeDocument, type DecodedWorkflow, embedJobFiles } from "../workflow/load_workflow.ts";
import type { Document } from "../workflow/model.ts";
import { locateAll } from "../workflow/locate_diagnostics.ts";
import { type RefuseOptions, UNSET } from "./check.ts";
import { ERROR_CHECKS } from "./error_checks.ts";
import { isSurelyEvaluated } from "./model/make_readings.ts";
import { type Drafts, makeModel } from "./model/make_model.ts";
import type { CheckContext, CheckModel } from "./model/check_model.ts";

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
  context: CheckContext = {},
): Promise<CheckedDocument> {
  const decoded = await decodeDocument(document, limits, host);
  const { draft, problems } = decoded;
  // The vars are evaluated only for a path that depends on them.
  const jobFiles = draft &&
    await embedJobFiles(
      draft,
      problems,
      limits,
      host,
      (path) => renderKnownPath(path, evaluateKnownVars(draft, host.env.all())),
    );
  const own = { ...decoded, document };
  const parts = draft ? partsOf({ ...own, draft }, jobFiles) : [];
  return await checkParts(parts, jobFiles, host, context, () => locateAll([own]));
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
  return await checkParts(
    partsOf(undefined, jobFiles),
    jobFiles,
    host,
    {},
    () => Promise.resolve([]),
  );
}

/** What prevents a workflow that could be loaded and planned from running. */
export async function checkLoaded(
  { document, draft, jobFiles, ...decoded }: DecodedWorkflow,
  { workflow, vars, jobs }: Plan,
  host: Host,
  { isStrict = false, isExport = false, ...context }: RefuseOptions,
): Promise<readonly Diagnostic[]> {
  const unset = isExport ? new Map() : unsetVars(workflow.vars, vars);
  // The vars are those of the workflow with what the command line sets.
  const own = { ...decoded, document, draft: { ...draft, vars: workflow.vars } };
  const parts = partsOf(own, jobFiles);
  const models = await makeModels(parts, jobFiles, isStrict ? host : undefined, {
    ...context,
    unset,
    chosen: new Set(jobs.filter(({ skip }) => skip === undefined).map(({ job }) => job.id)),
  });
  const checks = isStrict ? (await import("./checks.ts")).CHECKS : ERROR_CHECKS;
  const found = [...models].map(([document, model]) => ({
    document,
    problems: checks.flatMap(({ find }) => [...find(model)]).filter(
      ({ severity, code }) =>
        severity === "error" || isStrict && severity === "warning" ||
        isExport && code === "output-order",
    ),
    unquoted: [],
  }));
  return (await locateAll(found)).map(({ span, ...diagnostic }) => {
    if (!span) return diagnostic;
    if (diagnostic.code !== UNSET) return { ...diagnostic, span };
    const { file, line } = excerptOf(span);
    return { ...diagnostic, message: diagnostic.message.replace(/\)$/, `, ${file}:${line})`) };
  });
}

/** Vars that are an environment variable and nothing else which is not set, with its name. */
function unsetVars(template: DataTemplate, values: Dict): ReadonlyMap<string, string> {
  if (template.kind !== "map") return new Map();
  return new Map(template.entries.flatMap(([name, data]) => {
    const only = data.kind === "template" ? onlyExpression(data.template) : undefined;
    return only?.type === "Identifier" && values[name] === null ? [[name, only.name]] : [];
  }));
}

/** A document that could be decoded. */
interface Part {
  readonly document: Document;
  readonly drafts: Drafts;
  readonly decoded: DecodedDocument<unknown>;
}

type FoundFiles = Pick<JobFiles, "found" | "embedded" | "diagnostics">;

/** A workflow, if there is one, and the job files. */
function partsOf(
  own: Omit<DecodedWorkflow, "jobFiles"> | undefined,
  jobFiles: FoundFiles | undefined,
): readonly Part[] {
  const parts = (jobFiles?.found ?? []).flatMap((decoded): readonly Part[] => {
    const { document, draft } = decoded;
    return draft
      ? [{ document, drafts: { jobs: [{ ...draft, id: document.name }] }, decoded }]
      : [];
  });
  return own ? [{ document: own.document, drafts: own.draft, decoded: own }, ...parts] : parts;
}

/** Makes the models of documents, each before those that it embeds. */
async function makeModels(
  parts: readonly Part[],
  jobFiles: FoundFiles | undefined,
  host: Host | undefined,
  context: CheckContext,
): Promise<ReadonlyMap<Document, CheckModel>> {
  const models = new Map<Document, CheckModel>();
  const embeddedBy = (step: StepDraft) => {
    const document = jobFiles?.embedded.get(step);
    return document && models.get(document);
  };
  /** Whether a job file that steps embed certainly runs. */
  const runs = new Map<Document, boolean>();
  for (const { document, drafts, decoded } of parts) {
    const isSure = (job: string) => runs.get(document) ?? context.chosen?.has(job) ?? true;
    const secrets = host
      ? (await import("./secrets/literal_secrets.ts")).findLiteralSecrets(
        document.value,
        document.files,
      )
      : [];
    const rest = { embeddedBy, context };
    const model = makeModel(document, drafts, decoded, secrets, isSure, rest);
    const steps = model.jobs.flatMap(({ steps }) => steps);
    for (const step of steps) {
      const file = jobFiles?.embedded.get(step.draft);
      const isRun = isSurelyEvaluated({ job: step.job, step, field: "with" });
      if (file) runs.set(file, isRun || runs.get(file) === true);
    }
    const missingFiles = host
      ? await (await import("./model/missing_files.ts")).findMissingFiles(document, steps, host)
      : [];
    models.set(document, { ...model, missingFiles });
  }
  return models;
}

/** Checks the document of a workflow, if there is one, and job files. */
async function checkParts(
  parts: readonly Part[],
  jobFiles: FoundFiles | undefined,
  host: Host,
  context: CheckContext,
  locateOwn: () => Promise<readonly Diagnostic[]>,
): Promise<CheckedDocument> {
  const models = await makeModels(parts, jobFiles, host, context);
  const { CHECKS } = await import("./checks.ts");
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
    jobFiles: (jobFiles?.found ?? []).map(({ document }) => document.name),
  };
}
