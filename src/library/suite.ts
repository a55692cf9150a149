import type { Permissions } from "../action/permissions/permissions.ts";
import type { WrittenPermissions } from "../action/permissions/read_permissions.ts";
import type { RunEvent } from "../run/event.ts";
import type { Suite as SuiteModel } from "../suite/suite.ts";
import type { Dict } from "../base/value/value.ts";
import { explained } from "./explained.ts";
import { pathOf, readPermissions } from "./load.ts";
import { checkOptions, openapiOf, type Run, type RunOptions, startRun, tlsOf } from "./run.ts";

/** The options for loading and selecting the workflows of a suite. */
export interface SuiteOptions {
  /** The permissions of the actions of all workflows; everything by default. */
  readonly permissions?: WrittenPermissions;
  /**
   * The variables that `vars` see by bare names, in place of the environment of the process. They
   * win over those of the `env_file` of a suite file.
   */
  readonly environment?: Readonly<Record<string, string>>;
  /** Values for `vars` of the workflows that have them; they win over those of a suite file. */
  readonly vars?: Dict;
  /** Chooses jobs by their tags: `smoke and not slow`. */
  readonly tags?: string;
  /** One share of the workflows: the second of five is `{ index: 2, of: 5 }`. */
  readonly shard?: { readonly index: number; readonly of: number };
  /** False also runs workflows of which static analysis proves that they must fail. */
  readonly check?: boolean;
}

/** Workflows that were loaded to run together. */
export interface Suite {
  /** The name that a suite file gives. */
  readonly name?: string;
  /** In the order of the suite, without setup and teardown. */
  readonly workflows: readonly SuiteWorkflow[];
}

/** One of them. */
export interface SuiteWorkflow {
  /** The file, as it was found. */
  readonly file: string;
  /** Its name; absent where it cannot be loaded. */
  readonly name?: string;
  /** Why it cannot be loaded, and so fails when the suite runs. */
  readonly problem?: Error;
}

/** The options for running a suite. */
export interface SuiteRunOptions extends RunOptions {
  /** The maximum number of workflows at once: by default one for each processor, at most 4. */
  readonly workers?: number;
}

/** The internal data of a suite that users hold. */
interface HeldSuite {
  readonly model: SuiteModel;
  readonly permissions?: Permissions | undefined;
  readonly workers?: number | undefined;
  readonly given: readonly Readonly<Record<string, unknown>>[];
}

const suites = new WeakMap<Suite, HeldSuite>();

/**
 * Loads several workflows: files, directories, patterns, or one suite file. A workflow that cannot
 * be loaded has a `problem`, and the others run. Throws `LoadError` where nothing is found or a
 * suite file is invalid, and `UsageError` where no job has the tags.
 *
 * @example Load the workflows of a directory
 * ```ts
 * import { loadSuite } from "@runner/runner";
 *
 * const suite = await loadSuite("examples/suite/flows");
 * for (const { file, name, problem } of suite.workflows) console.log(file, name ?? problem);
 * ```
 */
