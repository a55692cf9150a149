import { countOf } from "../base/text/count_of.ts";
import { coverageOf, Resources } from "../action/resource_scope.ts";
import { roundDuration } from "../base/value/duration.ts";
import type { Trace } from "../base/trace.ts";
import type { Dict, Value } from "../base/value/value.ts";
import { Deadlines } from "../host/deadlines.ts";
import type { Host } from "../host/host.ts";
import {
  hasRounds,
  type Plan,
  type PlannedJob,
  type StartDecision,
  startsWhenNeedsSucceed,
} from "../plan/plan.ts";
import { addSecretsOf, addSecretValue, exchangedSecretsAdder } from "../secrets/find_secrets.ts";
import { boundValue } from "../secrets/bound_value.ts";
import { MASK, Masker } from "../secrets/masker.ts";
import { withoutSecretNames } from "../secrets/secrets.ts";
import type { Document, Job, Step } from "../workflow/model.ts";
import { FLAKY, mayPass, namesOfMatrix, titleOf, writtenId } from "../workflow/step_facts.ts";
import { Cancellation, drainedBy, endAfter } from "./cancellation.ts";
import { roundsOf, RunTotals, sumOf } from "./count_steps.ts";
import type { BareEvent, Emit, Failure, JobFinished, RunEvent } from "./event.ts";
import { openOutputs, stepIdsOf } from "./execute/outputs.ts";
import { maskEvent } from "./mask_event.ts";
import { outlinePlan } from "./outline_plan.ts";
import {
  CLEANUP_TIMEOUT,
  type Detail,
  type JobOutcome,
  namesIn,
  Round,
  type RoundStart,
  RunExecution,
  type RunOptions,
} from "./run_state.ts";
import type { Scope } from "../expr/expression.ts";
import type { LoadPlan } from "./load/plan_load.ts";
import { compiledSteps } from "./execute/compiled_step.ts";
import { FieldError, FieldErrors, isMistake, isTrue } from "./execute/evaluate_field.ts";
import { runRound } from "./execute/flight.ts";
import { cancelIfFailFast } from "./execute/run_step.ts";

/**
 * Runs a plan and emits events; true if every job passed or was skipped on purpose.
 * When it returns, everything that its actions started has ended.
 */
export async function run(
  plan: Plan,
  host: Host,
  emit: Emit,
  options: RunOptions = {},
): Promise<boolean> {
  const runId = crypto.randomUUID();
  const { secrets = new Masker(), timeout } = options;
  const resources = new Resources();
  const mask = ({ type, ...fields }: BareEvent) =>
    maskEvent({ type, runId, ...fields } as RunEvent, secrets);
  const totals = new RunTotals(undefined, mask);
  const tallies = hasRounds(plan)
    ? new (await import("./round_tally.ts")).RoundTallies({
      reportsAll: options.everyRound ?? true,
      mask,
      maskText: (text) => secrets.mask(text),
      emit,
    })
    : undefined;
  const trace = options.trace && (await import("../base/trace.ts")).Trace.begin();
  const state = openRun(plan, host, { ...options, secrets }, resources, totals, trace, (event) => {
    totals.take(event);
    if (tallies) tallies.take(event);
    else emit(mask(event));
  });
  // Other processes find failures that come up here as seconds of load.
  if (options.spreadLoad) await totals.keepFailures();
  const stopTimer = timeout && state.cancellation.cancelAfter(timeout, host.clock);
  try {
    return await runPlan(state, plan, resources, totals);
  } finally {
    stopTimer?.();
    await state.close(resources);
    // After an interruption, the time for cleanup is limited.
    state.deadlines.cancelAll();
  }
}

/** The details that a run reports by default. */
const DETAIL: Detail = { all: false, debug: false, places: false, limit: 2048 };

