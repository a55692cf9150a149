import type { Plan } from "../plan/plan.ts";
import { filesOf, hashJson, relativeTo, unixLines } from "../workflow/files_of.ts";
import type { Repeat, Workflow } from "../workflow/model.ts";
import type { RunStarted } from "../run/event.ts";
import { outlinePlan } from "../run/outline_plan.ts";
import { RunnerError } from "../base/errors.ts";
import type { Masker } from "../secrets/masker.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import { type FileFields, type NamedText, readJsonFile } from "./read_json_file.ts";
import { type Opening, openValues, type Seal, sealValues } from "./seal.ts";

const SCHEMA = "runner.run/1";
const HINT = "make one with: runner prepare <workflow_file> --out FILE";

/** One execution of a workflow by several processes, as the run file describes it. */
export interface RunFile {
  /** The id of the run. */
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly workflow: {
    readonly name: string;
    readonly description?: string;
    readonly file: string;
    /** SHA-256 of its files. */
    readonly sha256: string;
  };
  /** The `vars`, which are evaluated once for all pieces. */
  readonly vars: Dict;
  /** The chosen jobs, as `run_started` has them. */
  readonly jobs: readonly RunFileJob[];
  /** The number of jobs of the workflow that were not selected. */
  readonly leftOut: number;
  /** When the parts of split jobs begin: milliseconds since 1970. */
  readonly startAt?: number;
}

/** A job of a run file. */
export type RunFileJob = RunStarted["jobs"][number] & {
  /** It is skipped as if its `skipif` were true. */
  readonly skip?: true;
  /** It is the `finally` of the workflow. */
  readonly cleanup?: true;
  /** When it starts, unless that is once all its needs passed. */
  readonly when?: "always" | "failure";
  /** The number of times that it runs, if it has a `repeat`. */
  readonly rounds?: number;
  /** How long after each other its rounds start, in milliseconds. */
  readonly pace?: number;
  /** Expressions that decide by the statistics of its rounds. */
  readonly expect?: readonly string[];
  /** The expression that says whether a failure of it is known. */
  readonly allowFailure?: string;
};

/** The data from which a run file is made. */
export interface RunFileOptions {
  readonly id: string;
  readonly version: string;
  readonly created: number;
  readonly startAt?: number;
  readonly secrets: Masker;
  /** Absent where no key was given. */
  readonly seal?: Seal | undefined;
}

/** The text of a run file. Throws RunnerError where `vars` are secret and cannot be sealed. */
export async function renderRunFile(plan: Plan, options: RunFileOptions): Promise<string> {
  const { id, version, created, startAt, secrets, seal } = options;
  const sealed = await sealValues(plan.vars, {
    secrets,
    seal,
    purpose: `${id} vars`,
    what: "vars",
  });
  const document = {
    schema: SCHEMA,
    run: id,
    created,
    version,
    startAt,
    ...await describePlan(plan, secrets),
    vars: sealed.values,
    ...sealed.extra,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** The workflow and the chosen jobs of a plan, as run files have them. */
export async function describePlan(plan: Plan, secrets: Masker) {
  const { workflow, jobs } = plan;
  const outline = outlinePlan(plan, true);
  return {
    workflow: {
      name: secrets.mask(workflow.name),
      description: workflow.description,
      file: workflow.document.name,
      sha256: await hashWorkflow(workflow),
    },
    jobs: outline.map((outlined, at) => {
      const { skip, job: { isCleanup, when, allowFailure, repeat, load } } = jobs[at]!;
      const expect = load?.expect;
      return {
        ...outlined,
        name: secrets.mask(outlined.name),
        ...skip === undefined ? {} : { skip: true },
        ...isCleanup ? { cleanup: true } : {},
        when,
        ...repeat ? { rounds: repeat.count } : {},
        ...load ? { pace: SECOND } : paceOf(repeat),
        ...expect ? { expect: expect.map(({ expression }) => expression.source) } : {},
        allowFailure: allowFailure?.source,
      };
    }),
    ...jobs.length === workflow.jobs.length ? {} : { leftOut: workflow.jobs.length - jobs.length },
  };
}

/** The seconds of a load job are those of all its parts. */
const SECOND = 1000;

/** How long after each other rounds start, where they do not start at once. */
function paceOf(repeat: Repeat | undefined): { readonly pace?: number } {
  if (!repeat?.async) return {};
  const { interval } = repeat;
  const pace = interval.kind === "constant" ? interval.milliseconds : 0;
  return pace > 0 ? { pace } : {};
}

/** Reads a run file; without `opening`, values that need a key are nil. Throws RunnerError. */
export async function readRunFile(source: NamedText, opening?: Opening): Promise<RunFile> {
  const fields = readJsonFile(source, SCHEMA, "run file", HINT);
  const { file } = source;
  const run = fields.text("run");
  const open = fields.map("vars");
  const startAt = fields.optionalNumber("startAt");
  return {
    run,
    created: fields.number("created"),
    ...readPieceDescription(fields, file),
    vars: opening
      ? await openValues(open, fields, opening, { file, purpose: `${run} vars` })
      : open,
    startAt,
  };
}

/** Reads what `describePlan` wrote. Throws RunnerError; `path` is the file that has it. */
export function readPieceDescription(
  fields: FileFields,
  path: string,
): Pick<RunFile, "workflow" | "jobs" | "leftOut"> {
  const { name, file, sha256, description } = fields.map("workflow");
  const fail = (what: string): never => {
    throw new RunnerError(`'${path}' is not a valid run file: ${what}`, HINT);
  };
  if (typeof name !== "string" || typeof file !== "string" || typeof sha256 !== "string") {
    return fail('"workflow" is incomplete');
  }
  const jobs = fields.list("jobs");
  for (const job of jobs) {
    const isJob = isDict(job) && typeof job.id === "string" && Array.isArray(job.needs) &&
      Array.isArray(job.steps);
    if (!isJob) fail('"jobs" has an incomplete entry');
  }
  return {
    workflow: { name, file, sha256, ...typeof description === "string" ? { description } : {} },
    jobs: jobs as unknown as readonly RunFileJob[],
    leftOut: fields.optionalNumber("leftOut") ?? 0,
  };
}

/** The jobs of a workflow as its first event has them. */
export function outlineOf({ jobs }: Pick<RunFile, "jobs">): RunStarted["jobs"] {
  return jobs.map((
    { skip: _, cleanup: _1, when: _2, expect: _3, rounds: _4, pace: _5, allowFailure: _6, ...job },
  ) => job);
}

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
