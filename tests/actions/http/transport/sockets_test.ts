import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Socket } from "node:net";
import { DEFAULT_CONNECTION } from "../../../../src/actions/http/connection/connection.ts";
import { readRequest } from "../../../../src/actions/http/request/read_request.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import {
  acquireSlot,
  ConcurrencyLimiter,
} from "../../../../src/actions/http/transport/concurrency_limiter.ts";
import { send } from "../../../../src/actions/http/transport/send.ts";
import {
  socketLimit,
  type SocketOptions,
  Sockets,
  socketsOf,
} from "../../../../src/actions/http/transport/sockets.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { actionContext, type TestContext } from "../../../support/action_context.ts";
import { fakeClock } from "../../../support/fake_clock.ts";
import { until } from "../../../support/run/processes.ts";
import { rawServer, response } from "../../../support/servers/raw_server.ts";

const { clock } = denoHost();

function answering() {
  return rawServer(async (connection) => {
    while (await connection.request()) await connection.send(response("200 OK", "x"));
  });
}

/** Sends many requests at once, each once it has a place. */
async function sendAll(sockets: Sockets, urls: readonly string[], method = "GET"): Promise<number> {
  await using context = actionContext();
  const codes = await Promise.all(urls.map(async (url) => {
    await acquireSlot(sockets.limiter, context);
    const { request } = readRequest({ method, url });
    const options = {
      sockets,
      connection: DEFAULT_CONNECTION,
      clock: denoHost().clock,
      fresh: false,
      maxBody: 1_000_000,
      sink: undefined,
      onDispatch() {},
    };
    const { code } = await send(request, options).reply;
    sockets.limiter.release();
    return code;
  }));
  return codes.filter((code) => code === 200).length;
}

Deno.test("Sockets opens no more connections than it may and uses them again", async () => {
  await using server = answering();
  const sockets = new Sockets(4, clock);
  assertEquals(await sendAll(sockets, Array(100).fill(server.url)), 100);
  assertEquals([server.connections, server.requests.length], [4, 100]);
  sockets.destroy();
});

Deno.test("Sockets closes idle connections to make room for another host", async () => {
  await using first = answering();
  await using second = answering();
  await using third = answering();
  const sockets = new Sockets(3, clock);
  for (const server of [first, second, third, first]) {
    assertEquals(await sendAll(sockets, Array(9).fill(server.url)), 9);
  }
  const mixed = Array.from({ length: 60 }, (_, at) => [first, second, third][at % 3]!.url);
  assertEquals(await sendAll(sockets, mixed), 60);
  assertEquals(await sendAll(sockets, mixed, "POST"), 60);
  sockets.destroy();
});

Deno.test("Sockets closes a connection that becomes idle while another host waits", async () => {
  await using first = answering();
  await using second = answering();
  const sockets = new Sockets(1, clock);
  const replies = [first, second].map(({ url }) => {
    const { request } = readRequest({ get: url });
    return send(request, {
      sockets,
      connection: DEFAULT_CONNECTION,
      clock: denoHost().clock,
      fresh: false,
      maxBody: 1_000_000,
      sink: undefined,
      onDispatch() {},
    }).reply;
  });
  assertEquals((await Promise.all(replies)).map(({ code }) => code), [200, 200]);
  sockets.destroy();
});

Deno.test("Sockets opens a connection for each request that is not safe to repeat", async () => {
  await using server = answering();
  const sockets = new Sockets(4, clock);
  assertEquals(await sendAll(sockets, Array(10).fill(server.url)), 10);
  assertEquals(await sendAll(sockets, Array(10).fill(server.url), "POST"), 10);
  assertEquals(server.connections, 4 + 10);
  assert(server.requests.slice(10).every((text) => /^Connection: close\r$/m.test(text)));
  sockets.destroy();
});

for (
  const [header, connections] of [
    ["Keep-Alive: timeout=1", 3],
    ["keep-alive: timeout=0, max=5", 3],
    ["Keep-Alive: timeout=15", 1],
    ["Connection: close", 3],
  ] as const
) {
  Deno.test(`Sockets uses a connection as long as the server keeps it: ${header}`, async () => {
    await using server = rawServer(async (connection) => {
      while (await connection.request()) {
        await connection.send(response("200 OK", "x", [header]));
      }
    });
    const sockets = new Sockets(4, clock);
    for (let index = 0; index < 3; index++) {
      assertEquals(await sendAll(sockets, [server.url]), 1);
    }
    assertEquals(server.connections, connections);
    sockets.destroy();
  });
}

