/**
 * What the actions for message brokers have in common: the verb is a parameter, a message is
 * published as `json`, `body` or `file`, and a step receives until it has what it waits for.
 *
 * @module
 */
import { StepError } from "../base/errors.ts";
import { countOf } from "../base/text/count_of.ts";
import { BODY_LIMIT } from "../base/value/byte_size.ts";
import { dataIn, jsonOrText } from "../base/value/parse_json.ts";
import type { Dict, Value } from "../action/action.ts";
import type { ActionAttempt } from "../action/attempt.ts";
import { excerpt, Intake, receivedBefore } from "../action/received.ts";
import { condition, flag, integer, type Param, text, value } from "../action/rule.ts";

/** The content of a message to publish. */
export const CONTENT_PARAMS = {
  json: value("any", "Any value to publish as JSON"),
  body: value("any", "The text to publish, or an object or list to publish as JSON"),
  file: text("A file to publish, relative to the file that names it").with({ namesFile: "any" }),
};

/** Whether a step answers. */
export const REPLY = flag("`true` answers the message that a step of the job received last")
  .as((isReply, param) => {
    if (isReply) return isReply;
    throw param.wrong('"reply" is true or left out');
  });

/** Until when a step receives. */
export const RECEIVE_PARAMS = {
  until: condition(
    "An expression: receive messages until it is true; `message` is the last one",
    "message",
  ),
  max_messages: integer("The maximum number of messages to receive", { min: 1 })
    .with({ default: "1; no limit with until" }),
};

/** The fields of `res` about messages. */
export const RECEIVED = {
  messages: { type: "array", summary: "the messages that were received, in order" },
  message: { type: "map", summary: "the last of the messages; nil if none was received" },
} as const;

/** Reports parameters that have no effect with the verb of the step; `verbs` says which have. */
export function checkVerb(
  verbs: Readonly<Record<string, readonly string[]>>,
  raw: Dict,
  param: Param,
): void {
  const given = Object.keys(verbs).filter((verb) => (raw[verb] ?? null) !== null);
  const special = new Set(Object.values(verbs).flat());
  const [verb] = given;
  if (verb === undefined || given.length > 1) return;
  for (const name of Object.keys(raw)) {
    if (!special.has(name) || verbs[verb]!.includes(name)) continue;
    const users = Object.keys(verbs).filter((other) => verbs[other]!.includes(name));
    param.of(name).wrong(
      `"${name}" has no effect with "${verb}"`,
      `it belongs to ${users.map((user) => `"${user}"`).join(" or ")}`,
      { at: "key" },
    );
  }
}

/** The bytes of the message that a step publishes; empty without a content. */
export async function contentOf(
  { json, body, file }: { readonly json?: Value; readonly body?: Value; readonly file?: string },
  attempt: ActionAttempt,
): Promise<Uint8Array> {
  if (file !== undefined) return await attempt.read(file, "file");
  const isText = json === undefined && (typeof body !== "object" || body === null);
  const content = isText ? String(body ?? "") : encodeJson(json ?? body!);
  return new TextEncoder().encode(content);
}

function encodeJson(value: Value): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part !== "number" || Number.isFinite(part)) return part;
    throw new StepError(`the message contains ${part}, a number that JSON does not have`);
  });
}

/** The message that a step of the job received last, where `reply: true` answers one. */
export function messageToAnswer({ context }: ActionAttempt): Dict {
  const { last } = receivedBefore(context);
  if (last) return last;
  throw new StepError(
    "there is no message to answer",
    'a step with "subscribe" or "uses: receive" must have received one in this job',
    { parameter: "reply" },
  );
}

/** A content as steps see it: `body` is data of JSON, or text; both are bytes if it is no text. */
export function readContent(bytes: Uint8Array, isJson = false): { body: Value; raw: Value } {
  const raw = textOrBytes(bytes);
  if (typeof raw !== "string") return { body: raw, raw };
  return { body: isJson ? jsonOrText(raw) : dataIn(raw), raw };
}

/** Text, or `{ base64: … }` of bytes that are not UTF-8. */
export function textOrBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: bytes.toBase64() };
  }
}

/** The messages that a step receives, until it has those that it waits for. */
export class Inbox {
  /** Whether there are enough. */
  isDone = false;
  /** How many bytes came. */
  bytes = 0;
  /** Why the condition has no value, which is not a failure of the connection. */
  #fault: unknown;
  readonly #messages: Dict[] = [];
  readonly #intake: Intake;
  readonly #done = Promise.withResolvers<void>();

  private constructor(
    readonly attempt: ActionAttempt,
    /** Where they come from, for messages: `topic "orders"`. */
    readonly source: string,
    readonly isMet: ((names: Dict) => boolean) | undefined,
    readonly max: number,
  ) {
    this.#intake = new Intake(BODY_LIMIT, `${source} sent more than ${BODY_LIMIT} bytes`);
    this.#done.promise.catch(() => {});
  }

  /** An inbox for the parameters of a step. */
  static async open(
    attempt: ActionAttempt,
    source: string,
    { until, max_messages: max }: { readonly until?: string; readonly max_messages?: number },
  ): Promise<Inbox> {
    const isMet = until === undefined
      ? undefined
      : await attempt.context.readCondition("until", until);
    return new Inbox(attempt, source, isMet, max ?? (isMet ? Infinity : 1));
  }

  /** The fields of `res` about messages. */
  get soFar(): { readonly messages: readonly Dict[]; readonly message: Dict | null } {
    return { messages: this.#messages, message: this.#messages.at(-1) ?? null };
  }

  /** Takes a message of so many bytes; false if the step needs no more. */
  add(message: Dict, bytes: number): boolean {
    if (this.isDone) return false;
    try {
      this.bytes += bytes;
      this.#intake.add(bytes);
      this.#messages.push(message);
      const isMet = this.isMet?.({ message, res: this.soFar });
      if (!isMet && this.#messages.length < this.max) return true;
      if (isMet === false) {
        const text =
          `${this.max} came from ${this.source} before "until" was true: ${this.#came()}`;
        throw new StepError(text, undefined, { decided: false });
      }
    } catch (error) {
      this.#fault = error;
    }
    this.#end(this.#done.resolve);
    return true;
  }

  /** No more messages can come. */
  fail(error: unknown): void {
    this.#end(() => this.#done.reject(error));
  }

  /** Waits until all are there. */
  async received(): Promise<void> {
    const { attempt, isMet, max, source } = this;
    const wanted = isMet ? '"until" to be true' : countOf(max, "message");
    try {
      await attempt.during(
        () => `waiting for ${wanted} from ${source}: ${this.#came()}`,
        this.#done.promise,
        `cannot receive from ${source}`,
      );
      if (this.#fault !== undefined) throw this.#fault;
      receivedBefore(attempt.context).last = this.#messages.at(-1);
    } catch (error) {
      this.isDone = true;
      if (!(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint, { res: this.soFar, ...error.details });
    }
  }

  #end(settle: () => void): void {
    this.isDone = true;
    settle();
  }

  #came(): string {
    const last = this.#messages.at(-1);
    if (!last) return "no message came";
    const shown = excerpt(JSON.stringify(last), this.attempt.context.secrets);
    return `${countOf(this.#messages.length, "message")} came, the last is ${shown}`;
  }
}
