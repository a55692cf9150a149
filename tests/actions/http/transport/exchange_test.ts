import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type ConnectionSettings,
  DEFAULT_CONNECTION,
} from "../../../../src/actions/http/connection/connection.ts";
import type { HttpRequest } from "../../../../src/actions/http/request/read_request.ts";
import { HttpClient } from "../../../../src/actions/http/transport/client.ts";
import {
  type RawResponse,
  SendFailure,
  type SendOptions,
} from "../../../../src/actions/http/transport/model.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { until } from "../../../support/run/processes.ts";
import { type RawConnection, rawServer, response } from "../../../support/servers/raw_server.ts";
import { tlsCertificate } from "../../../support/servers/tls_fixture.ts";

const { clock } = denoHost();
const OK = response("200 OK", "hi");

/** A client, and what it wrote for `-v`. */
class Client extends HttpClient implements Disposable {
  readonly notes: string[] = [];
  readonly warnings: string[] = [];

  start(url: string, request: Partial<HttpRequest> = {}, options: Partial<SendOptions> = {}) {
    const target = new URL(url);
    return this.send(
      { method: "GET", url: target, headers: { Host: target.host }, ...request },
      {
        ...{ connection: DEFAULT_CONNECTION, clock, maxBody: 1_000_000 },
        onDispatch() {},
        onWait() {},
        log: (text) => void this.notes.push(text),
        warn: (text) => void this.warnings.push(text),
        ...options,
      },
    );
  }