Deno.test("ConcurrencyLimiter gives slots in the order in which they were asked for", () => {
  const limiter = new ConcurrencyLimiter(2, clock);
  const order: number[] = [];
  const ask = (index: number, wanted = true) =>
    limiter.acquire(() => {
      if (wanted) order.push(index);
      return wanted;
    });
  ask(0, false);
  for (const index of [1, 2, 3, 4, 5]) ask(index, index !== 4);
  assertEquals(order, [1, 2]);
  limiter.release();
  assertEquals(order, [1, 2, 3]);
  limiter.release();
  assertEquals(order, [1, 2, 3, 5]);
  limiter.release();
  limiter.release();
  ask(6);
  ask(7);
  ask(8);
  assertEquals(order, [1, 2, 3, 5, 6, 7]);
});

Deno.test("acquireSlot() stops waiting when the action has to stop", async () => {
  await using context = actionContext();
  const limiter = new ConcurrencyLimiter(1, clock);
  await acquireSlot(limiter, context);
  const second = acquireSlot(limiter, context);
  const reason = new StepError("interrupted");
  context.stop(reason);
  assertEquals(await second.catch((error) => error), reason);
  await using later = actionContext();
  const third = acquireSlot(limiter, later);
  limiter.release();
  await third;
});

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units
Max processes             9                    9                    processes
Max open files            ${soft}                20000                files
`;

Deno.test("socketLimit() stays below the limit of open files", () => {
  assertEquals(socketLimit(limits("256")), 192);
  assertEquals(socketLimit(limits("20000")), 1024);
  assertEquals(socketLimit(limits("unlimited")), 1024);
  assertEquals(socketLimit(limits("10")), 1);
  assertEquals(socketLimit(""), 960);
});

Deno.test("socketLimit() reads the limit of this process", () => {
  assert(socketLimit() >= 1 && socketLimit() <= 1024);
});

const BODILESS: readonly (readonly [method: string, status: string])[] = [
  ["HEAD", "200 OK"],
  ["HEAD", "404 Not Found"],
  ["GET", "204 No Content"],
  ["DELETE", "204 No Content"],
  ["GET", "304 Not Modified"],
];

Deno.test("an unexpected body belongs neither to its response nor to the next", async (test) => {
  for (const [method, status] of BODILESS) {
    await test.step(`${method} ${status}`, async () => {
      await using context = actionContext();
      await using server = rawServer(async (connection) => {
        await connection.request();
        await connection.send(response(status, "a body"));
        while (await connection.request()) await connection.send(response("200 OK", "late"));
      });
      const { res } = await runHttp({ method, url: server.url }, context);
      assertEquals([res.status, res.body], [status, ""]);
    });
  }
});

Deno.test("more than the length of a body is still an error", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(response("200 OK", "ok") + "more");
    await connection.closed();
  });
  await assertRejects(() => runHttp({ get: server.url }, context), StepError, "not valid HTTP");
});

Deno.test("a connection over which more came than was asked for is not used again", async () => {
  await using context = actionContext();
  const [answered, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using server = rawServer(async (connection) => {
    while (await connection.request()) {
      await connection.send(response("200 OK", `${connection.index}`));
      if (connection.index > 0) continue;
      await answered.promise;
      await connection.send("HTTP/1.1 500 Nobody");
      sent.resolve();
    }
  });
  const sockets = socketsMadeBy(context);
  const bodyOf = async () => (await runHttp({ get: server.url }, context)).res.body;
  assertEquals(await bodyOf(), "0");
  const before = sockets[0]!.bytesRead;
  answered.resolve();
  await sent.promise;
  await until(() => sockets[0]!.bytesRead > before, "it has arrived");
  assertEquals([await bodyOf(), await bodyOf()], ["1", "1"]);
  assertEquals(server.connections, 2);
});

/** The sockets that a run opens from now on, in order. */
function socketsMadeBy(context: TestContext): readonly Socket[] {
  const made: Socket[] = [];
  const pool = socketsOf(context);
  const open = pool.createConnection.bind(pool);
  pool.createConnection = (options: SocketOptions) => {
    const socket = open(options);
    made.push(socket);
    return socket;
  };
  return made;
}

/** Answers the first request of its first connection and closes that at the second. */
function staleServer(second: string | undefined = undefined) {
  return rawServer(async (connection) => {
    if (connection.index > 0) {
      const request = await connection.request();
      await connection.send(response("200 OK", request?.startsWith("HEAD") ? "" : "fresh"));
      return;
    }
    await connection.request();
    await connection.send(response("200 OK", "first"));
    await connection.request();
    if (second !== undefined) await connection.send(second);
  });
}

for (const method of ["get", "head", "options"]) {
  Deno.test(`http sends ${method} once more when a used connection was closed without an answer`, async () => {
    await using context = actionContext();
    await using server = staleServer();
    await runHttp({ get: `${server.url}/first` }, context);
    const { res } = await runHttp({ [method]: `${server.url}/second` }, context);
    assertEquals(res.body, method === "head" ? "" : "fresh");
    const second = `${method.toUpperCase()} /second`;
    assertEquals(server.requests.map((text) => text.split(" HTTP")[0]), [
      "GET /first",
      second,
      second,
    ]);
    assertEquals(context.notes, [
      `${method.toUpperCase()} ${server.url}/second is sent again: the server closed the connection without an answer`,
    ]);
  });
}

for (const method of ["post", "patch", "put", "delete"]) {
  Deno.test(`http sends ${method} over a new connection, and never again`, async () => {
    await using context = actionContext();
    await using server = rawServer(async (connection) => {
      await connection.request();
      if (connection.index > 0) return;
      await connection.send(response("200 OK", "first"));
      await connection.closed();
    });
    await runHttp({ get: `${server.url}/first` }, context);
    await assertRejects(
      () => runHttp({ [method]: `${server.url}/second` }, context),
      StepError,
      `127.0.0.1 port ${server.port} closed the connection without an answer`,
    );
    assertEquals([server.connections, server.requests.length], [2, 2]);
    assertEquals(context.notes, []);
  });
}

Deno.test("http does not resend a request with a partial response", async () => {
  await using context = actionContext();
  await using server = staleServer("HTTP/1.1 2");
  await runHttp({ get: server.url }, context);
  await assertRejects(
    () => runHttp({ get: server.url }, context),
    StepError,
    "closed the connection",
  );
  assertEquals([server.connections, server.requests.length], [1, 2]);
});

Deno.test("http sends nothing again over a first connection", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await connection.request();
  });
  await assertRejects(
    () => runHttp({ get: server.url }, context),
    StepError,
    `127.0.0.1 port ${server.port} closed the connection without an answer`,
  );
  assertEquals([server.connections, server.requests.length], [1, 1]);
});

Deno.test("http sends a request once more at the most", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await connection.request();
    if (connection.index > 0) return;
    await connection.send(response("200 OK"));
    await connection.request();
  });
  await runHttp({ get: server.url }, context);
  await assertRejects(() => runHttp({ get: server.url }, context), StepError, "without an answer");
  assertEquals([server.connections, server.requests.length], [2, 3]);
});

Deno.test("http does not send a request again that was stopped on a used connection", async () => {
  await using context = actionContext();
  const gone = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(response("200 OK"));
    await connection.request();
    await connection.closed();
    gone.resolve();
  });
  await runHttp({ get: server.url }, context);
  await assertRejects(
    () => runHttp({ get: server.url, timeout: "400ms" }, context),
    StepError,
    "timed out after 400ms",
  );
  await gone.promise;
  // A request that came later would be seen before the answer to this one.
  await runHttp({ get: `${server.url}/last` }, context).catch(() => {});
  assertEquals(server.requests.map((text) => text.split(" ")[1]), ["/", "/", "/last"]);
});

for (const method of ["get", "options"]) {
  Deno.test(`http uses a connection again for ${method}`, async () => {
    await using context = actionContext();
    await using server = rawServer(async (connection) => {
      while (await connection.request()) await connection.send(response("200 OK"));
    });
    for (let count = 0; count < 5; count++) {
      await runHttp({ [method]: server.url, body: "x".repeat(1000) }, context);
    }
    assertEquals([server.connections, server.requests.length], [1, 5]);
  });
}

Deno.test("http sends each POST over a connection of its own, even if the server keeps them", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    while (await connection.request()) {
      await connection.send(
        response("200 OK", String(connection.index), ["Connection: keep-alive"]),
      );
    }
  });
  for (const [index, headers] of ([{}, { Connection: "keep-alive" }, {}] as Dict[]).entries()) {
    const { res } = await runHttp({ post: server.url, headers }, context);
    assertEquals(res.body, String(index));
  }
  assertEquals(
    server.requests.map((text) => [...text.matchAll(/^connection:.*$/gim)].map(([line]) => line)),
    server.requests.map(() => ["Connection: close"]),
  );
});

Deno.test("http sends a body without waiting, even with an Expect header", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(response("200 OK"));
  });
  const headers = { expect: "100-continue" };
  const { req } = await runHttp({ post: server.url, body: "b", headers }, context);
  assertEquals((req.headers as Record<string, string>).Expect, undefined);
  assertEquals(server.requests.map((text) => /expect/i.test(text)), [false]);
});

Deno.test("acquireSlot() pauses the timeout only where it has to wait", async () => {
  const limiter = new ConcurrencyLimiter(1, clock);
  await using first = actionContext();
  await using second = actionContext();
  await acquireSlot(limiter, first);
  assertEquals(first.turns.paused, 0);
  const waiting = acquireSlot(limiter, second);
  assertEquals(second.turns, { paused: 1, resumed: 0 });
  limiter.release();
  await waiting;
  assertEquals(second.turns, { paused: 1, resumed: 1 });
  assertEquals([first.stops, second.stops], [0, 0]);
});

Deno.test("acquireSlot() gives the slot of a stopped action to the next", async () => {
  const limiter = new ConcurrencyLimiter(1, clock);
  await using first = actionContext();
  await using second = actionContext();
  await acquireSlot(limiter, first);
  const stopped = acquireSlot(limiter, second);
  const next = acquireSlot(limiter, first);
  second.stop(new StepError("interrupted"));
  await assertRejects(() => stopped, StepError, "interrupted");
  limiter.release();
  await next;
  assertEquals(limiter.isFull, true);
});

Deno.test("http gives its request when it is stopped in the queue", async () => {
  await using context = actionContext();
  const { limiter } = socketsOf(context);
  while (!limiter.isFull) await acquireSlot(limiter, context);
  const params = { get: "http://h/x", headers: { Authorization: "Bearer abc" } };
  const result = runHttp(params, context);
  context.stop(new StepError("interrupted"));
  const error = await assertRejects(() => result, StepError, "interrupted");
  assertEquals(error.details.req?.url, "http://h/x");
});

/** A limiter that twice as many ask as it may let in. */
function fullLimiter(limit: number) {
  const clock = fakeClock();
  const limiter = new ConcurrencyLimiter(limit, clock);
  let taken = 0;
  for (let index = 0; index < 2 * limit; index++) {
    limiter.acquire(() => {
      taken++;
      return true;
    });
  }
  return { clock, limiter, taken: () => taken };
}

Deno.test("ConcurrencyLimiter doubles its limit from time to time while nothing is released", () => {
  const { clock, taken } = fullLimiter(100);
  assertEquals(taken(), 8);
  clock.advance(9);
  assertEquals(taken(), 8);
  clock.advance(1);
  assertEquals(taken(), 16);
  clock.advance(20);
  assertEquals(taken(), 64);
  clock.advance(1000);
  assertEquals([taken(), clock.waiting()], [100, 0]);
});

Deno.test("ConcurrencyLimiter raises its limit by what is released, if that is not much", () => {
  const { clock, limiter, taken } = fullLimiter(1000);
  const release = (count: number) => {
    for (let index = 0; index < count; index++) limiter.release();
    clock.advance(1);
  };
  release(8);
  assertEquals(taken(), 8 + 2 * 8);
  release(16);
  assertEquals(taken(), 8 + 2 * (8 + 16));
  release(32);
  assertEquals(taken(), 8 + 2 * (8 + 16) + 32);
  release(1);
  assertEquals(taken(), 8 + 2 * (8 + 16 + 1) + 32);
  limiter.close();
  assertEquals(clock.waiting(), 0);
});

Deno.test("ConcurrencyLimiter starts with a low limit again once all was released", () => {
  const clock = fakeClock();
  const limiter = new ConcurrencyLimiter(100, clock);
  const askFor = (count: number) => {
    let taken = 0;
    for (let index = 0; index < count; index++) limiter.acquire(() => ++taken > 0);
    return taken;
  };
  assertEquals(askFor(20), 8);
  for (let index = 0; index < 20; index++) limiter.release();
  assertEquals(askFor(20), 8);
});
