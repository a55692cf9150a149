import { Draws } from "../../expr/draws.ts";
import type { Plan } from "../../plan/plan.ts";
import { makePlan } from "../../plan/make_plan.ts";
import { evaluateKnownVars } from "../../plan/evaluate_vars.ts";
import { makeMasker } from "../../secrets/add_secrets.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError, type RunnerError, UsageError } from "../../base/errors.ts";
import type { OpenSuite } from "../../suite/open_suite.ts";
import { outputsOfSetup, planMembers } from "../../suite/plan_suite.ts";
import { membersOfShard } from "../../suite/shards.ts";
import type { SuiteRunOptions } from "../../suite/run_suite.ts";
import type { PlannedMember, Shard, Suite, SuiteMember } from "../../suite/suite.ts";
import { hashSuite } from "../../suite/suite_hash.ts";
import type { Workflow } from "../../workflow/model.ts";
import { checkChoiceOfJobs, chooseJobsOfMany } from "../args/choose_jobs.ts";
import type { Invocation, Program } from "../command.ts";
import { snapshotMode } from "../args/snapshot_options.ts";
import {
  openapiOf,
  permissionsOf,
  readCleanupTimeout,
  readCount,
  tlsOptionsOf,
} from "./prepare_run.ts";
import { applyInputs, type Inputs, readInputs } from "./read_inputs.ts";

/** A suite that is about to run, or to be shown. */
export interface PreparedSuite {
  readonly suite: Suite;
  readonly inputs: Inputs;
  readonly options: Omit<SuiteRunOptions, "cancellation" | "timeout" | "detail">;
  /** YAML files that are not workflows. */
  readonly leftOut: number;
  /** Where the random functions of all workflows draw from. */
  readonly draws: Draws;
  /** The seed of the order, if it was shuffled. */
  readonly seed?: string;
}

/** Details that only the preparation of a suite knows. */
interface Hooks {
  /** Takes what may be wrong with a workflow. Throws LoadError where that is refused. */
  readonly warn: (found: readonly Diagnostic[], path: string) => Promise<void> | void;
  /** Leaves what is to run of the workflows that were chosen. */
  readonly filter: (members: readonly SuiteMember[]) => readonly SuiteMember[];
}

/** Loads the workflows of a suite and makes the choices of the command line. */
export async function prepareSuite(
  open: OpenSuite,
  invocation: Invocation,
  program: Program,
  { warn, filter }: Hooks,
): Promise<PreparedSuite> {
  const { host } = program;
  const { switches, values, lists } = invocation;
  if (switches.has("list") && switches.has("dry-run")) {
    throw new UsageError("options --list and --dry-run cannot be combined", "leave one out");
  }
  checkChoiceOfJobs(invocation);
  const jobs = readCount(values.get("jobs"));
  const workers = readCount(
    values.get("workers"),
    "workers",
    "without it there is one for each processor, at most 4",
  ) ?? open.workers;
  const shard = readShard(values.get("shard"));
  const seed = seedOf(values.get("shuffle"));
  const cleanupTimeout = readCleanupTimeout(values.get("cleanup-timeout"));
  const snapshots = snapshotMode(invocation);
  const permissions = await permissionsOf(invocation, program);
  const tls = await tlsOptionsOf(invocation, program);
  const openapi = await openapiOf(invocation, program, permissions);
  const draws = new Draws(values.get("seed"));
  const envFiles = [...open.envFiles, ...lists.get("env-file") ?? []];
  const inputs = await readInputs(
    envFiles.length === 0
      ? invocation
      : { ...invocation, lists: new Map([...lists, ["env-file", envFiles]]) },
    program,
  );
  await warn(open.warnings, open.path ?? "");
  await warn(inputs.warnings, "");
  const files = await open.findFiles(inputs.environment);
  const unknownVars = new UnknownNames();
  const unknownJobs = new UnknownNames();
  const isShown = switches.has("list");
  const plan = (chooses: boolean) => async (loaded: Workflow, warnings: readonly Diagnostic[]) => {
    await warn(warnings, loaded.document.name);
    unknownVars.begin();
    const workflow = await applyInputs(loaded, inputs, unknownVars.add);
    const { environment } = inputs;
    const evaluate = isShown ? evaluateKnownVars : undefined;
    const whole = await makePlan(workflow, environment, evaluate, draws);
    await warn(whole.warnings, loaded.document.name);
    if (!chooses) return whole;
    unknownJobs.begin();
    return await chooseJobsOfMany(whole, invocation, unknownJobs.add);
  };
  const { watching } = program;
  const hostOf = watching ? { hostOf: (path: string) => watching.files.hostOf(path) } : {};
  const check = isShown || switches.has("no-check") ? undefined : {
    isStrict: switches.has("strict"),
    outputs: await outputsOfSetup(files.setup, host),
  };
  const make = { permissions, check, plan: plan(true), ...hostOf };
  const makeAround = { permissions, check, plan: plan(false) };
  const all = await planMembers(files.workflows, host, make);
  const around = {
    setup: await planMembers(files.setup, host, makeAround),
    teardown: await planMembers(files.teardown, host, makeAround),
  };
  await unknownVars.check();
  await unknownJobs.check();
  const chosen = all.filter((member) => member.kind === "refused" || hasJobs(member.plan));
  if (chosen.length === 0) throw nothingChosen(all, invocation);
  if (!isShown && !switches.has("dry-run") && chosen.every(isSkipped)) {
    throw new UsageError("no job is left to run", "name fewer jobs with --skip");
  }
  const selected = filter(chosen);
  const mine = shard
    ? membersOfShard(selected, shard, await timesOf(values.get("shard-times"), program))
    : selected;
  const secrets = [host.env.all(), ...program.secrets];
  return {
    suite: {
      ...files.name === undefined ? {} : { name: files.name },
      ...around,
      workflows: seed === undefined ? mine : await shuffled(mine, seed),
      ...shard ? { shard } : {},
      hash: await hashSuite(files, selected),
    },
    inputs,
    options: {
      makeSecrets: () => makeMasker(secrets),
      ...workers === undefined ? {} : { workers },
      ...jobs === undefined ? {} : { jobs },
      ...switches.has("fail-fast") ? { failFast: true } : {},
      ...switches.has("strict") ? { strict: true } : {},
      ...cleanupTimeout === undefined ? {} : { cleanupTimeout },
      ...snapshots ? { snapshots } : {},
      ...permissions ? { permissions } : {},
      ...tls ? { tls } : {},
      ...openapi === undefined ? {} : { openapi },
    },
    leftOut: files.leftOut,
    ...seed === undefined ? {} : { seed },
    draws,
  };
}

