import { coverageOf } from "../action/api_contracts.ts";
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
import { roundDuration } from "../base/value/duration.ts";
import { Masker } from "../secrets/masker.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { BareEvent, Emit, PieceHeader, RunEvent, SuitePart } from "./event.ts";
import { Cancellation, drainedBy, endAfter, type TimeLimit } from "./cancellation.ts";
import { cleanupSession } from "./execute/run_cleanup.ts";
import { strictReason, UnbegunSteps } from "./count_steps.ts";
import { maskEvent } from "./mask/mask_event.ts";
import { openOutputs, stepIdsOf, type StepOutputs } from "./execute/outputs.ts";
import { emptyTally, finishJob, type JobOutcome, runJob } from "./execute/run_job.ts";
import type { Document, Step } from "../workflow/model.ts";
import { outlinePlan } from "./outline_plan.ts";
import { closeScope } from "./execute/step_context.ts";
import {
  addSecretsOf,
  addSecretValue as addSecretValueTo,
  exchangedSecretsAdder,
} from "../secrets/add_secrets.ts";
import type { Detail, RunProgress, Session, SnapshotMode, Tally } from "./session.ts";

export interface RunOptions {
  /** Interrupts the run, also before it has begun. */
  readonly cancellation?: Cancellation;
  /** The time limit of the whole run, in milliseconds; no limit without it. */
  readonly timeout?: TimeLimit;
  readonly detail?: Partial<Detail>;
  /** Knows the secrets already, and learns those that come up. */
  readonly secrets?: Masker;
  /** Begins no new job and no new step after the first failure. */
  readonly failFast?: boolean;
  /**
   * A run fails if it warns or runs no step, and a step fails if its action was unsuccessful and
   * nothing tested it.
   */
  readonly strict?: boolean;
  /** The snapshot mode; by default `check` if CI=true, else `write`. */
  readonly snapshots?: SnapshotMode;
  /** The maximum number of jobs that run at once, at least 1; no limit without it. */
  readonly jobs?: number;
  /** Bounds the jobs of several runs together, in place of `jobs`. */
  readonly slots?: JobSlots;
  /** Once it has a reason, this run and others that share it begin nothing new. */
  readonly draining?: Cancellation;
  /** Outputs that its steps see besides their own, by the ids of the steps that published them. */
  readonly outputs?: StepOutputs;
  /**
   * Takes what its steps have published, when its jobs are over, and of those of repeated jobs the
   * round that it is of.
   */
  readonly onOutputs?: (outputs: StepOutputs, rounds: ReadonlyMap<string, number>) => void;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /** Where it is one process of a run on many machines. */
  readonly piece?: RunPiece;
  /** The permissions of actions; all where it is absent. */
  readonly permissions?: Permissions;
  /** The default for all TLS connections. */
  readonly tls?: RunTls;
  /** The path of the API description that requests are held against by default. */
  readonly openapi?: string;
  /** The time limit of cleanup steps once the run was interrupted, in milliseconds. */
  readonly cleanupTimeout?: number;
}

/** The part of a run that this process carries out, and the results of others before it. */
export interface RunPiece {
  /** Its description in `run_started`. */
  readonly header: PieceHeader;
  /** All jobs of the run, for explanations. */
  readonly whole: Plan;
  /** The outcomes of jobs that ran elsewhere, for those that need them. */
  readonly outcomes: ReadonlyMap<PlannedJob, JobOutcome>;
  /** The outputs of their steps, in the order of the file. */
  readonly outputs: readonly (readonly [stepId: string, values: Dict])[];
  /** The number of their steps that failed. */
  readonly failed: number;
  /** When it begins: milliseconds since 1970. */
  readonly startAt?: number;
}

/** Decides which jobs may run at once. */
export interface JobSlots {
  /** Runs a job, known by its place in the file, as soon as there is a slot for it. */
  use<T>(place: number, run: () => Promise<T>): Promise<T>;
}

/** The default time limit of cleanup steps after an interruption. */
export const CLEANUP_TIMEOUT = 30_000;

/** The details that a run reports by default. */
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
  const stopTimer = timeout && cancellation.cancelAfter(timeout, host.clock);
  try {
    return await runJobs(session, plan, options, resources);
  } finally {
    stopTimer?.();
    await closeScope(session, resources);
    // After an interruption, the time for cleanup is limited.
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
  const stepIds = stepIdsOf(workflow.jobs.flatMap(({ steps }) => steps));
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
    plan: options.piece?.whole ?? plan,
    vars,
    outputs: openOutputs(stepIds, options.outputs, options.piece?.outputs),
    keepsAll: options.onOutputs !== undefined && !options.piece || readsAll(workflow.document),
    cancellation,
    draining: drainedBy(cancellation, options.draining),
    cleanup: cleanup.end,
    cleanupTimeout,
    progress: () => progressOf(tally, cancellation, options.piece),
    failFast: options.failFast ?? false,
    strict: options.strict ?? false,
    snapshots: {
      mode: options.snapshots ?? (isInCi(host) ? "check" : "write"),
      workflow: workflow.document,
    },
    secrets,
    addSecretValue,
    draws: plan.draws,
    addExchangedSecrets: exchangedSecretsAdder(secrets),
    tally,
    emit: (event) => emit(maskEvent(ofRun(runId, event), secrets)),
    runJobFile: async (...args) =>
      await (await import("./execute/run_job_file.ts")).runJobFile(...args),
    detail: { ...DETAIL, ...options.detail },
    ...(options.permissions ? { permissions: options.permissions } : {}),
    ...(options.tls ? { tls: options.tls } : {}),
    ...(options.piece?.header.part ? { part: options.piece.header.part } : {}),
    ...(options.openapi === undefined ? {} : { openapi: options.openapi }),
  };
}

