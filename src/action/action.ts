import type { StepError } from "../base/errors.ts";
import type { Trace } from "../base/trace.ts";
import type { Dict, TypeName, Value } from "../base/value/value.ts";
import type { Host } from "../host/host.ts";
import type { Deadline } from "../host/deadlines.ts";
import type { Permissions } from "./permissions/permissions.ts";
import type { ActionExplainer } from "./explainer.ts";
import type { Alternatives, HideSecrets, Parameter, ParameterProblem } from "./parameter.ts";

/** Something that a step can do: a record in the registry, found by `uses`. */
export interface Action {
  /** The name that a step uses. */
  readonly name: string;
  /** One line, for help and documents. */
  readonly summary: string;
  /** The keys of `with`. An action that accepts any key omits this. */
  readonly parameters?: readonly Parameter[];
  /** Alternative parameters: a step gives one of them. */
  readonly alternatives?: readonly Alternatives[];
  /**
   * All mistakes in its parameters that can be seen before the run. `params` is `with` after the
   * defaults were merged; a text with a template in it fits every type.
   */
  readonly problems?: (params: Dict) => readonly ParameterProblem[];
  /**
   * Of an action that takes parameters that are nil for left out: those in which fields that are
   * nil are left out as well. What a template leaves out by accident is an error.
   */
  readonly omitsNilIn?: (params: Dict) => readonly string[];
  /**
   * Lays the `with` of a step over the defaults of its job, where laying them over each other key
   * by key is not enough. Neither has its templates rendered.
   */
  readonly merge?: (defaults: Dict, params: Dict) => Dict;
  /**
   * Whether it sends no request and always succeeds, so testing or repeating it proves nothing and
   * statistics leave out its response time.
   */
  readonly neverFails?: true;
  /**
   * Whether the parameters say what the result must be: the step fails where it is not, so that it
   * needs no test. A value with a template may be anything but nil.
   */
  readonly expectsResult?: (params: Dict) => boolean;
  /**
   * Whether any answer is a result, as a response of HTTP is: a step that tests something of it does
   * not fail because `status` is not 0.
   */
  readonly acceptsAnswers?: true;
  /** All fields of its `res`, where they are fixed. */
  readonly responseFields?: readonly ResponseField[];
  /** The fields of `res` that the expressions of its step also see as names. */
  readonly resultNames?: readonly string[];
  /** The fields of the messages that come to a step that stays open, for `receive`. */
  readonly messageFields?: readonly ResponseField[];
  /** Whether a step with these parameters stays open until the run ends. */
  readonly staysOpen?: (params: Dict) => boolean;
  /** Whether it runs the job file of its `path`, which is loaded and checked with the workflow. */
  readonly embeds?: true;
  /** The `with` of a step as an example, in YAML, for help. */
  readonly usage?: string;
  /** An example of a test of its result, for help and hints. */
  readonly exampleTest?: string;
  /** Loads what reports its exchanges and failures, which a run that passes never needs. */
  readonly explainer?: () => Promise<ActionExplainer>;
  /** Brings the code that carries it out, which a run without this action never loads. */
  readonly load: () => Promise<RunAction>;
}

/** A field that `res` may have. */
export interface ResponseField {
  /** Its name in `res`. */
  readonly name: string;
  /** What it is, in one line. */
  readonly summary: string;
  /** Its type, in the words of the expression language, where it is always the same. */
  readonly type?: TypeName;
  /** A hint for a test that compares it with a value of another type. */
  readonly hint?: string;
  /** The field that it repeats as text, so that secrets are looked for in that field alone. */
  readonly repeats?: string;
  /** What reports hide of it. */
  readonly hide?: HideSecrets;
}

/**
 * Carries the action out once. Throws `StepError` when it cannot be carried out. One that has
 * nothing to wait for answers at once.
 */
export interface RunAction {
  (params: Dict, context: ActionContext): ActionResult | Promise<ActionResult>;
  /**
   * Does what is the same in all attempts of a step: see `compiledAction`.
   *
   * @internal
   */
  readonly compile?: CompileAction;
}

/**
 * Prepares the attempts of a step: reads and checks the parameters, adds their secrets and asks for
 * permissions. A step whose `with` has no template is prepared once for all its attempts in all
 * rounds, any other anew for each. `context` is that of the attempt under way: what is returned must
 * not keep it, since it is called with that of each attempt.
 */
export type CompileAction = (
  params: Dict,
  demand: Demand,
  context: ActionContext,
) => PreparedAction | Promise<PreparedAction>;

/** Carries an action out once, with the parameters that it was prepared with. */
export type PreparedAction = (context: ActionContext) => ActionResult | Promise<ActionResult>;

