import type {
  ActionContext,
  ActionResult,
  JobResult,
  ResourceScope,
  RunTls,
  Traffic,
} from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { RunnerError } from "../base/errors.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Plan, PlannedJob } from "../plan/plan.ts";
import type { Masker } from "../secrets/masker.ts";
import type { Cancellation, TimeLimit } from "./cancellation.ts";
import type {
  BareEvent,
  Failure,
  JobState,
  LoadSecondFields,
  Note,
  PieceHeader,
  RunOrigin,
  StepResult,
  StepRun,
  SuitePart,
} from "./event.ts";
import type { RunFailure } from "./count_steps.ts";
import type { Outputs, StepOutputs } from "./execute/outputs.ts";
import type { JobSlots, Locks } from "./execute/slots.ts";
import { Resources } from "../action/resource_scope.ts";
import type { Position } from "../base/source.ts";
import type { Trace } from "../base/trace.ts";
import { RandomNumbers } from "../expr/draws.ts";
import type { DataTemplate, Scope } from "../expr/expression.ts";
import type { Deadlines } from "../host/deadlines.ts";
import type { Host } from "../host/host.ts";
import { type AddExchangedSecrets, addSecretValue } from "../secrets/find_secrets.ts";
import { type Bounded, boundValue } from "../secrets/bound_value.ts";
import type { Document, Job, Loop, Step } from "../workflow/model.ts";
import { isMistake } from "./execute/evaluate_field.ts";
import type { CompiledStep } from "./execute/compiled_step.ts";

export interface RunOptions {
  /** Interrupts the run, also before it has begun. */
  readonly cancellation?: Cancellation;
  /** The time limit of the whole run, in milliseconds; no limit without it. */
  readonly timeout?: TimeLimit;
  readonly detail?: Partial<Detail>;
  /** Is called before a failure is made, and awaited before it is reported. */
  readonly beforeFailure?: () => Promise<void>;
  /**
   * Whether the steps of all rounds of repeated jobs are reported, as they are by default. If not,
   * only their tally is, with the details of the first round that passes and of failed steps.
   */
  readonly everyRound?: boolean;
  /** Contains known secrets; secrets found during the run are added. */
  readonly secrets?: Masker;
  /**
   * The time that the stages of a load job take at most, in milliseconds; `off` runs each such job
   * once, as if it had no `load`.
   */
  readonly load?: number | "off";
  /** Runs the rounds of load jobs in several processes. */
  readonly spreadLoad?: SpreadLoad | undefined;
  /** Begins no new job and no new step after the first failure. */
  readonly failFast?: boolean;
  /** A run fails if it warns or runs no step. */
  readonly strict?: boolean;
  /** The snapshot mode; by default `check` if CI=true, else `write`. */
  readonly snapshots?: SnapshotMode;
  /** The maximum number of jobs that run at once, at least 1; no limit without it. */
  readonly jobs?: number;
  /** Bounds the jobs of several runs together, in place of `jobs`. */
  readonly slots?: Pick<JobSlots, "use">;
  /** The locks of its jobs, which runs of a suite share. */
  readonly locks?: Locks;
  /** Once it has a reason, this run and others that share it begin nothing new. */
  readonly draining?: Cancellation;
  /** Additional outputs that its steps see, by the ids of the steps that published them. */
  readonly outputs?: StepOutputs;
  /**
   * Receives the outputs of its steps when its jobs are over, and for steps of repeated jobs the
   * round that they are from.
   */
  readonly onOutputs?: (outputs: StepOutputs, rounds: ReadonlyMap<string, number>) => void;
  /** What the run before has left, and takes what this one leaves. */
  readonly memory?: RunMemory | undefined;
  /** How it was started, for reports. */
  readonly origin?: RunOrigin;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /**
   * What its cleanup steps see of what ran before it: teardown cleans up after the whole suite, and
   * a piece after jobs that ran elsewhere.
   */
  readonly before?: RunProgress;
  /** Where it is one process of a run on many machines. */
  readonly piece?: RunPiece;
  /** The permissions of actions; all where it is absent. */
  readonly permissions?: Permissions;
  /** The default for all TLS connections. */
  readonly tls?: RunTls;
  /** The path of the API description against which requests are checked by default. */
  readonly openapi?: string;
  /** The time limit of cleanup steps once the run was interrupted, in milliseconds. */
  readonly cleanupTimeout?: number;
  /** Traces the run by W3C Trace Context; `{id}` in `url` is replaced by the id of a trace. */
  readonly trace?: { readonly url?: string | undefined } | undefined;
  /** Decides how to go on after a step that has failed, which its job waits for. */
  readonly onFailedStep?: (step: FailedStep) => Promise<FailureDecision>;
}

