/**
 * What the actions for message brokers have in common: the verb of a step is a parameter, a message
 * is published as `json`, `body` or `file`, and a step receives until it has what it waits for, or
 * stays open. `broker()` makes such an action of its verbs, and of a module that connects, has
 * messages come and does what the other verbs say.
 *
 * @module
 */
import type { Duplex } from "node:stream";
import { StepError } from "../base/errors.ts";
import { countOf } from "../base/text/count_of.ts";
import { BODY_LIMIT } from "../base/value/byte_size.ts";
import { dataIn, jsonOrText } from "../base/value/parse_json.ts";
import { decodePercents, withoutPassword } from "../secrets/secrets.ts";
import type { Action, Dict, Value } from "../action/action.ts";
import type { ActionAttempt } from "../action/attempt.ts";
import { checkBackground } from "../action/background.ts";
import {
  action,
  type ActionResponse,
  type ActionSpec,
  type ResponseShape,
} from "../action/make_action.ts";
import type { OpenStep } from "../action/open_step.ts";
import { isGiven, textOf } from "../action/parameter.ts";
import { excerpt, Intake, receivedBefore } from "../action/received.ts";
import {
  condition,
  flag,
  integer,
  type Param,
  type Rule,
  type Shape,
  text,
  value,
  type Values,
} from "../action/rule.ts";

/** The content of a message to publish. */
export const CONTENT_PARAMS = {
  json: value("any", "Any value to publish as JSON"),
  body: value("any", "The text to publish, or an object or list to publish as JSON"),
  file: text("A file to publish, relative to the file that names it").with({ namesFile: "any" }),
};

const CONTENT = ["json", "body", "file"] as const;

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
  messages: {
    type: "array",
    summary: "the messages that were received, in order",
    optional: true,
  },
  message: {
    type: "map",
    summary: "the last of the messages; nil if none was received",
    optional: true,
  },
} as const;

/** A server, as a URL describes it. */
export interface BrokerUrl {
  /** The URL without its password. */
  readonly shown: string;
  /** The URL without a user. */
  readonly bare: string;
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
  /** What follows the host and its `/`. */
  readonly path: string;
  /** How a URL with TLS begins. */
  readonly secure: string;
}

/** The port of each scheme of a URL: of those without and with TLS. */
interface Schemes {
  readonly plain: Readonly<Record<string, number>>;
  readonly secure: Readonly<Record<string, number>>;
}

/**
 * The URL of a server; its password is a secret before anything can fail. `fits` says whether a URL
 * of these schemes is one, and `hint` what to write.
 */
export function brokerUrl(
  summary: string,
  { plain, secure }: Schemes,
  hint: string,
  fits = ({ search }: URL) => search === "",
): Rule<BrokerUrl, never> {
  const ports = new Map(Object.entries({ ...plain, ...secure }));
  // The rounds of a load job read the same text.
  let before: { readonly text: string; readonly read: BrokerUrl } | undefined;
  const read = (text: string, param: Param): BrokerUrl => {
    const url = URL.parse(text);
    const password = decodePercents(url?.password ?? "");
    if (password !== "") param.secrets?.add(password);
    const scheme = url?.protocol.slice(0, -1) ?? "";
    if (!url || !ports.has(scheme) || url.hostname === "" || !fits(url)) {
      const shown = JSON.stringify(url ? withoutPassword(text) : "");
      throw param.wrong(`invalid URL ${shown}`, hint);
    }
    const [shown, bare] = [new URL(url), new URL(url)];
    if (password !== "") shown.password = "***";
    [bare.username, bare.password] = ["", ""];
    return {
      shown: shown.href,
      bare: bare.href,
      scheme,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: Number(url.port || ports.get(scheme)),
      isSecure: Object.hasOwn(secure, scheme),
      username: decodePercents(url.username),
      password,
      path: decodePercents(url.pathname.slice(1)),
      secure: Object.keys(secure).map((name) => `${name}://`).join(" or "),
    };
  };
  return text(summary).as((text, param) => {
    if (before?.text !== text) before = { text, read: read(text, param) };
    if (before.read.password !== "") param.secrets?.add(before.read.password);
    return before.read;
  }).required();
}

