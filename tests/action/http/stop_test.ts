import { assertEquals, assertRejects } from "@std/assert";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { type RawConnection, rawServer, response } from "../../support/servers/raw_server.ts";

/** A server that begins an answer, never ends it and waits for the client to go away. */
function silentServer(beginning: string) {
  const gone = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const server = rawServer(async (connection: RawConnection) => {
    await connection.request();
    if (beginning) await connection.send(beginning);
    arrived.resolve();
    await connection.closed();
    gone.resolve();
  });
  return { server, gone: gone.promise, arrived: arrived.promise };
}

const BEGINNINGS: readonly (readonly [answer: string, what: string, during: string])[] = [
  ["", "send", "while waiting for the answer of"],
  [
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "read the response to",
    "while receiving the body from",
  ],
];

for (const [beginning, what, during] of BEGINNINGS) {
  Deno.test(`http closes the connection when its time is over ${during} a server`, async () => {
    await using context = actionContext();
    const { server, gone } = silentServer(beginning);
    await using _ = server;
    const error = await assertRejects(
      () => runHttp({ post: `${server.url}/x`, body: "b", timeout: "400ms" }, context),
      StepError,
      `cannot ${what} POST "${server.url}/x": the request timed out after 400ms ${during} 127.0.0.1 port ${server.port}`,
    );
    assertEquals([error.details.req?.method, error.details.req?.body], ["POST", "b"]);
    await gone;
    assertEquals(context.stops, 0);
  });

  Deno.test(`http closes the connection when it is stopped ${during} a server`, async () => {
    await using context = actionContext();
    const { server, gone, arrived } = silentServer(beginning);
    await using _ = server;
    const result = runHttp({ get: server.url }, context);
    arrived.then(() => context.stop(new StepError("interrupted")));
    const error = await assertRejects(() => result, StepError, "interrupted");
    assertEquals(error.details.req?.url, `${server.url}/`);
    await gone;
    assertEquals(context.stops, 0);
  });
}

Deno.test("http counts redirects in its time", async () => {
  await using context = actionContext();
  const gone = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(response("302 Found", "", ["Location: /next"]));
    await connection.request();
    await connection.closed();
    gone.resolve();
  });
  await assertRejects(
    () => runHttp({ get: server.url, timeout: "400ms" }, context),
    StepError,
    `cannot send GET "${server.url}/next": the request timed out after 400ms`,
  );
  await gone.promise;
});

Deno.test("http closes the connection of a server that answers before it has read the body", async () => {
  await using context = actionContext();
  const gone = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await connection.send(response("413 Content Too Large", "no"));
    // The body does not fit into what the system keeps for a connection.
    await result.catch(() => {});
    await connection.closed();
    gone.resolve();
  });
  const result = runHttp({ put: server.url, body: "x".repeat(32 << 20) }, context);
  assertEquals((await result).res.code, 413);
  await gone.promise;
});

Deno.test("http does not start a request that was already stopped", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => void await connection.request());
  const reason = new StepError("interrupted");
  context.stop(reason);
  await assertRejects(() => runHttp({ get: server.url }, context), StepError, "interrupted");
  assertEquals(server.connections, 0);
});

Deno.test("http measures from when a request has its socket to the end of the body", async () => {
  await using context = actionContext();
  let ticks = 1000;
  const host = { ...context.host, clock: { ...context.host.clock, ticks: () => ticks } };
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na");
    ticks += 250;
    await connection.send("b");
    await connection.closed();
  });
  assertEquals((await runHttp({ get: server.url }, { ...context, host })).elapsed, 250);
});
