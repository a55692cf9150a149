import type { Host } from "../host/host.ts";
import { countWorkflows, type EndedWorkflow, workflowState } from "../run/count_steps.ts";
import type { Plan } from "../plan/plan.ts";
import { Cancellation } from "../run/cancellation.ts";
import type { Emit, PieceHeader, RunEvent, SuitePart } from "../run/event.ts";
import type { StepOutputs } from "../run/execute/outputs.ts";
import { Slots } from "../run/execute/slots.ts";
import { addSecretsOf, addSecretValue, secretsIn } from "../secrets/add_secrets.ts";
import { run } from "../run/run.ts";
import { CLEANUP_TIMEOUT, type RunOptions } from "../run/run_options.ts";
import { roundDuration } from "../base/value/duration.ts";
import type { Masker } from "../secrets/masker.ts";
import { refusalEvents } from "./refuse_member.ts";
import type { Suite, SuiteMember } from "./suite.ts";

/** The options for running a suite, for each of its runs and for all of them together. */
export interface SuiteRunOptions extends
  Pick<
    RunOptions,
    "detail" | "failFast" | "strict" | "permissions" | "tls" | "openapi" | "timeout" | "snapshots"
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

/** Where nothing else is asked for: one for each processor, but no more than this. */
const MOST_WORKERS = 4;

/** The default number of workflows that run at once. */
function defaultWorkers(): number {
  return Math.max(1, Math.min(MOST_WORKERS, navigator.hardwareConcurrency));
}

/**
 * Runs the workflows of a suite, each as a run of its own: first those of setup, whose outputs all
 * others see, and in the end, whatever happened, those of teardown. True when all passed.
 */