/**
 * `repeat` runs the step once more, `continue` lets the run go on as it would have, and after `stop`
 * nothing new begins but cleanup.
 */
export type FailureDecision = "repeat" | "continue" | "stop";

/** A step that has failed, before its job goes on. No secrets are in what it shows. */
export interface FailedStep {
  readonly job: string;
  readonly result: StepResult;
  /** What expressions can read. */
  readonly names: readonly string[];
  /** The value of an expression in the scope of the step. Throws `ExpressionError`. */
  readonly evaluate: (expression: string) => { readonly value: Value };
  /** A text without secrets. */
  readonly mask: (text: string) => string;
}

/** What steps see of their run. */
export interface RunProgress {
  readonly state: "passed" | "failed" | "interrupted";
  readonly failed: number;
  /** The first failures; pieces do not know those of other machines. */
  readonly failures?: readonly RunFailure[];
}

/** What a run knows of the one before it, and what it leaves for the next one. */
export interface RunMemory {
  readonly previous?: PreviousRun | undefined;
  /** Takes the end of the run. */
  readonly keep: (end: RunEnd) => void;
}

/** What steps see of the runs before. */
interface RunPast {
  /** How many runs in a row, this one included, are in this state. */
  readonly streak: number;
  readonly previous: PreviousRun | null;
}

/** The last run, as the next one sees it. */
export interface PreviousRun {
  readonly state: RunProgress["state"];
  /** How many runs in a row, this one included, ended in this state. */
  readonly streak: number;
  /** When the first of them began: `2026-01-31T08:00:00.000Z`. */
  readonly since: string;
  /** Seconds. */
  readonly duration: number;
  /** The outputs of its steps that are not secret. */
  readonly outputs: StepOutputs;
}

/** A run that is over. */
export interface RunEnd {
  readonly state: RunProgress["state"];
  readonly failures: readonly RunFailure[];
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly outputs: StepOutputs;
  /** Knows what of them is secret. */
  readonly secrets: Masker;
}

/** The default time limit of cleanup steps after an interruption. */
export const CLEANUP_TIMEOUT = 30_000;

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
  /** When it begins: milliseconds since 1970. */
  readonly startAt?: number;
  /** Where it runs rounds of a load job for another process, which decides about the job. */
  readonly team?: Teamwork;
}

/** What a process has in common with others that run a load job together. */
interface Teamwork {
  /** What the job sees of those that it needs. */
  readonly needs: Dict;
  /** The process is ready. Resolves when the job begins: milliseconds since 1970. */
  readonly begin: () => Promise<number>;
}

/** Several processes that run the rounds of a load job. */
export interface SpreadLoad {
  readonly processes: number;
  /** The rounds of a job. `onSecond` takes each second; the result is why the job has to stop. */
  readonly roundsOf: (
    start: RoundStart,
    onSecond: (second: LoadSecondFields) => string | undefined,
  ) => LoadRounds;
}

export interface LoadRounds {
  /** Resolves when all rounds are over. Throws what was thrown that is not about a step. */
  run(): Promise<void>;
  /** Why it ended before its time. */
  readonly stopped: string | undefined;
  /** Whether a step failed that the statistics do not allow. */
  readonly hasFailed: boolean;
  /** Why they are not all that should have been run. */
  readonly problem?: RunnerError | undefined;
}

export interface JobOutcome {
  readonly state: JobState;
  readonly reason?: string;
  /** Skipped because of what happened elsewhere: those that need it cannot run either. */
  readonly blocked?: true;
}

/**
 * `check`: a missing snapshot is a failure. `write`: it is written. `update`: those of steps that
 * run are rewritten; `prune`: and those are removed that no step names.
 */
export type SnapshotMode = "check" | "write" | "update" | "prune";

