import { createServer, type Socket } from "node:net";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertHidden } from "../../support/assert_hidden.ts";
import { assertPassed } from "../../support/assert_passed.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { natsServer, SEED } from "../servers/nats_server.ts";

/** A workflow of one job with these steps. */
const flow = (steps: string) => `
name: NATS
vars: { url: "{{NATS_URL}}" }
jobs:
  - name: Subjects
    defaults: { nats: { url: "{{vars.url}}" } }
    steps:${steps}`;

const signedIn = "ann:open-sesame-42@127.0.0.1";

const STREAM = `
      - name: make a stream
        uses: nats
        with: { request: $JS.API.STREAM.CREATE.ORDERS, json: { name: ORDERS, subjects: ["orders.>"] } }
        test: res.message.body.config.name == "ORDERS"`;

Deno.test("nats publishes to a stream and receives from where it is told, also as a group", async () => {
  const steps = flow(`${STREAM}
      - uses: nats
        with: { publish: orders.new, stream: ORDERS, json: { id: 7 }, headers: { Nats-Msg-Id: a, tag: [x, y] } }
        test: res.stream == "ORDERS" && res.sequence == 1 && not res.duplicate
      - uses: nats
        with: { publish: orders.new, stream: ORDERS, json: { id: 7 }, headers: { Nats-Msg-Id: a } }
        test: res.sequence == 1 && res.duplicate
      - uses: nats
        with: { publish: orders.old, stream: ORDERS, file: body.txt }
        test: res.sequence == 2
      - uses: nats
        with: { publish: orders.bytes, file: bytes.bin }
      - uses: nats
        with: { subscribe: "orders.>", stream: ORDERS, from: beginning, max_messages: 3 }
        test: |
          res.messages[0].subject == "orders.new" && res.messages[0].body.id == 7 &&
          res.messages[0].raw == '{"id":7}' && res.messages[0].headers.tag == ["x", "y"] &&
          res.messages[0].sequence == 1 && res.messages[0].stream == "ORDERS" &&
          res.messages[1].body == "from a file" && res.message.body.base64 == "/w=="
      - uses: nats
        with: { subscribe: orders.*, stream: ORDERS, from: "2", until: message.subject == "orders.bytes" }
        test: len(res.messages) == 2
      - uses: nats
        with: { subscribe: orders.new, stream: ORDERS, from: "2026-01-01T00:00:00Z" }
        test: res.message.sequence == 1
      - name: a group goes on where it was
        uses: nats
        with: { subscribe: "orders.>", stream: ORDERS, from: beginning, group: billing, max_messages: 2 }
        test: res.message.sequence == 2
      - uses: nats
        with: { subscribe: "orders.>", stream: ORDERS, from: beginning, group: billing }
        test: res.message.sequence == 3`);
  await withFiles({ "flow.yml": steps, "body.txt": "from a file" }, async (cwd) => {
    await Deno.writeFile(`${cwd}/bytes.bin`, new Uint8Array([255]));
    await using server = await natsServer(cwd);
    const env = { NATS_URL: `nats://${signedIn}:${server.port}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertPassed(stdout);
  });
});

Deno.test("nats writes and reads keys of a bucket", async () => {
  const steps = flow(`
      - uses: nats
        with:
          request: $JS.API.STREAM.CREATE.KV_config
          json: { name: KV_config, subjects: ["$KV.config.>"], max_msgs_per_subject: 5 }
        test: res.message.body.config.name == "KV_config"
      - uses: nats
        with: { put: shop.theme, bucket: config, json: { dark: true } }
        test: res.revision == 1
      - uses: nats
        with: { get: shop.theme, bucket: config }
        test: res.value.dark && res.revision == 1
      - uses: nats
        with: { get: shop.none, bucket: config }
        test: res.value == nil && res.revision == 0
      - name: a deleted key
        uses: nats
        with: { publish: $KV.config.shop.theme, stream: KV_config, body: "", headers: { KV-Operation: DEL } }
      - uses: nats
        with: { get: shop.theme, bucket: config }
        test: res.value == nil`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await natsServer(cwd);
    const env = { NATS_URL: `nats://${signedIn}:${server.port}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertPassed(stdout);
  });
});

Deno.test("nats signs in by user, token and key, over TLS, and shows no secret", async () => {
  const step = (params: string) =>
    flow(`
      - uses: nats
        with: { publish: orders.new, body: x, ${params} }`);
  const ca = `tls: { ca: ${tlsPath("authority.pem")} }`;
  await withFiles({}, async (cwd) => {
    const run = async (url: string, params = "timeout: 5s") => {
      await Deno.writeTextFile(`${cwd}/flow.yml`, step(params));
      const { stdout, stderr } = await runCli(["-v", "--report", "json=report.json", "flow.yml"], {
        cwd,
        env: { NATS_URL: url },
      });
      const text = stdout + stderr + await Deno.readTextFile(`${cwd}/report.json`);
      for (const secret of ["open-sesame-42", SEED, "wrong-pass-1"]) {
        assertHidden(secret, text, url);
      }
      return stdout;
    };
    await using user = await natsServer(cwd, "user", "good");
    assertPassed(await run(`tls://${signedIn}:${user.port}`, ca));
    assertStringIncludes(await run(`nats://${signedIn}:${user.port}`), "wants TLS");
    await using token = await natsServer(cwd, "token");
    assertPassed(await run(`nats://127.0.0.1:${token.port}`, "token: open-sesame-42"));
    assertStringIncludes(
      await run(`nats://127.0.0.1:${token.port}`, "token: wrong-pass-1"),
      "sign-in failed: Authorization Violation",
    );
    assertStringIncludes(await run(`tls://127.0.0.1:${token.port}`), "has no TLS");
    await using nkey = await natsServer(cwd, "nkey");
    assertPassed(await run(`nats://127.0.0.1:${nkey.port}`, `nkey: ${SEED}`));
    await using expired = await natsServer(cwd, "user", "expired");
    assertStringIncludes(await run(`tls://${signedIn}:${expired.port}`, ca), "expired on");
  });
});

Deno.test("nats stays open in the background, alone, in a queue group and from a stream", async () => {
  const steps = flow(`${STREAM}
      - id: all
        uses: nats
        with: { subscribe: "orders.>", background: true }
      - id: one
        uses: nats
        with: { subscribe: orders.*, group: workers, background: true }
      - id: other
        uses: nats
        with: { subscribe: orders.*, group: workers, background: true }
      - id: stored
        uses: nats
        with: { subscribe: "orders.>", stream: ORDERS, background: true }
      - uses: nats
        with: { publish: orders.new, stream: ORDERS, json: { id: 7 }, headers: { trace: abc } }
      - uses: receive
        with: { from: all, timeout: 5s }
        test: message.body.id == 7 && message.headers.trace == "abc"
      - uses: receive
        with: { from: stored, timeout: 5s }
        test: message.sequence == 1 && message.stream == "ORDERS"
      - name: one of a group has it
        uses: receive
        with: { from: [one, other], timeout: 5s }
      - uses: receive
        with: { from: [one, other], none: 50ms }`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    await using server = await natsServer(cwd);
    const env = { NATS_URL: `nats://${signedIn}:${server.port}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertPassed(stdout);
  });
});

Deno.test("nats acknowledges what a step has taken; the rest goes back to the stream", async () => {
  const group = "stream: ORDERS, group: billing";
  const first = flow(`${STREAM}
      - id: bills
        uses: nats
        with: { subscribe: "orders.>", ${group}, background: true }
      - uses: nats
        with: { publish: orders.a, stream: ORDERS, body: "1" }
      - uses: nats
        with: { publish: orders.b, stream: ORDERS, body: "2" }
      - uses: nats
        with: { publish: orders.c, stream: ORDERS, body: "3" }
      - uses: receive
        with: { from: bills, where: message.body == "2", timeout: 5s }`);
  const second = flow(`
      - uses: nats
        with: { subscribe: "orders.>", ${group}, max_messages: 2, timeout: 5s }
        test: |
          any(res.messages, .body == "1") && any(res.messages, .body == "3")
      - name: all are acknowledged
        uses: nats
        with: { request: $JS.API.CONSUMER.INFO.ORDERS.billing, body: "" }
        test: |
          res.message.body.num_ack_pending == 0 && res.message.body.num_pending == 0`);
  await withFiles({ "first.yml": first, "second.yml": second }, async (cwd) => {
    await using server = await natsServer(cwd);
    const env = { NATS_URL: `nats://${signedIn}:${server.port}` };
    for (const file of ["first.yml", "second.yml"]) {
      const { stdout } = await runCli([file], { cwd, env });
      assertPassed(stdout);
    }
  });
});

Deno.test("nats asks another job for a reply", async () => {
  const text = flow(`
      - uses: nats
        with: { request: total, json: { of: 7 } }
        retry: { max_attempts: 50, interval: 100ms }
        test: res.message.body.total == 42 && res.message.headers.from == "service"`) + `
  - name: Service
    defaults: { nats: { url: "{{vars.url}}" } }
    steps:
      - id: asked
        uses: nats
        with: { subscribe: total, background: true }
      - uses: receive
        with: { from: asked, timeout: 20s }
      - uses: nats
        with: { reply: true, json: { total: 42 }, headers: { from: service } }`;
  await withFiles({ "flow.yml": text }, async (cwd) => {
    await using server = await natsServer(cwd);
    const env = { NATS_URL: `nats://${signedIn}:${server.port}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertPassed(stdout);
  });
});

/** Runs a workflow of steps that fail. */
async function failures(steps: readonly string[], cwd: string, args: readonly string[] = []) {
  const text = flow(steps.map((step) => `\n      - { uses: nats, with: { ${step} } }`).join(""));
  await Deno.writeTextFile(`${cwd}/bad.yml`, text.replace(/defaults:.*/, "on_failure: continue"));
  return await runCli([...args, "bad.yml"], { cwd, env: { NATS_URL: "nats://127.0.0.1" } });
}

Deno.test("nats explains rights, streams, requests without an answer, and what it cannot reach", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await natsServer(cwd);
    const here = `url: "nats://${signedIn}:${server.port}"`;
    const { stdout } = await failures([
      `${here}, publish: secret.a, body: x`,
      `${here}, subscribe: secret.b, timeout: 2s`,
      `${here}, request: nobody.there, body: x`,
      `${here}, publish: orders.new, stream: NONE, body: x`,
      `${here}, subscribe: orders.new, stream: NONE`,
      `${here}, get: a, bucket: none`,
      `${here}, subscribe: orders.quiet, timeout: 300ms`,
      `url: "nats://127.0.0.1:1", publish: a, body: x`,
      `${here}, reply: true, body: x`,
      `${here}, request: $JS.API.STREAM.CREATE.S, json: { name: S, subjects: [s] }`,
      `${here}, publish: s, stream: S, body: x`,
      `${here}, subscribe: s, stream: S, from: beginning`,
      `${here}, reply: true, body: x`,
    ], cwd);
    const place = `NATS at 127.0.0.1 port ${server.port}`;
    for (
      const text of [
        `cannot publish to subject "secret.a" of ${place}: Permissions Violation for Publish to "secret.a"`,
        `cannot receive from subject "secret.b" of ${place}: Permissions Violation for Subscription`,
        `cannot ask subject "nobody.there" of ${place}: no responders: nobody has subscribed to it`,
        `cannot publish to subject "orders.new" of ${place}: no stream stores "orders.new"`,
        `cannot subscribe to subject "orders.new" of stream "NONE" of ${place}: stream not found`,
        `cannot read key "a" of bucket "none" of ${place}: stream not found`,
        `timed out after 300ms while waiting for 1 message from subject "orders.quiet" of ${place}: no message came`,
        "127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
        "there is no message to answer",
        'cannot answer: the message from subject "s" was published, not requested',
      ]
    ) assertStringIncludes(stdout, text);
    const { stdout: denied } = await failures([`${here}, publish: a, body: x`], cwd, [
      "--allow-net=example.com",
    ]);
    assertStringIncludes(denied, "--allow-net does not name 127.0.0.1 port");
  });
});

/** A server that signs anybody in and then sends bytes without an end. */
async function rudeServer(bytes: string) {
  const sockets = new Set<Socket>();
  const data = new TextEncoder().encode(bytes);
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    const flood = () => {
      while (socket.write(data));
      socket.once("drain", flood);
    };
    socket.write(
      'INFO {"server_id":"x","version":"2.9.0","headers":true,"max_payload":1048576}\r\n',
    );
    let isSubscribed = false;
    socket.on("data", (chunk: Uint8Array) => {
      const text = new TextDecoder().decode(chunk);
      if (text.includes("PING")) socket.write("PONG\r\n");
      if (!text.includes("SUB ") || isSubscribed) return;
      isSubscribed = true;
      if (data.length > 0) flood();
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

Deno.test("nats is not kept busy by servers that flood, send half a message, or say nothing", async () => {
  await using flooding = await rudeServer("MSG a 1 1\r\nx\r\n".repeat(5000));
  await using half = await rudeServer(`MSG a 1 99999999\r\n${"x".repeat(65_000)}`);
  await using pings = await rudeServer("PING\r\n".repeat(5000));
  await using garbage = await rudeServer("garbage\r\n");
  await using quiet = await rudeServer("");
  await using silent = rawServer((connection) => connection.closed());
  await using web = rawServer(async (connection) => {
    await connection.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  await withFiles({}, async (cwd) => {
    const servers = [half, garbage, quiet, silent, web, flooding, pings];
    const steps = servers.map(({ port }) =>
      `url: "nats://127.0.0.1:${port}", subscribe: a, until: message.body == 0, timeout: 3s`
    );
    const { stdout } = await failures(steps, cwd);
    assertEquals(stdout.split("✗ nats").length, servers.length + 1);
  });
});
