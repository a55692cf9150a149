import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { OpenStep } from "../../action/open_step.ts";
import { textOf } from "../../action/parameter.ts";
import { contentOf, Inbox, readContent, textOrBytes } from "../broker.ts";
import type { Client, IHeaders, KafkaMessage, Message } from "./client.ts";
import type { KafkaParams, Start } from "./kafka_params.ts";

/** Publishes, receives, or asks how far a group is. */
export async function carryOut(client: Client, params: KafkaParams, attempt: ActionAttempt) {
  if (params.publish !== undefined) return await publish(client, params.publish, params, attempt);
  if (params.lag !== undefined) return await askLag(client, params.lag, params.group!, attempt);
  return await receive(client, params.subscribe!, params, attempt);
}

async function publish(client: Client, topic: string, params: KafkaParams, attempt: ActionAttempt) {
  const { key, headers = {}, partition, acks, json, body, file } = params;
  const { Buffer } = await import("node:buffer");
  const isTombstone = json === undefined && body === undefined && file === undefined;
  const content = isTombstone ? null : Buffer.from(await contentOf(params, attempt));
  const message: Message = {
    value: content,
    key: key ?? null,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, values = null]) => {
        if (values === null) return [];
        return [[name, typeof values === "string" ? values : values.map(textOf)]];
      }),
    ),
    ...partition !== undefined && { partition },
    timestamp: String(attempt.context.host.clock.now()),
  };
  const receipt = await attempt.during(
    `publishing to topic "${topic}" of ${attempt.peer}`,
    client.publish(topic, message, acks === "all" ? -1 : Number(acks)),
    `cannot publish to topic "${topic}" of ${attempt.peer}`,
  );
  return {
    res: { ...receipt },
    brief: "published",
    traffic: { sent: content?.length ?? 0, received: 0 },
  };
}

async function receive(
  client: Client,
  topic: string,
  params: KafkaParams,
  attempt: ActionAttempt,
) {
  const inbox = await Inbox.open(attempt, sourceOf(topic, attempt), params);
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const end = await subscribe(client, topic, params, attempt, {
    take: (message, bytes) => inbox.add(message, bytes),
    end: (error) => inbox.fail(error),
    isOver: () => inbox.isDone || attempt.signal.aborted,
  }, false);
  const subscribed = clock.ticks();
  try {
    await inbox.received();
  } finally {
    await end();
  }
  return {
    res: { ...inbox.soFar },
    brief: `${inbox.soFar.messages.length} received`,
    traffic: { sent: 0, received: inbox.bytes },
    phases: { subscribe: subscribed - began, wait: clock.ticks() - subscribed },
  };
}

/** Opens a subscription that later steps receive from. */
export async function stayOpen(
  client: Client,
  params: KafkaParams,
  open: OpenStep,
  attempt: ActionAttempt,
) {
  const end = await subscribe(client, params.subscribe!, params, attempt, {
    take: (message, bytes) => (open.add(message, bytes), true),
    end: (error) => open.end(error instanceof Error ? error.message : String(error)),
    isOver: () => attempt.signal.aborted,
  }, true);
  open.onClose(end);
  return { res: { messages: [], message: null }, brief: "subscribed" };
}

/** Where messages come from, for messages. */
function sourceOf(topic: string, { peer }: ActionAttempt): string {
  return `topic "${topic}" of ${peer}`;
}

/** Who takes messages. */
interface Taker {
  /** Takes a message of so many bytes; false if it needs no more. */
  take(message: Dict, bytes: number): boolean;
  /** No more can come. */
  end(error: unknown): void;
  /** Whether it needs no more. */
  isOver(): boolean;
}

/** Has messages come; what it returns ends that, and commits what was taken from a group. */
async function subscribe(
  client: Client,
  topic: string,
  { group, from, partition }: KafkaParams,
  attempt: ActionAttempt,
  taker: Taker,
  isOpen: boolean,
): Promise<() => Promise<void>> {
  const take: Take = (message, partition) => {
    const { value, key } = message;
    const bytes = (value?.length ?? 0) + (key?.length ?? 0);
    return taker.take(readMessage(topic, partition, message), bytes);
  };
  const begin = async () => {
    if (group !== undefined) {
      return await joinGroup(client, topic, group, from, take, taker.end, attempt, isOpen);
    }
    const positions = await client.begin(topic, from, partition);
    client.read(topic, positions, take, taker.isOver).catch(taker.end);
    return () => Promise.resolve();
  };
  const source = sourceOf(topic, attempt);
  return await attempt.during(`subscribing to ${source}`, begin(), `cannot subscribe to ${source}`);
}