/**
 * The fields of `req` and `res` that the expressions of a step read. An action need not make the
 * others if its result has `whole`, which makes them, and if no secret is in them alone.
 */
export interface Demand {
  readonly req: DemandedFields;
  readonly res: DemandedFields;
}

export type DemandedFields = ReadonlySet<string> | "all";

/** The result of an action. */
export interface ActionResult {
  /** The request as sent. */
  readonly req: Dict;
  /** What came back. */
  readonly res: Dict;
  /** 0 on success. */
  readonly status: number;
  /** The result in two words for people: `HTTP 500`, `exit 1`. */
  readonly brief?: string;
  /** Milliseconds, where the action knows better than the clock around it. */
  readonly elapsed?: number;
  /** The phases of that time: milliseconds by name, in their order. */
  readonly phases?: Readonly<Record<string, number>>;
  /** What it sent and received. */
  readonly traffic?: Traffic;
  /** Milliseconds that the other side asks to wait before the next attempt. */
  readonly retryAfter?: number;
  /**
   * The differences from an API description that fail the step; an empty list if it matches.
   *
   * @internal
   */
  readonly violations?: readonly ContractViolation[];
  /**
   * The result of the job that it ran, if it embeds one.
   *
   * @internal
   */
  readonly job?: JobResult;
  /** Makes all of `req` and `res`, where fields are missing that no expression reads. */
  readonly whole?: () => Pick<ActionResult, "req" | "res">;
}

/** What an action sent and received. */
export interface Traffic {
  /** The number of bytes. */
  readonly sent: number;
  /** The number of bytes. */
  readonly received: number;
  /** The code of the answer, by the conventions of HTTP. */
  readonly code?: number;
  /** Milliseconds that it waited here for a connection, before its time began. */
  readonly queued?: number;
  /** How often a request was sent again, as the server had closed the connection without an answer. */
  readonly resent?: number;
}

/** Something that differs from an API description. */
export interface ContractViolation {
  /** The message, with the place in the description. */
  readonly message: string;
  readonly hint?: string;
  /** The path below `with` to the value that it is about. */
  readonly path: readonly (string | number)[];
  /** What the description expects of a part, the place of that, and what was received. */
  readonly sides?: {
    readonly part: string;
    readonly place: string;
    readonly expected: string;
    readonly received: string;
  };
}

/** The result of a job that a step embeds. */
export interface JobResult {
  /** The job file, for people. */
  readonly file: string;
  /** By step id, and also by flat name. */
  readonly outputs: Dict;
  /** Steps that were carried out or skipped. */
  readonly steps: number;
  /** Steps that passed a test, so that the step around them counts as tested. */
  readonly passed: number;
  /** Steps that failed, which fails the step around them too. */
  readonly failed: number;
}

/** The context that a run passes to each attempt of an action. */
export interface ActionContext {
  /**
   * The machine.
   *
   * @internal
   */
  readonly host: Host;
  /**
   * Aborted when the attempt must end, with a `StepError` as its reason: the step timed out or the
   * run is cancelled. The action then ends what it began and throws the reason. It is made when it
   * is first read, because an `AbortController` costs start time.
   */
  readonly signal: AbortSignal;
  /**
   * Calls `stop` when the attempt must end, at once where it must already; the result takes it back.
   * It costs less than `signal`.
   */
  onStop(stop: (reason: StepError) => void): () => void;
  /** The time that the attempt may take. */
  readonly deadline: AttemptDeadline;
  /** Where to keep what outlives the attempt. */
  readonly scope: ActionScopes;
  /**
   * Holds the first request of a round of a load job back until all have a connection; absent
   * when it was read before.
   *
   * @internal
   */
  readonly hold?: ((send: () => void) => void) | undefined;
  /** Takes secrets, which no report shows. */
  readonly secrets: SecretSink;
  /**
   * The step and its round; absent in a test.
   *
   * @internal
   */
  readonly identity?: StepIdentity;
  /** The name of the step, for messages. */
  readonly label: string;
  /** The vars that the step sees. */
  readonly vars: Dict;
  /**
   * The permissions of the action; all if absent.
   *
   * @internal
   */
  readonly permissions?: Permissions | undefined;
  /**
   * The span of the attempt, which what it sends carries; absent where the run is not traced.
   *
   * @internal
   */
  readonly trace?: Trace | undefined;
  /** The TLS options of the run. */
  readonly tls?: RunTls | undefined;
  /** The API description that the options of the run name, from the current directory. */
  readonly openapi?: string | undefined;
  /**
   * The path of a file that the step names: relative to the file that names it, or to the current
   * directory if the file is only there.
   */
  resolvePath(path: string): Promise<string>;
  /**
   * Reads a parameter that is a bare expression. What it returns says whether the expression is
   * true, given further names; an expression that is neither true nor false is an error.
   */
  readCondition(parameter: string, source: string): Promise<Condition>;
  /**
   * What a step that stays open needs after it is done; absent in a plugin.
   *
   * @internal
   */
  late?(): Promise<LateContext>;
  /**
   * Runs the job file that the step embeds, with these variables. When the attempt must end, it
   * ends all that the job began and throws the reason.
   *
   * @internal
   */
  runJobFile(vars: Dict): Promise<JobResult>;
  /** Writes a line for those who asked for details with `-v`. */
  log(text: string): void;
  /** Reports something that everybody should see and that is not a result. */
  warn(text: string): void;
  /**
   * Reports how many messages came to a step that stayed open, and the first of them.
   *
   * @internal
   */
  messagesCame?(count: number, messages: readonly Arrival[]): void;
}

