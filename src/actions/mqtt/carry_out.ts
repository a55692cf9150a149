import type { ActionAttempt } from "../../action/attempt.ts";
import type { OpenStep } from "../../action/open_step.ts";
import { textOf } from "../../action/parameter.ts";
import { describeTarget } from "../../action/target.ts";
import { contentOf, Inbox } from "../broker.ts";
import { type Client, openMqtt } from "./client.ts";
import type { MqttParams } from "./mqtt_params.ts";

const JSON_TYPE = "application/json";

/** Publishes a message, or receives. */
export async function carryOut(
  client: Client | undefined,
  params: MqttParams,
  attempt: ActionAttempt,
) {
  if (client) return await publish(client, params.publish!, params, attempt);
  return await receive(params.subscribe!, params, attempt);
}

async function publish(client: Client, topic: string, params: MqttParams, attempt: ActionAttempt) {
  const { qos, retain, version } = params;
  const { Buffer } = await import("node:buffer");
  const content = Buffer.from(await contentOf(params, attempt));
  const properties = writeProperties(params, Buffer);
  const what = `topic "${topic}" of ${attempt.peer}`;
  await attempt.during(
    `publishing to ${what}`,
    client.ask<unknown>((done) =>
      client.mqtt.publish(
        topic,
        content,
        version === "5" ? { qos, retain, properties } : { qos, retain },
        done,
      )
    ),
    `cannot publish to ${what}`,
  );
  return {
    res: { confirmed: qos > 0 },
    brief: "published",
    traffic: { sent: content.length, received: 0 },
  };
}

function writeProperties(
  { json, headers = {}, properties }: MqttParams,
  { from }: typeof import("node:buffer").Buffer,
) {
  const contentType = properties?.content_type ?? (json === undefined ? undefined : JSON_TYPE);
  const expiry = properties?.message_expiry;
  const data = properties?.correlation_data;
  const named = Object.entries(headers).flatMap(([name, values]) =>
    values === undefined ? [] : [[name, [values].flat().map(textOf)]]
  );
  return {
    ...contentType !== undefined && { contentType },
    ...properties?.response_topic !== undefined && { responseTopic: properties.response_topic },
    ...data !== undefined && { correlationData: from(data) },
    ...expiry !== undefined && { messageExpiryInterval: Math.ceil(expiry / 1000) },
    ...named.length > 0 && { userProperties: Object.fromEntries(named) },
  };
}

async function receive(filters: readonly string[], params: MqttParams, attempt: ActionAttempt) {
  const source = sourceOf(filters, attempt);
  const inbox = await Inbox.open(attempt, source, params);
  const { opening, failing } = describeTarget(attempt.target);
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const client = await attempt.during(opening, openMqtt(params, attempt), failing);
  try {
    const connected = clock.ticks();
    client.onLost = (error) => inbox.fail(error);
    client.take = (message, bytes) => inbox.take(message, bytes);
    await subscribe(client, filters, params, attempt);
    const subscribed = clock.ticks();
    await inbox.received();
    return {
      res: { ...inbox.soFar },
      brief: `${inbox.soFar.messages.length} received`,
      traffic: { sent: 0, received: inbox.bytes },
      phases: {
        connect: connected - began,
        subscribe: subscribed - connected,
        wait: clock.ticks() - subscribed,
      },
    };
  } finally {
    await client.close();
  }
}

/** Opens a subscription that later steps receive from. */
export async function stayOpen(params: MqttParams, open: OpenStep, attempt: ActionAttempt) {
  const { opening, failing } = describeTarget(attempt.target);
  const client = await attempt.during(opening, openMqtt(params, attempt), failing);
  open.onClose(() => client.close());
  client.onLost = (error) => open.end(error.message);
  client.take = (message, bytes) => {
    open.add(message, bytes);
    return true;
  };
  await subscribe(client, params.subscribe!, params, attempt);
  return { res: { messages: [], message: null }, brief: "subscribed" };
}

/** Where messages come from, for messages. */
function sourceOf(filters: readonly string[], { peer }: ActionAttempt): string {
  return `topic ${filters.map((filter) => `"${filter}"`).join(", ")} of ${peer}`;
}

async function subscribe(
  client: Client,
  filters: readonly string[],
  { qos }: MqttParams,
  attempt: ActionAttempt,
): Promise<void> {
  const source = sourceOf(filters, attempt);
  await attempt.during(
    `subscribing to ${source}`,
    client.ask<unknown>((done) => client.mqtt.subscribe([...filters], { qos }, done)),
    `cannot subscribe to ${source}`,
  );
}
