import { convertParameter } from "../../action/parameter.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { ExpressionError, LoadError } from "../../base/errors.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import type { DataTemplate, Template } from "../../expr/expression.ts";
import { explained } from "../../expr/hints.ts";
import { knownText } from "../../expr/parse_expression.ts";
import type { Host } from "../../host/host.ts";
import { type DecodedDocument, decodeDocument } from "../decode/decode_document.ts";
import {
  completeJob,
  decodeJobFile,
  type JobDraft,
  type WorkflowDraft,
} from "../decode/decode_workflow.ts";
import type { StepDraft } from "../decode/decode_step.ts";
import type { Limits } from "../limits.ts";
import { loadError, locateAll } from "../locate_diagnostics.ts";
import type { CompleteJobs, Document, Job, JobFile, Workflow } from "../model.ts";
import { parseDocument, readTextFile } from "../read_files.ts";
import { addError, addHint, hasErrors, type Problem } from "../problem.ts";
import { besideDocument, findNamedFile, IS_RELATIVE, jobPathOf } from "./job_path.ts";
import { WHOLE_SCOPE } from "../decode/expressions.ts";
import { referencesIn } from "../../expr/references.ts";
import { varNames } from "../step_facts.ts";

/** A document with steps that embed job files; errors in their paths are added to it. */
interface Embedder {
  readonly document: Document;
  readonly steps: readonly StepDraft[];
  readonly problems: Problem[];
}

/** A file that was found to be a job file, right or wrong. */
interface FoundJobFile extends DecodedDocument<JobDraft> {
  readonly document: Document;
}

/** The files that steps embed, and the number of steps with those of the files. */
interface Embedded {
  readonly files: Map<StepDraft, JobFile>;
  size: number;
}

/** The result of loading a path: a valid job file, an invalid one, or something else. */
type Visited =
  | { readonly kind: "good"; readonly file: JobFile; readonly size: number }
  | { readonly kind: "bad" }
  | { readonly kind: "none"; readonly message: string; readonly hint?: string };

/** Renders the template of a path; undefined if the file is left out. */
type RenderPath = (path: Template) => string | undefined;

/** Job files may be nested that deep; a link can lead into a cycle that has ever new paths. */
const MAX_LEVELS = 32;
/** The maximum number of steps, if each file is written out wherever it is embedded. */
const MAX_STEPS = 100_000;

/** The job files that a workflow embeds, at any depth. Each is loaded and checked once. */
export class JobFiles {
  readonly #host: Host;
  readonly #limits: Limits;
  readonly #defaults: Document["defaults"];
  readonly #visited = new Map<string, Visited>();
  /** In the order of `found`; a file that is not valid YAML has problems alone. */
  readonly #found: (FoundJobFile | readonly Diagnostic[])[] = [];
  /** The steps of the workflow whose paths depend on vars. */
  readonly #open = new Set<StepDraft>();
  #files: ReadonlyMap<StepDraft, JobFile> = new Map();
  /** The documents of the job files that steps embed, at any depth. */
  readonly embedded = new Map<StepDraft, Document>();

  constructor(host: Host, limits: Limits, defaults?: Document["defaults"]) {
    this.#host = host;
    this.#limits = limits;
    this.#defaults = defaults;
  }

  /** The files that could be decoded, each before those that it embeds. */
  get found(): readonly FoundJobFile[] {
    return this.#found.filter((each): each is FoundJobFile => "document" in each);
  }

