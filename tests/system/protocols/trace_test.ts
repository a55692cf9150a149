import { assertEquals } from "@std/assert";
import { assertPassed } from "../../support/assert_passed.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { kafkaServer } from "../servers/kafka_server.ts";
import { mqttServer } from "../servers/mqtt_server.ts";
import { natsServer } from "../servers/nats_server.ts";
import { rabbitServer } from "../servers/rabbit_server.ts";

const SIGNED_IN = "ann:open-sesame-42@127.0.0.1";

/** Publishes with and without a header of its own; `none` sends it without a trace. */
const flow = (action: string, server: string, subscribe: string, more = "") => `
name: traces
jobs:
  - name: a
    defaults: { ${action}: ${server} }
    steps:
      - ${subscribe}
      - { id: sent, uses: ${action}, with: { publish: orders, body: a }, outputs: { span: trace.span } }
      - uses: receive
        with: { from: all, timeout: 10s }
        test: message.headers.traceparent == "00-" + trace.id + "-" + outputs.span + "-01"
      - { uses: ${action}, with: { publish: orders, body: b, headers: { traceparent: mine } } }
      - { uses: receive, with: { from: all, timeout: 10s }, test: message.headers.traceparent == "mine" }
${more}`;

const BACKGROUND = (action: string) =>
  `{ id: all, uses: ${action}, with: { subscribe: orders, background: true } }`;

/** Runs it with --trace, and returns the spans that the first message came with. */
async function assertTraced(cwd: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${cwd}/flow.yml`, text);
  const args = ["--trace", "--report", "ndjson=events.ndjson", "flow.yml"];
  const { stdout } = await runMain(args, { cwd });
  assertPassed(stdout);
  const events = (await Deno.readTextFile(`${cwd}/events.ndjson`)).trim().split("\n")
    .map((line) => JSON.parse(line));
  const sent = events.find(({ run, type }) => type === "step_finished" && run.id === "sent").result;
  const { messages: [first, second] } = events.find(({ type }) => type === "messages_came");
  assertEquals([first.trace.id, first.trace.parent], [sent.trace.id, sent.attempts[0].span]);
  assertEquals(second.trace, undefined);
}

Deno.test("messages of kafka carry the span of their attempt", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await kafkaServer();
    const steps = flow("kafka", `{ brokers: "${server.brokers}" }`, BACKGROUND("kafka"));
    await assertTraced(cwd, steps);
  });
});

Deno.test("messages of nats carry the span of their attempt", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await natsServer(cwd);
    const url = `{ url: "nats://${SIGNED_IN}:${server.port}" }`;
    await assertTraced(cwd, flow("nats", url, BACKGROUND("nats")));
  });
});

Deno.test("messages of mqtt carry the span of their attempt, with MQTT 5 only", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await mqttServer(cwd);
    const url = `{ url: "mqtt://${SIGNED_IN}:${server.port}" }`;
    const old = `
      - { uses: mqtt, with: { publish: orders/old, body: c, version: 3.1.1 } }
      - { uses: receive, with: { from: all, timeout: 10s }, test: len(message.headers) == 0 }`;
    const steps = flow("mqtt", url, BACKGROUND("mqtt"), old).replaceAll(
      "publish: orders,",
      "publish: orders/new,",
    );
    await assertTraced(cwd, steps.replace("subscribe: orders", 'subscribe: "orders/#"'));
  });
});

Deno.test("messages of amqp carry the span of their attempt", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await rabbitServer(cwd);
    const url = `{ url: "amqp://${SIGNED_IN}:${server.port}" }`;
    const declare = `{ uses: amqp, with: { declare: orders } }\n      - ${BACKGROUND("amqp")}`;
    await assertTraced(cwd, flow("amqp", url, declare));
  });
});
