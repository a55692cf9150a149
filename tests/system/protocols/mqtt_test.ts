import { assertEquals, assertStringIncludes } from "@std/assert";
import { createServer, type Socket } from "node:net";
import { assertHidden } from "../../support/assert_hidden.ts";
import { assertPassed } from "../../support/assert_passed.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { readDirectory } from "../../support/run/run_reports.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { mqttServer } from "../servers/mqtt_server.ts";

/** A workflow of one job with these steps. */
const flow = (steps: string, defaults = "") => `
name: MQTT
vars: { url: "{{MQTT_URL}}" }
jobs:
  - name: Topics
    defaults: { mqtt: { url: "{{vars.url}}"${defaults} } }
    steps:${steps}`;

const signedIn = "ann:open-sesame-42@127.0.0.1";

/** Publishes and receives what the server keeps, so that nothing happens at the same time. */
const KEPT = `
      - uses: mqtt
        with:
          publish: orders/7/paid
          qos: 2
          retain: true
          json: { id: 7 }
        test: res.confirmed
      - uses: mqtt
        with: { publish: orders/8/text, qos: 1, retain: true, file: body.txt }
      - uses: mqtt
        with: { publish: orders/9/bytes, retain: true, file: bytes.bin }
        test: not res.confirmed
      - uses: mqtt
        with: { subscribe: orders/+/paid, qos: 2 }
        test: |
          res.message.topic == "orders/7/paid" && res.message.body.id == 7 &&
          res.message.raw == '{"id":7}' && res.message.qos == 2 && res.message.retain
      - uses: mqtt
        with: { subscribe: [orders/8/text, orders/9/#], max_messages: 2, qos: 1 }
        test: |
          any(res.messages, .topic == "orders/8/text" && .body == "from a file" && .qos == 1) &&
          any(res.messages, .raw == { base64: "/w==" })
      - uses: mqtt
        with: { subscribe: "orders/#", until: message.body == "from a file" }
      - name: nothing is kept any more
        uses: mqtt
        with: { publish: orders/7/paid, retain: true, body: "" }`;

Deno.test("mqtt publishes and receives over each transport, in each version and quality", async () => {
  const files = {
    "flow.yml": flow(KEPT),
    "old.yml": flow(KEPT, ", version: 3.1.1"),
    "tls.yml": flow(KEPT, `, tls: { ca: ${tlsPath("authority.pem")} }`),
    "body.txt": "from a file",
  };
  await withFiles(files, async (cwd) => {
    await Deno.writeFile(`${cwd}/bytes.bin`, new Uint8Array([255]));
    await using server = await mqttServer(cwd);
    for (
      const url of [`mqtt://${signedIn}:${server.port}`, `ws://${signedIn}:${server.webPort}/mqtt`]
    ) {
      for (const file of ["flow.yml", "old.yml"]) {
        const { stdout } = await runCli([file], { cwd, env: { MQTT_URL: url } });
        assertPassed(stdout);
      }
    }
    for (
      const url of [
        `mqtts://${signedIn}:${server.tlsPort}`,
        `wss://${signedIn}:${server.webTlsPort}/mqtt`,
      ]
    ) {
      const { stdout } = await runCli(["tls.yml"], { cwd, env: { MQTT_URL: url } });
      assertPassed(stdout);
    }
  });
});

