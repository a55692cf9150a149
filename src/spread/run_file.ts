import { positionsOf } from "../base/yaml/positions.ts";
import type { Plan } from "../plan/plan.ts";
import { filesOf, hashJson, relativeTo, unixLines } from "../workflow/files_of.ts";
import type { Repeat, Workflow } from "../workflow/model.ts";
import type { RunStarted, SuitePart } from "../run/event.ts";
import { outlinePlan } from "../run/outline_plan.ts";
import { RunnerError } from "../base/errors.ts";
import type { Masker } from "../secrets/masker.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import { fieldsOf, type NamedText, readJsonFile } from "./read_json_file.ts";
import { type Opening, openValues, type Seal, sealValues } from "./seal.ts";

const SCHEMA = "runner.run/1";
const HINT = "make one with: runner prepare <workflow_file> --out FILE";

/** One execution of a workflow, or of a suite, by several processes, as the run file describes it. */
export interface RunFile {
  /** Its path, for messages. */
  readonly file: string;
  /** The id of the run. */
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** Where it is of a suite. */
  readonly suite?: {
    readonly name?: string;
    /** The paths of a suite file, a directory or several files, as the command line names them. */
    readonly operands: readonly string[];
  };
  /** SHA-256 of the files of the workflow; of a suite, of all workflows and what was chosen. */
  readonly sha256: string;
  /** Setup, the workflows and teardown, in their order; one workflow where it is no suite. */
  readonly workflows: readonly RunFileWorkflow[];
  /** When the parts of split jobs begin: milliseconds since 1970. */
  readonly startAt?: number;
}

/** A workflow of a run file. */
export interface RunFileWorkflow {
  /** Unlike that of any other: its file, and its role or a number where it needs one. */
  readonly name: string;
  /** From 0, among those with the same role. */
  readonly index: number;
  readonly role?: SuitePart["role"];
  /** The tags that all its jobs have. */
  readonly tags?: readonly string[];
  readonly workflow: {
    readonly name: string;
    readonly description?: string;
    readonly file: string;
    /** SHA-256 of its files. */
    readonly sha256: string;
  };
  /** The chosen jobs, as `run_started` has them. */
  readonly jobs: readonly RunFileJob[];
  /** The number of its jobs that were not selected. */
  readonly leftOut: number;
  /** The `vars`, which are evaluated once for all processes. */
  readonly vars: Dict;
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
  /** The expression that says whether a failure of it is allowed. */
  readonly allowFailure?: string;
};

/** The data from which a run file is made. */
interface RunFileOptions extends Pick<RunFile, "suite" | "startAt"> {
  readonly id: string;
  readonly version: string;
  readonly created: number;
  readonly workflows: readonly PreparedWorkflow[];
  readonly secrets: Masker;
  /** Absent where no key was given. */
  readonly seal?: Seal | undefined;
}

interface PreparedWorkflow extends Partial<Pick<RunFileWorkflow, "index" | "role">> {
  readonly plan: Plan;
}

