import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { assertHidden } from "../../support/assert_hidden.ts";
import { assertPassed } from "../../support/assert_passed.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { readDirectory } from "../../support/run/run_reports.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { kafkaServer, rudeServer } from "../servers/kafka_server.ts";

/** A workflow of one job with these steps. */
const flow = (steps: string) => `
name: Kafka
vars: { brokers: "{{BROKERS}}" }
jobs:
  - name: Topics
    defaults: { kafka: { brokers: "{{vars.brokers}}" } }
    steps:${steps}`;

Deno.test("kafka publishes with key, headers and partition, and receives from where it is told", async () => {
  const steps = flow(`
      - name: a key decides the partition
        uses: kafka
        with: { publish: orders, json: { id: 7 }, key: tea, headers: { a: b, c: [1, x] } }
        test: res.offset == 0
        outputs: { partition: res.partition }
        id: first
      - uses: kafka
        with: { publish: orders, file: body.txt, key: tea, acks: 1 }
        test: res.partition == outputs.first.partition && res.offset == 1
      - name: a tombstone
        uses: kafka
        with: { publish: orders, body: null, key: tea }
        test: res.offset == 2
      - uses: kafka
        with: { publish: orders, body: "", partition: 3, acks: 0 }
        test: res.partition == 3 && res.offset == -1
      - uses: kafka
        with: { subscribe: orders, partition: "{{outputs.first.partition}}", from: beginning, max_messages: 3 }
        test: |
          res.messages[0].body.id == 7 && res.messages[0].raw == '{"id":7}' &&
          res.messages[0].key == "tea" && res.messages[0].headers == { a: "b", c: ["1", "x"] } &&
          res.messages[1].body == "from a file" && res.messages[1].headers == {} &&
          res.message.body == nil && res.message.raw == nil && res.message.offset == 2
      - name: from an offset
        uses: kafka
        with: { subscribe: orders, partition: "{{outputs.first.partition}}", from: "1", until: 'message.key == "tea"' }
        test: len(res.messages) == 1 && res.message.offset == 1
      - name: bytes
        uses: kafka
        with: { publish: bytes, file: bytes.bin }
        test: res.offset == 0
      - uses: kafka
        with: { subscribe: bytes, from: beginning }
        test: res.message.body.base64 == "/w==" && res.message.key == nil`);
  const files = { "flow.yml": steps, "body.txt": "from a file" };
  await withFiles(files, async (cwd) => {
    await Deno.writeFile(`${cwd}/bytes.bin`, new Uint8Array([255]));
    await using server = await kafkaServer();
    const { stdout } = await runCli(["flow.yml"], { cwd, env: { BROKERS: server.brokers } });
    assertPassed(stdout);
  });
});

Deno.test("kafka joins a group, commits what it took, and knows the lag of the group", async () => {
  const steps = flow(`
      - uses: kafka
        iteration: [0, 1, 2]
        with: { publish: orders, json: { id: "{{vars.item}}" }, partition: 0 }
        test: res.offset == vars.item
      - uses: kafka
        with: { subscribe: orders, group: billing, from: beginning, max_messages: 2 }
        test: res.message.body.id == 1
      - uses: kafka
        with: { lag: orders, group: billing }
        test: |
          res.lag == 1 && res.partitions[0] == { partition: 0, committed: 2, end: 3, lag: 1 }
      - name: goes on after what is committed
        uses: kafka
        with: { subscribe: orders, group: billing, from: beginning }
        test: res.message.body.id == 2
      - uses: kafka
        with: { lag: orders, group: billing }
        test: res.lag == 0`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await kafkaServer();
    const { stdout } = await runCli(["flow.yml"], { cwd, env: { BROKERS: server.brokers } });
    assertPassed(stdout);
  });
});

Deno.test("kafka starts at now: an earlier message is not received", async () => {
  const steps = flow(`
      - uses: kafka
        with: { publish: orders, body: early, partition: 0 }
        test: res.offset == 0
      - uses: kafka
        with: { subscribe: orders, timeout: 500ms }`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await kafkaServer();
    const { stdout } = await runCli(["flow.yml"], { cwd, env: { BROKERS: server.brokers } });
    const place = `Kafka at ${server.brokers.replace(":", " port ")}`;
    assertStringIncludes(
      stdout,
      `timed out after 500ms while waiting for 1 message from topic "orders" of ${place}: no message came`,
    );
  });
});