  get(...params: Parameters<Client["start"]>): Promise<RawResponse> {
    return this.start(...params).reply;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function text({ body }: RawResponse): string {
  return new TextDecoder().decode(body);
}

/** Why there is no response, and how far it came. */
async function failure(reply: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => reply, SendFailure);
  const { cause, phase } = error;
  return `${(cause as Error).constructor.name} ${phase}`;
}

/** Answers each request of each connection. */
function serving(answer: string | ((request: string, connection: RawConnection) => string)) {
  return rawServer(async (connection) => {
    for (let request; (request = await connection.request()) !== undefined;) {
      await connection.send(typeof answer === "string" ? answer : answer(request, connection));
    }
  });
}

Deno.test("a request is sent as it is written", async () => {
  await using server = serving(OK);
  using client = new Client(clock, 1024);
  await client.get(`${server.url}/a%20b?c=d#e`, {
    method: "PoST",
    headers: { "X-a": ["1", "2"], Host: "me", "Content-Length": "2", Connection: "x" },
    body: "AB",
  });
  assertEquals(server.requests, [
    "PoST /a%20b?c=d HTTP/1.1\r\nX-a: 1\r\nX-a: 2\r\nHost: me\r\nContent-Length: 2\r\nConnection: x\r\n\r\nAB",
  ]);
});

Deno.test("no header can end its line", () => {
  using client = new Client(clock, 1024);
  for (const value of ["a\r\nb: c", "a\nb", "a\0"]) {
    let message = "";
    try {
      client.start("http://127.0.0.1:1/", { headers: { A: value } });
    } catch (error) {
      message = (error as Error).message;
    }
    assertEquals(
      message,
      'cannot send the header "A": there is a line break or a control character in it',
    );
  }
});

Deno.test("the parts of the time begin when a request is dispatched, and no part is negative", async () => {
  let ticks = 0;
  const counting = { ...clock, ticks: () => ++ticks };
  await using server = serving(OK);
  using client = new Client(counting, 1024);
  for (const isFirst of [true, false]) {
    let dispatched = 0;
    const onDispatch = () => dispatched = ticks;
    const { phases } = await client.get(server.url, {}, { clock: counting, onDispatch });
    const sum = Object.values(phases).reduce((all, part) => all + part);
    assert(sum > 0 && sum <= ticks - dispatched, `${sum} of ${ticks - dispatched}`);
    assert(Object.values(phases).every((part) => part >= 0), JSON.stringify(phases));
    assertEquals(phases.connect > 0, isFirst);
  }
});

for (const extra of ["X", OK]) {
  for (const isLate of [false, true]) {
    const when = isLate ? "later" : "at once";
    Deno.test(`${extra.length} bytes that nobody asked for end a connection: ${when}`, async () => {
      const answered = Promise.withResolvers<void>();
      await using server = rawServer(async (connection) => {
        while (await connection.request()) {
          await connection.send(OK);
          if (connection.index > 0) continue;
          if (isLate) await answered.promise;
          await connection.send(extra);
        }
      });
      using client = new Client(clock, 1024);
      assertEquals(text(await client.get(server.url)), "hi");
      answered.resolve();
      await until(() => client.pool.counts.open === 0, "the connection is closed");
      assertEquals(text(await client.get(server.url)), "hi");
      assertEquals(server.connections, 2);
    });
  }
}

Deno.test("a body that is cut is a failure, a body until the end of the connection is not", async () => {
  for (const head of ["Content-Length: 10", "Transfer-Encoding: chunked", "X: y"]) {
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n5\r\nhello`);
      connection.close();
    });
    using client = new Client(clock, 1024);
    if (head === "X: y") assertEquals(text(await client.get(server.url)), "5\r\nhello");
    else assertEquals(await failure(client.get(server.url)), "ClosedEarly receiving");
    assertEquals(client.notes, []);
  }
});

Deno.test("of a body until the end of a TLS connection, a reset is a failure, and the end a warning", async () => {
  const secure = createSecureServer(tlsCertificate("good"), (socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\nhello"));
  });
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", () => resolve()));
  const { port } = secure.address() as AddressInfo;
  let end = (_socket: Socket) => {};
  // Ends connections to the client without a word of TLS.
  const between = createServer((socket) => {
    const server = connect(port, "127.0.0.1");
    for (const each of [socket, server]) each.on("error", () => {});
    socket.pipe(server);
    server.on("data", (bytes) => socket.write(bytes));
    socket.on("close", () => server.destroy());
    ready = () => end(socket);
  });
  let ready = () => {};
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", () => resolve()));
  const url = `https://127.0.0.1:${(between.address() as AddressInfo).port}/`;
  const connection = { ...DEFAULT_CONNECTION, tls: { rejectUnauthorized: false }, id: "k" };
  using client = new Client(clock, 1024);
  const get = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sink = {
      takes: () => true,
      discard() {},
      async save(chunks: AsyncIterable<Uint8Array>) {
        for await (const _ of chunks) resolve();
        return undefined;
      },
    };
    promise.then(() => ready());
    return client.get(url, {}, { connection, sink });
  };
  end = (socket) => void socket.resetAndDestroy();
  assertEquals(await failure(get()), "ClosedEarly receiving");
  assertEquals(client.warnings, []);
  end = (socket) => void socket.end();
  for (const _ of [1, 2]) assertEquals((await get()).code, 200);
  assertEquals(client.warnings, [
    `the body of ${url} has no length: a connection that was cut looks like its end`,
  ]);
  client.close();
  await new Promise((resolve) => between.close(resolve));
  await new Promise((resolve) => secure.close(resolve));
});

Deno.test("responses 1xx come before a response; a flood of them is a failure", async () => {
  const early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  await using server = serving((request) => early.repeat(/flood/.test(request) ? 1000 : 32) + OK);
  using client = new Client(clock, 1024);
  assertEquals(text(await client.get(server.url)), "hi");
  assertEquals(await failure(client.get(`${server.url}/flood`)), "MalformedResponse waiting");
});

Deno.test("a body that is too large ends its connection, announced or not", async () => {
  const chunks = `Transfer-Encoding: chunked\r\n\r\n${"5\r\nhello\r\n".repeat(1000)}0\r\n\r\n`;
  for (const rest of [chunks, `Content-Length: 5000\r\n\r\n${"x".repeat(5000)}`, "\r\n"]) {
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send(`HTTP/1.1 200 OK\r\n${rest}`);
      if (rest === "\r\n") { while (true) await connection.send("x".repeat(10_000)); }
      await connection.closed();
    });
    using client = new Client(clock, 1024);
    const reply = client.get(server.url, {}, { maxBody: 4999 });
    assertEquals(await failure(reply), "BodyTooLarge receiving");
    assertEquals(client.pool.counts.open, 0);
  }
});

/** A body that ends when nobody wants more of it. */
function endless(length?: number) {
  const state = { sent: 0, isClosed: false };
  async function* open() {
    try {
      while (true) {
        state.sent++;
        yield await Promise.resolve(new Uint8Array(65_536));
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, body: { length, open } };
}

Deno.test("a response that comes before the end of an upload ends the upload", async () => {
  for (const header of [[], ["Connection: close"]]) {
    await using server = rawServer(async (connection) => {
      await connection.send(response("413 Content Too Large", "no", header));
      await connection.closed();
    });
    using client = new Client(clock, 1024);
    const { state, body } = endless(1e10);
    const headers = { Host: "h", "Content-Length": "10000000000" };
    const reply = await client.get(server.url, { method: "POST", headers, body });
    assertEquals([reply.code, text(reply)], [413, "no"]);
    await until(() => state.isClosed, "the upload has ended");
    assertEquals(client.pool.counts.open, 0);
  }
});

Deno.test("a server that does not read holds up an upload, and a reader that does not the server", async () => {
  const stopped = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await stopped.promise;
    connection.close();
  });
  using client = new Client(clock, 1024);
  const { state, body } = endless();
  const headers = { Host: "h", "Transfer-Encoding": "chunked" };
  const exchange = client.start(server.url, { method: "POST", headers, body });
  let before = -1;
  await until(() => before === (before = state.sent) && before > 0, "the upload waits");
  assert(state.sent < 500, `${state.sent} parts of 64 KB`);
  exchange.abort(new Error("enough"));
  assertEquals(await failure(exchange.reply), "Error waiting");
  await until(() => state.isClosed, "the upload has ended");
  stopped.resolve();

  let sent = 0;
  await using source = rawServer(async (connection) => {
    await connection.request();
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    for (; sent < 1000; sent++) await connection.send(new Uint8Array(100_000));
  });
  const read = Promise.withResolvers<void>();
  let size = 0;
  const sink = {
    takes: () => true,
    discard() {},
    async save(chunks: AsyncIterable<Uint8Array>) {
      await read.promise;
      for await (const chunk of chunks) size += chunk.length;
      return undefined;
    },
  };
  const reply = client.get(source.url, {}, { sink });
  before = -1;
  await until(() => before === (before = sent) && before > 0, "the server waits");
  assert(sent < 300, `${sent} parts of 100 KB`);
  read.resolve();
  await reply;
  assertEquals(size, 100_000_000);
});