Deno.test("mqtt has user properties, properties, and a will that the server publishes at the end", async () => {
  const steps = flow(`
      - uses: mqtt
        with:
          publish: orders/7
          retain: true
          json: [1, 2]
          headers: { trace: abc, tag: [a, b] }
          properties:
            response_topic: orders/replies
            correlation_data: c-1
            message_expiry: 1m
      - uses: mqtt
        with: { subscribe: orders/7 }
        test: |
          res.message.body == [1, 2] && res.message.headers == { trace: "abc", tag: ["a", "b"] } &&
          res.message.properties.content_type == "application/json" &&
          res.message.properties.response_topic == "orders/replies" &&
          res.message.properties.correlation_data == "c-1" &&
          res.message.properties.message_expiry <= 60
      - uses: mqtt
        with:
          publish: status/device
          body: here
          will: { topic: status/device, body: gone, retain: true, qos: 1 }
          fresh: true
      - uses: mqtt
        with: { subscribe: status/device, until: message.body == "gone" }
      - name: JSON text under a type that says nothing stays text
        uses: mqtt
        with: { publish: orders/text, body: "no json", retain: true, properties: { content_type: application/json } }
      - uses: mqtt
        with: { subscribe: orders/text }
        test: res.message.body == "no json"`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await mqttServer(cwd);
    const env = { MQTT_URL: `mqtt://${signedIn}:${server.port}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertPassed(stdout);
  });
});

Deno.test("mqtt stays open in the background, also with a shared subscription, and a step receives", async () => {
  const steps = flow(`
      - id: all
        uses: mqtt
        with: { subscribe: "orders/#", qos: 2, background: true }
      - id: shared
        uses: mqtt
        with: { subscribe: $share/workers/orders/+/paid, background: true, version: 3.1.1 }
      - uses: mqtt
        with: { publish: orders/7/paid, qos: 1, json: { id: 7 } }
      - uses: mqtt
        with: { publish: orders/8/new, qos: 2, json: { id: 8 }, headers: { trace: abc } }
      - uses: receive
        with: { from: all, where: message.body.id == 8, timeout: 5s }
        test: message.topic == "orders/8/new" && message.qos == 2 && message.headers.trace == "abc"
      - uses: receive
        with: { from: all }
        test: message.body.id == 7
      - uses: receive
        with: { from: shared }
        test: message.topic == "orders/7/paid" && not message.retain
      - uses: receive
        with: { from: shared, none: 50ms }`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await mqttServer(cwd);
    const env = { MQTT_URL: `mqtt://${signedIn}:${server.port}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertPassed(stdout);
  });
});

/** The messages of failures, one a line. */
async function failures(steps: readonly string[], cwd: string, args: readonly string[] = []) {
  const text = flow(steps.map((step) => `\n      - { uses: mqtt, with: { ${step} } }`).join(""));
  await Deno.writeTextFile(`${cwd}/bad.yml`, text.replace(/defaults:.*/, "on_failure: continue"));
  return await runCli([...args, "bad.yml"], { cwd, env: { MQTT_URL: "mqtt://127.0.0.1" } });
}

Deno.test("mqtt explains sign-in, rights, certificates, and what is no server of MQTT", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await mqttServer(cwd, "expired");
    await using web = rawServer(async (connection) => {
      await connection.request();
      await connection.send(`HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n`);
    });
    const here = `url: "mqtt://${signedIn}:${server.port}"`;
    const steps = [
      `url: "mqtt://ann:wrong-pass-1@127.0.0.1:${server.port}", publish: orders/1, body: x`,
      `url: "mqtt://127.0.0.1:${server.port}", publish: orders/1, body: x, version: 3.1.1`,
      `${here}, publish: secret/1, body: x, qos: 1`,
      `${here}, subscribe: orders/none, timeout: 300ms`,
      `url: "mqtts://${signedIn}:${server.tlsPort}", publish: orders/1, body: x, tls: { ca: ${
        tlsPath("authority.pem")
      } }`,
      `url: "mqtts://${signedIn}:${server.port}", publish: orders/1, body: x, timeout: 1s`,
      `url: "ws://${signedIn}:${server.port}/mqtt", publish: orders/1, body: x, timeout: 1s`,
      `url: "ws://127.0.0.1:${web.port}/mqtt", publish: orders/1, body: x, timeout: 2s`,
      `url: "mqtt://127.0.0.1:1", subscribe: orders/1`,
    ];
    const { stdout } = await failures(steps, cwd, ["-v", "--report-dir", "out"]);
    const place = `MQTT at 127.0.0.1 port ${server.port}`;
    for (
      const text of [
        `cannot connect to ${place}: sign-in failed: Connection refused: Not authorized`,
        `cannot publish to topic "secret/1" of ${place}: Publish error: Not authorized`,
        "does the user have the right to this topic?",
        `timed out after 300ms while waiting for 1 message from topic "orders/none" of ${place}: no message came`,
        "expired on",
        `127.0.0.1 port ${server.port} closed the connection`,
        "Unexpected server response: 400",
        "127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
      ]
    ) assertStringIncludes(stdout, text);
    for (const [name, text] of Object.entries({ ...readDirectory(`${cwd}/out`), stdout })) {
      for (const secret of ["open-sesame-42", "wrong-pass-1"]) assertHidden(secret, text, name);
    }
    const { stdout: denied } = await failures([`${here}, publish: orders/1, body: x`], cwd, [
      "--allow-net=example.com",
    ]);
    assertStringIncludes(denied, "--allow-net does not name 127.0.0.1 port");
  });
});