/** Where to begin in what a server keeps. */
export type Start =
  | { readonly name: "now" | "beginning" }
  | { readonly number: string }
  | { readonly time: number };

/** Where to begin; `number` is what messages are counted by, from `first` on: `an offset`. */
export function startOf(begin: string, number: string, first: 0 | 1): Rule<Start, Start> {
  const forms = `, ${number}, or a time like 2026-01-31T12:00:00Z`;
  return text(`${begin}: \`now\`, \`beginning\`${forms}`).as((text, param): Start => {
    if (text === "now" || text === "beginning") return { name: text };
    if (/^\d+$/.test(text) && Number(text) >= first) return { number: text };
    const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
    if (!Number.isNaN(time)) return { time };
    const hint = `write now, beginning${forms}`;
    throw param.wrong(`invalid start ${JSON.stringify(text)}`, hint);
  }).default({ name: "now" }, "now");
}

/** The headers that a step sets, with their values. */
export function headersOf(
  headers: Readonly<Record<string, string | readonly Value[] | undefined>> = {},
): readonly (readonly [name: string, values: string[]])[] {
  return Object.entries(headers).flatMap(([name, values]) =>
    values === undefined ? [] : [[name, [values].flat().map(textOf)] as const]
  );
}

/** Who gets the messages of a subscription. */
export interface Taker {
  /** Whether it needs no more. */
  readonly isDone?: boolean;
  /**
   * Takes a message of so many bytes; false if it needs no more. `acknowledge` is called once it is
   * not to come again.
   */
  take(message: Dict, bytes: number, acknowledge?: () => void | Promise<void>): boolean;
  /** No more can come. */
  fail(error: unknown): void;
}

/** A connection that is signed in, which all steps may use at the same time. */
interface BrokerClient {
  readonly isLost: boolean;
  close(): void | Promise<void>;
}

/** How an action for a broker is carried out. */
interface Carrier<P, C, R> {
  /** Connects and signs in. */
  open(params: P, attempt: ActionAttempt): Promise<C>;
  /** Where a step receives from, for messages: `topic "orders" of Kafka at 127.0.0.1 port 9092`. */
  sourceOf(params: P, attempt: ActionAttempt): string;
  /** Has messages come, and returns once the server has confirmed that. The result ends it. */
  subscribe(
    client: C,
    params: P,
    attempt: ActionAttempt,
    taker: Taker,
  ): Promise<End>;
  /** Does what another verb than `subscribe` says. */
  carryOut(client: C, params: P, attempt: ActionAttempt, raw: Dict): Promise<R>;
}

/** All there is to say about an action for a broker. */
interface BrokerSpec<S extends Shape, F extends ResponseShape, C extends BrokerClient>
  extends Omit<ActionSpec<S, F, C>, "oneOf" | "atMostOne" | "connection" | "run" | "subscribe"> {
  /** What a step does, each with the parameters that only some of them have. */
  readonly verbs: Readonly<Record<string, readonly string[]>>;
  /** What to write for a message without a content. */
  readonly empty?: string;
  /** What it calls the server. */
  readonly product: string;
  /** The parameters that tell one connection from another. */
  readonly by: readonly (keyof S & string)[];
  readonly load: () => Promise<Carrier<Values<S>, C, ActionResponse<F>>>;
}

/** The parameters that reports do not show: how to sign in, and how connections are shared. */
const HIDDEN = ["token", "nkey", "sasl", "tls", "connection", "fresh", "timeout"];

/** Makes an action for a broker from its definition. */
export function broker<
  const S extends Shape,
  const F extends ResponseShape,
  C extends BrokerClient,