export async function runSuite(
  suite: Suite,
  host: Host,
  emit: Emit,
  options: SuiteRunOptions,
): Promise<boolean> {
  const { name, setup, teardown, shard, hash } = suite;
  const { clock } = host;
  const { cancellation, timeout } = options;
  const id = crypto.randomUUID();
  const ticks = clock.ticks();
  const session = new SuiteSession(host, emit, options, id);
  emit({
    type: "suite_started",
    runId: id,
    time: clock.now(),
    ...name === undefined ? {} : { name },
    workflows: suite.workflows.length,
    ...shard ? { shard } : {},
    ...options.piece ? { piece: options.piece.header } : {},
    hash,
  });
  const stopTimer = timeout && cancellation.cancelAfter(timeout, clock);
  try {
    await session.setUp(setup);
    await session.runAll([...suite.workflows], options.workers ?? defaultWorkers());
    await session.tearDown(teardown);
  } finally {
    stopTimer?.();
  }
  const { workflows, steps } = countWorkflows(session.ended);
  const interrupted = cancellation.reason;
  const isUnrun = suite.workflows.length > 0 && options.piece?.setupFailed === true;
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
class SuiteSession {
  /** The workflows that are over. */
  readonly ended: EndedWorkflow[] = [];
  readonly #host: Host;
  readonly #emit: Emit;
  readonly #options: SuiteRunOptions;
  readonly #id: string;
  readonly #draining = new Cancellation();
  readonly #slots: Slots | undefined;
  #outputs: StepOutputs = {};
  /** What is secret in the outputs of setup, whatever its name. */
  readonly #setupSecrets = new Set<string>();

  constructor(host: Host, emit: Emit, options: SuiteRunOptions, id: string) {
    this.#host = host;
    this.#emit = emit;
    this.#options = options;
    this.#id = id;
    const { jobs, cancellation } = options;
    this.#slots = jobs === undefined ? undefined : new Slots(jobs, host.clock);
    this.#draining.follow(cancellation);
    if (options.piece?.setupFailed) this.#draining.cancel(SETUP_FAILED);
    this.#outputs = options.piece?.outputs ?? {};
  }

  /** In order: each sees the outputs of those before it. */
  async setUp(members: readonly SuiteMember[]): Promise<void> {
    const { cancellation } = this.#options;
    for (const member of members) {
      const passed = await this.#run(member, "setup", cancellation, this.#draining);
      if (!passed) this.#draining.cancel(SETUP_FAILED);
    }
    this.#options.piece?.onSetup(this.#outputs);
  }

  /** `members` is emptied, so that nothing is kept of what has run. */
  async runAll(members: SuiteMember[], workers: number): Promise<void> {
    members.reverse();
    const work = async () => {
      for (let member = members.pop(); member; member = members.pop()) {
        await this.#run(member, undefined, this.#options.cancellation, this.#draining);
      }
    };
    await Promise.all(Array.from({ length: workers }, work));
  }

  /** Whatever happened before: it has its own bound of time. */
  async tearDown(members: readonly SuiteMember[]): Promise<void> {
    if (members.length === 0) return;
    const { cancellation, cleanupTimeout = CLEANUP_TIMEOUT } = this.#options;
    const own = new Cancellation();
    const { clock } = this.#host;
    const giveUp = () => own.cancel("teardown timed out");
    let stopTimer = cancellation.reason === undefined
      ? () => {}
      : clock.after(cleanupTimeout, giveUp);
    const late = cancellation.add({ stop: () => stopTimer = clock.after(cleanupTimeout, giveUp) });
    for (const member of members) await this.#run(member, "teardown", own, new Cancellation());
    late.remove();
    stopTimer();
  }

  async #run(
    member: SuiteMember,
    role: SuitePart["role"],
    cancellation: Cancellation,
    draining: Cancellation,
  ): Promise<boolean> {
    const suite = { id: this.#id, index: member.index, ...role === undefined ? {} : { role } };
    const { makeSecrets } = this.#options;
    const secrets = makeSecrets();
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
    if (member.kind === "refused") {
      const skipped = draining.reason && `not started: ${draining.reason}`;
      const time = this.#host.clock.now();
      for (const event of refusalEvents(member, suite, time, secrets, skipped)) emit(event);
      if (this.#options.failFast && skipped === undefined) {
        draining.cancel(`--fail-fast after '${member.path}' could not be loaded`);
      }
      return false;
    }
    // Its own one, so that nothing of a run is kept when it is over.
    const own = new Cancellation();
    const link = own.follow(cancellation);
    try {
      return await run(
        planToRun(member.plan, draining),
        role === undefined ? this.#options.hostOf?.(member.path) ?? this.#host : this.#host,
        emit,
        this.#runOptions(member, suite, {
          cancellation: own,
          draining,
          secrets,
        }),
      );
    } finally {
      link.remove();
    }
  }

  #runOptions(
    { index }: SuiteMember,
    suite: SuitePart,
    own: Required<Pick<RunOptions, "cancellation" | "draining" | "secrets">>,
  ): RunOptions {
    const { detail, failFast, strict, permissions, tls, openapi, snapshots, cleanupTimeout } =
      this.#options;
    const slots = this.#slots;
    const isWorkflow = suite.role === undefined;
    return {
      ...own,
      ...detail ? { detail } : {},
      ...strict === undefined ? {} : { strict },
      ...snapshots ? { snapshots } : {},
      ...permissions ? { permissions } : {},
      ...tls ? { tls } : {},
      ...openapi === undefined ? {} : { openapi },
      ...cleanupTimeout === undefined ? {} : { cleanupTimeout },
      ...failFast && isWorkflow ? { failFast } : {},
      // Jobs of an earlier workflow come first.
      ...slots && isWorkflow
        ? { slots: { use: (place, begin) => slots.use(index * MOST_JOBS + place, begin) } }
        : {},
      suite,
      outputs: this.#outputs,
      ...suite.role === "setup"
        ? {
          onOutputs: (outputs: StepOutputs) => {
            this.#outputs = { ...this.#outputs, ...outputs };
            for (const secret of secretsIn(outputs, own.secrets)) this.#setupSecrets.add(secret);
          },
        }
        : {},
    };
  }
}

/** A workflow that is not begun has nothing to clean up. */
function planToRun(plan: Plan, draining: Cancellation): Plan {
  if (draining.reason === undefined) return plan;
  return { ...plan, jobs: plan.jobs.filter(({ job }) => !job.isCleanup) };
}

/** No workflow has as many. */
const MOST_JOBS = 1e7;
