import type { Host } from "../host/host.ts";
import { workflowState } from "../report/model/workflow_state.ts";
import type { Plan } from "../plan/plan.ts";
import { Cancellation } from "../run/cancellation.ts";
import type { Emit, JobState, RunEvent, StepState, SuitePart } from "../run/event.ts";
import type { StepOutputs } from "../run/execute/outputs.ts";
import { Slots } from "../run/execute/slots.ts";
import { addSecretsOf } from "../run/mask/secrets.ts";
import { run, type RunOptions } from "../run/run.ts";
import { roundDuration } from "../value/duration.ts";
import type { Masker } from "../value/masker.ts";
import { refusalEvents } from "./refuse_member.ts";
import type { Suite, SuiteMember } from "./suite.ts";

/** How a suite is run: what of it holds for each of its runs, and what for all of them. */
export interface SuiteRunOptions
  extends Pick<RunOptions, "detail" | "failFast" | "strict" | "permissions" | "tls" | "timeout"> {
  /** Interrupts all runs. */
  readonly cancellation: Cancellation;
  /** How many workflows may run at once. */
  readonly workers?: number;
  /** How many jobs of all workflows may run at once; no bound without it. */
  readonly jobs?: number;
  /** Knows the secrets that were given to all workflows; each learns its own. */
  readonly makeSecrets: () => Masker;
  /** How long teardown may take after an interruption, in milliseconds. */
  readonly cleanupTimeout?: number;
}

const CLEANUP_TIMEOUT = 30_000;

/** Where nothing else is asked for: one for each processor, but no more than this. */
const MOST_WORKERS = 4;

/** How many workflows run at once where nothing else is asked for. */
export function defaultWorkers(): number {
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
    hash,
  });
  const stopTimer = timeout &&
    clock.after(timeout.milliseconds, () => cancellation.cancel(timeout.reason));
  try {
    await session.setUp(setup);
    await session.runAll([...suite.workflows], options.workers ?? defaultWorkers());
    await session.tearDown(teardown);
  } finally {
    stopTimer?.();
  }
  const { workflows, steps } = session;
  const interrupted = cancellation.reason;
  const passed = workflows.failed === 0 && interrupted === undefined;
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

/** What the runs of a suite share. */
class SuiteSession {
  readonly workflows: Record<JobState, number> = { passed: 0, failed: 0, skipped: 0 };
  readonly steps: Record<StepState, number> = { passed: 0, failed: 0, skipped: 0, untested: 0 };
  readonly #host: Host;
  readonly #emit: Emit;
  readonly #options: SuiteRunOptions;
  readonly #id: string;
  readonly #draining = new Cancellation();
  readonly #slots: Slots | undefined;
  #outputs: StepOutputs = {};

  constructor(host: Host, emit: Emit, options: SuiteRunOptions, id: string) {
    this.#host = host;
    this.#emit = emit;
    this.#options = options;
    this.#id = id;
    const { jobs, cancellation } = options;
    this.#slots = jobs === undefined ? undefined : new Slots(jobs, host.clock);
    const drain = (reason: string) => this.#draining.cancel(reason);
    if (cancellation.reason !== undefined) drain(cancellation.reason);
    cancellation.add({ stop: ({ message }) => drain(message) });
  }

  /** In order: each sees the outputs of those before it. */
  async setUp(members: readonly SuiteMember[]): Promise<void> {
    const { cancellation } = this.#options;
    for (const member of members) {
      const passed = await this.#run(member, "setup", cancellation, this.#draining);
      if (!passed) this.#draining.cancel("setup failed");
    }
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
    const emit = (event: RunEvent) => {
      if (event.type === "run_finished") this.#count(event, role);
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
    if (cancellation.reason !== undefined) own.cancel(cancellation.reason);
    const link = cancellation.add({ stop: ({ message }) => own.cancel(message) });
    try {
      return await run(
        planToRun(member.plan, draining),
        this.#host,
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
    own: Pick<RunOptions, "cancellation" | "draining" | "secrets">,
  ): RunOptions {
    const { detail, failFast, strict, permissions, tls, cleanupTimeout } = this.#options;
    const slots = this.#slots;
    const isWorkflow = suite.role === undefined;
    return {
      ...own,
      ...detail ? { detail } : {},
      ...strict === undefined ? {} : { strict },
      ...permissions ? { permissions } : {},
      ...tls ? { tls } : {},
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
          },
        }
        : {},
    };
  }

  #count(event: Extract<RunEvent, { type: "run_finished" }>, role: SuitePart["role"]): void {
    const { steps } = event;
    const state = workflowState(event);
    if (role !== undefined && state !== "failed") return;
    this.workflows[state]++;
    for (const key of ["passed", "failed", "skipped", "untested"] as const) {
      this.steps[key] += steps[key];
    }
  }
}

/** A workflow that is not begun has nothing to clean up. */
function planToRun(plan: Plan, draining: Cancellation): Plan {
  if (draining.reason === undefined) return plan;
  return { ...plan, jobs: plan.jobs.filter(({ job }) => !job.isCleanup) };
}

/** No workflow has as many. */
const MOST_JOBS = 1e7;