Deno.test("kafka begins with the first message of a time, or with the next one", async () => {
  const steps = flow(`
      - uses: kafka
        iteration: [0, 1, 2]
        with: { publish: orders, body: "{{vars.item}}", partition: 0 }
        test: res.offset == vars.item
      - uses: kafka
        iteration: [2026-01-31T12:00:00Z, 2026-01-31T13:00:00+02:00, 2026-01-30]
        with: { subscribe: orders, partition: 0, from: "{{vars.item}}", max_messages: 2 }
        test: res.messages[0].offset == 1 && res.message.offset == 2
      - id: later
        uses: kafka
        with: { subscribe: orders, partition: 0, from: 2026-01-31T12:00:01Z, background: true }
      - uses: kafka
        with: { publish: orders, body: next, partition: 0 }
        test: res.offset == 3
      - uses: receive
        with: { from: later }
        test: message.offset == 3 && message.body == "next"`)
    .replace(
      'brokers: "{{vars.brokers}}"',
      `$&, sasl: { username: ann, password: open-sesame-42 },
                         tls: { ca: ${tlsPath("authority.pem")} }`,
    );
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await kafkaServer();
    const { stdout } = await runCli(["flow.yml"], { cwd, env: { BROKERS: server.tlsBrokers } });
    assertPassed(stdout);
  });
});

Deno.test("kafka keeps what comes while other steps act, with and without a group", async () => {
  const steps = flow(`
      - uses: kafka
        with: { publish: shipments, json: { order: 1 }, partition: 0 }
        test: res.offset == 0
      - id: shipments
        uses: kafka
        with: { subscribe: shipments, background: true }
      - id: billing
        uses: kafka
        with: { subscribe: shipments, group: billing, from: beginning, background: true }
      - uses: kafka
        iteration: [2, 3]
        with: { publish: shipments, json: { order: "{{vars.item}}" }, partition: 0 }
        test: res.offset > 0
      - uses: receive
        with: { from: shipments, where: message.body.order == 3 }
        test: message.topic == "shipments" && message.offset == 2
      - uses: receive
        with: { from: shipments }
        test: message.body.order == 2
      - uses: receive
        with: { from: billing, count: 3 }
        test: res.messages[0].body.order == 1`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await kafkaServer();
    const { stdout } = await runCli(["flow.yml"], { cwd, env: { BROKERS: server.brokers } });
    assertPassed(stdout);
  });
});

Deno.test("kafka commits for a group what later steps have taken, in order", async () => {
  const first = flow(`
      - uses: kafka
        iteration: [0, 1, 2, 3]
        with: { publish: orders, json: { id: "{{vars.item}}" }, partition: 0 }
        test: res.offset == vars.item
      - id: orders
        uses: kafka
        with: { subscribe: orders, group: billing, from: beginning, background: true }
      - uses: receive
        with: { from: orders, where: message.body.id == 1 }
      - name: the first one is not taken
        uses: kafka
        with: { lag: orders, group: billing }
        test: res.lag == 4
      - uses: receive
        with: { from: orders }
        test: message.body.id == 0
      - uses: kafka
        with: { lag: orders, group: billing }
        test: res.lag == 2 && res.partitions[0].committed == 2`);
  const second = flow(`
      - name: a later run goes on after what was taken
        uses: kafka
        with: { subscribe: orders, group: billing }
        test: res.message.body.id == 2`);
  await withFiles({ "first.yml": first, "second.yml": second }, async (cwd) => {
    await using server = await kafkaServer();
    for (const file of ["first.yml", "second.yml"]) {
      const { stdout } = await runCli([file], { cwd, env: { BROKERS: server.brokers } });
      assertPassed(stdout);
    }
  });
});

