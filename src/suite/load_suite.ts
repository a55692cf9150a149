import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError, type RunnerError, UsageError } from "../base/errors.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import type { Host } from "../host/host.ts";
import {
  chooseJobsOfMany,
  type JobChoice,
  type OnUnknown,
  unknownTags,
} from "../plan/select_jobs.ts";
import type { Plan } from "../plan/plan.ts";
import { filesOf, hashJson, unixLines } from "../workflow/files_of.ts";
import { readDocument } from "../workflow/load_workflow.ts";
import { membersOfShard, shuffle } from "./divide_suite.ts";
import { loadPlanOf, type PlanOptions } from "./load_plan.ts";
import type { OpenSuite, Shard, Suite, SuiteFile, SuiteFiles, SuiteMember } from "./suite.ts";

/** The inputs of a suite, and what is to run of it. */
interface SuiteOptions extends PlanOptions {
  /** Leaves some of the workflows that have jobs to run. */
  readonly filter?: (members: readonly SuiteMember[]) => readonly SuiteMember[];
  readonly shard?: Shard;
  /** Seconds that workflows took earlier, by path, to balance the shards. */
  readonly times?: ReadonlyMap<string, number>;
  /** The seed of a random order. */
  readonly shuffle?: string;
  /** The host that reads the files of one workflow; by default that of all. */
  readonly hostOf?: (path: string) => Host;
}

/** A suite with its plans, and the number of YAML files that are not workflows. */
interface LoadedSuite {
  readonly suite: Suite;
  readonly leftOut: number;
}

/**
 * Loads and plans the workflows of a suite, and selects those that have jobs to run. Throws LoadError
 * with everything that is wrong with them, or if there are none, and UsageError if nothing is left
 * to run.
 */
export async function loadSuite(
  open: OpenSuite,
  host: Host,
  options: SuiteOptions,
): Promise<LoadedSuite> {
  const { jobs = {}, shard } = options;
  await options.addVariables?.(open.templates);
  const files = await open.findFiles(options.environment);
  const check = options.check &&
    { ...options.check, outputs: await outputsOfSetup(files.setup, host) };
  const all = { ...options, check };
  const unknownVars = new UnknownNames();
  const unknownJobs = new UnknownNames();
  const planWhole = (file: SuiteFile) =>
    loadPlanOf(file, host, all, (plan) => plan, unknownVars.ofNext);
  const planChosen = (file: SuiteFile) =>
    loadPlanOf(
      file,
      options.hostOf?.(file.path) ?? host,
      all,
      (plan) => chooseJobsOfMany(plan, jobs, unknownJobs.ofNext()),
      unknownVars.ofNext,
    );
  const refusals: LoadError[] = [];
  const setup = await planMembers(files.setup, planWhole, refusals);
  const workflows = await planMembers(files.workflows, planChosen, refusals);
  const teardown = await planMembers(files.teardown, planWhole, refusals);
  if (refusals.length > 0) throw joinRefusals(refusals);
  unknownVars.check();
  unknownJobs.check();
  const chosen = workflows.filter(({ plan }) => hasJobs(plan));
  if (chosen.length === 0) throw nothingChosen(workflows, jobs);
  if (!jobs.maySkipAll && jobs.skip && chosen.every(isSkipped)) {
    throw new UsageError("no job is left to run", "name fewer jobs with --skip");
  }
  const selected = options.filter?.(chosen) ?? chosen;
  const ours = shard ? membersOfShard(selected, shard, options.times) : selected;
  return {
    suite: {
      name: files.name,
      setup,
      workflows: options.shuffle === undefined ? ours : shuffle(ours, options.shuffle),
      teardown,
      shard,
      hash: await hashSuite(files, selected),
    },
    leftOut: files.leftOut,
  };
}

