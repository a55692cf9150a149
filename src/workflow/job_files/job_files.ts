import { convertParameter } from "../../action/parameters.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import type { Template } from "../../expr/expression.ts";
import type { Host } from "../../host/host.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError } from "../../base/errors.ts";
import type { Value } from "../../base/value/value.ts";
import { decodeAs, type DecodedDocument } from "../decode/decode_document.ts";
import type { JobDraft } from "../decode/decode_job.ts";
import type { StepDraft } from "../decode/decode_step.ts";
import { completeJob, decodeJobFile } from "../decode/decode_workflow.ts";
import { isRawMap } from "../decode/decode_value.ts";
import {
  besideDocument,
  fromCurrentDirectory,
  jobPathOf,
  suggestFile,
  writtenJobPath,
} from "./job_path.ts";
import type { Limits } from "../limits.ts";
import type { Document, Job, JobFile, Step } from "../model.ts";
import { addError, addHint, hasErrors, type Problem } from "../problem.ts";
import { readTextFile } from "../read_files.ts";
import { parseDocument } from "../parse_document.ts";
import { locateAll } from "../locate_diagnostics.ts";

/** A document with steps that embed job files; errors in their paths are added to it. */
export interface Embedder {
  readonly document: Document;
  readonly steps: readonly StepDraft[];
  readonly problems: Problem[];
}

/** A file that was found to be a job file, right or wrong. */
export interface FoundJobFile extends DecodedDocument<JobDraft> {
  readonly document: Document;
}

/** The files that steps embed, and how much that is. */
interface Embedded {
  readonly files: Map<StepDraft, JobFile>;
  levels: number;
  size: number;
}

/** The result of a path: a valid job file, an invalid one, or none. */
type Visited =
  | {
    readonly kind: "good";
    readonly file: JobFile;
    readonly levels: number;
    readonly size: number;
  }
  | { readonly kind: "bad" }
  | { readonly kind: "none"; readonly message: string; readonly hint?: string };

/** Job files may be nested that deep. */
const MOST_LEVELS = 32;
/** So many steps may there be if each file is written out wherever it is embedded. */
const MOST_STEPS = 100_000;

/** The job files that a workflow embeds, at any depth. Each is loaded and checked once. */
export class JobFiles {
  readonly #host: Host;
  readonly #limits: Limits;
  readonly #visited = new Map<string, Visited>();
  /** The documents of the job files that steps embed, at any depth. */
  readonly embedded = new Map<StepDraft, Document>();
  /** In the order of `found`; a file that is not valid YAML has problems alone. */
  readonly #found: (FoundJobFile | readonly Diagnostic[])[] = [];

  constructor(host: Host, limits: Limits) {
    this.#host = host;
    this.#limits = limits;
  }

  /** The files that could be decoded, each before those that it embeds. */
  get found(): readonly FoundJobFile[] {
    return this.#found.filter((each): each is FoundJobFile => "document" in each);
  }