function hasJobs({ jobs }: Plan): boolean {
  return jobs.some(({ job }) => !job.isCleanup);
}

/** Whether `--skip` names each of its jobs. */
function isSkipped(member: SuiteMember): boolean {
  return member.kind === "planned" &&
    member.plan.jobs.every(({ job, skip }) => job.isCleanup || skip !== undefined);
}

function nothingChosen(all: readonly SuiteMember[], { values, lists }: Invocation): RunnerError {
  if (all.length === 0) {
    return new LoadError("the suite has no workflows", [], "a workflow is a YAML file with jobs");
  }
  const tags = values.get("tags");
  const plans = all.filter((member): member is PlannedMember => member.kind === "planned");
  const known = [
    ...new Set(plans.flatMap(({ plan: { workflow } }) => [
      ...workflow.tags ?? [],
      ...workflow.jobs.flatMap((job) => job.tags ?? []),
    ])),
  ];
  if (tags === undefined || lists.has("only")) {
    return new UsageError("no job was selected", "name other jobs, or fewer conditions");
  }
  return new UsageError(
    `option --tags: no job has the tags "${tags}"`,
    known.length === 0
      ? "the workflows have no tags"
      : `the tags are ${known.slice(0, 10).join(", ")}${known.length > 10 ? ", …" : ""}`,
  );
}

/** Names that workflows do not have: an error where none of them has one. */
class UnknownNames {
  readonly #found = new Map<string, { count: number; makeError: () => Error | Promise<Error> }>();
  #workflows = 0;

  /** Another workflow is asked. */
  begin(): void {
    this.#workflows++;
  }

  readonly add = (name: string, makeError: () => Error | Promise<Error>): void => {
    const found = this.#found.get(name);
    if (found) found.count++;
    else this.#found.set(name, { count: 1, makeError });
  };

  async check(): Promise<void> {
    for (const { count, makeError } of this.#found.values()) {
      if (count === this.#workflows) throw await makeError();
    }
  }
}

/** The share that `--shard` names. Throws UsageError. */
export function readShard(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, of] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(text) ?? [];
  if (index !== undefined && of !== undefined && Number(index) <= Number(of)) {
    return { index: Number(index), of: Number(of) };
  }
  throw new UsageError(
    `option --shard must be a number and a count, not "${text}"`,
    "like 2/5, the second of five",
  );
}

function seedOf(text: string | undefined): string | undefined {
  if (text !== "") return text;
  return String(crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000);
}

async function shuffled(
  members: readonly SuiteMember[],
  seed: string,
): Promise<readonly SuiteMember[]> {
  const { shuffle } = await import("../../suite/shuffle.ts");
  return shuffle(members, seed);
}

async function timesOf(
  path: string | undefined,
  { host }: Program,
): Promise<ReadonlyMap<string, number> | undefined> {
  if (path === undefined) return undefined;
  const { readShardTimes } = await import("../../suite/shard_times.ts");
  return await readShardTimes(path, host);
}
