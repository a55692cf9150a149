import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { onAbort } from "../../action/on_abort.ts";
import { contentOf, headersOf, readContent, textOrBytes } from "../broker/content.ts";
import type { Taker } from "../broker/receive.ts";
import {
  type Client,
  type IHeaders,
  type KafkaMessage,
  type Message,
  openKafka,
  POLL,
} from "./client.ts";
import type { KafkaParams } from "./kafka_params.ts";

export { openKafka as open };

const { Buffer } = await import("node:buffer");

/** Publishes, or asks how far a group is. */
export async function carryOut(client: Client, params: KafkaParams, attempt: ActionAttempt) {
  if (params.publish !== undefined) return await publish(client, params.publish, params, attempt);
  return await askLag(client, params.lag!, params.group!, attempt);
}

async function publish(client: Client, topic: string, params: KafkaParams, attempt: ActionAttempt) {
  const { key, headers, partition, acks, json, body, file } = params;
  const isTombstone = json === undefined && body === undefined && file === undefined;
  const content = isTombstone ? null : Buffer.from(await contentOf(params, attempt));
  const message: Message = {
    value: content,
    key: key ?? null,
    headers: Object.fromEntries(headersOf(headers, attempt)),
    ...partition !== undefined && { partition },
    timestamp: String(attempt.context.host.clock.now()),
  };
  const receipt = await attempt.during(
    `publishing to topic "${topic}" of ${attempt.peer}`,
    client.links.explained(client.publish(topic, message, acks === "all" ? -1 : Number(acks))),
    `cannot publish to topic "${topic}" of ${attempt.peer}`,
  );
  return {
    res: { ...receipt },
    brief: "published",
    traffic: { sent: content?.length ?? 0, received: 0 },
  };
}

/** Where messages come from, for messages. */
export function sourceOf({ subscribe }: KafkaParams, { peer }: ActionAttempt): string {
  return `topic "${subscribe}" of ${peer}`;
}

/** Has messages come; those of a group are committed when they are acknowledged. */
export async function subscribe(
  client: Client,
  { subscribe: topic = "", group, from, partition }: KafkaParams,
  attempt: ActionAttempt,
  taker: Taker,
): Promise<() => void | Promise<void>> {
  const take: Take = (message, partition, acknowledge) => {
    const { value, key } = message;
    const bytes = (value?.length ?? 0) + (key?.length ?? 0);
    return taker.take(readMessage(topic, partition, message), bytes, acknowledge);
  };
  const fail = async (error: unknown) => taker.fail(await client.links.explain(error));
  if (group !== undefined) {
    const isFromBeginning = "name" in from && from.name === "beginning";
    const joining = joinGroup(client, topic, group, isFromBeginning, take, fail, attempt);
    return await client.links.explained(joining);
  }
  const positions = await client.links.explained(client.begin(topic, from, partition));
  let isOver = false;
  client.read(topic, positions, take, () => isOver || attempt.signal.aborted).catch(fail);
  return () => {
    isOver = true;
  };
}

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
  readonly open = new Set<string>();
  #next: string | undefined;
  #committed: string | undefined;

  come(offset: string): void {
    this.open.add(offset);
    this.#next = String(BigInt(offset) + 1n);
    this.#committed ??= offset;
  }

  /** The offset at which the group goes on, unless it was committed. */
  uncommitted(): string | undefined {
    const [offset = this.#next] = this.open;
    if (offset === this.#committed) return undefined;
    return this.#committed = offset;
  }
}

async function joinGroup(
  client: Client,
  topic: string,
  groupId: string,
  fromBeginning: boolean,
  take: Take,
  fail: (error: unknown) => Promise<void>,
  attempt: ActionAttempt,
): Promise<() => Promise<void>> {
  const consumer = client.kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: POLL,
    sessionTimeout: SESSION,
    retry: { restartOnFailure: () => Promise.resolve(false) },
  });
  const leave = () => consumer.disconnect().catch(() => {});
  const forget = onAbort(attempt.signal, () => void leave());
  const joined = Promise.withResolvers<void>();
  consumer.on(consumer.events.GROUP_JOIN, () => joined.resolve());
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => {
    joined.reject(error);
    void fail(error);
  });
  const partitions = new Map<number, Progress>();
  const send = async () => {
    const offsets = [...partitions].flatMap(([partition, progress]) => {
      const offset = progress.uncommitted();
      return offset === undefined ? [] : [{ topic, partition, offset }];
    });
    if (offsets.length === 0) return;
    await client.links.explained(consumer.commitOffsets(offsets)).catch(async (error) => {
      throw await attempt.explain(`cannot commit the offsets of group "${groupId}"`, error);
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
    await consumer.subscribe({ topics: [topic], fromBeginning });
    await consumer.run({
      autoCommit: false,
      eachMessage({ partition, message }) {
        const progress = partitions.get(partition) ?? new Progress();
        partitions.set(partition, progress);
        progress.come(message.offset);
        take(message, partition, () => {
          progress.open.delete(message.offset);
          return commit();
        });
        return Promise.resolve();
      },
    });
    await joined.promise;
  } catch (error) {
    await leave();
    throw error;
  }
  return async () => {
    forget();
    await leave();
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

async function askLag(client: Client, topic: string, groupId: string, attempt: ActionAttempt) {
  const what = `for the lag of group "${groupId}" in topic "${topic}"`;
  const asking = client.links.explained(client.lag(topic, groupId));
  const partitions = await attempt.during(`asking ${what}`, asking, `cannot ask ${what}`);
  const lag = partitions.reduce((sum, one) => sum + one.lag, 0);
  return { res: { lag, partitions }, brief: `lag ${lag}` };
}