>({ verbs, empty, product, by, load, ...spec }: BrokerSpec<S, F, C>): Action {
  const names = Object.keys(verbs);
  let loaded: ReturnType<typeof load> | undefined;
  const loadOnce = () => loaded ??= load();
  const urlOf = (params: object) => (params as { readonly url?: BrokerUrl }).url;
  return action<S, F, C>({
    oneOf: names,
    atMostOne: CONTENT,
    describe: (req, res) => {
      const verb = names.find((name) => req[name] !== undefined) ?? "";
      return {
        request: { title: verb === "reply" ? verb : `${verb} ${req[verb]}`, covered: [verb] },
        ...res && { response: { covered: res.messages ? ["message"] : [] } },
      };
    },
    target(params) {
      const { host, port } = urlOf(params)!;
      return { product, host, port };
    },
    request: (params, raw) => ({
      ...Object.fromEntries(Object.entries(raw).filter(([name]) => !HIDDEN.includes(name))),
      ...urlOf(params) && { url: urlOf(params)!.shown },
    }),
    ...spec,
    check(params, param, raw) {
      checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
      checkVerb(verbs, raw, param, empty);
      const url = urlOf(params);
      if (url && isGiven(raw, "tls") && !url.isSecure) {
        const message = `a URL with ${url.scheme}:// takes no "tls"`;
        param.of("tls").wrong(message, `write ${url.secure} to use TLS`, { at: "key" });
      }
      spec.check?.(params, param, raw);
    },
    connection: {
      by,
      parallel: true,
      open: async (params, attempt) => await (await loadOnce()).open(params, attempt),
      isLost: (client) => client.isLost,
      close: (client) => client.close(),
    },
    async run(client, params, attempt, raw) {
      const carrier = await loadOnce();
      const response = isGiven(raw, "subscribe")
        ? await receive(attempt, params, subscription(carrier, client, params, attempt))
        : await carrier.carryOut(client, params, attempt, raw);
      const { phases } = response;
      return {
        ...response as ActionResponse<F>,
        phases: { connect: attempt.connecting, ...phases },
      };
    },
    async subscribe(client, params, open, attempt) {
      const subscribe = subscription(await loadOnce(), client, params, attempt);
      return await stayOpen(open, subscribe) as unknown as ActionResponse<F>;
    },
  });
}

/** Reports parameters that have no effect with the verb of the step, and a missing content. */
function checkVerb(
  verbs: Readonly<Record<string, readonly string[]>>,
  raw: Dict,
  param: Param,
  empty = 'body: "" is an empty one',
): void {
  const [verb, other] = Object.keys(verbs).filter((verb) => isGiven(raw, verb));
  if (verb === undefined || other !== undefined) return;
  const special = new Set(Object.values(verbs).flat());
  for (const name of Object.keys(raw)) {
    if (!special.has(name) || verbs[verb]!.includes(name)) continue;
    const users = Object.keys(verbs).filter((other) => verbs[other]!.includes(name));
    param.of(name).wrong(
      `"${name}" has no effect with "${verb}"`,
      `it belongs to ${users.map((user) => `"${user}"`).join(" or ")}`,
      { at: "key" },
    );
  }
  if (!verbs[verb]!.includes("json") || CONTENT.some((name) => Object.hasOwn(raw, name))) return;
  param.wrong(`"${verb}" needs "json", "body" or "file"`, empty);
}

/** Ends what was begun. */
type End = () => void | Promise<void>;

/** Has messages come to who takes them, from a source. */
interface Subscription {
  /** Where they come from, for messages: `topic "orders"`. */
  readonly source: string;
  begin(taker: Taker): Promise<End>;
}

function subscription<P, C>(
  carrier: Carrier<P, C, unknown>,
  client: C,
  params: P,
  attempt: ActionAttempt,
): Subscription {
  const source = carrier.sourceOf(params, attempt);
  return {
    source,
    async begin(taker) {
      const subscribed = carrier.subscribe(client, params, attempt, taker);
      try {
        const failing = `cannot subscribe to ${source}`;
        return await attempt.during(`subscribing to ${source}`, subscribed, failing);
      } catch (error) {
        // What comes too late is not needed.
        subscribed.then((end) => end(), () => {});
        throw error;
      }
    },
  };
}

/** Receives the messages that a step waits for. */
async function receive(
  attempt: ActionAttempt,
  { until, max_messages: max }: Until,
  { source, begin }: Subscription,
) {
  const isMet = until === undefined
    ? undefined
    : await attempt.context.readCondition("until", until);
  const inbox = new Inbox(attempt, source, isMet, max ?? (isMet ? Infinity : 1));
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const end = await begin(inbox);
  const subscribed = clock.ticks();
  try {
    await inbox.received();
  } finally {
    await goodbye(end());
  }
  return {
    res: { ...inbox.soFar },
    brief: `${inbox.soFar.messages.length} received`,
    traffic: { sent: 0, received: inbox.bytes },
    phases: { subscribe: subscribed - began, wait: clock.ticks() - subscribed },
  };
}