  /** The problems of the files that are not `known`, each with its position. */
  diagnostics(known: readonly FoundJobFile[] = []): readonly Diagnostic[] {
    return this.#found.flatMap((found) => {
      if (!("document" in found)) return found;
      return known.includes(found) ? [] : locateAll([found]);
    });
  }

  /** Loads a job file that no step names, and those that it embeds. */
  async load(path: string): Promise<void> {
    await this.#visit(path, []);
  }

  /** Loads the files of a workflow. */
  async embed(
    { document, jobs }: WorkflowDraft,
    problems: Problem[],
    render?: RenderPath,
  ): Promise<void> {
    const steps = jobs.flatMap((job) => job.steps);
    const { files } = await this.#embed({ document, steps, problems }, (step, path) => {
      if (!checkJobPath(step, path, problems)) return undefined;
      this.#open.add(step);
      return render?.(path);
    }, []);
    this.#files = files;
  }

  /** The workflow with the files at its steps, except for those whose paths depend on its vars. */
  attach(workflow: Workflow): Workflow {
    const attached = { ...workflow, jobs: attachAll(workflow.jobs, this.#files) };
    if (this.#open.size === 0) return attached;
    return { ...attached, loadJobFiles: (render) => this.#loadOpen(attached, render) };
  }

  /** Loads the files whose paths are known by now. Throws LoadError. */
  async #loadOpen({ document, jobs }: Workflow, render: RenderPath): Promise<CompleteJobs> {
    const problems: Problem[] = [];
    const steps = jobs.flatMap((job) => job.steps).filter((step) => this.#open.has(step));
    const known = this.found;
    const { files } = await this.#embed({ document, steps, problems }, (step, path) => {
      try {
        return render(path);
      } catch (error) {
        const cause = explained(error);
        if (!(cause instanceof ExpressionError)) throw cause;
        const { message, start, end, hint } = cause;
        const details = { range: { start, end }, hint };
        addError(problems, "job-path", jobPathOf(step), message, details);
        return undefined;
      }
    }, []);
    const inJobFiles = this.diagnostics(known);
    if (hasErrors(problems) || hasErrors(inJobFiles)) {
      throw loadError(problems, document, inJobFiles);
    }
    const warnings = inJobFiles.filter(({ severity }) => severity !== "hint");
    return { jobs: attachAll(jobs, files), warnings };
  }

  /**
   * Loads the files that steps embed. `renderPath` has the paths that are not plain text; a step
   * whose path is not there is left out. `trail` are the files around the steps.
   */
  async #embed(
    embedder: Embedder,
    renderPath: (step: StepDraft, template: Template) => string | undefined,
    trail: readonly string[],
  ): Promise<Embedded> {
    const { steps, problems } = embedder;
    const embedded: Embedded = { files: new Map(), size: steps.length };
    for (const step of steps) {
      const written = step.action?.embeds && writtenJobPath(step);
      // Mistakes in the text of a path were reported when it was decoded.
      if (!written || hasErrorAt(problems, step)) continue;
      const value = written.kind === "constant"
        ? written.value
        : written.kind === "template"
        ? renderPath(step, written.template)
        : undefined;
      if (value === undefined || value === null) continue;
      const path = convertParameter("string", value as Value);
      if (path !== undefined) await this.#embedFile(embedder, step, path, embedded, trail);
    }
    if (embedded.size > MAX_STEPS) {
      const message = `more than ${MAX_STEPS} steps, including those of embedded job files`;
      addError(problems, "size", [trail.length === 0 ? "jobs" : "steps"], message, { part: "key" });
    }
    return embedded;
  }

  async #embedFile(
    { document, problems }: Embedder,
    step: StepDraft,
    written: string,
    embedded: Embedded,
    trail: readonly string[],
  ): Promise<void> {
    const at = jobPathOf(step);
    if (written.trim() === "") return addError(problems, "empty", at, '"path" must not be empty');
    const beside = besideDocument(document, at, written);
    const path = await findNamedFile(document, at, written, this.#host);
    if (path !== beside) {
      const message = `'${beside}' not found; using '${path}' in the current directory`;
      const hint = "the path is relative to the file that names it";
      addHint(problems, "job-path", at, message, { hint });
    }
    if (trail.includes(path)) {
      const cycle = [...trail.slice(trail.indexOf(path)), path].join(" → ");
      return addError(problems, "cycle", at, `job files include each other in a cycle: ${cycle}`);
    }
    if (trail.length >= MAX_LEVELS) {
      const message = `job files are nested more than ${MAX_LEVELS} levels deep`;
      return addError(problems, "size", at, message);
    }
    const visited = await this.#visit(path, trail);
    if (visited.kind === "none") {
      addError(problems, "job-file", at, visited.message, { hint: visited.hint });
    } else if (visited.kind === "good") {
      embedded.files.set(step, visited.file);
      embedded.size += visited.size;
      this.embedded.set(step, visited.file.document);
    }
  }

  async #visit(path: string, trail: readonly string[]): Promise<Visited> {
    let visited = this.#visited.get(path);
    if (!visited) this.#visited.set(path, visited = await this.#load(path, [...trail, path]));
    return visited;
  }

  async #load(path: string, trail: readonly string[]): Promise<Visited> {
    let document: Document;
    try {
      const { permissions } = this.#limits;
      const source = await readTextFile(path, this.#host, "job file", permissions);
      document = await parseDocument([source], "job file");
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      const { message, diagnostics } = error;
      if (diagnostics.length === 0) {
        const hint = error.hint ?? IS_RELATIVE;
        return { kind: "none", message, hint };
      }
      this.#found.push(diagnostics);
      return { kind: "bad" };
    }
    document = { ...document, defaults: this.#defaults };
    const { value } = document;
    if (isDict(value) && Object.hasOwn(value, "jobs") && !Object.hasOwn(value, "steps")) {
      return {
        kind: "none",
        message: `'${path}' is a workflow, not a job file: it has "jobs"`,
        hint: 'a job file is one job: it has "name", "steps" and other keys of a job at its top',
      };
    }
    const decoded = await decodeDocument(decodeJobFile, document, this.#limits, this.#host);
    this.#found.push({ ...decoded, document });
    const { draft, problems } = decoded;
    if (!draft) return { kind: "bad" };
    const embedder = { document, steps: draft.steps, problems };
    const { files, size } = await this.#embed(embedder, (step, path) => {
      // One that reads nothing is a constant.
      const constant = knownText(path.source);
      if (constant !== undefined) return constant;
      addError(problems, "job-path", jobPathOf(step), "a path in a job file cannot be a template", {
        hint: "the vars of a job file are known only when it runs",
      });
      return undefined;
    }, trail);
    const job = completeJob(draft, document.name);
    if (!job || hasErrors(problems)) return { kind: "bad" };
    return { kind: "good", file: { document, job: attachFiles(job, files) }, size };
  }
}