/** The amount of detail that a run reports about what passed. */
export interface Detail {
  /** Keep request, response and outputs of each step, not only of those that failed. */
  readonly all: boolean;
  /** Pass on what actions log for `-v`. */
  readonly debug: boolean;
  /** Report the position of each step: at the start, or of embedded ones as they end. */
  readonly places: boolean;
  /** The number of characters that are kept of each field of a request or response. */
  readonly limit: number;
}

/** A run, or the part of it that is an embedded job or cleans up: `with` makes such a part. */
export class RunExecution {
  readonly host!: Host;
  readonly options!: RunOptions;
  readonly deadlines!: Deadlines;
  /** Resources that the steps of the run share until it ends. */
  readonly resources!: ResourceScope;
  readonly plan!: Plan;
  /** The document of the steps: the workflow, or a job file. */
  readonly document!: Document;
  /** The `vars` of the workflow, evaluated, or those that an embedded job was given. */
  readonly vars!: Dict;
  readonly outputs!: Outputs;
  /** Whether the outputs of all entries of a step are kept. */
  readonly keepsAll!: boolean;
  readonly cancellation!: Cancellation;
  /**
   * Once it has a reason nothing new is begun, neither job nor round nor step, while what is under
   * way may go on. A cancellation closes a run too.
   */
  readonly draining!: Cancellation;
  /**
   * Ends the steps that clean up, which `cancellation` does not end: the end of the time that
   * they have once the others were interrupted.
   */
  readonly cleanup!: Cancellation;
  /** Whether the first failure closes the run, or the embedded job that it is in. */
  readonly failFast!: boolean;
  /** Whether a step that fails is allowed, since the statistics of all rounds decide. */
  readonly statisticsDecide!: boolean;
  /** Whether it is of a job whose failure is allowed. */
  readonly allowsFailure!: boolean;
  /** The steps that failed by a mistake in the file: such a failure is never allowed. */
  readonly mistakes!: { count: number };
  readonly detail!: Detail;
  readonly snapshots!: SnapshotMode;
  readonly secrets!: Masker;
  /** Adds the secrets in what an action was given, sent or received. */
  readonly addExchangedSecrets!: AddExchangedSecrets;
  /** The span of the run, where it is traced. */
  readonly trace?: Trace | undefined;
  /** The state of the run, also for an embedded job: one object, as every step sees it. */
  readonly progress!: () => RunProgress & RunPast;
  /** The position of a step of an embedded job, where positions are asked for. */
  readonly positionOf?: (step: Step) => Position;
  /** Emits an event, which reaches reports without secrets. */
  readonly emit!: (event: BareEvent) => void;
  /** Learns what the action of a step sent and received. */
  readonly onTraffic?: (run: StepRun, traffic: Traffic) => void;
  /** Turns what was thrown in a step or a job into a failure with its position in the file. */
  readonly failureOf!: (owner: FailureOwner, error: unknown) => Promise<Failure>;
  /** Runs the job file that a step embeds, in one of its attempts. */
  readonly runJobFile!: (
    step: StepExecution,
    attempt: ActionContext,
    vars: Dict,
  ) => Promise<JobResult>;

  #addSecret: NonNullable<Scope["addSecret"]> | undefined;
  #cleanup: RunExecution | undefined;

  constructor(state: RunFields) {
    Object.assign(this, state);
  }

  /** The same run with some of its state replaced. */
  with(changes: Partial<RunFields>): RunExecution {
    return new RunExecution({ ...this, ...changes });
  }

  /** The run for steps that clean up, which nothing stops but the end of their own time. */
  forCleanup(): RunExecution {
    const { cleanup } = this;
    return this.#cleanup ??= this.with({
      cancellation: cleanup,
      draining: cleanup,
      failFast: false,
      statisticsDecide: false,
    });
  }

  /** Whether its steps are those of a job file. */
  get isEmbedded(): boolean {
    return this.document !== this.plan.workflow.document;
  }

  /** Reports a message beside the results, of a step if one is given. */
  note(level: Note["level"], text: string, step?: Pick<StepExecution, "id" | "name">): void {
    const time = this.host.clock.now();
    this.emit({ type: "note", time, level, text, run: step?.id, name: step?.name });
  }

  /** A scope for expressions; random functions draw from the sequence of the label of its owner. */
  makeScope(names: Scope["names"], owner: ScopeOwner): Scope {
    this.#addSecret ??= (value) => addSecretValue(value, this.secrets);
    const random = new RandomNumbers(this.plan.draws, this.document, owner);
    return new StrictScope(names, this.#addSecret, random);
  }

  /** A copy of data for reports: with about `limit` characters of each field, without secrets. */
  bound(value: unknown, limit = this.detail.limit): Bounded {
    return boundValue(value, limit, this.secrets);
  }

  /** Closes what was opened in a scope that ends; what cannot be closed is a warning. */
  async close(resources: Resources): Promise<void> {
    if (resources.isEmpty) return;
    await resources.close(this.deadlines, (text) => this.note("warning", text));
  }
}

