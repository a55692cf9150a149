import type { ActionAttempt } from "../../action/attempt.ts";
import { contentOf, headersOf } from "../broker/content.ts";
import type { Taker } from "../broker/receive.ts";
import { type Client, openMqtt } from "./client.ts";
import type { MqttParams } from "./mqtt_params.ts";

export { openMqtt as open };

const { Buffer } = await import("node:buffer");

const JSON_TYPE = "application/json";

/** Publishes a message. */
export async function carryOut(client: Client, params: MqttParams, attempt: ActionAttempt) {
  const { publish: topic = "" } = params;
  const { qos, retain, version } = params;
  const content = Buffer.from(await contentOf(params, attempt));
  const properties = writeProperties(params, attempt);
  const what = `topic "${topic}" of ${attempt.peer}`;
  await attempt.during(
    `publishing to ${what}`,
    client.publish({ topic, payload: content, qos, retain, ...version === "5" && { properties } }),
    `cannot publish to ${what}`,
  );
  return {
    res: { confirmed: qos > 0 },
    brief: "published",
    traffic: { sent: content.length, received: 0 },
  };
}

function writeProperties({ json, headers, properties }: MqttParams, attempt: ActionAttempt) {
  const contentType = properties?.content_type ?? (json === undefined ? undefined : JSON_TYPE);
  const expiry = properties?.message_expiry;
  const data = properties?.correlation_data;
  const named = headersOf(headers, attempt);
  return {
    ...contentType !== undefined && { contentType },
    ...properties?.response_topic !== undefined && { responseTopic: properties.response_topic },
    ...data !== undefined && { correlationData: Buffer.from(data) },
    ...expiry !== undefined && { messageExpiryInterval: Math.ceil(expiry / 1000) },
    ...named.length > 0 && { userProperties: Object.fromEntries(named) },
  };
}

/** Where messages come from, for messages. */
export function sourceOf({ subscribe = [] }: MqttParams, { peer }: ActionAttempt): string {
  return `topic ${subscribe.map((filter) => `"${filter}"`).join(", ")} of ${peer}`;
}

/** Subscribes on a connection of its own: what came for another step is not for it. */
export async function subscribe(
  client: Client,
  { subscribe = [], qos }: MqttParams,
  _: ActionAttempt,
  taker: Taker,
): Promise<() => Promise<void>> {
  client.taker = taker;
  try {
    await client.subscribe(subscribe, qos);
    return () => client.close();
  } catch (error) {
    await client.close();
    throw error;
  }
}
