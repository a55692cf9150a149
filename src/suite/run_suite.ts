import { roundDuration } from "../base/value/duration.ts";
import type { Host } from "../host/host.ts";
import type { Plan } from "../plan/plan.ts";
import { Cancellation } from "../run/cancellation.ts";
import { countWorkflows, type EndedWorkflow, workflowState } from "../run/count_steps.ts";
import type { Emit, PieceHeader, RunEvent, SuitePart } from "../run/event.ts";
import type { StepOutputs } from "../run/execute/outputs.ts";
import { Locks } from "../run/execute/locks.ts";
import { Slots } from "../run/execute/slots.ts";
import { maskEvent } from "../run/mask_event.ts";
import { run } from "../run/run.ts";
import { CLEANUP_TIMEOUT, type RunOptions, type RunProgress } from "../run/run_options.ts";
import { addSecretsOf, addSecretValue, secretsIn } from "../secrets/add_secrets.ts";
import type { Masker } from "../secrets/masker.ts";
import type { Suite, SuiteMember } from "./suite.ts";

/** The options for running a suite, for each of its runs and for all of them together. */
export interface SuiteRunOptions extends
  Pick<
    RunOptions,
    | "detail"
    | "everyRound"
    | "load"
    | "spreadLoad"
    | "failFast"
    | "strict"
    | "permissions"
    | "tls"
    | "openapi"
    | "timeout"
    | "snapshots"
    | "onFailedStep"
    | "origin"
  > {
  /** Interrupts all runs. */
  readonly cancellation: Cancellation;
  /** The maximum number of workflows that run at once. */
  readonly workers?: number;
  /** The maximum number of jobs of all workflows that run at once; no limit without it. */
  readonly jobs?: number;
  /** The host of the run of a workflow, not of setup and teardown; by default that of all. */
  readonly hostOf?: (path: string) => Host;
  /** Knows the secrets that were given to all workflows; each learns its own. */
  readonly makeSecrets: () => Masker;
  /** Where it is one process of a run on several machines. */
  readonly piece?: SuitePiece;
  /** The time limit of teardown after an interruption, in milliseconds. */
  readonly cleanupTimeout?: number;
}

/** The part of a suite that this process runs, and what others did before it. */
export interface SuitePiece {
  /** Its description in `suite_started`. */
  readonly header: PieceHeader;
  /** The outputs of setup. */
  readonly outputs: StepOutputs;
  /** Setup failed, so that no workflow starts. */
  readonly setupFailed: boolean;
  /** Takes the outputs of setup, where this process runs it. */
  readonly onSetup: (outputs: StepOutputs) => void;
}

const SETUP_FAILED = "setup failed";

/** The maximum of workflows at once unless something else is asked for. */
const MAX_WORKERS = 4;

/** The default number of workflows that run at once: one for each processor. */
function defaultWorkers(): number {
  return Math.max(1, Math.min(MAX_WORKERS, navigator.hardwareConcurrency));
}

/**
 * Runs the workflows of a suite, each as a run of its own: first those of setup, whose outputs all
 * others see, and finally those of teardown, even after failures. True when all passed.
 */
export async function runSuite(
  suite: Suite,
  host: Host,
  emit: Emit,
  options: SuiteRunOptions,
): Promise<boolean> {
  const { name, setup, teardown, shard, hash } = suite;
  const { clock } = host;
  const { cancellation, timeout, piece, origin } = options;
  const id = crypto.randomUUID();
  const ticks = clock.ticks();
  const suiteRun = new SuiteRun(host, emit, options, id);
  const started: RunEvent = {
    type: "suite_started",
    runId: id,
    time: clock.now(),
    ...name === undefined ? {} : { name },
    workflows: suite.workflows.length,
    ...shard ? { shard } : {},
    ...piece ? { piece: piece.header } : {},
    ...origin ? { origin } : {},
    hash,
  };
  emit(origin ? maskEvent(started, options.makeSecrets()) : started);
  const stopTimer = timeout && cancellation.cancelAfter(timeout, clock);
  try {
    await suiteRun.setUp(setup);
    await suiteRun.runAll([...suite.workflows], options.workers ?? defaultWorkers());
    await suiteRun.tearDown(teardown);
  } finally {
    stopTimer?.();
  }
  const { workflows, steps } = countWorkflows(suiteRun.ended);
  const interrupted = cancellation.reason;
  const isUnrun = suite.workflows.length > 0 && piece?.setupFailed === true;
  const passed = workflows.failed === 0 && interrupted === undefined && !isUnrun;
  emit({
    type: "suite_finished",
    runId: id,
    time: clock.now(),
    duration: roundDuration(clock.ticks() - ticks),
    state: passed ? "passed" : "failed",
    ...interrupted === undefined ? {} : { interrupted },
    workflows,
    steps,
  });
  return passed;
}

/** The state that the runs of a suite share. */
class SuiteRun {
  /** The workflows that are over. */
  readonly ended: EndedWorkflow[] = [];
  readonly #host: Host;
  readonly #emit: Emit;
  readonly #options: SuiteRunOptions;
  readonly #id: string;
  readonly #draining = new Cancellation();
  readonly #slots: Slots | undefined;
  readonly #locks = new Locks();
  #outputs: StepOutputs;
  /** What is secret in the outputs of setup, whatever its name. */
  readonly #setupSecrets = new Set<string>();

