import type { Plan } from "../plan/plan.ts";
import type { SuitePart } from "../run/event.ts";
import { RunnerError } from "../base/errors.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import { hashJson } from "../workflow/files_of.ts";
import { fieldsOf, type NamedText, readJsonFile, SUITE_RUN_SCHEMA } from "./read_json_file.ts";
import {
  describePlan,
  readPieceDescription,
  type RunFile,
  type RunFileOptions,
} from "./run_file.ts";
import { type Opening, openValues, sealValues } from "./seal.ts";

const HINT = "make one with: runner prepare <suite_file> --out FILE";

/** The paths of a suite file, a directory or several files, as the command line names them. */
type Operands = readonly string[];

/** One execution of a suite by several processes, as its run file describes it. */
export interface SuiteRunFile {
  /** The id of the run. */
  readonly run: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly name?: string;
  readonly operands: Operands;
  /** SHA-256 of all workflows and what was chosen of them. */
  readonly sha256: string;
  /** Setup, the workflows and teardown, in their order. */
  readonly workflows: readonly SuiteRunWorkflow[];
}

/** A workflow in the run file of a suite. */
export interface SuiteRunWorkflow extends Pick<RunFile, "workflow" | "jobs" | "leftOut" | "vars"> {
  /** Unlike that of any other: its file, and its role or a number where it needs one. */
  readonly name: string;
  /** From 0, among those with the same role. */
  readonly index: number;
  readonly role?: SuitePart["role"];
  /** The tags that all its jobs have. */
  readonly tags: readonly string[];
}

/** A workflow of a suite that is being prepared. */
interface PreparedWorkflow {
  readonly index: number;
  readonly role?: SuitePart["role"];
  readonly plan: Plan;
}

/** Which process a workflow can run in. */
export type SuiteTask = "setup" | "teardown" | "workflow";

/** The task in which a workflow runs. */
export function taskOf({ role }: Pick<SuiteRunWorkflow, "role">): SuiteTask {
  return role ?? "workflow";
}

/** Names of workflows. A suite may run one workflow with several sets of vars. */
export function namesOf(files: readonly string[]): readonly string[] {
  return files.map((file, at) => {
    if (files.indexOf(file) === files.lastIndexOf(file)) return file;
    return `${file} (${files.slice(0, at + 1).filter((other) => other === file).length})`;
  });
}

/** The text of the run file of a suite. Throws RunnerError where secret `vars` cannot be sealed. */
export async function renderSuiteRunFile(
  { name, operands, workflows }: {
    readonly name?: string;
    readonly operands: Operands;
    readonly workflows: readonly PreparedWorkflow[];
  },
  { id, version, created, secrets, seal }: Omit<RunFileOptions, "startAt">,
): Promise<string> {
  const described = await Promise.all(workflows.map(async ({ index, role, plan }) => ({
    index,
    role,
    ...plan.workflow.tags ? { tags: plan.workflow.tags } : {},
    ...await describePlan(plan, secrets),
  })));
  const sealed = await sealValues({ workflows: workflows.map(({ plan }) => plan.vars) }, {
    secrets,
    seal,
    purpose: purposeOf(id),
    what: "vars",
    nameOf: (name) =>
      name.replace(/^workflows\.(\d+)\./, (_, at) => `${described[at]!.workflow.file}: `),
  });
  const document = {
    schema: SUITE_RUN_SCHEMA,
    run: id,
    created,
    version,
    name,
    operands,
    sha256: await hashJson(described.map(({ role, workflow, jobs }) => [
      ...[role ?? null, workflow.file, workflow.sha256],
      jobs.map((job) => job.id),
    ])),
    workflows: described,
    vars: sealed.values.workflows,
    ...sealed.extra,
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

function purposeOf(run: string): string {
  return `${run} vars`;
}

/** The file, and where its values are: without `opening`, secret ones are nil. Throws RunnerError. */
export async function readSuiteRunFile(
  source: NamedText,
  opening?: Opening,
): Promise<SuiteRunFile> {
  const { file } = source;
  const fields = readJsonFile(source, SUITE_RUN_SCHEMA, "run file of a suite", HINT);
  const fail = (what: string): never => {
    throw new RunnerError(`'${file}' is not a valid run file of a suite: ${what}`, HINT);
  };
  const run = fields.text("run");
  const open: Dict = { workflows: fields.list("vars") };
  const values = opening
    ? await openValues(open, fields, opening, { file, purpose: purposeOf(run) })
    : open;
  const vars = values.workflows as readonly Dict[];
  const name = fields.optionalText("name");
  const unnamed = fields.list("workflows").map((entry, at): Omit<SuiteRunWorkflow, "name"> => {
    if (!isDict(entry)) return fail(`entry ${at + 1} of "workflows" is not a map`);
    const entryFields = fieldsOf(
      entry,
      (name, type) => fail(`"${name}" of entry ${at + 1} of "workflows" is not a ${type}`),
    );
    const role = entryFields.optionalText("role");
    if (!isDict(vars[at])) return fail(`"vars" of entry ${at + 1} of "workflows" are missing`);
    if (role !== undefined && role !== "setup" && role !== "teardown") {
      return fail(`unknown role "${role}"`);
    }
    const tags = Array.isArray(entry.tags)
      ? entry.tags.filter((tag) => typeof tag === "string")
      : [];
    return {
      index: entryFields.number("index"),
      role,
      tags,
      ...readPieceDescription(entryFields, file),
      vars: vars[at],
    };
  });
  const files = unnamed.map(({ role, workflow: { file } }) => role ? `${role}: ${file}` : file);
  const workflows = namesOf(files).map((name, at) => ({ ...unnamed[at]!, name }));
  return {
    run,
    created: fields.number("created"),
    name,
    operands: fields.list("operands").map(String),
    sha256: fields.text("sha256"),
    workflows,
  };
}
