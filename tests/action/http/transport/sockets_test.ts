import { assert, assertEquals } from "@std/assert";
import { DEFAULT_CONNECTION } from "../../../../src/action/http/connection/connection.ts";
import { readRequest } from "../../../../src/action/http/request/read_request.ts";
import {
  acquireSlot,
  ConcurrencyLimiter,
} from "../../../../src/action/http/transport/concurrency_limiter.ts";
import { send } from "../../../../src/action/http/transport/send.ts";
import { socketLimit, Sockets } from "../../../../src/action/http/transport/sockets.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { StepError } from "../../../../src/base/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
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