/** The text of a run file. Throws RunnerError where `vars` are secret and cannot be sealed. */
export async function renderRunFile(options: RunFileOptions): Promise<string> {
  const { id, version, created, startAt, suite, secrets, seal } = options;
  const workflows = await Promise.all(
    options.workflows.map((one) => describe(one, secrets, suite !== undefined)),
  );
  const { values, extra } = await sealValues(
    { vars: options.workflows.map(({ plan }) => plan.vars) },
    {
      secrets,
      seal,
      purpose: purposeOf(id),
      what: "vars",
      nameOf: (name) =>
        name.replace(
          /^vars\.(\d+)\./,
          (_, at) => suite ? `${workflows[at]!.workflow.file}: ` : "",
        ),
    },
  );
  const sha256 = suite ? await hashSuite(workflows) : workflows[0]!.workflow.sha256;
  const document = {
    schema: SCHEMA,
    run: id,
    created,
    version,
    startAt,
    ...suite,
    sha256,
    workflows,
    ...values,
    ...extra,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

function purposeOf(run: string): string {
  return `${run} vars`;
}

async function hashSuite(workflows: readonly Awaited<ReturnType<typeof describe>>[]) {
  return await hashJson(workflows.map(({ role, workflow, jobs }) => [
    ...[role ?? null, workflow.file, workflow.sha256],
    jobs.map((job) => job.id),
  ]));
}

/** A workflow as run files have it, without its `vars`. */
async function describe(
  { index = 0, role, plan }: PreparedWorkflow,
  secrets: Masker,
  isOfSuite: boolean,
) {
  const { workflow, jobs } = plan;
  return {
    index,
    role,
    // A suite file may add tags.
    tags: isOfSuite ? workflow.tags : undefined,
    workflow: {
      name: secrets.mask(workflow.name),
      description: workflow.description,
      file: workflow.document.name,
      sha256: await hashWorkflow(workflow),
    },
    jobs: outlinePlan(plan, positionsOf(workflow.document)).map((outlined, at) => {
      const { skip, job: { isCleanup, when, allowFailure, repeat, load } } = jobs[at]!;
      return {
        ...outlined,
        name: secrets.mask(outlined.name),
        skip: skip === undefined ? undefined : true,
        cleanup: isCleanup || undefined,
        when,
        rounds: repeat?.count,
        pace: load ? SECOND : paceOf(repeat),
        expect: load?.expect?.map(({ expression }) => expression.source),
        allowFailure: allowFailure?.source,
      };
    }),
    leftOut: workflow.jobs.length - jobs.length || undefined,
  };
}

/** The seconds of a load job are those of all its parts. */
const SECOND = 1000;

/** How long after each other rounds start, where they do not start at once. */
function paceOf(repeat: Repeat | undefined): number | undefined {
  if (!repeat?.async || repeat.interval.kind !== "constant") return undefined;
  return repeat.interval.milliseconds || undefined;
}

/** Reads a run file; without `opening`, values that need a key are nil. Throws RunnerError. */
export async function readRunFile(source: NamedText, opening?: Opening): Promise<RunFile> {
  const { file } = source;
  const fields = readJsonFile(source, SCHEMA, "run file", HINT);
  const run = fields.text("run");
  const open: Dict = { vars: fields.list("vars") };
  const values = opening
    ? await openValues(open, fields, opening, { file, purpose: purposeOf(run) })
    : open;
  const vars = values.vars as readonly Value[];
  const unnamed = fields.list("workflows").map((entry, at) => readEntry(entry, vars[at], at, file));
  const names = namesOf(
    unnamed.map(({ role, workflow: { file } }) => role ? `${role}: ${file}` : file),
  );
  const operands = fields.optionalList("operands");
  if (!operands && unnamed.length !== 1) {
    throw invalidEntries(file, `"workflows" are ${unnamed.length}, and "operands" are missing`);
  }
  return {
    file,
    run,
    created: fields.number("created"),
    startAt: fields.optionalNumber("startAt"),
    suite: operands && { name: fields.optionalText("name"), operands: operands.map(String) },
    sha256: fields.text("sha256"),
    workflows: unnamed.map((workflow, at) => ({ ...workflow, name: names[at]! })),
  };
}

function invalidEntries(path: string, what: string): RunnerError {
  return new RunnerError(`'${path}' is not a valid run file: ${what}`, HINT);
}

function readEntry(
  entry: Value,
  vars: Value | undefined,
  at: number,
  path: string,
): Omit<RunFileWorkflow, "name"> {
  const where = `entry ${at + 1} of "workflows"`;
  const fail = (what: string): never => {
    throw invalidEntries(path, what);
  };
  if (!isDict(entry)) return fail(`${where} is not a map`);
  const fields = fieldsOf(entry, (name, type) => fail(`"${name}" of ${where} is not a ${type}`));
  const index = fields.number("index");
  if (!isDict(vars)) return fail(`"vars" of ${where} are missing`);
  const role = fields.optionalText("role");
  if (role !== undefined && role !== "setup" && role !== "teardown") {
    return fail(`unknown role "${role}"`);
  }
  const { name, file, sha256, description } = fields.map("workflow");
  if (typeof name !== "string" || typeof file !== "string" || typeof sha256 !== "string") {
    return fail(`"workflow" of ${where} is incomplete`);
  }
  const jobs = fields.list("jobs");
  for (const job of jobs) {
    const isJob = isDict(job) && typeof job.id === "string" && Array.isArray(job.needs) &&
      Array.isArray(job.steps);
    if (!isJob) fail(`"jobs" of ${where} has an incomplete entry`);
  }
  return {
    index,
    role,
    tags: fields.optionalList("tags")?.map(String),
    workflow: {
      name,
      file,
      sha256,
      description: typeof description === "string" ? description : undefined,
    },
    jobs: jobs as unknown as readonly RunFileJob[],
    leftOut: fields.optionalNumber("leftOut") ?? 0,
    vars,
  };
}

/** Names of workflows. A suite may run one workflow with several sets of vars. */
export function namesOf(files: readonly string[]): readonly string[] {
  return files.map((file, at) => {
    if (files.indexOf(file) === files.lastIndexOf(file)) return file;
    return `${file} (${files.slice(0, at + 1).filter((other) => other === file).length})`;
  });
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
