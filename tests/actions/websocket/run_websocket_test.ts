import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ActionContext, Dict, Value } from "../../../src/action/action.ts";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import { websocket } from "../../../src/actions/websocket/websocket.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";
import { digestServer } from "../../support/servers/digest_server.ts";
import { echoServer } from "../../support/servers/echo_sockets.ts";
import { httpProxy, socksProxy } from "../../support/servers/proxies.ts";
import { type RawConnection, rawServer } from "../../support/servers/raw_server.ts";
import { startTool } from "../../support/servers/tool_server.ts";
import { tlsCertificate, tlsText } from "../../support/servers/tls_fixture.ts";

const runWebsocket = runnerOf(websocket);

const CERTIFICATE = tlsCertificate("good");

/** The error of a step that cannot be carried out. */
async function failureOf(params: Dict, context: ActionContext): Promise<StepError> {
  return await assertRejects(() => runWebsocket(params, context), StepError);
}

/** Accepts a WebSocket, on which bytes can then be sent. */
async function upgrade(connection: RawConnection): Promise<void> {
  const request = await connection.request() ?? "";
  const [, key] = /sec-websocket-key: (.*)\r/i.exec(request) ?? [];
  const bytes = new TextEncoder().encode(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  const accept = new Uint8Array(await crypto.subtle.digest("SHA-1", bytes)).toBase64();
  await connection.send(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
}

Deno.test("websocket takes turns in sending and waiting", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const send = ["hello", { a: { b: 1, c: 2 } }, "bytes", [1, 2], null];
  const expect: Value[] = ["hello", { a: { b: 1 } }, { base64: "AQL/" }, null, [1, 2]];
  const { req, res, status, brief } = await runWebsocket(
    { url: server.url, send, expect },
    context,
  );
  assertEquals(res.messages, ["hello", { a: { b: 1, c: 2 } }, { base64: "AQL/" }, [1, 2]]);
  assertEquals([res.message, res.close_code, res.close_reason], [[1, 2], 1000, ""]);
  assertEquals([status, brief, res.code], [0, "4 messages", 101]);
  assertEquals([req.url, req.send], [`${server.url}/`, send]);
  assertEquals(await Promise.race([server.closed[0] ?? server.nextClose()]), 1000);
});

Deno.test("websocket sends bytes, and skips messages that it does not wait for", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const bytes = await runWebsocket(
    { url: server.url, send: { base64: "AAEC" }, expect: { base64: "AAEC" } },
    context,
  );
  assertEquals(bytes.res.messages, [{ base64: "AAEC" }]);
  const skipped = await runWebsocket(
    { url: `${server.url}/hello`, send: "many 9", expect: { n: 3 } },
    context,
  );
  assertEquals((skipped.res.messages as Dict[]).length, 4);
  const pattern = await runWebsocket({ url: `${server.url}/hello`, expect: "/^wel/" }, context);
  assertEquals(pattern.res.message, "welcome");
});

Deno.test("websocket reads until an expression is true, or as many messages as it may", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const until = "message.n == 3 && len(res.messages) == 3 && res.message == message";
  const found = await runWebsocket({ url: server.url, send: "many 9", until }, context);
  assertEquals((found.res.messages as Dict[]).length, 3);
  const some = await runWebsocket({ url: server.url, send: "many 9", max_messages: 2 }, context);
  assertEquals(some.res.message, { n: 2, of: "9" });
  const never = await failureOf(
    { url: server.url, send: "many 9", until: "message.n == 10", max_messages: 5 },
    context,
  );
  assertEquals(
    never.message,
    `"${server.url}/" came to its "max_messages" while waiting for "until" to be true: ` +
      `5 messages came, the last is {"n":5,"of":"9"}`,
  );
});

Deno.test("websocket takes hundreds of thousands of messages that come at once", async () => {
  await using context = actionContext();
  const count = 300_000;
  await using server = rawServer(async (connection) => {
    await upgrade(connection);
    const messages = new Uint8Array(3 * count);
    for (let at = 0; at < messages.length; at += 3) messages.set([0x81, 1, 0x78], at);
    await connection.send(messages);
    await connection.closed();
  });
  const url = `ws://127.0.0.1:${server.port}`;
  const until = `len(res.messages) == ${count}`;
  const { res } = await runWebsocket({ url, until, timeout: "20s" }, context);
  assertEquals((res.messages as Dict[]).length, count);
});

