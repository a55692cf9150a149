import type { Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { OpenStep } from "../../action/open_step.ts";
import { textOf } from "../../action/parameter.ts";
import { contentOf, Inbox, messageToAnswer, readContent } from "../broker.ts";
import { StepError } from "../../base/errors.ts";
import type { Client, Msg, MsgHdrs } from "./client.ts";
import type { NatsParams, Start } from "./nats_params.ts";

/** Publishes, asks, receives, or works with a key. */
export async function carryOut(client: Client, params: NatsParams, attempt: ActionAttempt) {
  const { publish, request, reply, put, get } = params;
  if (publish !== undefined) return await publishTo(client, publish, params, attempt);
  if (request !== undefined) return await ask(client, request, params, attempt);
  if (reply) return await publishTo(client, subjectOfReply(attempt), params, attempt);
  if (put !== undefined) return await putKey(client, put, params, attempt);
  if (get !== undefined) return await getKey(client, get, params, attempt);
  return await receive(client, params, attempt);
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
  const headers = writeHeaders(client, params);
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
    client.request(subject, content, writeHeaders(client, params)),
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

function writeHeaders(client: Client, { headers = {} }: NatsParams): MsgHdrs | undefined {
  const given = Object.entries(headers).filter(([, values]) => values !== undefined);
  if (given.length === 0) return undefined;
  const written = client.makeHeaders();
  for (const [name, values] of given) {
    for (const one of [values!].flat()) written.append(name, textOf(one));
  }
  return written;
}

async function receive(
  client: Client,
  params: NatsParams,
  attempt: ActionAttempt,
) {
  const inbox = await Inbox.open(attempt, sourceOf(params, attempt), params);
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const end = await subscribe(client, params, attempt, {
    take: (message, bytes) => inbox.take(message, bytes),
    fail: (error) => inbox.fail(error),
  });
  try {
    const subscribed = clock.ticks();
    await inbox.received();
    return {
      res: { ...inbox.soFar },
      brief: `${inbox.soFar.messages.length} received`,
      traffic: { sent: 0, received: inbox.bytes },
      phases: { subscribe: subscribed - began, wait: clock.ticks() - subscribed },
    };
  } finally {
    end();
  }
}

/** Opens a subscription that later steps receive from. */
export async function stayOpen(
  client: Client,
  params: NatsParams,
  open: OpenStep,
  attempt: ActionAttempt,
) {
  const end = await subscribe(client, params, attempt, {
    take(message, bytes) {
      open.add(message, bytes);
      return true;
    },
    fail: (error) => open.end(error.message),
  });
  open.onClose(end);
  return { res: { messages: [], message: null }, brief: "subscribed" };
}

/** Where messages come from, for messages. */
function sourceOf({ subscribe, stream }: NatsParams, { peer }: ActionAttempt): string {
  return `subject "${subscribe}" of ${stream === undefined ? "" : `stream "${stream}" of `}${peer}`;
}

/** Who gets the messages of a subscription. */
interface Receiver {
  /** Takes a message of so many bytes; returns whether it needs it. */
  readonly take: (message: Dict, bytes: number) => boolean;
  readonly fail: (error: Error) => void;
}

/** Subscribes, and returns once the server has confirmed it. The result ends it. */
async function subscribe(
  client: Client,
  params: NatsParams,
  attempt: ActionAttempt,
  { take, fail }: Receiver,
): Promise<() => void> {
  const { subscribe: subject = "", stream, group, from } = params;
  const source = sourceOf(params, attempt);
  const begin = async () => {
    if (stream !== undefined) {
      const config = { filter_subject: subject, ...startOf(from) };
      return await consume(client, stream, group, config, { take, fail });
    }
    const subscription = client.nats.subscribe(subject, {
      ...group !== undefined && { queue: group },
      callback: (error, message) =>
        error ? fail(error) : void take(readMessage(message), message.data.length),
    });
    await client.flush();
    return () => subscription.unsubscribe();
  };
  const end = await attempt.during(
    `subscribing to ${source}`,
    begin(),
    `cannot subscribe to ${source}`,
  );
  const forget = client.watch(fail);
  return () => {
    forget();
    end();
  };
}

/** Receives from a stream: all in their order, or the next ones of a group, one by one. */
async function consume(
  client: Client,
  stream: string,
  group: string | undefined,
  config: Dict,
  { take, fail }: Receiver,
): Promise<() => void> {
  const { nats } = client;
  const inbox = `_INBOX.${crypto.randomUUID()}`;
  const pull = () =>
    nats.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${group}`, '{"batch":1}', { reply: inbox });
  const subscription = nats.subscribe(inbox, {
    callback(error, message) {
      const { code = 0, description = "" } = message.headers ?? {};
      if (error) return fail(error);
      if (message.data.length === 0 && code >= 400) {
        return fail(new Error(`the stream ended it: ${description} (${code})`));
      }
      const isTaken = take(readMessage(message), message.data.length);
      if (group === undefined) return;
      nats.publish(message.reply!, isTaken ? "+ACK" : "-NAK");
      if (isTaken) pull();
    },
  });
  try {
    if (group === undefined) {
      await client.call(`$JS.API.CONSUMER.CREATE.${stream}`, {
        stream_name: stream,
        config: { ...config, deliver_subject: inbox, ack_policy: "none", replay_policy: "instant" },
      });
    } else {
      await joinGroup(client, stream, group, config);
      pull();
      await client.flush();
    }
  } catch (error) {
    subscription.unsubscribe();
    throw error;
  }
  return () => subscription.unsubscribe();
}

/** Makes the durable consumer unless there is one. */
async function joinGroup(
  client: Client,
  stream: string,
  group: string,
  config: Dict,
): Promise<void> {
  try {
    await client.call(`$JS.API.CONSUMER.INFO.${stream}.${group}`, {});
  } catch (error) {
    if (!(error instanceof Error) || error.message !== "consumer not found") throw error;
    await client.call(`$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${group}`, {
      stream_name: stream,
      config: { ...config, durable_name: group, ack_policy: "explicit", replay_policy: "instant" },
    });
  }
}

function startOf(from: Start): Dict {
  if ("sequence" in from) {
    return { deliver_policy: "by_start_sequence", opt_start_seq: from.sequence };
  }
  if ("time" in from) return { deliver_policy: "by_start_time", opt_start_time: from.time };
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