Deno.test("kafka signs in over TLS by either mechanism, and shows the password nowhere", async () => {
  const step = (mechanism: string, password = "open-sesame-42") => `
      - uses: kafka
        with:
          publish: orders
          body: hello
          sasl: { mechanism: ${mechanism}, username: ann, password: ${password} }
          tls: { ca: ${tlsPath("authority.pem")} }
        test: res.offset >= 0`;
  const text = flow(
    step("plain") + step("scram-sha-256") + step("scram-sha-512") +
      step("plain", "wrong-pass-1") + step("scram-sha-256", "wrong-pass-2") +
      step("scram-sha-512", "wrong-pass-2"),
  );
  await withFiles({ "flow.yml": text }, async (cwd) => {
    await using server = await kafkaServer();
    const env = { BROKERS: server.tlsBrokers };
    const { stdout, stderr } = await runCli(["-v", "--report-dir", "out", "flow.yml"], {
      cwd,
      env,
    });
    assertStringIncludes(stdout, "3 passed · 3 failed (6)");
    const { "events.ndjson": events } = readDirectory(`${cwd}/out`);
    assertMatch(events!, /"phases":{"connect":\d+/);
    assertEquals(stdout.split("sign-in failed: SASL ").length, 1 + 3 + 2, stdout);
    for (const [name, text] of Object.entries({ ...readDirectory(`${cwd}/out`), stdout, stderr })) {
      for (const secret of ["open-sesame-42", "wrong-pass-1", "wrong-pass-2"]) {
        assertHidden(secret, text, name);
      }
    }
  });
});

Deno.test("kafka explains certificates, topics, partitions, offsets and what is no server of Kafka", async () => {
  await using server = await kafkaServer("expired", ["SCRAM-SHA-256"]);
  await using silent = await rudeServer(new Uint8Array());
  await using http = await rudeServer(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await using half = await rudeServer(new Uint8Array([0, 0, 0, 99, 0]));
  const tls = `tls: { ca: ${tlsPath("authority.pem")} }`;
  const signIn = "sasl: { username: ann, password: open-sesame-42 }, tls: { verify: false }";
  const cases: readonly (readonly [params: string, message: string])[] = [
    [`brokers: "${server.tlsBrokers}", publish: a, body: x, ${tls}`, "(CERT_HAS_EXPIRED)"],
    [`brokers: "${server.tlsBrokers}", publish: a, body: x`, "does it speak TLS there?"],
    [
      `brokers: "${server.tlsBrokers}", publish: missing, body: x, ${signIn}`,
      "no such topic (UNKNOWN_TOPIC_OR_PARTITION)",
    ],
    [
      `brokers: "${server.tlsBrokers}", publish: a, body: x, tls: { verify: false }`,
      "closed the connection (ECONNRESET)",
    ],
    [
      `brokers: "${server.tlsBrokers}", publish: a, body: x, tls: { verify: false },
       sasl: { mechanism: scram-sha-512, username: ann, password: open-sesame-42 }`,
      "sign-in failed: The broker does not support the requested SASL mechanism",
    ],
    ["publish: a, body: x, partition: 9", 'topic "a" has no partition 9: it has 4'],
    ['subscribe: a, from: "99"', "(OFFSET_OUT_OF_RANGE)"],
    [
      'brokers: "127.0.0.1:1, 127.0.0.1:2", publish: a, body: x',
      "cannot connect to Kafka at 127.0.0.1 port 2: 127.0.0.1 port 2 refused the connection (ECONNREFUSED)",
    ],
    [`brokers: "127.0.0.1:${http.port}", publish: a, body: x`, "it is no server of Kafka"],
    [
      `brokers: "127.0.0.1:${silent.port}", publish: a, body: x, timeout: 500ms`,
      "timed out after 500ms while connecting to Kafka",
    ],
    [
      `brokers: "127.0.0.1:${half.port}", publish: a, body: x, timeout: 500ms`,
      "timed out after 500ms while connecting to Kafka",
    ],
  ];
  const steps = cases.map(([params]) => `
      - { uses: kafka, timeout: 30s, with: { ${params} } }`);
  await withFiles({ "flow.yml": flow(steps.join("")) }, async (cwd) => {
    const { stdout } = await runCli(["flow.yml"], { cwd, env: { BROKERS: server.brokers } });
    const parts = stdout.split(/^ {1,3}\d+\. /m).slice(1);
    for (const [index, [, message]] of cases.entries()) {
      assertStringIncludes(parts[index]!, message);
    }
  });
});

Deno.test("kafka connects to no server that the run may not use", async () => {
  const text = flow(`
      - uses: kafka
        with: { publish: a, body: x }`);
  await withFiles({ "flow.yml": text }, async (cwd) => {
    await using server = await kafkaServer();
    const args = ["--allow-net=127.0.0.1:1", "flow.yml"];
    const { stdout } = await runCli(args, { cwd, env: { BROKERS: server.brokers } });
    assertStringIncludes(stdout, "--allow-net");
    assertStringIncludes(stdout, "1 failed (1)");
  });
});

Deno.test("examples/network/kafka.yml publishes and receives", async () => {
  const cwd = fromFileUrl(new URL("../../../examples/network/", import.meta.url));
  await using server = await kafkaServer();
  const { stdout } = await runCli(["kafka.yml"], { cwd, env: { KAFKA_BROKERS: server.brokers } });
  assertPassed(stdout);
});