Deno.test("websocket says by which code the server closed", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const read = (send: string) => runWebsocket({ url: server.url, send, max_messages: 9 }, context);
  const fine = await read("bye 1000 done");
  assertEquals([fine.status, fine.res.close_code, fine.res.close_reason], [0, 1000, "done"]);
  const refused = await read("bye 4401 not signed in");
  assertEquals([refused.status, refused.res.close_code, refused.brief], [
    1,
    4401,
    "closed by 4401: not signed in",
  ]);
  const error = await failureOf(
    { url: server.url, send: "bye 3000 out of stock", expect: { a: 1 } },
    context,
  );
  assertEquals(
    error.message,
    `"${server.url}/" was closed (3000: out of stock) while waiting for a message like expect[0]: ` +
      "no message came",
  );
});

Deno.test("websocket says in which phase it timed out, and what came", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const waiting = await failureOf({
    ...{ url: server.url, timeout: "400ms" },
    send: [{ state: "new", id: 7 }, "silent"],
    expect: [{ id: 7 }, { state: "paid" }],
  }, context);
  assertEquals(
    waiting.message,
    `timed out after 400ms while waiting for a message like expect[1] from "${server.url}/": ` +
      `1 message came, the last is {"state":"new","id":7}`,
  );
  assertEquals((waiting.details.res as Dict).messages, [{ state: "new", id: 7 }]);
  const other = await failureOf(
    { url: server.url, timeout: "400ms", send: { state: "new" }, expect: { state: "paid" } },
    context,
  );
  assertStringIncludes(other.message, '; it differs: at .state: expected "paid", received "new"');
  await using mute = rawServer((connection) => connection.closed());
  const url = `ws://127.0.0.1:${mute.port}/x`;
  const handshake = await failureOf({ url, timeout: "400ms" }, context);
  assertEquals(
    handshake.message,
    `cannot open a WebSocket to "${url}": timed out after 400ms while waiting for the answer of ` +
      `127.0.0.1 port ${mute.port}`,
  );
  assertEquals(context.stops, 0);
});

Deno.test("websocket reports a handshake that is refused, with its status and body", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const error = await failureOf({ url: `${server.url}/deny` }, context);
  assertEquals(
    error.message,
    `cannot open a WebSocket to "${server.url}/deny": the server answered 403 Forbidden: ` +
      "you may not come in",
  );
  const { code, body } = error.details.res as Dict;
  assertEquals([code, body], [403, "you may not\n  come in"]);
  await using page = rawServer(async (connection) => {
    await connection.request();
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  });
  const other = await failureOf({ url: `ws://127.0.0.1:${page.port}` }, context);
  assertStringIncludes(other.message, "the server answered 200 OK: hello");
});

Deno.test("websocket explains why there is no connection", async () => {
  await using context = actionContext();
  await using secure = echoServer(CERTIFICATE);
  await using plain = echoServer();
  await using ssh = rawServer((connection) => connection.send("SSH-2.0-OpenSSH\r\n"));
  const cases = [
    [`ws://127.0.0.1:${ssh.port}/`, `127.0.0.1 port ${ssh.port} is not HTTP (HPE_`],
    ["ws://127.0.0.1:1/", "127.0.0.1 port 1 refused the connection (ECONNREFUSED)"],
    ["ws://nowhere.invalid/", 'cannot resolve host "nowhere.invalid" (ENOTFOUND)'],
    [`wss://127.0.0.1:${secure.port}/`, "is signed by an unknown certificate authority"],
    [`wss://127.0.0.1:${plain.port}/`, "does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)"],
  ] as const;
  for (const [url, reason] of cases) {
    const { message, hint } = await failureOf({ url }, context);
    assertEquals(/https?:/.test(hint ?? ""), false, hint);
    assertStringIncludes(message, `cannot open a WebSocket to "${url}": `);
    assertStringIncludes(message, reason);
  }
  const none = await failureOf({ url: plain.url, subprotocols: ["chat.1"] }, context);
  assertStringIncludes(none.message, 'did not choose one of the subprotocols "chat.1"');
  const permissions = { net: [{ host: "example.com", below: false }] };
  const denied = await failureOf({ url: plain.url }, { ...context, permissions });
  assertStringIncludes(denied.message, "--allow-net does not name 127.0.0.1");
});

Deno.test("websocket reports data that is not of the protocol", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await upgrade(connection);
    await connection.send(Uint8Array.of(0xf7, 0x01, 0x41));
    await connection.closed();
  });
  const error = await failureOf({ url: `ws://127.0.0.1:${server.port}`, expect: "x" }, context);
  assertStringIncludes(error.message, "sent what is not valid: ");
  assertStringIncludes(error.message, "(WS_ERR_");
});

