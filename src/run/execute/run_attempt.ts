import type {
  Action,
  ActionContext,
  ActionResult,
  Dict,
  JobResult,
  RunAction,
} from "../../action/action.ts";
import type { Deadline, Deadlines } from "../../host/deadlines.ts";
import type { Link } from "../../host/chain.ts";
import type { Host } from "../../host/host.ts";
import { StepError } from "../../source/errors.ts";
import { formatDuration } from "../../value/duration.ts";
import type { JobFile } from "../../workflow/model.ts";
import type { StepRun } from "../event.ts";
import type { Stoppable } from "../interruption.ts";
import type { Session } from "../session.ts";

/** What an attempt is told of its step. */
interface AttemptOf {
  /** The name of the step. */
  readonly label: string;
  readonly vars: Dict;
  /** Milliseconds. */
  readonly timeout: number;
  /** The job file that the step embeds. */
  readonly embedded?: JobFile;
}

/**
 * One attempt of an action, as the action sees it: it is told to stop when its time is over or
 * the run is interrupted.
 */
class Attempt implements ActionContext {
  readonly host: Host;
  readonly deadlines: Deadlines;
  readonly run: object;
  readonly label: string;
  readonly vars: Dict;
  readonly permissions: ActionContext["permissions"];
  readonly timeout: number;
  readonly onRunEnd: ActionContext["onRunEnd"];
  readonly addSecret: ActionContext["addSecret"];
  readonly #session: Session;
  readonly #of: StepRun;
  readonly #embedded: JobFile | undefined;
  readonly #stops: ((reason: StepError) => void)[] = [];
  #reason: StepError | undefined;
  #isQueueing = false;
  #deadline: Deadline | undefined;
  #link: Link<Stoppable> | undefined;

  constructor(session: Session, of: StepRun, { label, vars, timeout, embedded }: AttemptOf) {
    this.host = session.host;
    this.deadlines = session.deadlines;
    this.run = session.key;
    this.label = label;
    this.vars = vars;
    this.permissions = session.permissions;
    this.timeout = timeout;
    this.onRunEnd = session.onRunEnd;
    this.addSecret = session.addSecret;
    this.#session = session;
    this.#of = of;
    this.#embedded = embedded;
  }

  onStop(stop: (reason: StepError) => void): () => void {
    if (this.#reason) stop(this.#reason);
    else this.#stops.push(stop);
    return () => {
      const at = this.#stops.indexOf(stop);
      if (at >= 0) this.#stops.splice(at, 1);
    };
  }

  queue(): void {
    this.#isQueueing = true;
    this.#deadline?.cancel();
  }

  begin(): void {
    if (!this.#isQueueing) return;
    this.#isQueueing = false;
    if (this.#link) this.#limit();
  }

  runJobFile(vars: Dict): Promise<JobResult> {
    if (!this.#embedded) throw new Error("the step embeds no job file");
    return this.#session.runJobFile(this.#session, this, this.#of, this.#embedded, vars);
  }

  debug(text: string): void {
    const { detail, emit, host } = this.#session;
    if (!detail.debug) return;
    emit({ type: "note", time: host.clock.now(), level: "debug", text, run: this.#of });
  }

  warn(text: string): void {
    const { emit, host } = this.#session;
    emit({ type: "note", time: host.clock.now(), level: "warning", text, run: this.#of });
  }

  /** Tells the action to end what it began. Only the first reason counts. */
  stop(reason: StepError): void {
    if (this.#reason) return;
    this.#reason = reason;
    for (const stop of [...this.#stops]) stop(reason);
  }

  /** Begins to look for a reason to stop. */
  watch(): void {
    this.#link = this.#session.interruption.add(this);
    if (!this.#isQueueing) this.#limit();
  }

  /** Looks no further. */
  end(): void {
    this.#link?.remove();
    this.#deadline?.cancel();
  }

  #limit(): void {
    this.#deadline = this.deadlines.add(this.timeout, () => {
      this.stop(new StepError(`the step timed out after ${formatDuration(this.timeout)}`));
    });
  }
}

/** What an action answered, and how long it took in milliseconds. */
export interface Answer {
  readonly result: ActionResult;
  readonly elapsed: number;
}

/** The code of actions that were used, or is on its way: ten thousand uses load it once. */
const loaded = new Map<string, Promise<RunAction>>();

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
  const act = await codeOf(action);
  const { reason } = session.interruption;
  if (reason !== undefined) throw new StepError(reason); // It came while the code was loaded.
  const attempt = new Attempt(session, run, step);
  const { clock } = session.host;
  const began = clock.ticks();
  const answer = act(params, attempt);
  if (!(answer instanceof Promise)) return { result: answer, elapsed: clock.ticks() - began };
  attempt.watch();
  try {
    const result = await answer;
    return { result, elapsed: result.elapsed ?? clock.ticks() - began };
  } finally {
    attempt.end();
  }
}

function codeOf({ name, load }: Action): Promise<RunAction> {
  let code = loaded.get(name);
  if (!code) loaded.set(name, code = load());
  return code;
}