/** A message on the topic `a`. */
const MESSAGE = [0x30, 5, 0, 1, 97, 0, 120];

Deno.test("mqtt acknowledges a message when a step has taken it", async () => {
  const acknowledged: number[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", (packet: Uint8Array) => {
      if (packet[0] === 0x10) socket.write(new Uint8Array([0x20, 3, 0, 0, 0]));
      if (packet[0] === 0x40) acknowledged.push(packet[3]!);
      if (packet[0] !== 0x82) return;
      const suback = [0x90, 4, packet[2]!, packet[3]!, 0, 1];
      const messages = [1, 2].flatMap((id) => [0x32, 7, 0, 1, 97, 0, id, 0, 48 + id]);
      socket.write(new Uint8Array([...suback, ...messages]));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const steps = flow(`
      - { id: all, uses: mqtt, with: { subscribe: a, qos: 1, background: true } }
      - { uses: receive, with: { from: all, where: message.raw == "2", timeout: 5s } }`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    const { port } = server.address() as { port: number };
    const { stdout } = await runCli(["flow.yml"], {
      cwd,
      env: { MQTT_URL: `mqtt://127.0.0.1:${port}` },
    });
    assertPassed(stdout);
  });
  await new Promise((resolve) => server.close(resolve));
  assertEquals(acknowledged, [2]);
});

/** A server that takes a subscription and then sends bytes without an end. */
async function rudeServer(bytes: readonly number[]) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    const flood = () => {
      while (socket.write(new Uint8Array(bytes)));
      socket.once("drain", flood);
    };
    socket.on("data", (packet: Uint8Array) => {
      if (packet[0] === 0x10) socket.write(new Uint8Array([0x20, 3, 0, 0, 0]));
      if (packet[0] !== 0x82) return;
      socket.write(new Uint8Array([0x90, 4, packet[2]!, packet[3]!, 0, 0]));
      if (bytes.length > 0) flood();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

Deno.test("mqtt is not kept busy by servers that flood, send half a packet, or say nothing", async () => {
  await using flooding = await rudeServer(new Array(5000).fill(MESSAGE).flat());
  await using half = await rudeServer([
    0x30,
    0xff,
    0xff,
    0xff,
    0x7f,
    0,
    1,
    ...new Array(65_000).fill(0),
  ]);
  await using silent = rawServer((connection) => connection.closed());
  await using quiet = await rudeServer([]);
  await using web = rawServer(async (connection) => {
    await connection.send(`HTTP/1.1 400 Bad Request\r\nServer: ${"x".repeat(200)}\r\n\r\n`);
  });
  await withFiles({}, async (cwd) => {
    const steps = [flooding, half, silent, quiet, web].map(({ port }) =>
      `url: "mqtt://127.0.0.1:${port}", subscribe: a, until: message.body == 0, timeout: 3s`
    );
    const { stdout } = await failures(steps, cwd);
    assertEquals(stdout.split("✗ mqtt").length, 6);
  });
});
