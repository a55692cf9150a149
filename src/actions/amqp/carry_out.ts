import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { StepError } from "../../base/errors.ts";
import type { AmqpParams } from "./amqp_params.ts";
import { contentOf, readContent, textOrBytes } from "../broker/content.ts";
import { messageToAnswer, type Taker } from "../broker/receive.ts";
import {
  type AMQPChannel,
  type AMQPMessage,
  type AMQPProperties,
  type Client,
  type Field,
  openAmqp,
  plainError,
} from "./client.ts";

export { openAmqp as open };

type Properties = Partial<NonNullable<AmqpParams["properties"]>>;

/** Does what the verb of the step says. */
export async function carryOut(
  client: Client,
  params: AmqpParams,
  attempt: ActionAttempt,
  raw: Dict,
) {
  const { publish, reply, get, declare, purge, depth } = params;
  if (publish !== undefined) return await publishMessage(client, publish, params, attempt);
  if (reply) return await answer(client, params, attempt);
  if (declare !== undefined) return await declareForRun(declare, params, attempt, raw);
  const queue = (get ?? purge ?? depth)!;
  const source = `queue "${queue}" of ${attempt.peer}`;
  const use = get !== undefined
    ? (channel: AMQPChannel) => takeOne(channel, queue, params.settle)
    : purge !== undefined
    ? async (channel: AMQPChannel) => {
      const { messageCount } = await channel.queuePurge(queue);
      return { res: { depth: messageCount }, brief: `${messageCount} purged` };
    }
    : async (channel: AMQPChannel) => {
      const { messageCount, consumerCount } = await channel.queueDeclare(queue, { passive: true });
      return {
        res: { depth: messageCount, consumers: consumerCount },
        brief: `${messageCount} waiting`,
      };
    };
  return await attempt.during(
    `waiting for a reply about ${source}`,
    client.onChannel(use),
    `cannot use ${source}`,
  );
}

async function publishMessage(
  client: Client,
  queue: string,
  params: AmqpParams,
  attempt: ActionAttempt,
  correlationId?: string,
) {
  const { exchange = "", headers, properties: given, mandatory, confirm, json } = params;
  const content = await contentOf(params, attempt);
  const traced = attempt.context.trace?.header(headers);
  const ownType = json === undefined ? undefined : "application/json";
  const properties = writeProperties(
    {
      ...given,
      content_type: given?.content_type ?? ownType,
      correlation_id: given?.correlation_id ?? correlationId,
    },
    traced ? { ...traced, ...headers } : headers,
  );
  const where = exchange === "" ? `queue "${queue}"` : `exchange "${exchange}"`;
  const send = async () => {
    const publisher = await client.publisher(exchange, confirm);
    // Without a confirmation it may come back after the step.
    const isMandatory = mandatory && confirm;
    return await publisher.publish(exchange, queue, content, properties, isMandatory);
  };
  const returned = await attempt.during(
    `publishing to ${where} of ${attempt.peer}`,
    send(),
    `cannot publish to ${where} of ${attempt.peer}`,
  );
  if (returned !== undefined) {
    const reason = exchange === ""
      ? `there is no queue "${queue}"`
      : `exchange "${exchange}" routes "${queue}" to no queue`;
    throw new StepError(
      `cannot publish to ${where} of ${attempt.peer}: ${reason} (${returned})`,
      '"mandatory: false" publishes messages that no queue takes',
    );
  }
  return {
    res: { confirmed: confirm },
    brief: "published",
    traffic: { sent: content.length, received: 0 },
  };
}

/** Answers the message that was received last. */
async function answer(client: Client, params: AmqpParams, attempt: ActionAttempt) {
  const { properties } = messageToAnswer(attempt);
  const { reply_to: queue, correlation_id: id } = properties as Dict ?? {};
  if (typeof queue === "string") {
    return await publishMessage(client, queue, params, attempt, id as string | undefined);
  }
  const text = "cannot answer: the message that was received last has no reply_to";
  throw new StepError(text, undefined, { parameter: "reply" });
}

/** Where messages come from, for messages. */
export function sourceOf({ subscribe, exchange }: AmqpParams, { peer }: ActionAttempt): string {
  return `${exchange === undefined ? `queue "${subscribe}"` : `exchange "${exchange}"`} of ${peer}`;
}

/** Has messages come on a channel of its own, and settles those that are acknowledged. */
export async function subscribe(
  { connection }: Client,
  { subscribe = "", exchange, settle, until, max_messages: max = 1, background }: AmqpParams,
  _: ActionAttempt,
  taker: Taker,
): Promise<() => Promise<void>> {
  const channel = await connection.channel();
  const close = async () => {
    if (!channel.closed) await channel.close();
  };
  try {
    const queue = exchange === undefined ? subscribe : await ownQueue(channel, exchange, subscribe);
    // What is not taken stays for others, in its order; what an open step keeps has its own bounds.
    await channel.basicQos(background ? 0 : until === undefined ? Math.min(max, 1000) : 1);
    const consumer = await channel.basicConsume(queue, { noAck: false }, (message) => {
      const acknowledge = () => settleMessage(channel, message, settle);
      taker.take(readMessage(queue, message), message.bodySize, acknowledge);
    });
    // It waits until the server, or the end of the step, closes the channel.
    consumer.wait().then(() => {}, (error) => taker.fail(plainError(error)));
    return close;
  } catch (error) {
    await close();
    throw plainError(error);
  }
}

