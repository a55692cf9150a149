import { connectionLimit } from "../../../../src/host/machine.ts";
import { type AddressInfo, createServer } from "node:net";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { planRequest } from "../../../../src/actions/http/request/read_request.ts";
import { DEFAULT_CONNECTION } from "../../../../src/actions/http/connection/connection.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import {
  acquireSlot,
  clientOf,
  HttpClient,
  Limiter,
} from "../../../../src/actions/http/transport/client.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { actionContext } from "../../../support/action_context.ts";
import { until } from "../../../support/run/processes.ts";
import { rawServer, response } from "../../../support/servers/raw_server.ts";

const { clock } = denoHost();

function answering() {
  return rawServer(async (connection) => {
    while (await connection.request()) await connection.send(response("200 OK", "x"));
  });
}

function send(client: HttpClient, url: string, method = "GET") {
  const { request } = planRequest({ method, url });
  return client.send(request, {
    ...{ connection: DEFAULT_CONNECTION, clock, maxBody: 1_000_000 },
    onDispatch() {},
    onWait() {},
    log() {},
    warn() {},
  });
}

/** Sends many requests at once, each once it has a slot. */
async function sendAll(
  client: HttpClient,
  urls: readonly string[],
  method = "GET",
): Promise<number> {
  await using context = actionContext();
  const codes = await Promise.all(urls.map(async (url) => {
    await acquireSlot(client.limiter, context);
    const { code } = await send(client, url, method).reply;
    client.limiter.release();
    return code;
  }));
  return codes.filter((code) => code === 200).length;
}

Deno.test("HttpClient opens no more connections than it may and uses them again", async () => {
  await using server = answering();
  const client = new HttpClient(clock, 4);
  assertEquals(await sendAll(client, Array(100).fill(server.url)), 100);
  assertEquals([server.connections, server.requests.length], [4, 100]);
  assertEquals(await sendAll(client, Array(100).fill(server.url), "POST"), 100);
  assertEquals(server.connections, 4);
  client.close();
});

Deno.test("HttpClient closes idle connections to make room for another host", async () => {
  await using first = answering();
  await using second = answering();
  await using third = answering();
  const client = new HttpClient(clock, 3);
  for (const server of [first, second, third, first]) {
    assertEquals(await sendAll(client, Array(9).fill(server.url)), 9);
  }
  const mixed = Array.from({ length: 60 }, (_, at) => [first, second, third][at % 3]!.url);
  assertEquals(await sendAll(client, mixed), 60);
  assertEquals(await sendAll(client, mixed, "POST"), 60);
  client.close();
});

Deno.test("HttpClient gives the place of a connection that becomes idle to another host", async () => {
  await using first = answering();
  await using second = answering();
  const client = new HttpClient(clock, 1);
  const replies = [first, second].map(({ url }) => send(client, url).reply);
  assertEquals((await Promise.all(replies)).map(({ code }) => code), [200, 200]);
  client.close();
});

Deno.test("HttpClient opens at most 64 connections to a server at once, and pauses the others", async () => {
  const accepted = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await accepted.promise;
    while (await connection.request()) await connection.send(response("200 OK", "x"));
  });
  const client = new HttpClient(clock, 1000);
  let dispatched = 0, waiting = 0;
  const { request } = planRequest({ get: server.url });
  const replies = Array.from({ length: 100 }, () =>
    client.send(request, {
      ...{ connection: DEFAULT_CONNECTION, clock, maxBody: 1_000_000 },
      onDispatch: () => void dispatched++,
      onWait: () => void waiting++,
      log() {},
      warn() {},
    }).reply);
  assertEquals([dispatched, waiting, client.pool.counts.open], [64, 36, 64]);
  accepted.resolve();
  await Promise.all(replies);
  assertEquals(dispatched, 100);
  client.close();
});

