import type { ActionContext, Condition, Dict } from "../../action/action.ts";
import { ActionAttempt } from "../../action/attempt.ts";
import { excerpt, receivedBefore } from "../../action/received.ts";
import { onAbort } from "../../action/on_abort.ts";
import {
  findOpenStep,
  inShort,
  type Message,
  type OpenStep,
  type Receiver,
} from "../../action/open_step.ts";
import { ExpressionError, StepError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { formatDuration } from "../../base/value/duration.ts";

/** The parameters of a step. */
interface ReceiveParams {
  readonly from: readonly string[];
  readonly where?: string | undefined;
  readonly count: number;
  /** Milliseconds in which nothing must come. */
  readonly none?: number | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Takes messages that fit, or waits until nothing that fits has come in a time. */
export async function takeMessages(params: ReceiveParams, req: Dict, context: ActionContext) {
  const { from, where, none } = params;
  const { ticks } = context.host.clock;
  const began = ticks();
  const opens = from.map((id) => openStepOf(id, context));
  const condition = where === undefined
    ? undefined
    : await context.readCondition("where", where) || undefined;
  const search = new Search(opens, condition, params, req);
  const forget = onAbort(context.signal, (reason) => search.stop(reason));
  const limit = context.deadline.after(none ?? params.timeout, () => search.stop());
  try {
    search.begin();
    await search.over;
  } finally {
    forget();
    limit.cancel();
    search.leave();
  }
  const waited = Math.round((ticks() - began) * 1000) / 1e6;
  const failure = search.failure(waited, context);
  if (failure) {
    search.giveBack();
    throw failure;
  }
  const messages = await search.take(context);
  if (messages.length > 0) receivedBefore(context).last = messages.at(-1);
  return {
    res: { message: messages.at(-1) ?? null, messages, waited },
    brief: none === undefined ? countOf(messages.length, "message") : "nothing came",
  };
}

function openStepOf(id: string, context: ActionContext): OpenStep {
  const open = findOpenStep(id, context);
  if (open) return open;
  throw new StepError(
    `no step "${id}" is open`,
    'a step that stays open, like one with "background: true", must have run before',
    { parameter: "from" },
  );
}

/** Messages that came and do not fit; the last of them explain a failure. */
const SHOWN = 3;

/** The search of a step for messages that fit. */
class Search implements Receiver {
  readonly #found: Message[] = [];
  readonly #others: Message[] = [];
  /** How many more did not fit. */
  #unseen = 0;
  #nearest: Message | undefined;
  #trueParts = -1;
  #leave: readonly (() => void)[] = [];
  #reason: StepError | undefined;
  #fault: unknown;
  readonly #over = Promise.withResolvers<void>();
  /** Resolves when it has what it needs, or cannot get it. */
  readonly over: Promise<void> = this.#over.promise;

  constructor(
    readonly opens: readonly OpenStep[],
    readonly condition: Condition | undefined,
    readonly params: ReceiveParams,
    readonly req: Dict,
  ) {}

  /** Looks through what has come, and waits for more. */
  begin(): void {
    const kept = this.opens.flatMap(({ kept }) => kept).sort((a, b) => a.number - b.number);
    const loss = this.condition || this.params.none !== undefined ? undefined : this.#takeLoss();
    if (loss !== undefined) return this.#fail(new StepError(loss, LOSS));
    for (const message of kept) {
      if (this.offer(message)) message.open.take(message);
    }
    if (this.#isEnough || this.#fault) return;
    this.#leave = this.opens.map((open) => open.receive(this));
    for (const open of this.opens) if (open.ending !== undefined) this.ended(open);
  }

  offer(message: Message): boolean {
    if (this.#isEnough || this.#fault) return false;
    try {
      if (!this.#fits(message)) return false;
    } catch (error) {
      this.#fail(error);
      return false;
    }
    this.#found.push(message);
    if (this.#isEnough) this.#over.resolve();
    return true;
  }

  ended(_open: OpenStep): void {
    // Another may still have one.
    if (this.opens.every(({ ending }) => ending !== undefined)) this.#over.resolve();
  }

  /** The time is over, or the attempt must end for a reason. */
  stop(reason?: StepError): void {
    this.#reason = reason;
    this.#over.resolve();
  }

  /** Waits for nothing more. */
  leave(): void {
    for (const leave of this.#leave) leave();
  }

  /** Takes what was found, and has the server know. */
  async take(context: ActionContext): Promise<readonly Dict[]> {
    const attempt = new ActionAttempt(context, { program: "receive" }, [], this.params.timeout);
    const taken = Promise.all(this.#found.map(({ acknowledge }) => acknowledge?.()));
    await attempt.during("acknowledging what it took", taken).finally(attempt.end);
    return this.#found.map(({ value }) => value);
  }

  /** Leaves what was found for others. */
  giveBack(): void {
    for (const message of this.#found.splice(0)) message.open.giveBack(message);
  }

  /** Why it has not what it should; undefined if it has. */
  failure(waited: number, context: ActionContext): unknown {
    if (this.#fault) return this.#fault;
    if (this.#reason && !this.#reason.details.timedOut) return this.#reason;
    const { params: { none, count, timeout }, condition } = this;
    const found = this.#found.length;
    const name = this.opens.map(({ name }) => `"${name}"`).join(" or ");
    const ending = this.#ending();
    if (none !== undefined) {
      const what = condition ? "a message that fits came" : "a message came";
      if (found > 0) return this.#error(`${what} from ${name} after ${seconds(waited)}`, waited);
      if (ending !== undefined) return this.#error(`${name} is over: ${ending}`, waited);
      // It stays in doubt, also at another attempt.
      const loss = this.#loss();
      return loss === undefined ? this.#reason : this.#error(loss, waited, LOSS);
    }
    if (this.#isEnough) return undefined;
    const came = countOf(found + this.#others.length + this.#unseen, "message");
    const [missing, counts] = !condition
      ? [count === 1 ? "no message came" : `${found} of ${count} messages came`, ""]
      : count === 1
      ? ["no message", `: ${came} came`]
      : ["too few messages", `: ${came} came, ${found} of ${count} fit`];
    const fits = !condition ? "" : count === 1 ? ' fits "where"' : ' fit "where"';
    const limit = this.#reason ? seconds(waited) : formatDuration(timeout);
    const message = ending === undefined
      ? `${missing} from ${name}${fits} within ${limit}${counts}`
      : `${missing} from ${name}${fits}${counts}; it is over: ${ending}`;
    const hints = [this.#takeLoss(), this.#shownOthers(context)].filter((hint) => hint);
    const isExplained = condition && this.#nearest && found === 0;
    const error = this.#error(message, waited, hints.join("; ") || undefined, !isExplained);
    return isExplained ? condition.untrue({ message: this.#nearest!.value }, error) : error;
  }

  #error(message: string, waited: number, hint?: string, decided?: boolean): StepError {
    const messages = this.#found.map(({ value }) => value);
    const res = { message: messages.at(-1) ?? this.#nearest?.value ?? null, messages, waited };
    return new StepError(message, hint, {
      req: this.req,
      res,
      ...decided === false && { decided },
    });
  }

  get #isEnough(): boolean {
    const { none, count } = this.params;
    return this.#found.length >= (none === undefined ? count : 1);
  }

  /** Whether a message fits; what reads something that it does not have is no mistake. */
  #fits(message: Message): boolean {
    const { condition } = this;
    if (!condition) return true;
    const names = { message: message.value };
    try {
      if (condition(names)) return true;
    } catch (error) {
      if (!isOfMessage(error)) throw error;
    }
    const trueParts = condition.countTrue(names);
    if (trueParts >= this.#trueParts) {
      this.#nearest = message;
      this.#trueParts = trueParts;
    }
    this.#others.push(message);
    if (this.#others.length > SHOWN) {
      this.#others.shift();
      this.#unseen++;
    }
    return false;
  }

  #fail(error: unknown): void {
    this.#fault = error;
    this.#over.resolve();
  }

  #loss(): string | undefined {
    const losses = this.opens.map(({ loss }) => loss).filter((loss) => loss !== undefined);
    return losses.length === 0 ? undefined : losses.join("; ");
  }

  #takeLoss(): string | undefined {
    const loss = this.#loss();
    for (const open of this.opens) open.forgetLoss();
    return loss;
  }

  /** Why no more can come; undefined if more can. */
  #ending(): string | undefined {
    const endings = this.opens.map(({ ending }) => ending);
    return endings.includes(undefined) ? undefined : [...new Set(endings)].join("; ");
  }

  #shownOthers({ secrets }: ActionContext): string | undefined {
    // The nearest one is shown whole.
    if (this.#others.every((other) => other === this.#nearest)) return undefined;
    const shown = this.#others.map(({ value }) => excerpt(JSON.stringify(inShort(value)), secrets));
    const title = shown.length === 1 ? "the last message" : `the last ${shown.length} messages`;
    return `${title}: ${shown.join(", ")}`;
  }
}

const LOSS = 'receive messages sooner, or fewer of them: a later "where" cannot know what fell out';

function seconds(waited: number): string {
  return formatDuration(Math.max(1, Math.round(waited * 1000)));
}

/** Whether an expression has no value, or nil, because of the message that it is about. */
function isOfMessage(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof StepError) return cause.details.decided === false;
  return cause instanceof ExpressionError &&
    (cause.details.reads ?? []).some(({ root }) => root === "message");
}