  constructor(host: Host, emit: Emit, options: SuiteRunOptions, id: string) {
    this.#host = host;
    this.#emit = emit;
    this.#options = options;
    this.#id = id;
    const { jobs, cancellation, piece } = options;
    this.#slots = jobs === undefined ? undefined : new Slots(jobs, host.clock);
    this.#draining.follow(cancellation);
    if (piece?.setupFailed) this.#draining.cancel(SETUP_FAILED);
    this.#outputs = piece?.outputs ?? {};
  }

  /** In order: each sees the outputs of those before it. */
  async setUp(members: readonly SuiteMember[]): Promise<void> {
    const { cancellation, piece } = this.#options;
    for (const member of members) {
      const passed = await this.#run(member, "setup", cancellation, this.#draining);
      if (!passed) this.#draining.cancel(SETUP_FAILED);
    }
    piece?.onSetup(this.#outputs);
  }

  /** `members` is emptied, to free what has run. */
  async runAll(members: SuiteMember[], workers: number): Promise<void> {
    members.reverse();
    const work = async () => {
      for (let member = members.pop(); member; member = members.pop()) {
        await this.#run(member, undefined, this.#options.cancellation, this.#draining);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** Runs whatever happened before, with a time limit of its own after an interruption. */
  async tearDown(members: readonly SuiteMember[]): Promise<void> {
    if (members.length === 0) return;
    const { cancellation, cleanupTimeout = CLEANUP_TIMEOUT } = this.#options;
    const { clock } = this.#host;
    const ofTeardown = new Cancellation();
    let stopTimer = () => {};
    const startTimer = () => {
      stopTimer = clock.after(cleanupTimeout, () => ofTeardown.cancel("teardown timed out"));
    };
    if (cancellation.reason !== undefined) startTimer();
    const link = cancellation.add({ stop: startTimer });
    const before = this.#progress();
    for (const member of members) {
      await this.#run(member, "teardown", ofTeardown, new Cancellation(), before);
    }
    link.remove();
    stopTimer();
  }

  /** What came of setup and the workflows. */
  #progress(): RunProgress {
    const { cancellation: { reason }, piece } = this.#options;
    const hasFailed = piece?.setupFailed || this.ended.some(({ state }) => state === "failed");
    return {
      state: reason !== undefined ? "interrupted" : hasFailed ? "failed" : "passed",
      failed: this.ended.reduce((sum, { steps }) => sum + steps.failed, 0),
    };
  }

  async #run(
    member: SuiteMember,
    role: SuitePart["role"],
    cancellation: Cancellation,
    draining: Cancellation,
    before?: RunProgress,
  ): Promise<boolean> {
    const suite = { id: this.#id, index: member.index, ...role === undefined ? {} : { role } };
    const secrets = this.#options.makeSecrets();
    for (const [id, values] of Object.entries(this.#outputs)) {
      addSecretsOf({ [id]: values }, secrets);
    }
    addSecretValue([...this.#setupSecrets], secrets);
    const emit = (event: RunEvent) => {
      if (event.type === "run_finished") {
        this.ended.push({ role, state: workflowState(event), steps: event.steps });
      }
      this.#emit(event);
    };
    const { detail, everyRound, failFast, strict, permissions, tls, openapi, snapshots } =
      this.#options;
    const { cleanupTimeout, onFailedStep, load, spreadLoad } = this.#options;
    const isWorkflow = role === undefined;
    const host = isWorkflow && this.#options.hostOf?.(member.path) || this.#host;
    const slots = isWorkflow ? this.#slots : undefined;
    // One for each run, so that nothing of a run is kept when it is over.
    const ofRun = new Cancellation();
    const link = ofRun.follow(cancellation);
    try {
      return await run(planToRun(member.plan, draining), host, emit, {
        detail,
        everyRound,
        strict,
        permissions,
        tls,
        openapi,
        snapshots,
        cleanupTimeout,
        onFailedStep,
        load,
        spreadLoad,
        failFast: failFast && isWorkflow,
        cancellation: ofRun,
        draining,
        secrets,
        // Jobs of an earlier workflow come first.
        slots: slots && {
          use: (position, begin) => slots.use(member.index * MAX_JOBS + position, begin),
        },
        locks: this.#locks,
        suite,
        ...before ? { before } : {},
        outputs: this.#outputs,
        onOutputs: role === "setup"
          ? (outputs) => {
            this.#outputs = { ...this.#outputs, ...outputs };
            for (const secret of secretsIn(outputs, secrets)) this.#setupSecrets.add(secret);
          }
          : undefined,
      });
    } finally {
      link.remove();
    }
  }
}

/** A workflow that is not begun has nothing to clean up. */
function planToRun(plan: Plan, draining: Cancellation): Plan {
  if (draining.reason === undefined) return plan;
  return { ...plan, jobs: plan.jobs.filter(({ job }) => !job.isCleanup) };
}

/** More jobs than any workflow has. */
const MAX_JOBS = 1e7;
