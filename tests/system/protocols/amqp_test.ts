import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { assertHidden } from "../../support/assert_hidden.ts";
import { assertPassed } from "../../support/assert_passed.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { readDirectory } from "../../support/run/run_reports.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { rudeServer } from "../servers/kafka_server.ts";
import { rabbitServer } from "../servers/rabbit_server.ts";

/** A workflow of one job with these steps. */
const flow = (steps: string) => `
name: AMQP
vars: { url: "{{RABBIT_URL}}" }
jobs:
  - name: Queues
    defaults: { amqp: { url: "{{vars.url}}" } }
    steps:${steps}
`;

const VALUES = flow(`
      - uses: amqp
        with: { declare: orders, arguments: { x-message-ttl: 60000 } }
        test: res.created
      - name: what is there stays
        uses: amqp
        with: { declare: orders, arguments: { x-message-ttl: 60000 } }
        test: "!res.created"
      - uses: amqp
        with:
          publish: orders
          json: { id: 7 }
          headers: { text: b, number: 5, list: [1, x], map: { a: true } }
          properties: { correlation_id: c-1, reply_to: replies, expiration: 30s, priority: 3, delivery_mode: 2 }
        test: res.confirmed
      - uses: amqp
        with: { depth: orders }
        test: res.depth == 1 && res.consumers == 0
      - name: put back
        uses: amqp
        with: { subscribe: orders, settle: requeue }
        test: |
          res.message.body.id == 7 && res.message.raw == '{"id":7}' && !res.message.redelivered &&
          res.message.headers == { text: "b", number: 5, list: [1, "x"], map: { a: true } } &&
          res.message.properties == {
            content_type: "application/json", correlation_id: "c-1", reply_to: "replies",
            expiration: "30000", priority: 3, delivery_mode: 2
          } && res.message.exchange == "" && res.message.routing_key == "orders"
      - uses: amqp
        with: { get: orders }
        test: res.message.redelivered && res.depth == 0
      - name: an empty queue
        uses: amqp
        with: { get: orders }
        test: res.message == nil
      - uses: amqp
        with: { declare: shop, type: topic }
        test: res.created
      - uses: amqp
        with: { declare: audit, exchange: shop, bind: ["order.#", basket.paid] }
        test: res.created
      - uses: amqp
        iteration: [order.created, order.item.added, basket.paid]
        with: { publish: "{{vars.item}}", exchange: shop, body: "{{vars.item}}" }
        test: res.confirmed
      - name: without a confirmation
        uses: amqp
        with: { publish: order.paid, exchange: shop, file: bytes.bin, confirm: false }
        test: "!res.confirmed"
      - name: no queue takes it
        uses: amqp
        with: { publish: basket.created, exchange: shop, body: x, mandatory: false }
        test: res.confirmed
      - uses: amqp
        with: { subscribe: audit, until: message.routing_key == "order.item.added" }
        test: len(res.messages) == 2 && res.message.body == "order.item.added"
      - name: what a step did not take is there
        uses: amqp
        with: { subscribe: audit, max_messages: 2 }
        test: res.messages[0].body == "basket.paid" && res.message.body.base64 == "/w=="
      - uses: amqp
        with: { publish: audit, body: "" }
        test: res.confirmed
      - uses: amqp
        with: { purge: audit }
        test: res.depth == 1
      - name: a dead letter
        uses: amqp
        with: { declare: strict, arguments: { x-dead-letter-exchange: "", x-dead-letter-routing-key: audit } }
        test: res.created
      - uses: amqp
        with: { publish: strict, body: bad }
        test: res.confirmed
      - uses: amqp
        with: { subscribe: strict, settle: reject }
        test: res.message.body == "bad"
      - uses: amqp
        with: { subscribe: audit }
        test: res.message.headers["x-death"][0].queue == "strict"
      - name: large
        uses: amqp
        with: { publish: audit, body: "{{repeat('x', 1000000)}}" }
        test: res.confirmed
      - uses: amqp
        with: { subscribe: audit }
        test: len(res.message.body) == 1000000`);