Deno.test("HttpClient closes what was being opened for a request that is given up", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const client = new HttpClient(clock, 100);
  const url = `https://127.0.0.1:${listener.addr.port}/`;
  const exchanges = Array.from({ length: 20 }, () => send(client, url));
  for (const exchange of exchanges) exchange.abort(new StepError("enough"));
  await Promise.allSettled(exchanges.map(({ reply }) => reply));
  await until(() => client.pool.counts.open === 0, "all are closed");
  listener.close();
  client.close();
});

for (
  const [header, connections] of [
    ["Keep-Alive: timeout=1", 3],
    ["keep-alive: timeout=0, max=5", 3],
    ["Keep-Alive: timeout=15", 1],
    ["Connection: close", 3],
  ] as const
) {
  Deno.test(`HttpClient uses a connection as long as the server keeps it: ${header}`, async () => {
    await using server = rawServer(async (connection) => {
      while (await connection.request()) {
        await connection.send(response("200 OK", "x", [header]));
      }
    });
    const client = new HttpClient(clock, 4);
    for (let index = 0; index < 3; index++) {
      assertEquals(await sendAll(client, [server.url]), 1);
    }
    assertEquals(server.connections, connections);
    client.close();
  });
}

Deno.test("Limiter gives slots in the order in which they were asked for", () => {
  const limiter = new Limiter(2);
  assertEquals([1, 2, 3].map(() => limiter.tryAcquire()), [true, true, false]);
  const order: number[] = [];
  const [, second] = [1, 2, 3].map((index) => limiter.enqueue(() => order.push(index)));
  second!();
  limiter.release();
  assertEquals(order, [1]);
  limiter.release();
  assertEquals(order, [1, 3]);
  limiter.release();
  assertEquals([limiter.tryAcquire(), limiter.tryAcquire()], [true, false]);
});

Deno.test("acquireSlot() stops waiting when the action has to stop", async () => {
  await using context = actionContext();
  const limiter = new Limiter(1);
  await acquireSlot(limiter, context);
  const second = acquireSlot(limiter, context)!;
  const reason = new StepError("interrupted");
  context.stop(reason);
  assertEquals(await second.catch((error) => error), reason);
  await using later = actionContext();
  const third = acquireSlot(limiter, later);
  limiter.release();
  await third;
  assertEquals([context.stops, later.stops], [0, 0]);
});

const limits = (soft: string) =>
  `Limit                     Soft Limit           Hard Limit           Units
Max processes             9                    9                    processes
Max open files            ${soft}                20000                files
`;

const NONE = { get: () => undefined };

Deno.test("connectionLimit() stays below the limit of open files", () => {
  assertEquals(connectionLimit(NONE, limits("256")), 192);
  assertEquals(connectionLimit(NONE, limits("20000")), 1024);
  assertEquals(connectionLimit(NONE, limits("unlimited")), 1024);
  const more = { get: () => " 5000 " };
  assertEquals(connectionLimit(more, limits("20000")), 5000);
  assertEquals(connectionLimit(more, limits("4096")), 4032);
  assertEquals(connectionLimit(NONE, limits("10")), 1);
  assertEquals(connectionLimit(NONE, ""), 960);
  assert(connectionLimit(NONE) >= 1 && connectionLimit(NONE) <= 1024);
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

Deno.test("bytes after a response are no part of it, are noted, and end its connection", async () => {
  for (const extra of ["more", "\r\n", response("200 OK", "second")]) {
    await using context = actionContext();
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send(response("200 OK", `ok${connection.index}`) + extra);
      await connection.closed();
    });
    for (const index of [0, 1]) {
      assertEquals((await runHttp({ post: server.url }, context)).res.body, `ok${index}`);
    }
    const note =
      `${extra.length} bytes came after the response to POST ${server.url}/: its connection is not used again`;
    assertEquals(context.notes, [note, note]);
  }
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
  const { pool } = clientOf(context);
  const bodyOf = async () => (await runHttp({ get: server.url }, context)).res.body;
  assertEquals(await bodyOf(), "0");
  assertEquals(pool.counts, { open: 1, idle: 1 });
  answered.resolve();
  await sent.promise;
  await until(() => pool.counts.open === 0, "it has arrived");
  assertEquals([await bodyOf(), await bodyOf()], ["1", "1"]);
  assertEquals(server.connections, 2);
});

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
  Deno.test(`http never sends ${method} again`, async () => {
    await using context = actionContext();
    await using server = staleServer();
    await runHttp({ get: `${server.url}/first` }, context);
    await assertRejects(
      () => runHttp({ [method]: `${server.url}/second` }, context),
      StepError,
      `127.0.0.1 port ${server.port} closed the connection without an answer`,
    );
    assertEquals([server.connections, server.requests.length], [1, 2]);
    assertEquals(context.notes, []);
  });
}

