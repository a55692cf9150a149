import type { Permissions } from "../action/permissions/permissions.ts";
import { countOf } from "../base/text/count_of.ts";
import { readLimits } from "../workflow/limits.ts";
import { withDefaults } from "../workflow/read_files.ts";
import { decodeWorkflow } from "../workflow/decode/decode_workflow.ts";
import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";
import { evaluateKnownVars } from "../plan/evaluate_vars.ts";
import { renderKnownPath } from "../plan/make_plan.ts";
import type { Plan } from "../plan/plan.ts";
import type { DataTemplate } from "../expr/expression.ts";
import { onlyExpression } from "../expr/parse/tree.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { excerptOf } from "../base/source.ts";
import { fieldsOf } from "../expr/template.ts";
import { type Dict, isDict, valueAt } from "../base/value/value.ts";
import { type DecodedDocument, decodeDocument } from "../workflow/decode/decode_document.ts";
import type { StepDraft } from "../workflow/decode/decode_step.ts";
import type { Limits } from "../workflow/limits.ts";
import type { JobFiles } from "../workflow/job_files/job_files.ts";
import { type DecodedWorkflow, embedJobFiles, readDocument } from "../workflow/load_workflow.ts";
import { loadError, locateAll } from "../workflow/locate_diagnostics.ts";
import { writtenId } from "../workflow/step_facts.ts";
import type { Document } from "../workflow/model.ts";
import type { Problem } from "../workflow/problem.ts";
import { CHECKS } from "./checks.ts";
import { type CheckContext, type CheckModel, type RefuseOptions, UNSET } from "./model.ts";
import { isSurelyEvaluated } from "./readings.ts";
import { type Drafts, makeModel } from "./make_model.ts";

/** The findings in a document and in the job files that it embeds. */
interface CheckedDocument {
  /** In the order of the files. */
  readonly diagnostics: readonly Diagnostic[];
  /** Texts of the files that must not be printed. */
  readonly secrets: readonly string[];
  readonly jobFiles: readonly string[];
  readonly model?: CheckModel;
}

/** The findings in a workflow or in a job file. */
export interface CheckedFile extends CheckedDocument {
  /** The file, or the files joined by commas, as the user named them. */
  readonly name: string;
  /** Why it could not be read; the places of that are among the diagnostics. */
  readonly refusal?: LoadError;
  /** Whether it has the steps of a job file, and no jobs. */
  readonly isJobFile: boolean;
  /** All that could be decoded of it. */
  readonly model?: CheckModel;
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
    document = withDefaults(await readDocument(name, host), context?.defaults);
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

/** Finds everything that is wrong with a document, and all that probably is. */
async function checkDocument(
  document: Document,
  host: Host,
  limits: Limits,
  context: CheckContext = {},
): Promise<CheckedDocument> {
  const { problems, jobFiles, models } = await analyze(document, host, limits, context);
  return {
    model: models.get(document),
    diagnostics: [...locateAll([{ document, problems }]), ...jobFiles?.diagnostics() ?? []],
    secrets: secretsIn(models),
    jobFiles: namesOf(jobFiles),
  };
}

/**
 * Throws the error of a workflow that cannot be loaded, together with what static analysis proves
 * of the rest of it. The rest of any other error is unknown.
 */
export async function refuseBroken(
  refusal: unknown,
  document: Document,
  host: Host,
  permissions: Permissions | undefined,
  context: CheckContext,
): Promise<never> {
  if (!(refusal instanceof LoadError)) throw refusal;
  const limits = { ...readLimits(host.env), permissions };
  const isShown = ({ severity }: Pick<Diagnostic, "severity">) => severity !== "hint";
  const { problems, jobFiles } = await analyze(document, host, limits, context, false);
  const inJobFiles = jobFiles?.diagnostics().filter(isShown);
  throw loadError(problems.filter(isShown), document, inJobFiles);
}

/** Decodes a document and its job files, and adds the findings of all checks to their problems. */
async function analyze(
  document: Document,
  host: Host,
  limits: Limits,
  context: CheckContext,
  looksAround = true,
) {
  const decoded = await decodeDocument(decodeWorkflow, document, limits, host);
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
  const parts = draft ? partsOf({ ...decoded, document, draft }, jobFiles) : [];
  const models = await addFindings(parts, jobFiles, looksAround ? host : undefined, context);
  return { problems, jobFiles, models };
}

/** The same for a job file that no workflow embeds. */
async function checkJobFile(
  path: string,
  host: Host,
  limits: Limits,
): Promise<CheckedDocument> {
  const { JobFiles } = await import("../workflow/job_files/job_files.ts");
  const jobFiles = new JobFiles(host, limits);
  await jobFiles.load(path);
  const models = await addFindings(partsOf(undefined, jobFiles), jobFiles, host, {});
  return {
    model: [...models.values()].find(({ document }) => document.name === path),
    diagnostics: jobFiles.diagnostics(),
    secrets: secretsIn(models),
    jobFiles: namesOf(jobFiles),
  };
}

function namesOf(jobFiles: FoundFiles | undefined): readonly string[] {
  return (jobFiles?.found ?? []).map(({ document }) => document.name);
}

/** Adds the findings of all checks to the problems of documents; returns what the checks saw. */
async function addFindings(
  parts: readonly Part[],
  jobFiles: FoundFiles | undefined,
  host: Host | undefined,
  context: CheckContext,
): Promise<ReadonlyMap<Document, CheckModel>> {
  const models = await makeModels(parts, jobFiles, host, context);
  for (const { document, decoded } of parts) {
    const model = models.get(document)!;
    // They look at the problems of the loader, not at those of each other.
    const problems = CHECKS.flatMap(({ find }) => [...find(model)]);
    for (const problem of problems) decoded.problems.push(problem);
  }
  return models;
}

function secretsIn(models: ReadonlyMap<Document, CheckModel>): readonly string[] {
  return [...models.values()].flatMap(({ secrets }) => secrets.map(({ text }) => text));
}

/**
 * Refuses a workflow in which static analysis finds an error; returns its warnings. Throws
 * LoadError with everything that was found.
 */
export async function refuseFailing(
  decoded: DecodedWorkflow,
  plan: Plan,
  host: Host,
  options: RefuseOptions = {},
): Promise<readonly Diagnostic[]> {
  const found = await checkLoaded(decoded, plan, host, options);
  const errors = found.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return found;
  const unset = errors.filter(({ code }) => code === UNSET);
  if (unset.length === errors.length) {
    const message = unset.map(({ message }) => message).join("; ");
    throw new LoadError(
      message,
      [],
      'set it, in the environment or by --var name=…, or give a default: "{{NAME ?? …}}"',
    );
  }
  throw new LoadError(
    `workflow file '${decoded.document.name}' has ${countOf(errors.length, "error")}`,
    found,
    "found by check; --no-check runs it all the same",
  );
}

/** The errors and warnings of a workflow that could be loaded and planned. */
async function checkLoaded(
  { document, draft, jobFiles, ...decoded }: DecodedWorkflow,
  { workflow, vars, jobs }: Plan,
  host: Host,
  { isStrict = false, isExport = false, ...context }: RefuseOptions,
): Promise<readonly Diagnostic[]> {
  const unset = isExport ? new Map() : unsetVars(workflow.vars, vars);
  // The vars are those of the workflow with what the command line sets.
  const workflowPart = { ...decoded, document, draft: { ...draft, vars: workflow.vars } };
  const models = await makeModels(
    partsOf(workflowPart, jobFiles),
    jobFiles,
    isStrict ? host : undefined,
    {
      ...context,
      unset,
      chosen: new Set(
        jobs.filter(({ skip }) => skip === undefined).map(({ job }) => writtenId(job)),
      ),
    },
  );
  const found = [...models].map(([document, model]) => ({
    document,
    problems: CHECKS.flatMap(({ find }) => [...find(model)]).flatMap((problem): Problem[] => {
      const isError = isStrict && problem.severity === "warning" ||
        isExport && problem.code === "output-order";
      if (isError) return [{ ...problem, severity: "error" }];
      return problem.severity === "hint" ? [] : [problem];
    }),
  }));
  return locateAll(found).map((diagnostic) => {
    const { span, code, message } = diagnostic;
    if (!span || code !== UNSET) return diagnostic;
    const { file, line } = excerptOf(span);
    return { ...diagnostic, message: message.replace(/\)$/, `, ${file}:${line})`) };
  });
}

