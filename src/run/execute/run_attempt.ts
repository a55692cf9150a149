import type {
  Action,
  ActionContext,
  ActionResult,
  ActionScopes,
  AttemptDeadline,
  Dict,
  JobResult,
  RunAction,
  SecretSink,
} from "../../action/action.ts";
import type { Deadline, Deadlines } from "../../host/deadlines.ts";
import type { Link } from "../../host/chain.ts";
import type { Host } from "../../host/host.ts";
import type { Scope } from "../../expr/expression.ts";
import { StepError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { JobFile } from "../../workflow/model.ts";
import type { StepRun } from "../event.ts";
import { EmbeddedError, isTrue } from "./evaluate_field.ts";
import type { Stoppable } from "../cancellation.ts";
import type { Session } from "../session.ts";

/** The step data that an attempt needs. */
interface AttemptOf {
  /** The name of the step. */
  readonly label: string;
  readonly vars: Dict;
  /** Milliseconds. */
  readonly timeout: number;
  readonly scope: ActionScopes;
  /** The names that its expressions see. */
  readonly names: Scope;
  /** Where the step is in its document. */
  readonly path: Path;
  /** The job file that the step embeds. */
  readonly embedded?: JobFile;
}

/** One attempt of an action, as the action sees it. */
class Attempt implements ActionContext {
  readonly host: Host;
  readonly deadline: AttemptTimer;
  readonly scope: ActionScopes;
  readonly secrets: SecretSink;
  readonly label: string;
  readonly vars: Dict;
  readonly permissions: ActionContext["permissions"];
  readonly tls: ActionContext["tls"];
  readonly openapi: ActionContext["openapi"];
  readonly #session: Session;
  readonly #of: StepRun;
  readonly #path: Path;
  readonly #names: Scope;
  readonly #embedded: JobFile | undefined;
  #abort: AbortController | undefined;
  #reason: StepError | undefined;
  #link: Link<Stoppable> | undefined;

  constructor(session: Session, of: StepRun, step: AttemptOf) {
    const { label, vars, timeout, scope, names, path, embedded } = step;
    this.host = session.host;
    this.deadline = new AttemptTimer(session.deadlines, timeout, this);
    this.scope = scope;
    this.secrets = session.secrets;
    this.label = label;
    this.vars = vars;
    this.permissions = session.permissions;
    this.tls = session.tls;
    this.openapi = session.openapi;
    this.#path = path;
    this.#names = names;
    this.#session = session;
    this.#of = of;
    this.#embedded = embedded;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#reason) this.#abort.abort(this.#reason);
    }
    return this.#abort.signal;
  }

  runJobFile(vars: Dict): Promise<JobResult> {
    if (!this.#embedded) throw new Error("the step embeds no job file");
    return this.#session.runJobFile(this.#session, this, this.#of, this.#embedded, vars);
  }

  async readCondition(parameter: string, source: string): Promise<(names: Dict) => boolean> {
    const { parseExpression } = await import("../../expr/parse/parse.ts");
    const { names, ...scope } = this.#names;
    const expression = parseExpression(source);
    return (more) =>
      isTrue(expression, { ...scope, names: { ...names, ...more } }, ["with", parameter]);
  }

  async resolvePath(path: string): Promise<string> {
    const { besideDocument, fromCurrentDirectory } = await import(
      "../../workflow/job_files/job_path.ts"
    );
    const beside = await besideDocument(this.#session.document, this.#path, path);
    return await fromCurrentDirectory(path, beside, this.host) ?? beside;
  }

  log(text: string): void {
    const { detail, emit, host } = this.#session;
    if (!detail.debug) return;
    emit({ type: "note", time: host.clock.now(), level: "debug", text, run: this.#of });
  }

  warn(text: string): void {
    const { emit, host } = this.#session;
    emit({ type: "note", time: host.clock.now(), level: "warning", text, run: this.#of });
  }

  /** Makes the action end what it started. Only the first reason counts. */
  stop(reason: StepError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#abort?.abort(reason);
  }

  /** Why the attempt must end, once it must. */
  get reason(): StepError | undefined {
    return this.#reason;
  }

  /** From now on the attempt ends when the run is cancelled or its time is over. */
  watch(): void {
    this.#link = this.#session.cancellation.add(this);
    this.deadline.start();
  }

  /** Nothing stops the attempt any more. */
  end(): void {
    this.#link?.remove();
    this.deadline.end();
  }
}

/** The timeout of an attempt. */
class AttemptTimer implements AttemptDeadline {
  readonly timeout: number;
  readonly #deadlines: Deadlines;
  readonly #attempt: Stoppable;
  #state: "new" | "running" | "over" = "new";
  #isPaused = false;
  #deadline: Deadline | undefined;

  constructor(deadlines: Deadlines, timeout: number, attempt: Stoppable) {
    this.#deadlines = deadlines;
    this.timeout = timeout;
    this.#attempt = attempt;
  }

  pauseTimeout(): void {
    this.#isPaused = true;
    this.#deadline?.cancel();
  }

  resumeTimeout(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#state === "running") this.#set();
  }

  after(milliseconds: number, act: () => void): Deadline {
    return this.#deadlines.add(milliseconds, act);
  }

  start(): void {
    this.#state = "running";
    if (!this.#isPaused) this.#set();
  }

  end(): void {
    this.#state = "over";
    this.#deadline?.cancel();
  }

  #set(): void {
    this.#deadline = this.#deadlines.add(this.timeout, () => {
      const time = formatDuration(this.timeout);
      const details = { timedOut: true };
      this.#attempt.stop(new StepError(`the step timed out after ${time}`, undefined, details));
    });
  }
}

/** The result of an action, and how long it took in milliseconds. */
export interface Answer {
  readonly result: ActionResult;
  readonly elapsed: number;
}

/**
 * Carries an action out once. When the time is over or the run is interrupted, what the action
 * throws is the reason; it has ended what it began by then.
 */
export async function runAttempt(
  session: Session,
  action: Action,
  run: StepRun,
  params: Dict,
  step: AttemptOf,
): Promise<Answer> {
  const act = await codeOf(session, action);
  const { reason } = session.cancellation;
  if (reason !== undefined) throw new StepError(reason); // It came while the code was loaded.
  const attempt = new Attempt(session, run, step);
  const { clock } = session.host;
  const began = clock.ticks();
  try {
    const answer = act(params, attempt);
    if (!(answer instanceof Promise)) return { result: answer, elapsed: clock.ticks() - began };
    attempt.watch();
    const result = await answer;
    return { result, elapsed: result.elapsed ?? clock.ticks() - began };
  } catch (error) {
    const fault = error instanceof StepError ? error : attempt.reason ??
      (await action.explainer?.())?.explain?.(error, params) ?? error;
    const isWhole = !(fault instanceof StepError) || fault instanceof EmbeddedError;
    if (isWhole || !attempt.reason?.details.timedOut) throw fault;
    throw new StepError(fault.message, fault.hint, { ...fault.details, timedOut: true });
  } finally {
    attempt.end();
  }
}

/** The code of an action, which a run loads once, however often it is used. */
function codeOf({ scope }: Session, action: Action): Promise<RunAction> {
  return scope.resource(`action ${action.name}`, action.load);
}
