import { assertEquals, assertRejects } from "@std/assert";
import type { Socket } from "node:net";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { type SocketOptions, socketsOf } from "../../../src/action/http/transport/sockets.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { until } from "../../support/run/processes.ts";
import { rawServer, response } from "../../support/servers/raw_server.ts";

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
