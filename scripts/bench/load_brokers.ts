import { kafkaServer } from "../../tests/system/servers/kafka_server.ts";
import { mqttServer } from "../../tests/system/servers/mqtt_server.ts";
import { natsServer } from "../../tests/system/servers/nats_server.ts";
import { rabbitServer } from "../../tests/system/servers/rabbit_server.ts";

/** A server, and a step that publishes a message to it. */
interface Broker {
  readonly server: AsyncDisposable;
  readonly step: string;
}

/** The brokers by the names of their actions. */
export const BROKERS: Readonly<Record<string, (directory: string) => Promise<Broker>>> = {
  mqtt: async (directory) => {
    const server = await mqttServer(directory);
    return { server, step: publish("mqtt", urlOf("mqtt", server), "orders/1") };
  },
  nats: async (directory) => {
    const server = await natsServer(directory);
    return { server, step: publish("nats", urlOf("nats", server), "orders", "confirm: false") };
  },
  amqp: async (directory) => {
    const server = await rabbitServer(directory);
    const more = "exchange: amq.topic, confirm: false";
    return { server, step: publish("amqp", urlOf("amqp", server), "orders", more) };
  },
  kafka: async () => {
    const server = await kafkaServer();
    const brokers = `brokers: "${server.brokers}"`;
    return { server, step: publish("kafka", brokers, "orders", 'acks: "1"') };
  },
};

function urlOf(scheme: string, { port }: { readonly port: number }): string {
  return `url: "${scheme}://ann:open-sesame-42@127.0.0.1:${port}"`;
}

function publish(action: string, server: string, to: string, ...more: string[]): string {
  const params = [server, `publish: ${to}`, "body: hello", "connection: shared", ...more];
  return `{ uses: ${action}, with: { ${params.join(", ")} } }`;
}