function hasSnapshot({ snapshot, embedded }: Step): boolean {
  return snapshot !== undefined || embedded !== undefined && embedded.job.steps.some(hasSnapshot);
}

/** Whether an expression may read the outputs of all entries of a step, which are kept only then. */
function readsAll({ files }: Document): boolean {
  return files.some(({ text }) => /\.\s*all\b|["']all["']/.test(text));
}

function isInCi({ env }: Host): boolean {
  return /^(true|1)$/i.test(env.get("CI") ?? "");
}

function progressOf(
  { jobs, steps }: Tally,
  { reason }: Cancellation,
  piece: RunPiece | undefined,
): RunProgress {
  const failed = steps.failed + (piece?.failed ?? 0);
  const before = [...piece?.outcomes.values() ?? []];
  const hasFailed = jobs.failed + failed > 0 || before.some(({ state }) => state === "failed");
  const state = reason !== undefined ? "interrupted" : hasFailed ? "failed" : "passed";
  return { state, failed };
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
  const unbegun = new UnbegunSteps();
  const emit = (event: BareEvent) => {
    unbegun.take(event);
    if (event.type === "note" && event.level === "warning") warnings++;
    session.emit(event);
  };
  const counted = { ...session, emit };
  const outline = await outlinePlan(plan, session.detail.places);
  const { suite, piece } = options;
  if (piece?.startAt !== undefined) {
    await session.draining.sleep(piece.startAt - clock.now(), session.deadlines);
  }
  const ticks = clock.ticks();
  emit({
    type: "run_started",
    time: clock.now(),
    name: workflow.name,
    ...(workflow.description === undefined ? {} : { description: workflow.description }),
    file: workflow.document.name,
    ...(suite ? { suite } : {}),
    ...(piece ? { piece: piece.header } : {}),
    jobs: outline,
  });
  const isBlocked = await runAll(counted, jobs, options);
  tally.steps.skipped += unbegun.count;
  options.onOutputs?.(session.outputs.ofSteps(), session.outputs.rounds);
  const { mode } = session.snapshots;
  const isUpdating = mode === "update" || mode === "prune";
  if (isUpdating || workflow.jobs.some(({ steps }) => steps.some(hasSnapshot))) {
    await (await import("./snapshots/orphans.ts")).reportOrphans(counted, workflow);
  }
  // The report includes resources that cannot be closed.
  const coverage = await coverageOf(session.scope);
  await closeScope(counted, resources);
  const leftOut = piece ? 0 : workflow.jobs.length - jobs.length;
  const reason = cancellation.reason ??
    (options.strict ? strictReason(tally, warnings) : undefined);
  // The tally does not count causes outside this run that block a job.
  const passed = tally.jobs.failed === 0 && reason === undefined && !(piece && isBlocked);
  const { assertions, ...tallied } = tally;
  emit({
    type: "run_finished",
    time: clock.now(),
    duration: roundDuration(clock.ticks() - ticks),
    state: passed ? "passed" : "failed",
    ...(reason === undefined ? {} : { interrupted: reason }),
    ...tallied,
    ...(assertions.passed + assertions.failed === 0 ? {} : { assertions }),
    ...(leftOut === 0 ? {} : { leftOut }),
    ...(coverage.length === 0 ? {} : { coverage }),
  });
  return passed;
}

/** The outcome of each job that has started or will. */
type Outcomes = Map<PlannedJob, PromiseWithResolvers<JobOutcome>>;

/**
 * Runs all jobs, and then those that clean up, which an interruption of the run does not stop.
 * True if one was skipped because of another.
 */
async function runAll(
  session: Session,
  jobs: readonly PlannedJob[],
  { jobs: atOnce, slots, piece }: RunOptions,
): Promise<boolean> {
  // All promises exist before any job starts: a job may be written above those that it needs.
  const outcomes: Outcomes = new Map(jobs.map((job) => [job, Promise.withResolvers()]));
  for (const [job, outcome] of piece?.outcomes ?? []) {
    const end = Promise.withResolvers<JobOutcome>();
    end.resolve(outcome);
    outcomes.set(job, end);
  }
  const [last, first] = partition(jobs, ({ job }) => job.isCleanup === true);
  const bound = slots ?? await boundOf(atOnce, session.host);
  await runGraph(session, first, outcomes, bound);
  await runGraph(cleanupSession(session), last, outcomes, bound);
  const ends = await Promise.all(jobs.map((job) => outcomes.get(job)!.promise));
  return ends.some(({ blocked }) => blocked);
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

/** The outcomes of the jobs that a job needs, by their ids; cleanup sees all jobs. */
async function statesFor({ job }: PlannedJob, outcomes: Outcomes): Promise<Dict> {
  const states: Record<string, Dict> = Object.create(null);
  if (!job.isCleanup && job.needs.length === 0) return states;
  const seen = new Set(job.needs);
  // A job that was not selected did not run.
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
