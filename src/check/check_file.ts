import type { Permissions } from "../action/permissions/permissions.ts";
import { countOf } from "../base/text/count_of.ts";
import { readLimits } from "../workflow/limits.ts";
import { withDefaults } from "../workflow/read_files.ts";
import { decodeWorkflow, type IdentifiedJob } from "../workflow/decode/decode_workflow.ts";
import type { Host } from "../host/host.ts";
import { LoadError } from "../base/errors.ts";
import { evaluateKnownVars } from "../plan/evaluate_vars.ts";
import { renderKnownPath } from "../plan/make_plan.ts";
import type { Plan } from "../plan/plan.ts";
import type { DataTemplate } from "../expr/expression.ts";
import { onlyExpression } from "../expr/parse/tree.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { excerptOf, type Path } from "../base/source.ts";
import { fieldsOf } from "../expr/template.ts";
import { type Dict, isDict, valueAt } from "../base/value/value.ts";
import {
  type DecodedDocument,
  decodeDocument,
  jobsOf,
} from "../workflow/decode/decode_document.ts";
import type { StepDraft } from "../workflow/decode/decode_step.ts";
import type { Limits } from "../workflow/limits.ts";
import type { JobFiles } from "../workflow/job_files/job_files.ts";
import { type DecodedWorkflow, embedJobFiles, readDocument } from "../workflow/load_workflow.ts";
import { loadError, locateAll } from "../workflow/locate_diagnostics.ts";
import { writtenId } from "../workflow/step_facts.ts";
import type { Document } from "../workflow/model.ts";
import { type Problem, UNQUOTED_TEMPLATE } from "../workflow/problem.ts";
import { CHECKS } from "./checks.ts";
import {
  type CheckContext,
  type CheckedJob,
  type CheckedStep,
  type CheckModel,
  type Reading,
  type RefuseOptions,
  type Root,
  UNSET,
} from "./model.ts";
import { isSurelyEvaluated } from "./readings.ts";
import { argumentProblem } from "../expr/functions/function.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import type { CallExpression } from "../expr/parse/ast.ts";
import { findReferences, type References } from "../expr/references.ts";
import { type ExpressionUse, seesResult } from "../workflow/decode/expressions.ts";

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

/** The results of decoding a document. */
interface Decoded {
  readonly uses: readonly ExpressionUse[];
  readonly problems: readonly Problem[];
}

/** The jobs of a workflow and its vars, or the job of a job file. */
interface Drafts {
  readonly jobs: readonly IdentifiedJob[];
  readonly vars?: DataTemplate;
}

/** Looks through all that was decoded, once, for the checks to ask. */
function makeModel(
  document: Document,
  { jobs: drafts, vars }: Drafts,
  { uses, problems }: Decoded,
  isSure: (job: string) => boolean,
  rest: Pick<CheckModel, "embeddedBy" | "context" | "secrets">,
): Omit<CheckModel, "missingFiles"> {
  const definitions = findDefinitions(document, problems);
  const jobs = makeJobs(document.value, drafts, definitions, isSure);
  const steps = jobs.flatMap((job) => job.steps);
  const identified = steps.filter(({ draft }) => draft.id !== undefined);
  return {
    document,
    vars,
    jobs,
    steps,
    stepsById: Map.groupBy(identified, ({ draft: { id } }) => id!),
    publishers: publishersIn(identified),
    uses,
    readings: makeReadings(uses, jobs),
    definitions,
    usedWords: findUsedWords(document, problems),
    ...rest,
  };
}

function publishersIn(steps: readonly CheckedStep[]): ReadonlyMap<string, readonly CheckedStep[]> {
  const publishers = new Map<string, CheckedStep[]>();
  for (const step of steps) {
    for (const name of step.published ?? []) {
      if (publishers.has(name)) publishers.get(name)!.push(step);
      else publishers.set(name, [step]);
    }
  }
  return publishers;
}