/** A message that came to a step that stayed open, in short. */
export interface Arrival {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** JSON, without what is empty, and without headers. */
  readonly text: string;
  /** Its span, within that of its sender. */
  readonly trace?: Trace;
}

/** What a step that stays open needs after it is done. */
export interface LateContext {
  /**
   * Reads the templates of a value at a path in `with`, of a parameter that the action renders
   * itself. What it returns renders them, given further names.
   */
  readTemplates(path: readonly (string | number)[], value: Value): (names: Dict) => Value;
  /** Fails the run by a mistake in the step, such as in a template. */
  failRun(error: unknown): Promise<void>;
}

/** A parameter that is a bare expression: whether it is true, given further names. */
export interface Condition {
  (names: Dict): boolean;
  /** How many of the parts that `&&` joins are true. */
  readonly countTrue: (names: Dict) => number;
  /** The error with the values for which it is false, for the report. */
  readonly untrue: (names: Dict, error: StepError) => Error;
}

/** What tells the runs of the steps of a run apart. */
export interface StepIdentity {
  /** The id of the step, if it has one. */
  readonly id?: string | undefined;
  /** The id of its job. */
  readonly job: string;
  /** The number of the user of a load job. */
  readonly user?: number | undefined;
  /** The number of the round. */
  readonly round?: number | undefined;
}

/** The defaults of all TLS connections of a run. */
export interface RunTls {
  /** PEM text, or a path from the current directory. */
  readonly ca?: string;
  /** The client certificate, likewise. */
  readonly cert?: string;
  /** The key of the client certificate, likewise. */
  readonly key?: string;
  /** Accept any certificate. */
  readonly insecure?: true;
}

/** The timeout of an attempt, and timers that share the run's one timer. */
export interface AttemptDeadline {
  /** The timeout of the step, in milliseconds. */
  readonly timeout: number;
  /** Stops the timeout while the action waits for its turn, which is not the fault of a server. */
  pauseTimeout(): void;
  /** Starts the timeout, in full, after it was paused. */
  resumeTimeout(): void;
  /** Calls `callback` after that many milliseconds, unless it is cancelled first. */
  after(milliseconds: number, callback: () => void): Deadline;
}

/** The lifetime of something that an action opens. */
export interface ActionScopes {
  /** Until the run ends: a pool of database connections. */
  readonly run: ResourceScope;
  /** Until the job ends, or one round of it; a job file shares the job that embeds it. */
  readonly job: ResourceScope;
  /** Until the step ends, with all its attempts. */
  readonly step: ResourceScope;
  /**
   * What cookies belong to, where it is not `job`: a user of a load job who keeps them.
   *
   * @internal
   */
  readonly session?: object | undefined;
  /**
   * Where what a step leaves open ends before the run: with a user of a load job, in his setup.
   *
   * @internal
   */
  readonly user?: ResourceScope | undefined;
}

/** Keeps what is opened once and shared, and closes it when the scope ends. */
export interface ResourceScope {
  /**
   * Returns what `open` returned, the same for every call with that key: a promise is shared by
   * those who ask while it is pending, and forgotten when it rejects. Names of keys begin with the
   * action: `db:main`.
   *
   * Resources are closed in the reverse order of opening, also after a failure, a timeout or a
   * cancellation. A `close` that throws is a warning.
   */
  resource<T>(
    key: string,
    open: () => T,
    close?: (resource: Awaited<T>) => void | Promise<void>,
  ): T;
}

/** Takes texts that every report must replace by `***`. */
export interface SecretSink {
  /** Makes a text secret, unless it has fewer characters than `shortest`. */
  add(text: string, shortest?: number): void;
  /** The positions of known secrets in a text, in any encoding, in order. */
  find(text: string): readonly { readonly start: number; readonly end: number }[];
  /** The part of a text between two offsets, with `***` for each secret that is at least partly in it. */
  mask(text: string, from: number, to: number): string;
}

export type { Dict, Value };
