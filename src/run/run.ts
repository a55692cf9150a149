import type { ResourceScope, RunTls } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import { Resources } from "../action/resource_scope.ts";
import { Deadlines } from "../host/deadlines.ts";
import type { Host } from "../host/host.ts";
import {
  type Plan,
  type PlannedJob,
  type StartDecision,
  startsWhenNeedsSucceed,
} from "../plan/plan.ts";
import { roundDuration } from "../value/duration.ts";
import { Masker } from "../value/masker.ts";
import type { Dict, Value } from "../value/value.ts";
import type { BareEvent, Emit, RunEvent, RunStarted, StepOutline, SuitePart } from "./event.ts";
import type { Position } from "../source/source.ts";
import { Cancellation, drainedBy, endAfter } from "./cancellation.ts";
import { cleanupSession } from "./execute/run_cleanup.ts";
import { maskEvent } from "./mask/mask_event.ts";
import { openOutputs, type StepOutputs } from "./execute/outputs.ts";
import { emptyTally, finishJob, type JobOutcome, runJob } from "./execute/run_job.ts";
import { markCleanup } from "../workflow/mark_cleanup.ts";
import { closeScope } from "./execute/step_context.ts";
import {
  addSecretsOf,
  addSecretValue as addSecretValueTo,
  exchangedSecretsAdder,
} from "./mask/secrets.ts";
import type { Detail, Progress, Session, Tally } from "./session.ts";
import type { Step } from "../workflow/model.ts";

export interface RunOptions {
  /** Interrupts the run, also before it has begun. */
  readonly cancellation?: Cancellation;
  /** How long the whole run may take, in milliseconds; no bound without it. */
  readonly timeout?: { readonly milliseconds: number; readonly reason: string };
  readonly detail?: Partial<Detail>;
  /** Knows the secrets already, and learns those that come up. */
  readonly secrets?: Masker;
  /** Begins no new job and no new step after the first failure. */
  readonly failFast?: boolean;
  /**
   * A run fails if it warns or runs no step, and a step fails if its action was no success and
   * nothing tested it.
   */
  readonly strict?: boolean;
  /** How many jobs may run at once, at least 1; no bound without it. */
  readonly jobs?: number;
  /** Bounds the jobs of several runs together, in place of `jobs`. */
  readonly slots?: JobSlots;
  /** Once it has a reason, this run and others that share it begin nothing new. */
  readonly draining?: Cancellation;
  /** What its steps see besides their own outputs, by the ids of the steps that published it. */
  readonly outputs?: StepOutputs;
  /** Takes what its steps have published, when its jobs are over. */
  readonly onOutputs?: (outputs: StepOutputs) => void;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /** What actions may reach; everything where it is absent. */
  readonly permissions?: Permissions;
  /** What all TLS connections use if a step does not say otherwise. */
  readonly tls?: RunTls;
  /** How long cleanup steps may take once the run was interrupted, in milliseconds. */
  readonly cleanupTimeout?: number;
}

/** Decides which jobs may run at once. */
export interface JobSlots {
  /** Runs a job, known by its place in the file, as soon as there is a slot for it. */
  use<T>(place: number, run: () => Promise<T>): Promise<T>;
}

/** How long cleanup steps may take after an interruption where nothing else is asked for. */
export const CLEANUP_TIMEOUT = 30_000;

/** What a run reports by default. */
const DETAIL: Detail = { all: false, debug: false, places: false, limit: 2048 };

/**
 * Runs a plan and emits events; true if every job passed or was skipped on purpose.
 * When it returns, all that its actions began has been ended.
 */
export async function run(
  plan: Plan,
  host: Host,
  emit: Emit,
  options: RunOptions = {},
): Promise<boolean> {
  const resources = new Resources();
  const session = openSession(plan, host, emit, options, resources);
  const { cancellation, deadlines } = session;
  const { timeout } = options;
  const deadline = timeout &&
    deadlines.add(timeout.milliseconds, () => cancellation.cancel(timeout.reason));
  try {
    return await runJobs(session, plan, options, resources);
  } finally {
    deadline?.cancel();
    await closeScope(session, resources);
    // How long cleaning up may take is limited from an interruption on.
    deadlines.cancelAll();
  }
}