const OPEN = flow(`
      - uses: amqp
        with: { declare: jobs }
        test: res.created
      - id: invoices
        uses: amqp
        with: { subscribe: "invoice.*", exchange: amq.topic, background: true }
      - id: jobs
        uses: amqp
        with: { subscribe: jobs, background: true }
      - uses: amqp
        iteration: [1, 2]
        with: { publish: invoice.paid, exchange: amq.topic, json: { order: "{{vars.item}}" } }
        test: res.confirmed
      - uses: amqp
        with: { publish: jobs, body: work }
        test: res.confirmed
      - uses: receive
        with: { from: invoices, where: message.body.order == 2 }
        test: message.routing_key == "invoice.paid" && message.exchange == "amq.topic"
      - uses: receive
        with: { from: jobs }
        test: message.body == "work" && message.queue == "jobs"
      - name: a request
        uses: amqp
        with: { publish: jobs, json: { a: 2 }, properties: { reply_to: replies, correlation_id: c-9 } }
        test: res.confirmed
      - uses: amqp
        with: { declare: replies }
        test: res.created
      - uses: receive
        with: { from: jobs }
      - name: its answer
        uses: amqp
        with: { reply: true, json: { b: 4 } }
        test: res.confirmed
      - uses: amqp
        with: { subscribe: replies }
        test: res.message.body.b == 4 && res.message.properties.correlation_id == "c-9"
      - name: an answer has no reply_to
        uses: amqp
        with: { reply: true, body: "" }
        test: false`);

const TAKEN = flow(`
      - id: kept
        uses: amqp
        with: { subscribe: kept, background: true }
      - uses: receive
        with: { from: kept, where: message.body == "second" }
        test: "!message.redelivered"`);

const GONE = flow(`
      - uses: amqp
        with: { depth: orders }
      - uses: amqp
        with: { publish: a, exchange: shop, body: x }`);

const SIGN_IN = (tlsPort: number, port: number) =>
  flow(`
      - uses: amqp
        with:
          url: "amqps://ann:open-sesame-42@127.0.0.1:${tlsPort}"
          tls: { ca: ${tlsPath("authority.pem")} }
          declare: secure
        test: res.created
      - uses: amqp
        with: { url: "amqps://ann:open-sesame-42@127.0.0.1:${tlsPort}", depth: secure }
      - uses: amqp
        with: { url: "amqp://ann:wrong-pass-1@127.0.0.1:${port}", depth: secure }`);