class StrictScope implements Scope {
  readonly strict = true;

  constructor(
    readonly names: Scope["names"],
    readonly addSecret: NonNullable<Scope["addSecret"]>,
    readonly random: RandomNumbers,
  ) {}
}

type RunFields = Omit<
  RunExecution,
  "with" | "forCleanup" | "isEmbedded" | "note" | "makeScope" | "bound" | "close"
>;

/** The step or job in which something was thrown. */
export type FailureOwner = StepExecution | { readonly run: RunExecution; readonly job: Job };

/** What expressions are evaluated for. */
interface ScopeOwner {
  /** Unlike that of any other in its document. */
  readonly label: string;
}

/** Learns what rounds wait for, and may hold them back. */
export interface RoundGate {
  /** Sends the first request of the round once all are there; undefined when it was read before. */
  readonly hold?: ((send: () => void) => void) | undefined;
  /** The round is over: nobody waits for it. */
  leave?(): void;
  /** The action waits for its turn, or does no longer. */
  wait(waits: boolean): void;
}

/** A job in one of its rounds. A part of it, which `with` makes, shares its resources and failures. */
export class Round {
  readonly run!: RunExecution;
  readonly job!: Job;
  /** `repeat_index`; undefined where the job has no `repeat`. */
  readonly index?: number;
  /** When the round was due: milliseconds since its job began. */
  readonly due?: number;
  /** The number of its user, from 0. */
  readonly user?: number;
  /** What its cookies belong to, where it is not the round. */
  readonly session?: object | undefined;
  readonly gate?: RoundGate | undefined;
  /** The run of the step that embeds the job, where one does. */
  readonly within?: StepRun;
  /** The span that its steps are in: of the job, of a round of load, or of an attempt around it. */
  readonly trace?: Trace | undefined;
  /** Where its steps publish, and what they see as `outputs`. */
  readonly outputs!: Outputs;
  /** What its steps see: `namesIn`, and more. */
  readonly names!: Readonly<Record<string, unknown>>;
  /** Resources of something else that its steps share, in place of resources of its own. */
  readonly shared?: ResourceScope;
  readonly failures = new RoundFailures();
  #resources: Resources | undefined;

  constructor(start: RoundStart, changes?: Partial<RoundStart>) {
    Object.assign(this, start, changes);
  }

  /** A part of the round, with some of its state replaced. */
  with(changes: Partial<RoundStart>): Round {
    return new Round(this, { shared: this.resources, ...changes });
  }