function openSession(
  plan: Plan,
  host: Host,
  emit: Emit,
  options: RunOptions,
  scope: ResourceScope,
): Session {
  const { workflow, vars } = plan;
  const cancellation = options.cancellation ?? new Cancellation();
  const { secrets = new Masker(), cleanupTimeout = CLEANUP_TIMEOUT } = options;
  const deadlines = new Deadlines(host.clock);
  const tally = emptyTally();
  const runId = crypto.randomUUID();
  addSecretsOf(host.env.all(), secrets);
  addSecretsOf(vars, secrets);
  const addSecretValue = (value: Value) => addSecretValueTo(value, secrets);
  plan.secrets.forEach(addSecretValue);
  const stepIds = new Set(
    workflow.jobs.flatMap(({ steps }) => steps.flatMap(({ id }) => id ?? [])),
  );
  const cleanup = scope.resource(
    "cleanup timeout",
    () => endAfter(cancellation, cleanupTimeout, deadlines),
    ({ release }) => release(),
  );
  return {
    host,
    deadlines,
    scope,
    document: workflow.document,
    plan,
    vars,
    outputs: openOutputs(stepIds, options.outputs),
    stepIds,
    cancellation,
    draining: drainedBy(cancellation, options.draining),
    cleanup: cleanup.end,
    cleanupTimeout,
    progress: () => progressOf(tally, cancellation),
    failFast: options.failFast ?? false,
    strict: options.strict ?? false,
    secrets,
    addSecretValue,
    addExchangedSecrets: exchangedSecretsAdder(secrets),
    tally,
    endedServices: [],
    emit: (event) => emit(maskEvent(ofRun(runId, event), secrets)),
    runJobFile: async (...args) =>
      await (await import("./execute/run_job_file.ts")).runJobFile(...args),
    detail: { ...DETAIL, ...options.detail },
    ...(options.permissions ? { permissions: options.permissions } : {}),
    ...(options.tls ? { tls: options.tls } : {}),
  };
}

function progressOf({ jobs, steps }: Tally, { reason }: Cancellation): Progress {
  const hasFailed = jobs.failed + steps.failed > 0;
  const state = reason !== undefined ? "interrupted" : hasFailed ? "failed" : "passed";
  return { state, failed: steps.failed };
}

function ofRun(runId: string, { type, ...more }: BareEvent): RunEvent {
  return { type, runId, ...more } as RunEvent;
}

async function runJobs(
  session: Session,
  plan: Plan,
  options: RunOptions,
  resources: Resources,
): Promise<boolean> {
  const { workflow, jobs } = plan;
  const { clock } = session.host;
  const { tally, cancellation } = session;
  let warnings = 0;
  const emit = (event: BareEvent) => {
    if (event.type === "note" && event.level === "warning") warnings++;
    session.emit(event);
  };
  const counted = { ...session, emit };
  const outline = await outlinePlan(plan, session.detail.places);
  const ticks = clock.ticks();
  emit({
    type: "run_started",
    time: clock.now(),
    name: workflow.name,
    ...(workflow.description === undefined ? {} : { description: workflow.description }),
    file: workflow.document.name,
    ...(options.suite ? { suite: options.suite } : {}),
    jobs: outline,
  });
  await runAll(counted, jobs, options);
  options.onOutputs?.(session.outputs.ofSteps());
  // What cannot be closed is part of the report.
  await closeScope(counted, resources);
  const leftOut = workflow.jobs.length - jobs.length;
  const reason = cancellation.reason ??
    (options.strict ? strictReason(tally, warnings) : undefined);
  const passed = tally.jobs.failed === 0 && reason === undefined;
  emit({
    type: "run_finished",
    time: clock.now(),
    duration: roundDuration(clock.ticks() - ticks),
    state: passed ? "passed" : "failed",
    ...(reason === undefined ? {} : { interrupted: reason }),
    ...tally,
    ...(leftOut === 0 ? {} : { leftOut }),
  });
  return passed;
}

/** What `--strict` does not accept of a run as a whole. */
function strictReason({ steps }: Tally, warnings: number): string | undefined {
  if (steps.passed + steps.failed + steps.untested === 0) return "--strict: no step was run";
  if (warnings === 0) return undefined;
  return `--strict: ${warnings === 1 ? "1 warning" : `${warnings} warnings`}`;
}

/** What became of each job that has started or will. */
type Outcomes = Map<PlannedJob, PromiseWithResolvers<JobOutcome>>;

