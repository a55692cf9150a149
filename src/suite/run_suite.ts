import { roundDuration } from "../base/value/duration.ts";
import type { Host } from "../host/host.ts";
import type { Plan } from "../plan/plan.ts";
import { Cancellation } from "../run/cancellation.ts";
import {
  countWorkflows,
  type EndedWorkflow,
  firstFailures,
  type RunFailure,
  workflowState,
} from "../run/count_steps.ts";
import type { Emit, PieceHeader, RunEvent, SuitePart } from "../run/event.ts";
import type { StepOutputs } from "../run/execute/outputs.ts";
import { JobSlots, Locks } from "../run/execute/slots.ts";
import { maskEvent } from "../run/mask_event.ts";
import { run } from "../run/run.ts";
import {
  CLEANUP_TIMEOUT,
  type RunMemory,
  type RunOptions,
  type RunProgress,
} from "../run/run_state.ts";
import { addSecretsOf, addSecretValue, secretsIn } from "../secrets/find_secrets.ts";
import type { Masker } from "../secrets/masker.ts";
import type { Suite, SuiteMember } from "./suite.ts";

/**
 * The options of each run of a suite. Those of time, jobs and outputs are for all of them together:
 * `outputs` and `before` are what earlier processes of its run have left, and `onOutputs` takes
 * what its setup publishes.
 */
export interface SuiteRunOptions
  extends Omit<RunOptions, "memory" | "piece" | "secrets" | "suite"> {
  /** The maximum number of workflows that run at once. */
  readonly workers?: number;
  /** The host of the run of a workflow, not of setup and teardown; by default that of all. */
  readonly hostOf?: (path: string) => Host;
  /** The memory of a workflow by its key, and of the suite by its name. */
  readonly memoryOf?: (subject: string) => RunMemory;
  /** Knows the secrets that were given to all workflows; each learns its own. */
  readonly makeSecrets: () => Masker;
  /** Where it is one process of a run on several machines: its description in `suite_started`. */
  readonly header?: PieceHeader;
}

const SETUP_FAILED = "setup failed";

/** The default maximum number of workflows that run at once. */
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
  const { setup, workflows, teardown } = suite;
  const { clock } = host;
  const { cancellation = new Cancellation(), timeout, before, origin, memoryOf } = options;
  const runId = crypto.randomUUID();
  const ticks = clock.ticks();
  const memory = memoryOf?.(`suite ${suite.name ?? ""}`.trimEnd());
  const suiteRun = new SuiteRun(host, emit, { ...options, cancellation }, runId, memory);
  const started: RunEvent = {
    type: "suite_started",
    runId,
    time: clock.now(),
    name: suite.name,
    workflows: workflows.length,
    shard: suite.shard,
    piece: options.header,
    origin,
    hash: suite.hash,
  };
  emit(origin ? maskEvent(started, options.makeSecrets()) : started);
  const stopTimer = timeout && cancellation.cancelAfter(timeout, clock);
  try {
    await suiteRun.setUp(setup);
    await suiteRun.runAll([...workflows], options.workers ?? defaultWorkers());
    await suiteRun.tearDown(teardown);
  } finally {
    stopTimer?.();
  }
  const totals = countWorkflows(suiteRun.ended);
  const interrupted = cancellation.reason;
  const isUnrun = workflows.length > 0 && before?.state === "failed";
  const passed = totals.workflows.failed === 0 && interrupted === undefined && !isUnrun;
  const duration = roundDuration(clock.ticks() - ticks);
  const state = passed ? "passed" : "failed";
  emit({
    type: "suite_finished",
    runId,
    time: clock.now(),
    duration,
    state,
    interrupted,
    ...totals,
  });
  memory?.keep({
    ...{ state: interrupted === undefined ? state : "interrupted", failures: suiteRun.failures },
    ...{ started: started.time, duration, outputs: {}, secrets: options.makeSecrets() },
  });
  return passed;
}