  /** The resources that its steps share. */
  get resources(): ResourceScope {
    return this.shared ?? (this.#resources ??= new Resources());
  }

  /** Its own resources, where anything is open. */
  get open(): Resources | undefined {
    return this.#resources?.isEmpty === false ? this.#resources : undefined;
  }
}

export type RoundStart = Omit<Round, "with" | "resources" | "open" | "failures">;

/** What has failed so far in a round and its parts. */
class RoundFailures {
  /** The number of its steps that have failed. */
  count = 0;
  /** The steps before the one under way whose outputs may be missing. */
  upstream: readonly UpstreamFailure[] = NO_FAILURES;
}

const NO_FAILURES: readonly UpstreamFailure[] = [];

/** A step that may not have published what later steps read. */
export interface UpstreamFailure {
  readonly step: Step;
  readonly run: StepRun;
  /** The text shown in reports. */
  readonly name: string;
  readonly state: "failed" | "skipped";
}

/** An entry of a step's `iteration`. */
export interface Entry {
  readonly index: number;
  readonly template: DataTemplate;
  /** Why the entry could not be read. */
  readonly fault?: unknown;
  /** The loop that decides whether there is another pass, and its decision. */
  readonly loop?: Loop & { readonly pass: { isOver: boolean; pause: number } };
}

/** The names of the response before there is one. */
export const NO_RESPONSE = { req: null, res: null, rt: { duration: "", sec: 0 }, status: 0 };

/** The names of a step in no span. */
const NO_TRACE = { id: null as string | null, span: null as string | null };

/** The names that a step of a run sees as it begins, in their order. */
export function namesIn({ vars, progress }: RunExecution, seen: Dict): Round["names"] {
  const before = { repeat_index: 0, iteration_index: 0, trace: NO_TRACE };
  return { vars, outputs: {}, run: progress(), ...before, ...seen, ...NO_RESPONSE };
}

/** A step in one of its runs: of one round, and of one entry if it has an `iteration`. */
export class StepExecution {
  /** The names in scope; each attempt adds its response. */
  readonly names: Record<string, unknown>;
  readonly scope: Scope;
  /** When it began: milliseconds since 1970. */
  readonly started: number;
  /** The same by the clock that measures. */
  readonly ticks: number;
  /** The text shown in reports. */
  name: string;
  /** The rendered `with` of the attempt under way. */
  params: Dict | undefined;
  /** The result of that attempt in short, `HTTP 404`, where its action was unsuccessful. */
  trouble: string | undefined;
  /** Whether it failed by a mistake in the file. */
  hasMistake = false;
  /** Makes all of `req` and `res`, where the action has left out what no expression reads. */
  whole: ActionResult["whole"];
  /** Its span and that of the attempt under way, where the run is traced. */
  readonly trace: Trace | undefined;
  attempt: Trace | undefined;
  #id: StepRun | undefined;
  #resources: Resources | undefined;

  constructor(readonly round: Round, readonly compiled: CompiledStep, readonly entry?: Entry) {
    const { run } = round;
    this.started = run.host.clock.now();
    this.ticks = run.host.clock.ticks();
    this.name = compiled.name ?? compiled.model.name!.source;
    this.names = { ...round.names };
    this.names.outputs = round.outputs.view;
    this.names.repeat_index = round.index ?? 0;
    this.names.iteration_index = entry?.index ?? 0;
    this.scope = run.makeScope(this.names, this);
    this.trace = round.trace?.within();
    if (this.trace) this.openSpan(this.trace);
  }

  /** Gives an attempt a span of its own: what it sends carries that. */
  openSpan(step: Trace): void {
    const { id, span } = this.attempt = step.within();
    this.names.trace = { ...NO_TRACE, id, span };
  }

  get run(): RunExecution {
    return this.round.run;
  }

  get model(): Step {
    return this.compiled.model;
  }

  /** What events know it by. */
  get id(): StepRun {
    return this.#id ??= this.#makeId();
  }

  #makeId(): StepRun {
    const { round: { job, index, within }, model, entry } = this;
    return {
      ...within ? { job: within.job, within } : { job: job.id },
      step: model.index,
      ...model.isCleanup ? { cleanup: true } : {},
      ...model.id === undefined ? {} : { id: model.id },
      ...index === undefined ? {} : { round: index },
      ...entry ? { entry: entry.index } : {},
    };
  }

  get label(): string {
    return JSON.stringify(this.id);
  }

  /** The resources of the step itself. */
  get resources(): Resources {
    return this.#resources ??= new Resources();
  }

  /** Its resources, where anything is open. */
  get open(): Resources | undefined {
    return this.#resources?.isEmpty === false ? this.#resources : undefined;
  }

  /** Begins an attempt: its `with` does not see the response of the one before. */
  forgetResponse(): void {
    Object.assign(this.names, NO_RESPONSE);
    for (const name of this.model.action.resultNames ?? []) this.names[name] = null;
    this.params = undefined;
    this.trouble = undefined;
    this.whole = undefined;
  }

  /** Turns what was thrown in it into a failure with its position in the file. */
  failureOf(error: unknown): Promise<Failure> {
    this.completeResponse();
    this.hasMistake ||= isMistake(error);
    return this.run.failureOf(this, error);
  }

  /** Adds what no expression of the step reads to `req` and `res`: explanations show it. */
  completeResponse(): void {
    if (this.whole) Object.assign(this.names, this.whole());
    this.whole = undefined;
  }
}

/** The name of a job: many ids say only where the job is in the file. */
export function nameOfJob({ plan }: Pick<RunExecution, "plan">, id: string): string {
  return plan.jobs.find(({ job }) => job.id === id)?.name ?? id;
}