function makeJobs(
  root: unknown,
  jobs: readonly IdentifiedJob[],
  definitions: ReadonlySet<string>,
  isSure: (job: string) => boolean,
): readonly CheckedJob[] {
  const made = jobs.map((draft) => {
    const needs = undefined as CheckedJob[] | undefined;
    const job = { draft, steps: [] as CheckedStep[], needs, isSure: isSure(draft.id) };
    for (const step of draft.steps) {
      const raw = rawMapAt(root, step.path);
      job.steps.push({ draft: step, job, raw, published: namesIn(raw.outputs) });
    }
    return job;
  });
  const byId = new Map(made.toReversed().map((job) => [job.draft.id, job]));
  for (const job of made) {
    const { path, needs } = job.draft;
    const found = needs.map((id) => byId.get(id));
    const { needs: list, ...raw } = rawMapAt(root, path);
    const written = list ?? [];
    // An unknown key with a list may be meant to be `needs`.
    const isDoubtful = Object.keys(raw).some((key) =>
      definitions.has(key) && Array.isArray(raw[key])
    );
    const isWritten = job.draft.isCleanup ||
      !isDoubtful && Array.isArray(written) && written.length === needs.length;
    if (isWritten && found.every((need) => need !== undefined)) job.needs = found;
  }
  return made;
}

function rawMapAt(root: unknown, path: Path): Dict {
  const value = valueAt(root, path);
  return isDict(value) ? value : {};
}

function namesIn(outputs: unknown): ReadonlySet<string> | undefined {
  if (outputs === undefined || outputs === null) return new Set();
  return isDict(outputs) ? new Set(Object.keys(outputs)) : undefined;
}

/** Where expressions read which names, in the order in which they were decoded. */
function makeReadings(
  uses: readonly ExpressionUse[],
  jobs: readonly CheckedJob[],
): readonly Reading[] {
  const ownerOf = indexOwners(jobs);
  const known = new Map<object, References>();
  const referencesOf = (tree: ExpressionUse["tree"]): References => {
    let references = known.get(tree);
    if (!references) known.set(tree, references = findReferences(tree, refusesNil));
    return references;
  };
  const testedBy = (part: CheckedJob | CheckedStep | undefined) => {
    const skipif = part?.draft.skipif;
    return skipif ? referencesOf(skipif) : NOTHING;
  };
  const readings: Reading[] = [];
  for (const { tree, path, names, form } of uses) {
    const found = referencesOf(tree);
    const { references } = found;
    const owner = references.length === 0 ? undefined : ownerOf(path);
    if (!owner) continue;
    // A condition that reads a value expects that it may be missing.
    const guards = [found, testedBy(owner.step), testedBy(owner.job)];
    const isSure = isSurelyEvaluated({ ...owner, form });
    const isAfterwards = seesResult(names) && owner.key !== "outputs";
    for (const { root, keys, isOpen, outcomes } of references) {
      const reading = {
        ...{ keys, isOpen, outcomes, path, ...owner, form, isAfterwards, isSure, guards },
      };
      if (isRoot(root)) readings.push({ root, ...reading });
      // `$env` by itself may be read in any way.
      if (root === "$env") {
        readings.push({ root: "vars", ...reading, isOpen: true });
        readings.push({ root: "outputs", ...reading, isOpen: true });
      }
    }
  }
  return readings;
}

const NOTHING: Reading["guards"][number] = { tested: new Set(), optional: new Set() };

function refusesNil({ callee }: CallExpression, position: number): boolean {
  const record = callee.type === "Identifier" ? FUNCTIONS.get(callee.name) : undefined;
  return record !== undefined && argumentProblem(record, position, null) !== undefined;
}

const ROOTS: ReadonlySet<string> = new Set<Root>([
  ...["vars", "outputs", "res", "needs", "rt", "run", "job", "message"] as const,
]);

function isRoot(name: string): name is Root {
  return ROOTS.has(name);
}

type Owner = Pick<Reading, "job" | "step" | "key">;