/** The state that the runs of a suite share. */
class SuiteRun {
  /** The workflows that are over. */
  readonly ended: EndedWorkflow[] = [];
  /** Why they failed. */
  failures: readonly RunFailure[] = [];
  readonly #host: Host;
  readonly #emit: Emit;
  readonly #options: SuiteRunOptions & { readonly cancellation: Cancellation };
  readonly #id: string;
  readonly #memory: RunMemory | undefined;
  readonly #draining = new Cancellation();
  readonly #slots: JobSlots | undefined;
  readonly #locks = new Locks();
  #outputs: StepOutputs;
  /** The secrets in the outputs of setup, also those that no name gives away. */
  readonly #setupSecrets = new Set<string>();

  constructor(
    host: Host,
    emit: Emit,
    options: SuiteRunOptions & { readonly cancellation: Cancellation },
    id: string,
    memory: RunMemory | undefined,
  ) {
    this.#memory = memory;
    this.#host = host;
    this.#emit = emit;
    this.#options = options;
    this.#id = id;
    const { jobs, cancellation, before, outputs = {} } = options;
    this.#slots = jobs === undefined ? undefined : new JobSlots(jobs, host.clock);
    this.#draining.follow(cancellation);
    if (before?.state === "failed") this.#draining.cancel(SETUP_FAILED);
    this.#outputs = outputs;
  }

  /** In order: each sees the outputs of those before it. */
  async setUp(members: readonly SuiteMember[]): Promise<void> {
    const { cancellation, onOutputs } = this.#options;
    for (const member of members) {
      const passed = await this.#run(member, "setup", { cancellation, draining: this.#draining });
      if (!passed) this.#draining.cancel(SETUP_FAILED);
    }
    if (members.length > 0) onOutputs?.(this.#outputs, new Map());
  }

  /** `members` is emptied, to free what has run. */
  async runAll(members: SuiteMember[], workers: number): Promise<void> {
    const { cancellation, failFast, hostOf } = this.#options;
    const slots = this.#slots;
    members.reverse();
    const work = async () => {
      for (let member = members.pop(); member; member = members.pop()) {
        const { index, path } = member;
        await this.#run(member, undefined, {
          cancellation,
          draining: this.#draining,
          failFast,
          // Jobs of an earlier workflow come first.
          slots: slots && {
            use: (position, begin) => slots.use(index * MAX_JOBS + position, begin),
          },
        }, hostOf?.(path));
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
    for (const member of members) {
      const draining = new Cancellation();
      const before = this.#progress();
      await this.#run(member, "teardown", { cancellation: ofTeardown, draining, before });
    }
    link.remove();
    stopTimer();
  }

  /** The state of the suite so far. */
  #progress(): RunProgress {
    const { cancellation: { reason }, before } = this.#options;
    const hasFailed = before?.state === "failed" ||
      this.ended.some(({ state }) => state === "failed");
    return {
      state: reason !== undefined ? "interrupted" : hasFailed ? "failed" : "passed",
      failed: this.ended.reduce((sum, { steps }) => sum + steps.failed, before?.failed ?? 0),
      failures: this.failures,
    };
  }

  /** Teardown sees the run of the suite before, and leaves none of its own. */
  #memoryOf({ key }: SuiteMember, role: SuitePart["role"]): RunMemory {
    const isLast = role === "teardown";
    const memory = isLast ? this.#memory : this.#options.memoryOf?.(key);
    return {
      previous: memory?.previous,
      keep: (end) => {
        if (isLast) this.failures = end.failures;
        else this.failures = firstFailures([...this.failures, ...end.failures]);
        // One that setup or --fail-fast kept from running says nothing about what it tests.
        if (!isLast && this.ended.at(-1)?.state !== "skipped") memory?.keep(end);
      },
    };
  }

  /** Runs a workflow with the options of the suite, except its own. */
  async #run(
    member: SuiteMember,
    role: SuitePart["role"],
    own: RunOptions & Required<Pick<RunOptions, "cancellation" | "draining">>,
    host = this.#host,
  ): Promise<boolean> {
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
    // One for each run, so that nothing of a run is kept when it is over.
    const cancellation = new Cancellation();
    const link = cancellation.follow(own.cancellation);
    try {
      return await run(planToRun(member.plan, own.draining), host, emit, {
        ...this.#options,
        ...{ timeout: undefined, jobs: undefined, failFast: false, before: undefined },
        ...own,
        cancellation,
        secrets,
        locks: this.#locks,
        suite: { id: this.#id, index: member.index, role },
        outputs: this.#outputs,
        memory: this.#memoryOf(member, role),
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