/** Milliseconds for which a server waits for messages before it replies that there are none. */
const POLL = 300;

/** Milliseconds after which the group goes on without a program that was killed. */
const SESSION = 10_000;

type Take = (message: KafkaMessage, partition: number) => boolean;

async function joinGroup(
  { kafka, links }: Client,
  topic: string,
  groupId: string,
  from: Start,
  take: Take,
  fail: (error: unknown) => void,
  attempt: ActionAttempt,
  autoCommit: boolean,
): Promise<() => Promise<void>> {
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: POLL,
    sessionTimeout: SESSION,
    retry: { restartOnFailure: () => Promise.resolve(false) },
  });
  const forget = onAbort(attempt.signal, () => void consumer.disconnect().catch(() => {}));
  const joined = Promise.withResolvers<void>();
  consumer.on(consumer.events.GROUP_JOIN, () => joined.resolve());
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => {
    joined.reject(links.explain(error));
    fail(links.explain(error));
  });
  const taken = new Map<number, string>();
  try {
    await consumer.connect();
    await consumer.subscribe({
      topics: [topic],
      fromBeginning: "name" in from && from.name === "beginning",
    });
    await consumer.run({
      autoCommit,
      eachMessage({ partition, message }) {
        if (take(message, partition)) taken.set(partition, String(BigInt(message.offset) + 1n));
        return Promise.resolve();
      },
    });
    await joined.promise;
  } catch (error) {
    await consumer.disconnect().catch(() => {});
    throw links.explain(error);
  }
  return async () => {
    forget();
    const offsets = [...taken].map(([partition, offset]) => ({ topic, partition, offset }));
    try {
      if (offsets.length === 0 || autoCommit) return;
      const failing = `commit the offsets of group "${groupId}"`;
      await attempt.during(
        `waiting to ${failing}`,
        consumer.commitOffsets(offsets).catch((error) => Promise.reject(links.explain(error))),
        `cannot ${failing}`,
      );
    } finally {
      await consumer.disconnect().catch(() => {});
    }
  };
}

/** A message as steps see it. */
function readMessage(
  topic: string,
  partition: number,
  { offset, key, value, headers = {}, timestamp }: KafkaMessage,
): Dict {
  const content = value === null ? { body: null, raw: null } : readContent(value);
  return {
    topic,
    partition,
    offset: Number(offset),
    key: key === null ? null : textOrBytes(key),
    ...content,
    headers: readHeaders(headers),
    timestamp: new Date(Number(timestamp)).toISOString(),
  };
}

function readHeaders(headers: IHeaders): Dict {
  const read = (one: unknown): Value =>
    one instanceof Uint8Array ? textOrBytes(one) : one === undefined ? null : String(one);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(read) : read(value),
    ]),
  );
}

async function askLag(
  { kafka, links }: Client,
  topic: string,
  groupId: string,
  attempt: ActionAttempt,
) {
  const admin = kafka.admin();
  const ask = async () => {
    try {
      await admin.connect();
      const ends = await admin.fetchTopicOffsets(topic);
      const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
      return ends.map(({ partition, high, low }) => {
        const found = committed?.partitions.find((one) => one.partition === partition);
        const offset = Number(found?.offset ?? -1);
        const [end, begin] = [Number(high), offset < 0 ? Number(low) : offset];
        return { partition, committed: offset < 0 ? null : offset, end, lag: end - begin };
      }).sort((one, other) => one.partition - other.partition);
    } catch (error) {
      throw links.explain(error);
    } finally {
      admin.disconnect().catch(() => {});
    }
  };
  const failing = `the lag of group "${groupId}" in topic "${topic}"`;
  const partitions = await attempt.during(
    `asking for ${failing}`,
    ask(),
    `cannot ask for ${failing}`,
  );
  const lag = partitions.reduce((sum, one) => sum + one.lag, 0);
  return { res: { lag, partitions }, brief: `lag ${lag}` };
}