/** Vars without a value, and those of a variable of the environment that is not set, by name. */
function unsetVars(
  template: DataTemplate,
  value: unknown,
  path: readonly string[] = [],
): ReadonlyMap<string, string> {
  const name = path.join(".");
  if (template.kind === "constant" && value === null) return new Map([[name, name]]);
  const only = template.kind === "template" ? onlyExpression(template.template) : undefined;
  if (only?.type === "Identifier" && value === null) return new Map([[name, only.name]]);
  return new Map(
    [...fieldsOf(template) ?? []].flatMap(([name, data]) => [
      ...unsetVars(data, valueAt(value, [name]), [...path, name]),
    ]),
  );
}

/** The vars of a workflow that are written as plain values, and that a suite does not add. */
function constantVars({ vars, context }: Pick<CheckModel, "vars" | "context">): Dict {
  const fields = [...vars && fieldsOf(vars) || []].flatMap(([name, data]) =>
    data.kind === "constant" && data.value !== null && !context.vars?.has(name)
      ? [[name, data.value]]
      : []
  );
  return Object.fromEntries(fields);
}

/** A document that could be decoded. */
interface Part {
  readonly document: Document;
  readonly drafts: Drafts;
  readonly decoded: DecodedDocument<unknown>;
}

type FoundFiles = Pick<JobFiles, "found" | "embedded">;

/** A workflow, if there is one, and the job files. */
function partsOf(
  workflow: Omit<DecodedWorkflow, "jobFiles"> | undefined,
  jobFiles: FoundFiles | undefined,
): readonly Part[] {
  const parts = (jobFiles?.found ?? []).flatMap((decoded): readonly Part[] => {
    const { document, draft } = decoded;
    return draft
      ? [{ document, drafts: { jobs: [{ ...draft, id: document.name }] }, decoded }]
      : [];
  });
  if (!workflow) return parts;
  return [{ document: workflow.document, drafts: workflow.draft, decoded: workflow }, ...parts];
}

/** Makes the models of documents, each before those that it embeds; `host` looks for files. */
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
  const literals = host && await import("./literal_secrets.ts");
  const around = host && await import("./find_missing_files.ts");
  /** Whether a job file that steps embed certainly runs. */
  const runs = new Map<Document, boolean>();
  for (const { document, drafts, decoded } of parts) {
    const isSure = (job: string) => runs.get(document) ?? context.chosen?.has(job) ?? true;
    const secrets = literals?.findLiteralSecrets(document.value, document.files) ?? [];
    const model = makeModel(document, drafts, decoded, isSure, { embeddedBy, context, secrets });
    for (const step of model.steps) {
      const file = jobFiles?.embedded.get(step.draft);
      const isRun = isSurelyEvaluated({ job: step.job, step, key: "with", form: undefined });
      if (file) runs.set(file, isRun || runs.get(file) === true);
    }
    const vars = constantVars(model);
    const missingFiles = await around?.findMissingFiles(document, model.steps, vars, host!) ?? [];
    models.set(document, { ...model, missingFiles });
  }
  return models;
}