/** Finds the owner of a path; the vars of the workflow have none. */
function indexOwners(jobs: readonly CheckedJob[]): (path: Path) => Owner | undefined {
  const index = new Map(jobs.map((job) => [
    job.draft.path.join("."),
    { job, steps: new Map(job.steps.map((step) => [stepKey(job, step.draft.path), step])) },
  ]));
  return (path) => {
    const owner = path.slice(0, path[0] === "jobs" ? 2 : 1);
    // A job file is a job by itself.
    const found = index.get(owner.join(".")) ?? index.get("");
    if (!found) return undefined;
    const { job, steps } = found;
    const step = steps.get(stepKey(job, path));
    return { job, step, key: String(path[(step?.draft ?? job.draft).path.length]) };
  };
}

/** The step of a job that a path leads to, as text: `steps.2`, `load.setup.0`. */
function stepKey({ draft }: CheckedJob, path: Path): string {
  const start = draft.path.length;
  const isSetup = path[start] === "load" && path[start + 1] === "setup";
  return path.slice(start, start + (draft.isCleanup ? 1 : isSetup ? 3 : 2)).join(".");
}

/** Problems that keep the text at their path from being read as what it was meant to be. */
const UNREAD: ReadonlySet<string> = new Set([
  ...["duration", "expression", "open-braces", "type", "unknown-action", "unknown-key"],
  // `user` may be meant to be vars.user.
  "unknown-name",
]);

/** The keys and the words in values that were not read: they may be names that it defines. */
function findDefinitions(
  { value: root }: Document,
  problems: readonly Problem[],
): ReadonlySet<string> {
  const names = new Set<string>();
  const known = new Set<unknown>();
  const add = (value: unknown) => {
    if (typeof value === "string" && /^[\w-]+$/.test(value)) names.add(value);
    if (typeof value !== "object" || value === null || known.has(value)) return;
    known.add(value);
    for (const [key, part] of Object.entries(value)) {
      names.add(key);
      add(part);
    }
  };
  for (const { code, path, range } of problems) {
    const value = valueAt(root, path);
    if (code === "type" || code === "unknown-key") add(value);
    if (code === "unknown-key") add(path.at(-1));
    if (code !== "unknown-name" || typeof value !== "string" || !range) continue;
    // `outputs.my-step` is read as a subtraction.
    const [word] = /[\w-]*$/.exec(value.slice(0, range.end))!;
    if (word.includes("-")) { for (const part of word.split("-")) names.add(part); }
  }
  return names;
}

/**
 * Words in texts that were not read and still are uses: those with a mistake, in defaults, which no
 * step may have taken, and in templates without quotes, whose text YAML has lost.
 */
function findUsedWords(
  { value: root, files }: Document,
  problems: readonly Problem[],
): ReadonlySet<string> {
  const words = new Set<string>();
  const known = new Set<unknown>();
  for (const { code, path } of problems) {
    if (UNREAD.has(code)) addWords(words, valueAt(root, path), known, () => true);
  }
  for (const job of [root, ...jobsOf(root)]) {
    if (isDict(job)) addWords(words, job.defaults, known, (text) => text.includes("{{"));
  }
  if (problems.some(({ code }) => code === UNQUOTED_TEMPLATE)) {
    const templates = files.flatMap(({ text }) => text.match(/\{\{[^}]*\}\}/g) ?? []);
    addWords(words, templates, known, () => true);
  }
  return words;
}

function addWords(
  words: Set<string>,
  value: unknown,
  known: Set<unknown>,
  isWanted: (text: string) => boolean,
): void {
  // A text with many mistakes is searched once.
  if (known.has(value)) return;
  known.add(value);
  if (typeof value === "string" && isWanted(value)) {
    for (const [word] of value.matchAll(/[\w-]+/g)) {
      for (const part of [word, ...word.split("-")]) words.add(part);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      addWords(words, key, known, isWanted);
      addWords(words, part, known, isWanted);
    }
  }
}