function openRun(
  plan: Plan,
  host: Host,
  options: RunOptions & { readonly secrets: Masker },
  resources: Resources,
  totals: RunTotals,
  trace: Trace | undefined,
  emit: (event: BareEvent) => void,
): RunExecution {
  const { workflow, workflow: { document }, vars } = plan;
  const { secrets, piece, cleanupTimeout = CLEANUP_TIMEOUT } = options;
  const { cancellation = new Cancellation() } = options;
  const deadlines = new Deadlines(host.clock);
  addSecretsOf(host.env.all(), secrets);
  addSecretsOf(vars, secrets);
  for (const value of plan.secrets) addSecretValue(value, secrets);
  for (const { combination } of workflow.jobs) {
    if (combination) addSecretsOf(combination.values, secrets);
  }
  const stepIds = stepIdsOf(workflow.jobs.flatMap(({ steps }) => steps));
  const cleanup = resources.resource(
    "cleanup timeout",
    () => endAfter(cancellation, cleanupTimeout, deadlines),
    ({ release }) => release(),
  );
  return new RunExecution({
    host,
    options,
    deadlines,
    resources,
    plan: piece?.whole ?? plan,
    document,
    vars,
    outputs: openOutputs(stepIds, options.outputs, piece?.outputs),
    keepsAll: options.onOutputs !== undefined && !piece || readsAll(document),
    cancellation,
    draining: drainedBy(cancellation, options.draining),
    cleanup: cleanup.end,
    failFast: options.failFast ?? false,
    statisticsDecide: false,
    allowsFailure: false,
    mistakes: { count: 0 },
    detail: { ...DETAIL, ...options.detail },
    snapshots: options.snapshots ?? (isInCi(host) ? "check" : "write"),
    secrets,
    addExchangedSecrets: exchangedSecretsAdder(secrets),
    trace,
    progress: openProgress(totals, cancellation, options),
    emit,
    // A run without failures never loads the code that explains them.
    failureOf: async (owner, error) => {
      await options.beforeFailure?.();
      await totals.keepFailures();
      return await (await import("./failure/make_failure.ts")).makeFailure(owner, error);
    },
    runJobFile: async (...args) =>
      await (await import("./execute/run_job_file.ts")).runJobFile(...args),
  });
}

