import type { RunEvent } from "../run/event.ts";
import { plans, suites } from "./handles.ts";
import { startRun } from "./lazy_run.ts";
import type {
  LoadOptions,
  Plan,
  PlanOptions,
  PrepareOptions,
  Run,
  RunOptions,
  Suite,
  SuiteOptions,
  SuiteRunOptions,
  Workflow,
} from "./types.ts";

/**
 * Loads and checks a workflow from a file, or from several whose paths are separated by commas.
 * Relative paths begin at the working directory; a URL such as
 * `new URL("flow.yml", import.meta.url)` names a file beside the program.
 *
 * Throws `LoadError` with everything that is wrong with it, and `UsageError` where permissions
 * cannot be read. Environment variables about the format apply as they do on
 * the command line: `RUNNER_CONFIG`, `RUNNER_PLUGIN_DIR` and those that begin with `RUNNER_MAX_`.
 *
 * @example Load a workflow
 * ```ts
 * import { loadWorkflow } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * console.log(workflow.name, workflow.warnings.length);
 * ```
 *
 * @example Say what is wrong with one, and what it may reach
 * ```ts
 * import { LoadError, loadWorkflow } from "@runner/runner";
 *
 * try {
 *   const permissions = { net: ["127.0.0.1:8080"], noShell: true };
 *   await loadWorkflow("examples/no_such_file.yml", { permissions });
 * } catch (error) {
 *   if (!(error instanceof LoadError)) throw error;
 *   console.error(error.message);
 *   for (const { severity, code } of error.diagnostics) console.error(severity, code);
 * }
 * ```
 */
export async function loadWorkflow(
  path: string | URL,
  options: LoadOptions = {},
): Promise<Workflow> {
  return await (await import("./work.ts")).openWorkflow(path, options);
}

/**
 * Evaluates the `vars` of a workflow, resolves its graph and chooses its jobs. Throws `LoadError`
 * when the vars cannot be evaluated or are unknown to the workflow, or when static analysis proves
 * that a run must fail, and `UsageError` when a job is chosen that does not exist.
 *
 * @example Show which jobs wait for which
 * ```ts
 * import { loadWorkflow, makePlan } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const plan = await makePlan(workflow, { environment: {} });
 * for (const { id, needs } of plan.jobs) console.log(id, "needs", needs.join(", "));
 * ```
 */
export async function makePlan(workflow: Workflow, options: PlanOptions = {}): Promise<Plan> {
  return await (await import("./work.ts")).planWorkflow(workflow, options);
}

/**
 * Runs a plan. Secrets are masked in its events: values of secret names in the environment, in
 * `vars` and in what the steps are given and give. Throws RangeError for invalid options.
 *
 * @example Follow a run
 * ```ts
 * import { loadWorkflow, makePlan, run } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const running = run(await makePlan(workflow));
 * for await (const event of running) {
 *   if (event.type === "step_finished") console.log(event.result.name, event.result.state);
 * }
 * console.log(await running.passed);
 * ```
 *
 * @example Print a report, with a bound of time and of jobs at once
 * ```ts
 * import { loadWorkflow, makePlan, makeReport, run } from "@runner/runner";
 *
 * const plan = await makePlan(await loadWorkflow("examples/hello.yml"));
 * const report = await makeReport("text");
 * const passed = await run(plan, {
 *   jobs: 4,
 *   signal: AbortSignal.timeout(60_000),
 *   onEvent: (event) => console.log(report(event)),
 * }).passed;
 * console.log(passed ? "good" : "bad");
 * ```
 */
export function run(plan: Plan, options: RunOptions = {}): Run {
  plans.get(plan);
  checkOptions(options);
  return startRun(async (emit, signal) => {
    return await (await import("./work.ts")).runPlan(plan, options, emit, signal);
  }, options);
}

/**
 * Loads several workflows: files, directories, patterns, or one suite file. Throws `LoadError` where
 * nothing is found, or one of them or the suite file is invalid, and `UsageError` where no job has
 * the tags.
 *
 * @example Load the workflows of a directory
 * ```ts
 * import { loadSuite } from "@runner/runner";
 *
 * const suite = await loadSuite("examples/suite/flows");
 * for (const { file, name } of suite.workflows) console.log(file, name);
 * ```
 */
export async function loadSuite(
  paths: string | URL | readonly (string | URL)[],
  options: SuiteOptions = {},
): Promise<Suite> {
  return await (await import("./work.ts")).planSuite(paths, options);
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
  suites.get(suite);
  checkOptions(options);
  const { workers } = options;
  if (workers !== undefined && !(Number.isSafeInteger(workers) && workers >= 1)) {
    throw new RangeError(`workers must be a whole number from 1, not ${workers}`);
  }
  return startRun(async (emit, signal) => {
    return await (await import("./work.ts")).runWorkflows(suite, options, emit, signal);
  }, options);
}

/**
 * Makes the text of a run file, with which `run(plan, { piece: { runFile, only: [JOB] } })` and
 * `runner --run FILE --only JOB` run jobs of a plan in processes of their own. Throws `RunnerError` if vars are secret and `key` is missing.
 *
 * @example Prepare a run
 * ```ts ignore
 * import { loadWorkflow, makePlan, prepareRun } from "@runner/runner";
 *
 * const plan = await makePlan(await loadWorkflow("flow.yml"));
 * await Deno.writeTextFile("run.json", await prepareRun(plan));
 * ```
 */
export async function prepareRun(plan: Plan, options: PrepareOptions = {}): Promise<string> {
  return await (await import("./work.ts")).prepareRun(plan, options);
}

/**
 * Makes the events of several processes those of one, for a report of all of them: of all shards of
 * a suite, or, where `runFile` is given, of all pieces of a run. Throws `RunnerError` where a shard
 * is missing or torn, and where events are of something else; a piece that is missing fails its job.
 *
 * @example Merge the events of two shards
 * ```ts ignore
 * import { makeReport, mergeEvents, readEvents } from "@runner/runner";
 *
 * const read = async (file: string) => await readEvents(await Deno.readTextFile(file), file);
 * const events = await mergeEvents([await read("1.ndjson"), await read("2.ndjson")]);
 * const report = await makeReport("junit");
 * console.log(events.map(report).join(""));
 * ```
 */
export async function mergeEvents(
  parts: readonly Iterable<RunEvent>[],
  runFile?: string,
): Promise<RunEvent[]> {
  const files = parts.map((events, at) => {
    const kept = [...events];
    return { file: `part ${at + 1}`, events: () => kept };
  });
  const { mergePieces } = await import("../spread/merge_pieces.ts");
  const named = runFile === undefined ? undefined : { file: "the run file", text: runFile };
  return [...(await mergePieces(files, named)).events];
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

/** Throws RangeError for invalid options. */
function checkOptions({ jobs, timeout, cleanupTimeout, load }: RunOptions): void {
  if (jobs !== undefined && !(Number.isSafeInteger(jobs) && jobs >= 1)) {
    throw new RangeError(`jobs must be a whole number from 1, not ${jobs}`);
  }
  const times = { timeout, cleanupTimeout, load: load === "off" ? undefined : load };
  for (const [name, time] of Object.entries(times)) {
    if (time !== undefined && !(time > 0)) {
      throw new RangeError(`${name} must be more than 0 milliseconds, not ${time}`);
    }
  }
}