Deno.test("websocket chooses a subprotocol, sends headers and follows redirects", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const { res } = await runWebsocket({
    url: `${server.url}/moved?a=b`,
    headers: { "x-trace": "t-1", accept: null },
    subprotocols: "chat.2",
    send: "x",
    expect: "x",
  }, context);
  assertEquals([res.subprotocol, res.url], ["chat.2", `${server.url}/other`]);
  assertEquals((res.redirects as Dict[])[0]!.code, 302);
  const [first, last] = server.requests;
  assertEquals(first!.url, `http://127.0.0.1:${server.port}/moved?a=b`);
  assertEquals(last!.headers.get("x-trace"), "t-1");
  assertEquals(last!.headers.get("accept"), null);
});

Deno.test("websocket offers the subprotocols of a header, too", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const { res } = await runWebsocket({
    url: server.url,
    headers: { "sec-websocket-protocol": "chat.2" },
    send: "x",
    expect: "x",
  }, context);
  assertEquals(res.subprotocol, "chat.2");
});

Deno.test("websocket gives timers a turn while pongs come without end", async () => {
  const chunk = new Uint8Array(2 ** 20);
  for (let at = 0; at < chunk.length; at += 2) chunk.set([0x8a, 0], at);
  let sent = 0;
  await using server = rawServer(async (connection) => {
    await upgrade(connection);
    for (; sent < 16; sent++) await connection.send(chunk);
    await connection.send(Uint8Array.of(0x81, 1, 0x7a));
    await connection.closed();
  });
  await using context = actionContext();
  let turns = 0;
  const ticking = setInterval(() => turns++);
  await runWebsocket({ url: `ws://127.0.0.1:${server.port}`, expect: "z" }, context);
  clearInterval(ticking);
  assert(turns >= 100, `${turns} turns in ${sent} MiB`);
});

Deno.test("websocket shares cookies with http, and signs in like it", async () => {
  await using context = actionContext();
  await using server = echoServer();
  await runWebsocket({ url: `${server.url}/cookie` }, context);
  await runHttp({ get: `http://127.0.0.1:${server.port}/` }, context);
  const auth = { bearer: "token-of-ann" };
  await runWebsocket({ url: server.url, auth }, context);
  await runWebsocket({ url: server.url.replace("ws://", "ws://ann:t0p-secret@") }, context);
  const [, page, signed, basic] = server.requests;
  assertEquals(page!.headers.get("cookie"), "ticket=abc");
  assertEquals(signed!.headers.get("cookie"), "ticket=abc");
  assertEquals(signed!.headers.get("authorization"), "Bearer token-of-ann");
  assertEquals(basic!.headers.get("authorization"), `Basic ${btoa("ann:t0p-secret")}`);
  assert(context.learned.includes("token-of-ann"));
});

Deno.test("websocket answers the challenge of a server", async () => {
  await using context = actionContext();
  await using server = digestServer({ qop: "auth", algorithm: "SHA-256" }, "ann", "t0p-secret");
  const auth = { digest: { username: "ann", password: "t0p-secret" } };
  const url = server.url.replace("http", "ws");
  const error = await failureOf({ url, auth }, context);
  assertStringIncludes(error.message, "the server answered 200 OK");
  assertEquals(server.codes, [401, 200]);
});

for (const kind of ["http", "socks5"] as const) {
  Deno.test(`websocket goes through a proxy, with TLS: ${kind}`, async () => {
    await using context = actionContext();
    await using server = echoServer(CERTIFICATE);
    await using proxy = await (kind === "http" ? httpProxy() : socksProxy());
    const { res } = await runWebsocket({
      url: `wss://shop.test:${server.port}/`,
      proxy: `${kind}://127.0.0.1:${proxy.port}`,
      tls: { ca: tlsText("authority.pem"), server_name: "localhost" },
      send: "x",
      expect: "x",
    }, context);
    assertEquals(res.message, "x");
    assertEquals((res.tls as { certificate: Dict }).certificate.subject, "CN=good");
    assertEquals(proxy.asked.length, 1);
  });
}

Deno.test("websocket goes away when it is stopped", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const closing = server.nextClose();
  const running = runWebsocket({ url: server.url, send: "silent", expect: "x" }, context);
  await server.heard;
  context.stop(new StepError("interrupted (SIGINT)"));
  const error = await assertRejects(() => running, StepError);
  assertStringIncludes(error.message, "interrupted (SIGINT)");
  assertEquals(await closing, 1001);
});

Deno.test("websocket speaks with a server of another library: compression, fragments, pings", async () => {
  await using context = actionContext();
  await using tool = await startTool("websocket/websocket_server.ts");
  const { res } = await runWebsocket({
    url: tool.url,
    send: ["fragments", "ping", "large"],
    expect: ["one two three", { pong: true }, null],
    until: "len(res.messages) == 3",
  }, context);
  assertEquals((res.message as string).length, 2_000_000);
  assertStringIncludes(
    String((res.headers as Dict)["Sec-Websocket-Extensions"]),
    "permessage-deflate",
  );
});