/** Whether an expression may read the outputs of all entries of a step, which are kept only then. */
function readsAll({ files }: Document): boolean {
  return files.some(({ text }) => /\.\s*all\b|["']all["']/.test(text));
}

/** Whether nobody waits for the run at a terminal, but a CI system. */
export function isInCi({ env }: Host): boolean {
  return /^(true|1)$/i.test(env.get("CI") ?? "");
}

/** Reads the state of the run: one object, as every step sees it, which any failure updates. */
function openProgress(
  totals: RunTotals,
  cancellation: Cancellation,
  { before = { state: "passed", failed: 0 }, memory }: RunOptions,
): RunExecution["progress"] {
  totals.failures = before.failures ?? [];
  const { previous = null } = memory ?? {};
  const progress = { ...before, failures: totals.failures, streak: 1, previous };
  return totals.onFailure = () => {
    progress.failed = totals.steps.failed + before.failed;
    progress.failures = totals.failures;
    const hasFailed = totals.jobs.failed + progress.failed > 0 || before.state === "failed";
    const isInterrupted = cancellation.reason !== undefined || before.state === "interrupted";
    progress.state = isInterrupted ? "interrupted" : hasFailed ? "failed" : "passed";
    progress.streak = progress.state === previous?.state ? previous.streak + 1 : 1;
    return progress;
  };
}

async function runPlan(
  run: RunExecution,
  plan: Plan,
  resources: Resources,
  totals: RunTotals,
): Promise<boolean> {
  const { workflow, jobs } = plan;
  const { clock } = run.host;
  const { cancellation, options, options: { suite, piece } } = run;
  const positions = run.detail.places
    ? (await import("../base/yaml/positions.ts")).positionsOf(workflow.document)
    : undefined;
  const outline = outlinePlan(plan, positions);
  if (piece?.startAt !== undefined) {
    await run.draining.sleep(piece.startAt - clock.now(), run.deadlines);
  }
  const ticks = clock.ticks();
  const started = clock.now();
  run.emit({
    type: "run_started",
    time: started,
    name: workflow.name,
    description: workflow.description,
    file: workflow.document.name,
    suite,
    piece: piece?.header,
    origin: suite ? undefined : options.origin,
    vars: run.detail.all ? shownVars(run) : undefined,
    trace: run.trace,
    jobs: outline,
  });
  const isBlocked = await runJobs(run, jobs);
  options.onOutputs?.(run.outputs.ofSteps(), run.outputs.rounds);
  const isUpdating = run.snapshots === "update" || run.snapshots === "prune";
  if (isUpdating || workflow.jobs.some(({ steps }) => steps.some(hasSnapshot))) {
    await (await import("./snapshots/snapshot_files.ts")).reportOrphans(run, workflow);
  }
  // The report includes resources that cannot be closed.
  const coverage = await coverageOf(run.resources);
  const faults: string[] = run.resources.resource("faults of a run", () => []);
  await run.close(resources);
  const leftOut = piece ? 0 : workflow.jobs.length - jobs.length;
  const interrupted = cancellation.reason ?? faults[0] ??
    (options.strict ? strictReason(totals) : undefined);
  // The totals do not count causes outside this run that block a job.
  const passed = totals.jobs.failed === 0 && interrupted === undefined && !(piece && isBlocked);
  const duration = roundDuration(clock.ticks() - ticks);
  run.emit({
    type: "run_finished",
    time: clock.now(),
    duration,
    state: passed ? "passed" : "failed",
    interrupted,
    ...totals.all(),
    leftOut: leftOut || undefined,
    coverage: coverage.length === 0 ? undefined : coverage,
  });
  const { state, failures = [] } = run.progress();
  options.memory?.keep({
    ...{ state: state === "passed" && !passed ? "failed" : state, failures, started, duration },
    ...{ outputs: run.outputs.ofSteps(), secrets: run.secrets },
  });
  return passed;
}

/** The vars as reports show them; undefined if there are none. */
function shownVars({ vars, detail, secrets }: RunExecution): Value | undefined {
  if (Object.keys(vars).length === 0) return undefined;
  return boundValue(withoutSecretNames(vars, MASK), detail.limit, secrets);
}

function hasSnapshot({ snapshot, embedded }: Step): boolean {
  return snapshot !== undefined || embedded !== undefined && embedded.job.steps.some(hasSnapshot);
}

/** Why `--strict` fails a run as a whole. */
function strictReason({ steps, warnings }: RunTotals): string | undefined {
  if (sumOf(steps) === steps.skipped) return "--strict: no step was run";
  if (warnings === 0) return undefined;
  return `--strict: ${countOf(warnings, "warning")}`;
}

/** The outcome of each job, once it is known. */
type Outcomes = Map<PlannedJob, PromiseWithResolvers<JobOutcome>>;

/**
 * Runs all jobs, and then those that clean up, which an interruption of the run does not stop.
 * True if one was skipped because of another.
 */
async function runJobs(run: RunExecution, jobs: readonly PlannedJob[]): Promise<boolean> {
  const { jobs: atOnce, slots: sharedSlots, piece } = run.options;
  // All promises exist before any job starts: a job may be written above those that it needs.
  const outcomes: Outcomes = new Map(jobs.map((job) => [job, Promise.withResolvers()]));
  for (const [job, outcome] of piece?.outcomes ?? []) {
    const end = Promise.withResolvers<JobOutcome>();
    end.resolve(outcome);
    outcomes.set(job, end);
  }
  const slots = sharedSlots ??
    (atOnce === undefined
      ? undefined
      : new (await import("./execute/slots.ts")).JobSlots(atOnce, run.host.clock));
  const [cleanup = [], others = []] = [true, false].map((isCleanup) =>
    jobs.filter(({ job }) => (job.isCleanup ?? false) === isCleanup)
  );
  const locks = run.options.locks ??
    (jobs.some(({ job }) => job.lock !== undefined)
      ? new (await import("./execute/slots.ts")).Locks()
      : undefined);
  await runGraph(run, others, outcomes, { slots, locks });
  await runGraph(run.forCleanup(), cleanup, outcomes, { slots, locks });
  const ends = await Promise.all(jobs.map((job) => outcomes.get(job)!.promise));
  return ends.some(({ blocked }) => blocked);
}

/** Starts each job as soon as the jobs that it needs are done. */
async function runGraph(
  run: RunExecution,
  jobs: readonly PlannedJob[],
  outcomes: Outcomes,
  { slots, locks }: Pick<RunOptions, "slots" | "locks">,
): Promise<void> {
  const matrices = jobs.some(({ job }) => job.combination)
    ? (await import("./execute/matrix.ts")).openMatrices(run, jobs)
    : undefined;
  await Promise.all(jobs.map(async (planned) => {
    const needs = await Promise.all(planned.needs.map((need) => outcomes.get(need)!.promise));
    const matrix = matrices?.get(planned);
    const within = matrix?.runOf(planned) ?? run;
    const begin = async () => {
      const block = blockOf(within, planned, needs);
      if (block) return endBlocked(within, planned, block);
      const seen = run.options.piece?.team?.needs ?? await statesFor(planned, outcomes);
      return await runJob(within, planned, seen);
    };
    const { index, lock } = planned.job;
    const beginWithSlot = () => slots ? slots.use(index, begin) : begin();
    const beginInTurn = () => {
      if (blockOf(within, planned, needs)) return begin();
      // A job that waits for its lock takes no slot from others.
      return locks && lock !== undefined ? locks.hold(lock, beginWithSlot) : beginWithSlot();
    };
    const outcome = matrix ? matrix.start(planned, beginInTurn) : beginInTurn();
    outcomes.get(planned)!.resolve(await outcome);
  }));
}

/** The outcomes of the jobs that a job needs, by their ids; cleanup sees all jobs. */
async function statesFor({ job }: PlannedJob, outcomes: Outcomes): Promise<Dict> {
  const states: Record<string, Dict> = Object.create(null);
  if (!job.isCleanup && job.needs.length === 0) return states;
  const seen = new Set(job.needs);
  // A job that was not selected did not run.
  for (const id of job.isCleanup ? [] : seen) states[id] = { state: "skipped" };
  const matrices = new Map<string, Dict>();
  for (const [planned, { promise }] of outcomes) {
    const { isCleanup, combination } = planned.job;
    const id = writtenId(planned.job);
    const isSeen = job.isCleanup ? !isCleanup : seen.has(id);
    if (!isSeen) continue;
    const { state } = await promise;
    if (combination) {
      const { addState } = await import("./execute/matrix.ts");
      matrices.set(id, states[id] = addState(matrices.get(id), planned, state));
    } else states[id] = { state };
  }
  return states;
}

function endBlocked(
  run: RunExecution,
  planned: PlannedJob,
  { reason, onPurpose }: Block,
): JobOutcome {
  const outcome: JobOutcome = { state: "skipped", reason, blocked: onPurpose ? undefined : true };
  finishJob(run, planned, outcome, { duration: 0, failures: [] });
  return outcome;
}

type Block = Omit<Extract<StartDecision, { readonly starts: false }>, "starts">;

/** Returns why a job cannot start although its needs are done. */
function blockOf(
  { cancellation, draining }: RunExecution,
  { needs, startsWhen = startsWhenNeedsSucceed }: PlannedJob,
  outcomes: readonly JobOutcome[],
): Block | undefined {
  if (cancellation.reason !== undefined) return { reason: cancellation.reason };
  const decision = startsWhen(
    needs.map(({ job, name }, at) => ({ ...outcomes[at]!, title: titleOf(job.id, name) })),
  );
  if (!decision.starts) return decision;
  return draining.reason === undefined ? undefined : { reason: `not started: ${draining.reason}` };
}

/** Runs a job in all its rounds. */
export async function runJob(
  run: RunExecution,
  planned: PlannedJob,
  needs: Dict = {},
): Promise<JobOutcome> {
  const { clock } = run.host;
  const ticks = clock.ticks();
  const { job, name, nameError, skip } = planned;
  const { load: longest } = run.options;
  const hasLoad = job.load !== undefined && longest !== "off" && skip === undefined;
  const load = hasLoad ? await planOf(run, job, needs, longest) : undefined;
  const trace = run.trace?.within();
  run.emit({
    type: "job_started",
    time: clock.now(),
    job: job.id,
    name,
    rounds: job.repeat && roundsOf(job.repeat.count, run.options.piece?.header.part),
    load: load instanceof Error ? undefined : load?.outline,
    trace,
  });
  const failures: Failure[] = [];
  let outcome: JobOutcome = { state: "failed" };
  let allowsFailure = false;
  const mistakes = { count: 0 };
  try {
    allowsFailure = skip === undefined && isFailureAllowed(run, job, needs);
    if (skip === undefined && nameError !== undefined) throw new FieldError(["name"], nameError);
    if (load instanceof Error) throw load;
    const jobRun = allowsFailure ? run.with({ allowsFailure, mistakes }) : run;
    outcome = skip === undefined
      ? await runUnlessSkipped(jobRun, { job, trace }, needs, load)
      : { state: "skipped", reason: skip };
  } catch (error) {
    for (const one of error instanceof FieldErrors ? error.errors : [error]) {
      if (isMistake(one)) mistakes.count++;
      failures.push(await run.failureOf({ run, job }, one));
    }
  }
  const allowFailure = allowsFailure && outcome.state === "failed" && !run.cancellation.reason &&
    mistakes.count === 0;
  if (allowFailure) {
    outcome = { ...outcome, state: "passed" };
  } else if (
    allowsFailure && outcome.state === "passed" && !job.repeat && !hasLoad &&
    !mayPass(job.allowFailure!)
  ) {
    run.note("warning", `the job "${name}" passed, so its "allow_failure" can go`);
  }
  if (outcome.state === "failed") cancelIfFailFast(run, job);
  const duration = roundDuration(clock.ticks() - ticks);
  finishJob(run, planned, outcome, { duration, failures, allowFailure: allowFailure || undefined });
  return outcome;
}

/** Reports the outcome of a job. */
function finishJob(
  run: RunExecution,
  { job, name }: PlannedJob,
  { state, reason, blocked }: JobOutcome,
  rest: Pick<JobFinished, "duration" | "failures" | "allowFailure">,
): void {
  const time = run.host.clock.now();
  run.emit({
    type: "job_finished",
    time,
    job: job.id,
    name,
    state,
    reason,
    blocked,
    ...rest,
  });
}

/** Whether `allow_failure` allows a failure of a job. */
function isFailureAllowed(run: RunExecution, job: Job, needs: Dict): boolean {
  const { id, allowFailure } = job;
  if (!allowFailure) return false;
  const seen = { vars: run.vars, outputs: run.outputs.view, needs, ...namesOfMatrix(job) };
  const scope = run.makeScope({ ...seen, [FLAKY]: true }, { label: `allow_failure of ${id}` });
  return isTrue(allowFailure, scope, "allow_failure");
}

async function runUnlessSkipped(
  run: RunExecution,
  { job, trace }: Pick<RoundStart, "job" | "trace">,
  needs: Dict,
  load: LoadPlan | undefined,
): Promise<JobOutcome> {
  const { skipif, repeat } = job;
  const seen = { needs, ...namesOfMatrix(job) };
  const names = { vars: run.vars, outputs: run.outputs.view, ...seen };
  const scope = run.makeScope(names, { label: `skipif of ${job.id}` });
  if (skipif && isTrue(skipif, scope, "skipif")) {
    return { state: "skipped", reason: `skipif is true: ${skipif.source.trim()}` };
  }
  const start = { run, job, trace, outputs: run.outputs, names: namesIn(run, seen) };
  const steps = compiledSteps(run.resources, job);
  const state = load
    ? await (await import("./load/run_load.ts")).runLoad(start, steps, load, scope)
    : repeat
    ? await (await import("./load/run_repeat.ts")).runRepeat(start, steps, repeat, scope)
    : await runRound(new Round(job.load ? await withoutLoad(start, scope) : start), steps);
  if (state !== "skipped") return { state };
  return { state, reason: `stopped: ${run.draining.reason}`, blocked: true };
}

/** What a load job is to do; an error where that cannot be evaluated. */
async function planOf(
  run: RunExecution,
  job: Job,
  needs: Dict,
  longest: number | undefined,
): Promise<LoadPlan | FieldError> {
  const { planLoad } = await import("./load/plan_load.ts");
  const names = { vars: run.vars, outputs: run.outputs.view, needs, ...namesOfMatrix(job) };
  try {
    return planLoad(
      job,
      run.makeScope(names, { label: `load of ${job.id}` }),
      run.host.env,
      longest,
    );
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
}

/** The only round of a load job with `--load off`. */
async function withoutLoad(start: RoundStart, scope: Scope): Promise<RoundStart> {
  const { namesOfOnlyRound } = await import("./load/run_load.ts");
  return { ...start, names: { ...start.names, ...await namesOfOnlyRound(start, scope) } };
}
