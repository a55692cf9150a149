import type { Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { goodbye } from "../broker/connection.ts";
import { contentOf, headersOf, readContent } from "../broker/content.ts";
import type { Start } from "../broker/params.ts";
import { messageToAnswer, type Taker } from "../broker/receive.ts";
import { StepError } from "../../base/errors.ts";
import { type Client, type Msg, type MsgHdrs, openNats } from "./client.ts";
import type { NatsParams } from "./nats_params.ts";

export { openNats as open };

/** Publishes, asks, answers, or works with a key. */
export async function carryOut(client: Client, params: NatsParams, attempt: ActionAttempt) {
  const { publish, request, reply, put, get } = params;
  if (publish !== undefined) return await publishTo(client, publish, params, attempt);
  if (request !== undefined) return await ask(client, request, params, attempt);
  if (reply) return await publishTo(client, subjectOfReply(attempt), params, attempt);
  if (put !== undefined) return await putKey(client, put, params, attempt);
  return await getKey(client, get!, params, attempt);
}

/** What a stream answers when it has stored a message. */
interface Stored {
  readonly stream: string;
  readonly seq: number;
  readonly duplicate?: boolean;
}

async function publishTo(
  client: Client,
  subject: string,
  params: NatsParams,
  attempt: ActionAttempt,
) {
  const { stream, confirm } = params;
  const content = await contentOf(params, attempt);
  const headers = writeHeaders(client, params, attempt);
  const what = `subject "${subject}" of ${attempt.peer}`;
  const traffic = { sent: content.length, received: 0 };
  if (stream !== undefined) {
    const stored = await attempt.during(
      `publishing to ${what}`,
      store(client, subject, content, stream, headers),
      `cannot publish to ${what}`,
    );
    const { seq: sequence, duplicate = false } = stored;
    return { res: { stream: stored.stream, sequence, duplicate }, brief: "published", traffic };
  }
  const send = async () => {
    client.nats.publish(subject, content, headers && { headers });
    if (confirm) await client.flush(subject);
    else if (client.isLost) await client.flush();
  };
  await attempt.during(`publishing to ${what}`, send(), `cannot publish to ${what}`);
  return { res: {}, brief: "published", traffic };
}

/** Where the message that was received last wants its reply. */
function subjectOfReply(attempt: ActionAttempt): string {
  const { subject, reply } = messageToAnswer(attempt);
  if (typeof reply === "string" && reply !== "") return reply;
  const what = typeof subject === "string" ? `the message from subject "${subject}"` : "it";
  const text = `cannot answer: ${what} was published, not requested`;
  throw new StepError(text, undefined, { parameter: "reply" });
}

async function store(
  client: Client,
  subject: string,
  content: Uint8Array,
  stream: string,
  headers = client.makeHeaders(),
): Promise<Stored> {
  headers.set("Nats-Expected-Stream", stream);
  try {
    return await client.call<Stored>(subject, content, headers);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("no responders")) throw error;
    throw new Error(`no stream stores "${subject}"`);
  }
}

async function ask(client: Client, subject: string, params: NatsParams, attempt: ActionAttempt) {
  const content = await contentOf(params, attempt);
  const reply = await attempt.during(
    `waiting for a reply from subject "${subject}" of ${attempt.peer}`,
    client.request(subject, content, writeHeaders(client, params, attempt)),
    `cannot ask subject "${subject}" of ${attempt.peer}`,
  );
  const message = readMessage(reply);
  return {
    res: { messages: [message], message },
    brief: "replied",
    traffic: { sent: content.length, received: reply.data.length },
  };
}

async function putKey(client: Client, key: string, params: NatsParams, attempt: ActionAttempt) {
  const { bucket } = params;
  const content = await contentOf(params, attempt);
  const what = `key "${key}" of bucket "${bucket}" of ${attempt.peer}`;
  const { seq: revision } = await attempt.during(
    `writing ${what}`,
    store(client, `$KV.${bucket}.${key}`, content, `KV_${bucket}`),
    `cannot write ${what}`,
  );
  return { res: { revision }, brief: "written", traffic: { sent: content.length, received: 0 } };
}

/** What a stream answers about the last message of a subject. */
interface Last {
  readonly message: { readonly seq: number; readonly data?: string; readonly hdrs?: string };
}

async function getKey(client: Client, key: string, { bucket }: NatsParams, attempt: ActionAttempt) {
  const what = `key "${key}" of bucket "${bucket}" of ${attempt.peer}`;
  const read = async () => {
    try {
      const query = { last_by_subj: `$KV.${bucket}.${key}` };
      return await client.call<Last>(`$JS.API.STREAM.MSG.GET.KV_${bucket}`, query);
    } catch (error) {
      if (error instanceof Error && error.message === "no message found") return undefined;
      throw error;
    }
  };
  const last = await attempt.during(`reading ${what}`, read(), `cannot read ${what}`);
  const { seq: revision = 0, data = "", hdrs = "" } = last?.message ?? {};
  // A key that was deleted leaves a mark.
  const isThere = last !== undefined && !/KV-Operation:\s*(DEL|PURGE)/.test(atob(hdrs));
  const bytes = Uint8Array.fromBase64(data);
  return {
    res: { value: isThere ? readContent(bytes).body : null, revision: isThere ? revision : 0 },
    brief: isThere ? "read" : "no such key",
    traffic: { sent: 0, received: bytes.length },
  };
}

function writeHeaders(
  client: Client,
  { headers }: NatsParams,
  attempt: ActionAttempt,
): MsgHdrs | undefined {
  const given = headersOf(headers, attempt);
  if (given.length === 0) return undefined;
  const written = client.makeHeaders();
  for (const [name, values] of given) for (const one of values) written.append(name, one);
  return written;
}