function attachAll(
  jobs: readonly Job[],
  files: ReadonlyMap<StepDraft, JobFile>,
): readonly Job[] {
  return jobs.map((job) => attachFiles(job, files));
}

function attachFiles(job: Job, files: ReadonlyMap<StepDraft, JobFile>): Job {
  if (!job.steps.some((step) => files.has(step))) return job;
  const steps = job.steps.map((step) => {
    const embedded = files.get(step);
    return embedded ? { ...step, embedded } : step;
  });
  return { ...job, steps };
}

function hasErrorAt(problems: readonly Problem[], step: StepDraft): boolean {
  const at = jobPathOf(step);
  return problems.some(({ severity, path }) =>
    severity === "error" && path.length >= at.length &&
    at.every((part, index) => path[index] === part)
  );
}

/** The path of the job file that a step embeds, as it is written. */
function writtenJobPath({ with: params }: StepDraft): DataTemplate | undefined {
  if (params.kind === "map") return params.entries.find(([key]) => key === "path")?.[1];
  if (params.kind !== "constant" || !isDict(params.value)) return undefined;
  return { kind: "constant", value: params.value.path };
}

/**
 * Checks that a template gives the path of a job file before anything runs: it sees the vars of
 * the workflow alone. True where it does.
 */
function checkJobPath(step: StepDraft, template: Template, problems: Problem[]): boolean {
  const vars = varNames(step);
  const before = problems.length;
  const nodes = template.parts.filter((part) => typeof part !== "string");
  for (const { base: { name, start, end }, keys: [key] } of nodes.flatMap(referencesIn)) {
    const isOfStep = name === "vars" && (key ? vars.has(key.name) : vars.size > 0);
    if (name === "vars" && !isOfStep) continue;
    const what = name === WHOLE_SCOPE
      ? "everything"
      : name !== "vars"
      ? `"${name}"`
      : key
      ? `"${key.name}", a var of the step`
      : "all vars of a step that has its own";
    const advice = isOfStep
      ? "write a step for each, or use a var of the workflow"
      : "write a path, or choose it by a var of the workflow";
    const message = `the path of a job file cannot depend on ${what}`;
    addError(problems, "job-path", jobPathOf(step), message, {
      range: { start, end },
      hint: `job files are loaded before the run: ${advice}`,
    });
  }
  return problems.length === before;
}