  /** The problems of the files that are not reported yet, each with its place. */
  async diagnostics(
    known: ReadonlySet<FoundJobFile> = new Set(),
  ): Promise<readonly Diagnostic[]> {
    const each = this.#found.map((found) => {
      if (!("document" in found)) return found;
      return known.has(found) ? [] : locateAll([found]);
    });
    return (await Promise.all(each)).flat();
  }

  /**
   * Loads the files that the steps of a workflow embed. `paths` has those that are not plain text;
   * a step whose path is not there is left out.
   */
  async embed(
    embedder: Embedder,
    paths: (step: StepDraft, template: Template) => string | undefined,
  ): Promise<ReadonlyMap<StepDraft, JobFile>> {
    return (await this.#embed(embedder, paths, [])).files;
  }

  /** Loads a job file that no step names, and those that it embeds. */
  async load(path: string): Promise<void> {
    await this.#visit(path, []);
  }

  async #embed(
    embedder: Embedder,
    paths: (step: StepDraft, template: Template) => string | undefined,
    trail: readonly string[],
  ): Promise<Embedded> {
    const { steps, problems } = embedder;
    const embedded: Embedded = { files: new Map(), levels: 0, size: steps.length };
    for (const step of steps) {
      const written = step.action?.embeds && writtenJobPath(step);
      // Mistakes in the text of a path were reported when it was decoded.
      if (!written || hasErrorAt(problems, step)) continue;
      const value = written.kind === "constant"
        ? written.value
        : written.kind === "template"
        ? paths(step, written.template)
        : undefined;
      const path = value === undefined || value === null
        ? undefined
        : convertParameter("string", value as Value);
      if (path !== undefined) await this.#embedFile(embedder, step, path, embedded, trail);
    }
    if (embedded.size > MOST_STEPS) {
      const message = `more than ${MOST_STEPS} steps, including those of embedded job files`;
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
    const refuse = (code: string, message: string, hint?: string) => {
      addError(problems, code, jobPathOf(step), message, hint === undefined ? {} : { hint });
    };
    if (written.trim() === "") return refuse("empty", '"path" must not be empty');
    const beside = await besideDocument(document, jobPathOf(step), written);
    const path = await fromCurrentDirectory(written, beside, this.#host) ?? beside;
    if (path !== beside) {
      const message = `'${beside}' not found; using '${path}' in the current directory`;
      addHint(problems, "job-path", jobPathOf(step), message, {
        hint: "the path is relative to the file that names it",
      });
    }
    if (trail.includes(path)) {
      const cycle = [...trail.slice(trail.indexOf(path)), path].join(" → ");
      return refuse("cycle", `job files include each other in a cycle: ${cycle}`);
    }
    const visited = trail.length < MOST_LEVELS ? await this.#visit(path, trail) : undefined;
    const levels = visited?.kind === "good" ? visited.levels : 1;
    if (!visited || trail.length + levels > MOST_LEVELS) {
      return refuse("size", `job files are nested more than ${MOST_LEVELS} levels deep`);
    }
    if (visited.kind === "none") return refuse("job-file", visited.message, visited.hint);
    if (visited.kind === "bad") return;
    embedded.files.set(step, visited.file);
    this.embedded.set(step, visited.file.document);
    embedded.levels = Math.max(embedded.levels, levels);
    embedded.size += visited.size;
  }

  async #visit(path: string, trail: readonly string[]): Promise<Visited> {
    let visited = this.#visited.get(path);
    if (!visited) this.#visited.set(path, visited = await this.#load(path, [...trail, path]));
    return visited;
  }

  async #load(path: string, trail: readonly string[]): Promise<Visited> {
    const { permissions } = this.#limits;
    const refused = permissions && await refusal(permissions, path, this.#host);
    if (refused) return refused;
    let document: Document;
    try {
      const source = await readTextFile(path, this.#host, "job file");
      document = await parseDocument([source], "job file");
    } catch (error) {
      if (!(error instanceof LoadError)) throw error;
      if (error.diagnostics.length === 0) return await this.#refusal(path, error);
      this.#found.push(error.diagnostics);
      return { kind: "bad" };
    }
    if (isWorkflow(document.value)) {
      return {
        kind: "none",
        message: `'${path}' is a workflow, not a job file: it has "jobs"`,
        hint: 'a job file is one job: it has "name", "steps" and other keys of a job at its top',
      };
    }
    const decoded = await decodeAs(decodeJobFile, document, this.#limits, this.#host);
    this.#found.push({ ...decoded, document });
    const { draft, problems } = decoded;
    if (!draft) return { kind: "bad" };
    const embedder = { document, steps: draft.steps, problems };
    const refuseTemplate = (step: StepDraft): undefined => {
      addError(problems, "job-path", jobPathOf(step), "a path in a job file cannot be a template", {
        hint: "the vars of a job file are known only when it runs",
      });
    };
    const { files, levels, size } = await this.#embed(embedder, refuseTemplate, trail);
    const job = completeJob(draft, document.name);
    if (!job || hasErrors(problems)) return { kind: "bad" };
    const file = { document, job: attachJobFiles(job, files) };
    return { kind: "good", file, levels: levels + 1, size };
  }

  async #refusal(path: string, error: LoadError): Promise<Visited> {
    const hint = error.hint ?? await suggestFile(path, this.#host);
    return { kind: "none", message: error.message, hint };
  }
}

/** Why a job file is out of reach. */
async function refusal(
  permissions: Permissions,
  path: string,
  host: Host,
): Promise<Visited | undefined> {
  const { pathRefusal } = await import("../../action/permissions/path_rule.ts");
  const refused = await pathRefusal(permissions, "read", path, host);
  if (!refused) return undefined;
  const { message, hint } = refused;
  return { kind: "none", message: `cannot read job file '${path}': ${message}`, hint };
}

/** The job with the files of its steps. */
export function attachJobFiles(job: Job, files: ReadonlyMap<StepDraft, JobFile>): Job {
  if (!job.steps.some((step) => files.has(step))) return job;
  const attach = (step: Step): Step => {
    const embedded = files.get(step);
    return embedded ? { ...step, embedded } : step;
  };
  return { ...job, steps: job.steps.map(attach) };
}

function hasErrorAt(problems: readonly Problem[], step: StepDraft): boolean {
  const place = jobPathOf(step);
  return problems.some(({ severity, path }) =>
    severity === "error" && path.length >= place.length &&
    place.every((part, index) => path[index] === part)
  );
}

function isWorkflow(value: unknown): boolean {
  return isRawMap(value) && Object.hasOwn(value, "jobs") && !Object.hasOwn(value, "steps");
}