/** Plans workflows; `refusals` takes the errors of those that cannot be loaded. */
async function planMembers(
  files: readonly SuiteFile[],
  plan: (file: SuiteFile) => Promise<Plan>,
  refusals: LoadError[],
): Promise<readonly SuiteMember[]> {
  const members: SuiteMember[] = [];
  const entries = new Map<string, number>();
  for (const [index, file] of files.entries()) {
    const { path } = file;
    const entry = (entries.get(path) ?? 0) + 1;
    entries.set(path, entry);
    const member = { path, index, key: entry === 1 ? path : `${path}#${entry}` };
    try {
      const planned = await plan(file);
      members.push({ ...member, name: file.title && planned.workflow.name, plan: planned });
    } catch (refusal) {
      if (!(refusal instanceof LoadError)) throw refusal;
      refusals.push(refusal);
    }
  }
  return members;
}

/** One error with everything that is wrong with several workflows. */
function joinRefusals(refusals: readonly LoadError[]): LoadError {
  const [only, second] = refusals;
  if (only && !second) return only;
  const diagnostics = refusals.flatMap(({ message, hint, diagnostics }): readonly Diagnostic[] =>
    diagnostics.length > 0 ? diagnostics : [{ severity: "error", code: "load", message, hint }]
  );
  return new LoadError(`${refusals.length} workflows cannot be loaded`, diagnostics);
}

function hasJobs({ jobs }: Plan): boolean {
  return jobs.some(({ job }) => !job.isCleanup);
}

/** Whether `--skip` names each of its jobs. */
function isSkipped(member: SuiteMember): boolean {
  return member.plan.jobs.every(({ job, skip }) => job.isCleanup || skip !== undefined);
}

function nothingChosen(members: readonly SuiteMember[], jobs: JobChoice): RunnerError {
  if (members.length === 0) {
    return new LoadError("the suite has no workflows", [], "a workflow is a YAML file with jobs");
  }
  if (jobs.tags === undefined || jobs.only) {
    return new UsageError("no job was selected", "name other jobs, or fewer conditions");
  }
  return unknownTags(
    members.map(({ plan }) => plan),
    jobs.tags,
    "the workflows have",
    jobs.nameOption,
  );
}

/** Names that workflows do not have: an error if none of them has one. */
class UnknownNames {
  readonly #found = new Map<string, { in: Set<number>; makeError: Parameters<OnUnknown>[1] }>();
  #workflows = 0;

  /** Takes the unknown names of another workflow. */
  readonly ofNext = (): OnUnknown => {
    const workflow = ++this.#workflows;
    return (name, makeError) => {
      const found = this.#found.get(name) ?? { in: new Set(), makeError };
      this.#found.set(name, found);
      found.in.add(workflow);
    };
  };

  check(): void {
    for (const found of this.#found.values()) {
      if (found.in.size === this.#workflows) throw found.makeError();
    }
  }
}

/** The names under which all workflows of a suite see what its setup publishes. */
export async function outputsOfSetup(
  setup: readonly SuiteFile[],
  host: Host,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const { path } of setup) {
    const document = await readDocument(path, host).catch(() => undefined);
    for (const step of document ? stepsIn(document.value) : []) {
      if (typeof step.id !== "string" || !isDict(step.outputs)) continue;
      for (const name of [step.id, ...Object.keys(step.outputs)]) names.add(name);
    }
  }
  return names;
}

function stepsIn(root: unknown): readonly Dict[] {
  const jobs = isDict(root) && Array.isArray(root.jobs) ? root.jobs.filter(isDict) : [];
  return jobs.flatMap(({ steps }) => Array.isArray(steps) ? steps.filter(isDict) : []);
}

/**
 * Identifies the suite that shards belong to: SHA-256 of the paths, the texts and the chosen
 * jobs of its workflows.
 */
async function hashSuite({ name }: SuiteFiles, members: readonly SuiteMember[]): Promise<string> {
  const parts = members.map((member) => {
    const { jobs, workflow } = member.plan;
    const files = filesOf(workflow.document, workflow.jobs);
    return [member.path, jobs.map(({ job }) => job.id), files.map(({ text }) => unixLines(text))];
  });
  return await hashJson([name ?? null, parts]);
}
