import { assertEquals, assertMatch } from "@std/assert";
import { ActionAttempt } from "../../../src/action/attempt.ts";
import { makeOpenStep } from "../../../src/action/open_step.ts";
import { serve } from "../../../src/actions/listen/serve.ts";
import { actionContext } from "../../support/action_context.ts";
import { tlsCertificate } from "../../support/servers/tls_fixture.ts";

/** Times that no test has to wait for. */
const SHORT = {
  connections: 1000,
  headersTimeout: 100,
  handshakeTimeout: 100,
  requestTimeout: 150,
  idle: 200,
  connectionsCheckingInterval: 20,
};

/** Times that no test exceeds. */
const PATIENT = { ...SHORT, headersTimeout: 60_000, requestTimeout: 60_000, idle: 60_000 };

type Options = Partial<Parameters<typeof serve>[0]>;

/** An open server of its own, and connections to it. */
async function withListen(options: Options = {}, limits = SHORT) {
  const context = actionContext();
  const late = () =>
    Promise.resolve({
      readTemplates: (_: unknown, value: unknown) => () => value,
      failRun: (error: unknown) => Promise.reject(error),
    });
  const open = makeOpenStep(Object.assign(context, { late }) as typeof context);
  const attempt = new ActionAttempt(context, { program: "listen" });
  const { res: { port } } = await serve({ host: "127.0.0.1", ...options }, open, attempt, limits);
  return {
    open,
    notes: context.notes,
    connect: () => Deno.connect({ hostname: "127.0.0.1", port }),
    async [Symbol.asyncDispose]() {
      await open.close();
      attempt.end();
      await context[Symbol.asyncDispose]();
    },
  };
}

const encode = (text: string) => new TextEncoder().encode(text);

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

const NEVER = /(?!)/;

/** Sends a text, and reads until the server closes the connection or an answer is there. */
async function exchange(connection: Deno.Conn, text: string, end = /\r\n\r\n/): Promise<string> {
  let answer = "";
  try {
    await connection.write(encode(text));
    const buffer = new Uint8Array(65_536);
    for (let size; !end.test(answer) && (size = await connection.read(buffer)) !== null;) {
      answer += new TextDecoder().decode(buffer.subarray(0, size));
    }
  } catch (error) {
    if (
      !(error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe)
    ) {
      throw error;
    }
  }
  return answer;
}

/** The answer once a server has a place for another connection. */
async function answerOf(
  server: { readonly connect: () => Promise<Deno.Conn> },
  text: string,
): Promise<string> {
  for (;;) {
    using connection = await server.connect();
    const answer = await exchange(connection, text);
    if (answer !== "") return answer;
  }
}

Deno.test("listen has 1,000 connections; it closes more, and the run warns once", async () => {
  await using server = await withListen({}, PATIENT);
  const connections: Deno.Conn[] = [];
  try {
    for (let count = 0; count < 1000; count++) connections.push(await server.connect());
    assertMatch(await exchange(connections.at(-1)!, GET), /^HTTP\/1.1 204 /);
    for (const _ of [1, 2]) {
      using more = await server.connect();
      assertEquals(await exchange(more, GET), "");
    }
    assertEquals(server.notes, ['warning: "test" has 1000 connections: it closes others']);
    // The place of one that has gone is free.
    using last = connections.pop()!;
    const closing = GET.replace("Host", "Connection: close\r\nHost");
    assertMatch(await exchange(last, closing, NEVER), /^HTTP\/1.1 204 /);
    assertMatch(await answerOf(server, GET), /^HTTP\/1.1 204 /);
    assertEquals(server.open.kept.length, 3);
  } finally {
    for (const connection of connections) connection.close();
  }
});

Deno.test("listen cuts off clients that are slow to send", async () => {
  await using server = await withListen();
  for (
    const sent of [
      "",
      "GET / HTTP/1.1\r\nHost: x\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
    ]
  ) {
    using client = await server.connect();
    assertMatch(await exchange(client, sent), /^HTTP\/1.1 408 /, sent);
  }
  assertEquals(server.open.kept.length, 0);
});

Deno.test("listen cuts off a client that does not read", async () => {
  const routes = [
    { on: "GET /", respond: { body: "x".repeat(64e6) } },
    { on: "GET /ping" },
  ];
  await using server = await withListen({ routes }, { ...SHORT, connections: 1 });
  using client = await server.connect();
  await client.write(encode(GET));
  // It has the only place until then.
  assertMatch(await answerOf(server, GET.replace("/", "/ping")), /^HTTP\/1.1 204 /);
});

Deno.test("listen cuts off a client that begins no TLS handshake", async () => {
  await using server = await withListen(tlsCertificate("localhost"));
  using client = await server.connect();
  assertEquals(await exchange(client, ""), "");
});

Deno.test("listen answers a request that has no valid URL", async () => {
  await using server = await withListen();
  using client = await server.connect();
  const answer = await exchange(client, GET.replace("/", "http://[bad"), NEVER);
  assertMatch(answer, /^HTTP\/1.1 400 [^]*the URL of the request is invalid/);
});