export async function loadSuite(
  paths: string | URL | readonly (string | URL)[],
  options: SuiteOptions = {},
): Promise<Suite> {
  const { denoHost } = await import("../host/deno_host.ts");
  const { openSuite } = await import("../suite/open_suite.ts");
  const { readEnvFile } = await import("../suite/read_env_file.ts");
  const { outputsOfSetup, planMembers } = await import("../suite/plan_suite.ts");
  const { membersOfShard } = await import("../suite/shards.ts");
  const { hashSuite } = await import("../suite/suite_hash.ts");
  const { makePlan } = await import("../plan/make_plan.ts");
  const { matchVars, setVars } = await import("../plan/set_vars.ts");
  const { selectJobs } = await import("../plan/select_jobs.ts");
  const { jobsWithTags, parseTags } = await import("../plan/tag_expression.ts");
  const { UsageError } = await import("../base/errors.ts");
  const host = denoHost();
  const operands = await Promise.all(
    (Array.isArray(paths) ? paths : [paths]).map((path: string | URL) => pathOf(path)),
  );
  const vars = structuredClone(options.vars ?? {});
  const own = options.environment ?? host.env.all();
  const given: Readonly<Record<string, unknown>>[] = [own, vars];
  const permissions = options.permissions && await readPermissions(options.permissions, host);
  const condition = options.tags === undefined ? undefined : parseTags(options.tags);
  let check: { readonly outputs: ReadonlySet<string> } | undefined;
  const optionsOf = (environment: Readonly<Record<string, string>>, chooses: boolean) => ({
    permissions,
    check,
    async plan(workflow: Parameters<typeof makePlan>[0]) {
      const found = [...matchVars(workflow.vars, vars)].filter((each) => "value" in each);
      const whole = await makePlan(
        found.length === 0 ? workflow : { ...workflow, vars: setVars(workflow.vars, found) },
        environment,
      );
      if (!condition || !chooses) return whole;
      const only = new Set(jobsWithTags(whole, condition));
      return selectJobs(whole, { only, withNeeds: true, skip: new Set() });
    },
  });
  try {
    const open = await openSuite(operands, host);
    const environment: Record<string, string> = {};
    for (const path of open.envFiles) {
      Object.assign(environment, await readEnvFile(path, { host, secrets: given }));
    }
    Object.assign(environment, own);
    const files = await open.findFiles(environment);
    if (options.check !== false) check = { outputs: await outputsOfSetup(files.setup, host) };
    const chosen = optionsOf(environment, true);
    const around = optionsOf(environment, false);
    const members = (await planMembers(files.workflows, host, chosen)).filter((member) =>
      member.kind === "refused" || member.plan.jobs.some(({ job }) => !job.isCleanup)
    );
    if (members.length === 0) throw new UsageError("no job was selected");
    const mine = options.shard ? membersOfShard(members, options.shard) : members;
    const model: SuiteModel = {
      ...files.name === undefined ? {} : { name: files.name },
      setup: await planMembers(files.setup, host, around),
      workflows: mine,
      teardown: await planMembers(files.teardown, host, around),
      ...options.shard ? { shard: options.shard } : {},
      hash: await hashSuite(files, members),
    };
    const seen: Suite = {
      ...files.name === undefined ? {} : { name: files.name },
      workflows: mine.map((member) =>
        member.kind === "planned"
          ? { file: member.path, name: member.plan.workflow.name }
          : { file: member.path, problem: member.refusal }
      ),
    };
    suites.set(seen, { model, permissions, workers: open.workers, given });
    return seen;
  } catch (error) {
    throw await explained(error, given);
  }
}

/**
 * Runs a suite: setup, its workflows, and teardown, whatever happened before. The events are those
 * of all runs, which `runId` distinguishes, between `suite_started` and `suite_finished`.
 *
 * @example Run the workflows of a directory
 * ```ts
 * import { loadSuite, runSuite } from "@runner/runner";
 *
 * const running = runSuite(await loadSuite("examples/suite/flows"), { workers: 2 });
 * for await (const event of running) {
 *   if (event.type === "run_started") console.log(event.name);
 *   if (event.type === "suite_finished") console.log(event.workflows);
 * }
 * console.log(await running.passed);
 * ```
 */
export function runSuite(suite: Suite, options: SuiteRunOptions = {}): Run {
  const held = suites.get(suite);
  if (!held) throw new TypeError("the suite must come from loadSuite()");
  const {
    workers = held.workers,
    failFast = false,
    jobs,
    snapshots,
    cleanupTimeout,
    tls,
    openapi,
  } = options;
  checkOptions(options);
  if (workers !== undefined && !(Number.isSafeInteger(workers) && workers >= 1)) {
    throw new RangeError(`workers must be a whole number from 1, not ${workers}`);
  }
  const { model, permissions, given } = held;
  return startRun(async (emit, more) => {
    const { runSuite: run } = await import("../suite/run_suite.ts");
    const { denoHost } = await import("../host/deno_host.ts");
    const { makeMasker } = await import("../secrets/add_secrets.ts");
    const host = denoHost();
    return await run(model, host, emit, {
      ...more,
      ...await tlsOf(tls, host),
      ...await openapiOf(openapi, permissions, host),
      makeSecrets: () => makeMasker(given),
      failFast,
      ...workers === undefined ? {} : { workers },
      ...jobs === undefined ? {} : { jobs },
      ...cleanupTimeout === undefined ? {} : { cleanupTimeout },
      ...snapshots ? { snapshots } : {},
      ...permissions ? { permissions } : {},
    });
  }, options);
}

/**
 * Reads the events that a run has written as NDJSON. What a killed run left of its last line is
 * left out. Throws `RunnerError` for any other line that is not the next event.
 *
 * @example Read the events of a file
 * ```ts
 * import { readEvents } from "@runner/runner";
 *
 * const text = '{"type":"note","runId":"1","time":0,"level":"warning","text":"slow","seq":1}\n';
 * for (const event of await readEvents(text)) console.log(event.type);
 * ```
 */
export async function readEvents(text: string, file = "events.ndjson"): Promise<RunEvent[]> {
  const { readEvents: read } = await import("../report/files/ndjson.ts");
  return [...read(text, file)];
}