/** Makes a queue of this connection alone, to which an exchange routes messages. */
async function ownQueue(channel: AMQPChannel, exchange: string, key: string): Promise<string> {
  const { name } = await channel.queueDeclare("");
  await channel.queueBind(name, exchange, key);
  return name;
}

async function takeOne(channel: AMQPChannel, queue: string, settle: AmqpParams["settle"]) {
  const message = await channel.basicGet(queue, { noAck: false });
  if (!message) return { res: { messages: [], message: null, depth: 0 }, brief: "empty" };
  const read = readMessage(queue, message);
  settleMessage(channel, message, settle);
  return {
    res: { messages: [read], message: read, depth: message.messageCount ?? 0 },
    brief: "1 received",
    traffic: { sent: 0, received: message.bodySize },
  };
}

function settleMessage(
  channel: AMQPChannel,
  { deliveryTag }: AMQPMessage,
  settle: AmqpParams["settle"],
): void {
  const sent = settle === "ack"
    ? channel.basicAck(deliveryTag)
    : channel.basicReject(deliveryTag, settle === "requeue");
  // A lost connection shows in what the step waits for.
  sent.catch(() => {});
}

/** What a run has declared, on a connection that is there until it ends. */
class Declared {
  readonly undo: ((channel: AMQPChannel) => Promise<unknown>)[] = [];

  constructor(readonly client: Client) {}

  async close(): Promise<void> {
    try {
      for (const undo of this.undo.reverse()) await this.client.onChannel(undo);
    } finally {
      await this.client.close();
    }
  }
}

async function declareForRun(name: string, params: AmqpParams, attempt: ActionAttempt, raw: Dict) {
  const { type, exchange = "", bind = [], arguments: options = {} } = params;
  const what = `${type === undefined ? "queue" : "exchange"} "${name}"`;
  const declare = async () => {
    const declared = await attempt.context.scope.run.resource(
      `amqp:declared:${JSON.stringify([raw.url, raw.tls ?? null])}`,
      async () => new Declared(await openAmqp(params, attempt)),
      (declared) => declared.close(),
    );
    const { client, undo } = declared;
    const ask = (isPassive: boolean) => (channel: AMQPChannel): Promise<unknown> =>
      type === undefined
        ? channel.queueDeclare(name, { passive: isPassive, durable: true }, options)
        : channel.exchangeDeclare(name, type, { passive: isPassive, durable: true }, options);
    const exists = await client.onChannel(ask(true)).then(() => true, (error) => {
      if (/^NOT_FOUND/.test(error.message)) return false;
      throw error;
    });
    // One that exists must have the same arguments.
    await client.onChannel(ask(false));
    if (!exists) {
      undo.push((channel) =>
        type === undefined ? channel.queueDelete(name) : channel.exchangeDelete(name)
      );
    }
    await client.onChannel(async (channel) => {
      for (const key of bind) await channel.queueBind(name, exchange, key);
    });
    return !exists;
  };
  const failing = `declare ${what} of ${attempt.peer}`;
  const created = await attempt.during(`waiting to ${failing}`, declare(), `cannot ${failing}`);
  return { res: { created }, brief: created ? "created" : "exists" };
}

/** Properties by the names of the library: `contentType` of `content_type`. */
function writeProperties(given: Properties, headers: Dict | undefined): AMQPProperties {
  const named = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      name === "expiration" ? String(value) : value,
    ]]
  );
  return {
    ...Object.fromEntries(named),
    ...headers && { headers: { ...headers } as Record<string, Field> },
  };
}

/** A message as steps see it. */
function readMessage(queue: string, message: AMQPMessage): Dict {
  const { exchange, routingKey, redelivered, properties, body } = message;
  const { headers = {}, ...others } = properties;
  const named = Object.entries(others).filter(([, value]) => value !== undefined).map(
    ([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value],
  );
  return {
    queue,
    exchange,
    routing_key: routingKey,
    ...readContent(body ?? new Uint8Array(), /\bjson\b/.test(others.contentType ?? "")),
    headers: toValue(headers) as Dict,
    properties: toValue(Object.fromEntries(named)),
    redelivered,
  };
}

function toValue(field: unknown): Value {
  if (field === null || field === undefined) return null;
  if (field instanceof Date) return field.toISOString();
  if (field instanceof Uint8Array) return textOrBytes(field);
  if (Array.isArray(field)) return field.map(toValue);
  if (typeof field === "object") {
    return Object.fromEntries(
      Object.entries(field).map(([name, part]) => [name, toValue(part)]),
    );
  }
  return field as Value;
}