/** Opens a subscription that later steps receive from. */
async function stayOpen(open: OpenStep, { begin }: Subscription) {
  const end = await begin({
    take(message, bytes, acknowledge) {
      open.add(message, bytes, acknowledge);
      return true;
    },
    fail: (error) => open.end(error instanceof Error ? error.message : String(error)),
  });
  open.onClose(() => goodbye(end()));
  return { res: { messages: [], message: null }, brief: "subscribed" };
}

/** Bytes that wait to be sent, from which on nothing is read. */
const MAX_WAITING = 64 * 1024;

/** Milliseconds of reading after which timers and signals get a turn. */
const TURN = 10;

/**
 * Reads what comes, in turns with timers and signals, and as long as little waits to be sent: a
 * server could have us answer without end. What `read` throws ends the connection.
 */
export function readInTurns(socket: Duplex, read: (chunk: Uint8Array) => void): void {
  let spent = 0;
  socket.on("data", (chunk: Uint8Array) => {
    const began = performance.now();
    try {
      read(chunk);
    } catch (error) {
      socket.destroy(error as Error);
    }
    spent += performance.now() - began;
    const isFull = socket.writableLength >= MAX_WAITING;
    if (spent < TURN && !isFull) return;
    spent = 0;
    socket.pause();
    if (isFull) socket.once("drain", () => socket.resume());
    else setTimeout(() => socket.resume());
  });
}

/**
 * What reads a server whose messages have no bound of their own. `parse` returns how many have come
 * in all.
 */
export function bounded(parse: (chunk: Uint8Array) => number): (chunk: Uint8Array) => void {
  let [unread, before] = [0, 0];
  return (chunk) => {
    const messages = parse(chunk);
    unread = messages > before ? 0 : unread + chunk.length;
    before = messages;
    if (unread <= BODY_LIMIT) return;
    throw new Error(`the server sent a message of more than ${BODY_LIMIT} bytes`);
  };
}

/** The error of a connection that the other side has closed. */
export function lost(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}

/** Milliseconds that a server has to end what it is asked to end. */
const LONGEST_GOODBYE = 500;

/** Waits until the server has ended something, unless that takes too long. */
export async function goodbye(ending: void | Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, LONGEST_GOODBYE);
  await Promise.race([ending, promise]).catch(() => {});
  clearTimeout(late);
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

/** Until when a step receives. */
interface Until {
  readonly until?: string | undefined;
  readonly max_messages?: number | undefined;
}

/** The messages that a step receives, until it has those that it waits for. */
class Inbox implements Taker {
  /** Whether there are enough. */
  isDone = false;
  /** How many bytes came. */
  bytes = 0;
  /** Why the condition has no value, which is not a failure of the connection. */
  #fault: unknown;
  readonly #messages: Dict[] = [];
  readonly #acknowledged: Promise<void>[] = [];
  readonly #intake: Intake;
  readonly #done = Promise.withResolvers<void>();

  constructor(
    readonly attempt: ActionAttempt,
    /** Where they come from, for messages: `topic "orders"`. */
    readonly source: string,
    readonly isMet: ((names: Dict) => boolean) | undefined,
    readonly max: number,
  ) {
    this.#intake = new Intake(BODY_LIMIT, `${source} sent more than ${BODY_LIMIT} bytes`);
    this.#done.promise.catch(() => {});
  }

  /** The fields of `res` about messages. */
  get soFar(): { readonly messages: readonly Dict[]; readonly message: Dict | null } {
    return { messages: this.#messages, message: this.#messages.at(-1) ?? null };
  }

  take(message: Dict, bytes: number, acknowledge?: () => void | Promise<void>): boolean {
    if (this.isDone) return false;
    const acknowledged = acknowledge?.();
    if (acknowledged) {
      acknowledged.catch(() => {});
      this.#acknowledged.push(acknowledged);
    }
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
      const acknowledged = Promise.all(this.#acknowledged);
      await attempt.during(`acknowledging what came from ${source}`, acknowledged);
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