Deno.test("amqp publishes to RabbitMQ, receives, and declares for the time of the run", async (t) => {
  await withFiles({}, async (cwd) => {
    await using server = await rabbitServer(cwd);
    const env = { RABBIT_URL: `amqp://ann:open-sesame-42@127.0.0.1:${server.port}` };
    const run = async (text: string, ...args: string[]) => {
      await Deno.writeTextFile(`${cwd}/flow.yml`, text);
      return await runCli([...args, "flow.yml"], { cwd, env });
    };
    await Deno.writeFile(`${cwd}/bytes.bin`, new Uint8Array([255]));

    await t.step("values", async () => {
      const { stdout, stderr } = await run(VALUES);
      assertEquals(stderr, "");
      assertPassed(stdout);
    });

    await t.step("a step that stays open", async () => {
      const { stdout } = await run(OPEN);
      assertStringIncludes(stdout, "13 passed · 1 failed (14)");
      assertStringIncludes(stdout, "the message that was received last has no reply_to");
    });

    await t.step("what no step took of a step that stays open is in the queue again", async () => {
      const { AMQPClient } = await import("@cloudamqp/amqp-client");
      const connection = await new AMQPClient(env.RABBIT_URL).connect();
      const channel = await connection.channel();
      await channel.queueDeclare("kept");
      for (const text of ["first", "second", "third"]) {
        await channel.basicPublish("", "kept", text);
      }
      assertPassed((await run(TAKEN)).stdout);
      const came: string[] = [];
      const all = Promise.withResolvers<void>();
      await channel.basicConsume("kept", { noAck: true }, (message) => {
        came.push(`${message.bodyToString()} ${message.redelivered}`);
        if (came.length === 2) all.resolve();
      });
      await all.promise;
      assertEquals(came, ["first true", "third true"]);
      assertEquals(await channel.queueDelete("kept"), { messageCount: 0 });
      await connection.close();
    });

    await t.step("what a run declared is gone", async () => {
      const { stdout } = await run(GONE);
      assertStringIncludes(stdout, "NOT_FOUND - no queue 'orders' in vhost '/' (404)");
      assertStringIncludes(stdout, "NOT_FOUND - no exchange 'shop' in vhost '/' (404)");
    });

    await t.step("TLS and passwords, which are shown nowhere", async () => {
      const { stdout, stderr } = await run(
        SIGN_IN(server.tlsPort, server.port),
        ...["-v", "--report-dir", "out"],
      );
      assertStringIncludes(stdout, "1 passed · 2 failed (3)");
      assertStringIncludes(stdout, "unknown certificate authority");
      assertStringIncludes(stdout, "sign-in failed: ACCESS_REFUSED");
      const all = { ...readDirectory(`${cwd}/out`), stdout, stderr };
      for (const [name, text] of Object.entries(all)) {
        for (const secret of ["open-sesame-42", "wrong-pass-1"]) assertHidden(secret, text, name);
      }
    });

    await t.step("wrong input", async () => {
      await using silent = await rudeServer(new Uint8Array());
      await using http = await rudeServer(new TextEncoder().encode("HTTP/1.1 400 No\r\n\r\n"));
      await using half = await rudeServer(new Uint8Array([1, 0, 0, 0, 0, 0, 99, 0]));
      await using beats = await rudeServer(
        new Uint8Array(800_000).map((_, index) => [8, 0, 0, 0, 0, 0, 0, 206][index % 8]!),
      );
      const slow = (port: number) =>
        [
          `url: "amqp://127.0.0.1:${port}", depth: a, timeout: 500ms`,
          "timed out after 500ms while connecting to AMQP",
        ] as const;
      const cases: readonly (readonly [params: string, message: string])[] = [
        ["publish: nope, body: x", 'there is no queue "nope" (312 NO_ROUTE)'],
        [
          'publish: a, exchange: amq.topic, body: "x"',
          'exchange "amq.topic" routes "a" to no queue (312 NO_ROUTE)',
        ],
        ["publish: a, exchange: nope, body: x", "NOT_FOUND - no exchange 'nope'"],
        ["subscribe: nope", "NOT_FOUND - no queue 'nope'"],
        ["purge: nope", '"declare" creates a queue'],
        ["declare: amq.direct, type: topic", "PRECONDITION_FAILED"],
        [
          'subscribe: "#", exchange: amq.topic, timeout: 500ms',
          "timed out after 500ms while waiting for 1 message",
        ],
        [`url: "{{vars.url}}/other", depth: a`, 'the virtual host is the path in "url"'],
        [
          'url: "amqp://127.0.0.1:1", depth: a',
          "cannot connect to AMQP at 127.0.0.1 port 1: 127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
        ],
        [`url: "amqp://127.0.0.1:${http.port}", depth: a`, "not as an AMQP server"],
        ...[silent, half, beats].map(({ port }) => slow(port)),
      ];
      const steps = cases.map(([params]) => `
      - { uses: amqp, timeout: 30s, with: { ${params} } }`);
      const { stdout } = await run(flow(steps.join("")));
      const parts = stdout.split(/^ {1,3}\d+\. /m).slice(1);
      assert(parts.length >= cases.length, stdout);
      for (const [index, [, message]] of cases.entries()) {
        assertStringIncludes(parts[index]!, message);
      }
    });

    await t.step("examples/network/rabbitmq.yml", async () => {
      const network = fromFileUrl(new URL("../../../examples/network/", import.meta.url));
      const { stdout } = await runCli(["rabbitmq.yml"], { cwd: network, env });
      assertPassed(stdout);
    });
  });
});