/** Runs all jobs, and then those that clean up, which an interruption of the run does not stop. */
async function runAll(
  session: Session,
  jobs: readonly PlannedJob[],
  { jobs: atOnce, slots }: RunOptions,
): Promise<void> {
  // All promises exist before any job starts: a job may be written above those that it needs.
  const outcomes: Outcomes = new Map(jobs.map((job) => [job, Promise.withResolvers()]));
  const [last, first] = partition(jobs, ({ job }) => job.isCleanup === true);
  const bound = slots ?? await boundOf(atOnce, session.host);
  await runGraph(session, first, outcomes, bound);
  await runGraph(cleanupSession(session), last, outcomes, bound);
}

async function boundOf(atOnce: number | undefined, { clock }: Host): Promise<JobSlots | undefined> {
  if (atOnce === undefined) return undefined;
  return new (await import("./execute/slots.ts")).Slots(atOnce, clock);
}

function partition<T>(items: readonly T[], isIn: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isIn), items.filter((item) => !isIn(item))];
}

/** Starts each job the moment the jobs that it names are done, and none earlier. */
async function runGraph(
  session: Session,
  jobs: readonly PlannedJob[],
  outcomes: Outcomes,
  slots: JobSlots | undefined,
): Promise<void> {
  await Promise.all(jobs.map(async (planned) => {
    const needs = await Promise.all(planned.needs.map((need) => outcomes.get(need)!.promise));
    const begin = async () => {
      const block = blockOf(session, planned, needs);
      if (block) return endBlocked(session, planned, block);
      return await runJob(session, planned, await statesFor(planned, outcomes));
    };
    const waits = slots && blockOf(session, planned, needs) === undefined;
    outcomes.get(planned)!.resolve(await (waits ? slots.use(planned.job.index, begin) : begin()));
  }));
}

/** What became of the jobs that a job needs, by their ids; cleanup sees all jobs. */
async function statesFor({ job }: PlannedJob, outcomes: Outcomes): Promise<Dict> {
  const states: Record<string, Dict> = Object.create(null);
  if (!job.isCleanup && job.needs.length === 0) return states;
  const seen = new Set(job.needs);
  // What was not selected was not run.
  for (const id of job.isCleanup ? [] : seen) states[id] = { state: "skipped" };
  for (const [{ job: { id, isCleanup } }, { promise }] of outcomes) {
    const isSeen = job.isCleanup ? !isCleanup : seen.has(id);
    if (isSeen) states[id] = { state: (await promise).state };
  }
  return states;
}

function endBlocked(
  session: Session,
  planned: PlannedJob,
  { reason, onPurpose }: Block,
): JobOutcome {
  const outcome: JobOutcome = {
    state: "skipped",
    reason,
    ...onPurpose ? {} : { blocked: true },
  };
  finishJob(session, planned, outcome, 0);
  return outcome;
}

type Block = Omit<Extract<StartDecision, { readonly starts: false }>, "starts">;

/** Why a job whose needs are done cannot begin. */
function blockOf(
  { cancellation, draining }: Session,
  { needs, startsWhen = startsWhenNeedsSucceed }: PlannedJob,
  outcomes: readonly JobOutcome[],
): Block | undefined {
  if (cancellation.reason !== undefined) return { reason: cancellation.reason };
  const decision = startsWhen(needs.map(({ job: { id } }, at) => ({ ...outcomes[at]!, id })));
  if (!decision.starts) return decision;
  return draining.reason === undefined ? undefined : { reason: `not started: ${draining.reason}` };
}

/** What a run is going to do; the places of the steps are found only if they are asked for. */
export async function outlinePlan(
  { workflow, jobs }: Plan,
  withPlaces: boolean,
): Promise<RunStarted["jobs"]> {
  const spotOf = withPlaces
    ? await (await import("./execute/step_spots.ts")).findSpots(workflow)
    : undefined;
  return jobs.map(({ job, name, needs }) => ({
    id: job.id,
    name,
    needs: needs.map((need) => need.job.id),
    ...workflow.tags || job.tags
      ? { tags: [...new Set([...workflow.tags ?? [], ...job.tags ?? []])] }
      : {},
    steps: outlineSteps(job, spotOf && ((step) => spotOf(job.index, step))),
  }));
}

function outlineSteps(
  job: PlannedJob["job"],
  spotOf: ((step: Step) => Position) | undefined,
): StepOutline[] {
  return job.steps.map((step) => ({
    ...step.id === undefined ? {} : { id: step.id },
    name: markCleanup(job, step, step.name?.source.trim() || step.action.name),
    uses: step.action.name,
    ...step.iteration?.kind === "list" ? { entries: step.iteration.entries.length } : {},
    ...step.isCleanup ? { cleanup: true } : {},
    ...spotOf ? { place: spotOf(step) } : {},
  }));
}