Deno.test("http sends a POST over another connection if it was idle for more than a second", async () => {
  await using context = actionContext();
  await using server = answering();
  let ticks = 1000;
  const host = { ...context.host, clock: { ...context.host.clock, ticks: () => ticks } };
  const later = { ...context, host };
  const send = (params: Dict) => runHttp({ url: server.url, ...params }, later);
  await send({ post: "/1" });
  ticks += 1000;
  await send({ post: "/2" });
  assertEquals(server.connections, 1);
  ticks += 1001;
  await send({ get: "/3" });
  assertEquals(server.connections, 1);
  ticks += 1001;
  await send({ post: "/4" });
  assertEquals(server.connections, 2);
});

/** Sends requests of these methods in turn; how many the server got, and how many were resent. */
async function inTurn(url: string, methods: readonly string[], count: number) {
  await using context = actionContext();
  let resent = 0;
  for (let at = 0; at < count; at++) {
    const { res, traffic } = await runHttp({ [methods[at % methods.length]!]: url }, context);
    assertEquals(res.code, 200);
    resent += traffic?.resent ?? 0;
  }
  return resent;
}

Deno.test("a server that closes connections without saying so is asked once, and remembered", async () => {
  for (const methods of [["post"], ["post", "get"], ["get"]]) {
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send(response("200 OK", "x"));
    });
    const resent = await inTurn(server.url, methods, 100);
    assertEquals(
      server.requests.filter((text) => text.startsWith("POST")).length,
      methods.includes("get") ? methods.length === 1 ? 0 : 50 : 100,
    );
    assert(resent <= 1, `${resent} of 100 were sent again`);
  }
});

Deno.test("a body that a server sends to HEAD is not taken for the next response", async () => {
  for (const next of ["head", "get", "post"]) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (request) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
        // In a packet of its own.
        if (request.toString().startsWith("HEAD")) setImmediate(() => socket.write("body"));
        else socket.write("body");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    assertEquals(await inTurn(url, ["head", next], 60), 0);
    await new Promise((resolve) => server.close(resolve));
  }
});

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

for (const method of ["get", "options", "post", "put"]) {
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
  const limiter = new Limiter(1);
  await using first = actionContext();
  await using second = actionContext();
  await acquireSlot(limiter, first);
  assertEquals(first.turns.paused, 0);
  const waiting = acquireSlot(limiter, second);
  assertEquals(second.turns, { paused: 1, resumed: 0 });
  limiter.release();
  await waiting;
  assertEquals(second.turns, { paused: 1, resumed: 1 });
});

Deno.test("http gives its request when it is stopped in the queue", async () => {
  await using context = actionContext();
  const { limiter } = clientOf(context);
  while (limiter.tryAcquire());
  const params = { get: "http://h/x", headers: { Authorization: "Bearer abc" } };
  const result = runHttp(params, context);
  context.stop(new StepError("interrupted"));
  const error = await assertRejects(() => result, StepError, "interrupted");
  assertEquals(error.details.req?.url, "http://h/x");
});
