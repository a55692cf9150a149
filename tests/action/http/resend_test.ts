import type { Dict } from "../../../src/base/value/value.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer, response } from "../../support/servers/raw_server.ts";

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