Deno.test("a stream is sent with its length or in chunks, and again where it is sent again", async () => {
  await using server = rawServer(async (connection) => {
    for (let count = 0;; count++) {
      const request = await connection.request();
      // Its chunks look like a request without a body.
      if (request?.includes("chunked")) await connection.request();
      if (request === undefined || connection.index === 0 && count === 2) return;
      await connection.send(OK);
    }
  });
  using client = new Client(clock, 1024);
  async function* open() {
    yield new TextEncoder().encode("abc");
    yield await Promise.resolve(new TextEncoder().encode("def"));
  }
  const put = { headers: { "Content-Length": "6" }, body: { length: 6, open } };
  const chunked = {
    headers: { "Transfer-Encoding": "chunked" },
    body: { length: undefined, open },
  };
  for (const request of [put, chunked, chunked]) {
    assertEquals(text(await client.get(server.url, { method: "GET", ...request })), "hi");
  }
  const chunks = "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n";
  const [first, ...others] = server.requests;
  assertEquals(first?.slice(-6), "abcdef");
  assertEquals(others.filter((_, at) => at % 2 === 1), [chunks, chunks, chunks]);
  assertEquals(client.notes.length, 1);
});

Deno.test("a request that is stopped leaves no connection, whenever it is stopped", async () => {
  for (const isAnswered of [false, true]) {
    await using server = rawServer(async (connection) => {
      await connection.request();
      if (isAnswered) await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx");
      await connection.closed();
    });
    for (const isConnected of [false, true]) {
      using client = new Client(clock, 1024);
      const before = server.requests.length;
      const exchanges = Array.from({ length: 100 }, () => client.start(server.url));
      if (isConnected) await until(() => server.requests.length >= before + 100, "all have come");
      for (const exchange of exchanges) exchange.abort(new Error("enough"));
      const results = await Promise.allSettled(exchanges.map(({ reply }) => reply));
      assert(results.every(({ status }) => status === "rejected"));
      await until(() => client.pool.counts.open === 0, "all are closed");
    }
  }
});

Deno.test("many requests at once get their own responses", async () => {
  await using server = serving((request) => {
    const number = Number(/GET \/(\d+)/.exec(request)![1]);
    const letter = String.fromCharCode(33 + number % 90);
    return response("200 OK", letter.repeat(1 + number * 37 % 90_000));
  });
  using client = new Client(clock, 1024);
  const bodies = await Promise.all(
    Array.from(
      { length: 300 },
      async (_, number) => text(await client.get(`${server.url}/${number}`)),
    ),
  );
  const wrong = bodies.flatMap((body, number) => {
    const letter = String.fromCharCode(33 + number % 90);
    return body === letter.repeat(1 + number * 37 % 90_000) ? [] : [number];
  });
  assertEquals(wrong, []);
});

Deno.test("a host is looked up for the version of IP that is asked for", async () => {
  const listener = Deno.listen({ hostname: "::1", port: 0 });
  const { port } = listener.addr;
  const served = (async () => {
    const connection = await listener.accept();
    await connection.read(new Uint8Array(1000));
    await connection.write(new TextEncoder().encode(OK));
    connection.close();
  })();
  using client = new Client(clock, 1024);
  const four: ConnectionSettings = { ...DEFAULT_CONNECTION, family: 4, id: "4" };
  const url = `http://localhost:${port}/`;
  assertEquals(await failure(client.get(url, {}, { connection: four })), "Error connecting");
  assertEquals(text(await client.get(`http://[::1]:${port}/`)), "hi");
  await served;
  listener.close();
});