/** Where messages come from, for messages. */
export function sourceOf({ subscribe, stream }: NatsParams, { peer }: ActionAttempt): string {
  return `subject "${subscribe}" of ${stream === undefined ? "" : `stream "${stream}" of `}${peer}`;
}

/** Subscribes, and returns once the server has confirmed it. The result ends it. */
export async function subscribe(
  client: Client,
  { subscribe: subject = "", stream, group, from }: NatsParams,
  _: ActionAttempt,
  taker: Taker,
): Promise<() => Promise<void>> {
  const begin = async () => {
    const subscription = client.nats.subscribe(subject, {
      ...group !== undefined && { queue: group },
      callback: (error, message) =>
        error ? taker.fail(error) : void taker.take(readMessage(message), message.data.length),
    });
    await client.flush();
    return () => subscription.unsubscribe();
  };
  const config = { filter_subject: subject, ...deliverFrom(from) };
  const end = stream === undefined
    ? await begin()
    : await consume(client, stream, group, config, taker);
  const forget = client.watch((error) => taker.fail(error));
  return async () => {
    forget();
    await end();
  };
}

/** Receives from a stream: all in their order, or the next ones of a group, one by one. */
async function consume(
  client: Client,
  stream: string,
  group: string | undefined,
  config: Dict,
  taker: Taker,
): Promise<() => Promise<void>> {
  const { nats } = client;
  const inbox = `_INBOX.${crypto.randomUUID()}`;
  /** The subjects at which to acknowledge what came to the group. */
  const pending = new Set<string>();
  const returned = Promise.withResolvers<void>();
  let isOver = false;
  const tellAll = (word: string) => {
    if (client.isLost) return;
    for (const subject of pending) nats.publish(subject, word);
  };
  const pull = () =>
    nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${group}`, '{"batch":1}', { reply: inbox });
  const subscription = nats.subscribe(inbox, {
    callback(error, message) {
      const { data, reply = "", headers } = message;
      if (error) return taker.fail(error);
      if (data.length === 0 && headers && headers.code >= 400) {
        const { code, description } = headers;
        return taker.fail(new Error(`the stream ended it: ${description} (${code})`));
      }
      if (group === undefined) return void taker.take(readMessage(message), data.length);
      if (isOver) return returned.resolve(nats.publish(reply, "-NAK"));
      pending.add(reply);
      taker.take(readMessage(message), data.length, async () => {
        pending.delete(reply);
        await client.request(reply, "+ACK");
      });
      if (!taker.isDone) pull();
    },
  });
  let reminding: ReturnType<typeof setInterval> | undefined;
  const end = async () => {
    isOver = true;
    clearInterval(reminding);
    tellAll("-NAK");
    // The request that is open gets one of them. NATS 2.9 repeats others if it finds one of the dead.
    if (pending.size > 0 && !client.isLost) await goodbye(returned.promise);
    subscription.unsubscribe();
    await client.flush();
  };
  try {
    if (group === undefined) {
      await client.call(`$JS.API.CONSUMER.CREATE.${stream}`, {
        stream_name: stream,
        config: { ...config, deliver_subject: inbox, ack_policy: "none", replay_policy: "instant" },
      });
    } else {
      const { ack_wait: nanoseconds } = (await joinGroup(client, stream, group, config)).config;
      // A stream sends again what it does not hear of in that time.
      reminding = setInterval(() => tellAll("+WPI"), nanoseconds / 3e6);
      pull();
      await client.flush();
    }
    return end;
  } catch (error) {
    await end().catch(() => {});
    throw error;
  }
}

/** What a stream answers about a consumer. */
interface Consumer {
  readonly config: { readonly ack_wait: number };
}

/** Makes the durable consumer unless there is one. */
async function joinGroup(
  client: Client,
  stream: string,
  group: string,
  config: Dict,
): Promise<Consumer> {
  try {
    return await client.call(`$JS.API.CONSUMER.INFO.${stream}.${group}`, {});
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "consumer not found") throw error;
    return await client.call(`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${group}`, {
      stream_name: stream,
      config: { ...config, durable_name: group, ack_policy: "explicit", replay_policy: "instant" },
    });
  }
}

function deliverFrom(from: Start): Dict {
  if ("number" in from) {
    return { deliver_policy: "by_start_sequence", opt_start_seq: Number(from.number) };
  }
  if ("time" in from) {
    const time = new Date(from.time).toISOString();
    return { deliver_policy: "by_start_time", opt_start_time: time };
  }
  return { deliver_policy: from.name === "now" ? "new" : "all" };
}

/** The form of the reply subject of a message of a stream, with its sequence and its time. */
const ACK =
  /^\$JS\.ACK\.(?:[^.]+\.[^.]+\.)?([^.]+)\.[^.]+\.\d+\.(\d+)\.\d+\.(\d+)\.\d+(?:\.[^.]+)?$/;

/** A message as steps see it. */
function readMessage({ subject, data, headers, reply = "" }: Msg): Dict {
  const [, stream, sequence, time] = ACK.exec(reply) ?? [];
  const names = headers?.keys() ?? [];
  const type = headers?.get("Content-Type") ?? "";
  return {
    subject,
    ...readContent(data, /\bjson\b/.test(type)),
    headers: Object.fromEntries(names.map((name) => {
      const values = headers!.values(name);
      return [name, values.length === 1 ? values[0]! : values];
    })),
    ...stream === undefined ? { reply } : {
      stream,
      sequence: Number(sequence),
      timestamp: new Date(Number(BigInt(time!) / 1_000_000n)).toISOString(),
    },
  };
}
