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
    take(message, bytes, acknowledge) {
      const isTaken = inbox.add(message, bytes);
      if (isTaken) acknowledge?.().catch((error) => inbox.fail(error));
      return isTaken;
    },
    end: (error) => inbox.fail(error),
    isOver: () => inbox.isDone || attempt.signal.aborted,
  });
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
    take: (message, bytes, acknowledge) => (open.add(message, bytes, acknowledge), true),
    end: (error) => open.end(error instanceof Error ? error.message : String(error)),
    isOver: () => attempt.signal.aborted,
  });
  open.onClose(end);
  return { res: { messages: [], message: null }, brief: "subscribed" };
}

/** Where messages come from, for messages. */
function sourceOf(topic: string, { peer }: ActionAttempt): string {
  return `topic "${topic}" of ${peer}`;
}

/** Who takes messages. */
interface Taker {
  /**
   * Takes a message of so many bytes; false if it needs no more. It acknowledges those of a group.
   */
  take(message: Dict, bytes: number, acknowledge?: () => Promise<void>): boolean;
  /** No more can come. */
  end(error: unknown): void;
  /** Whether it needs no more. */
  isOver(): boolean;
}

/** Has messages come; what it returns ends that, and commits what was acknowledged. */
async function subscribe(
  client: Client,
  topic: string,
  { group, from, partition }: KafkaParams,
  attempt: ActionAttempt,
  taker: Taker,
): Promise<() => Promise<void>> {
  const take: Take = (message, partition, acknowledge) => {
    const { value, key } = message;
    const bytes = (value?.length ?? 0) + (key?.length ?? 0);
    return taker.take(readMessage(topic, partition, message), bytes, acknowledge);
  };
  const begin = async () => {
    if (group !== undefined) {
      return await joinGroup(client, topic, group, from, take, taker.end, attempt);
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

type Take = (
  message: KafkaMessage,
  partition: number,
  acknowledge?: () => Promise<void>,
) => boolean;

/** How far a group is in a partition. */
class Progress {
  /** The offsets of messages that came, and that no step has taken, in their order. */
  readonly #open = new Set<string>();
  #next: string | undefined;
  #committed: string | undefined;

  constructor(readonly partition: number) {}

  come(offset: string): void {
    this.#open.add(offset);
    this.#next = String(BigInt(offset) + 1n);
    this.#committed ??= offset;
  }

  take(offset: string): void {
    this.#open.delete(offset);
  }

  /** The offset at which the group goes on, if another was committed. */
  uncommitted(): string | undefined {
    const [offset = this.#next] = this.#open;
    if (offset === this.#committed) return undefined;
    return this.#committed = offset;
  }
}

async function joinGroup(
  { kafka, links }: Client,
  topic: string,
  groupId: string,
  from: Start,
  take: Take,
  fail: (error: unknown) => void,
  attempt: ActionAttempt,
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
  const all = new Map<number, Progress>();
  const failing = `commit the offsets of group "${groupId}"`;
  const send = async () => {
    const offsets = [...all.values()].flatMap((progress) => {
      const offset = progress.uncommitted();
      return offset === undefined ? [] : [{ topic, partition: progress.partition, offset }];
    });
    if (offsets.length === 0) return;
    await consumer.commitOffsets(offsets).catch(async (error) => {
      throw await attempt.explain(`cannot ${failing}`, links.explain(error));
    });
  };
  let sent = Promise.resolve();
  let next: Promise<void> | undefined;
  // What is taken while a request is under way goes in the next.
  const commit = () =>
    next ??= sent.catch(() => {}).then(() => {
      next = undefined;
      return sent = send();
    });
  try {
    await consumer.connect();
    await consumer.subscribe({
      topics: [topic],
      fromBeginning: "name" in from && from.name === "beginning",
    });
    await consumer.run({
      autoCommit: false,
      eachMessage({ partition, message }) {
        const progress = all.get(partition) ?? new Progress(partition);
        all.set(partition, progress);
        progress.come(message.offset);
        take(message, partition, () => {
          progress.take(message.offset);
          return commit();
        });
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
    try {
      if (!attempt.signal.aborted) await attempt.during(`waiting to ${failing}`, commit());
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
