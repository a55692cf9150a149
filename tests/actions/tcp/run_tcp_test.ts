import { assertEquals, assertRejects } from "@std/assert";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import { runnerOf } from "../../support/run_action.ts";
import { tcp } from "../../../src/actions/tcp/tcp.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer } from "../../support/servers/raw_server.ts";

const runTcp = runnerOf(tcp);

/** A server that greets, answers each line in capitals and ends after `bye`. */
function lineServer() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const serve = async (connection: Deno.Conn) => {
    const encoder = new TextEncoder();
    await connection.write(encoder.encode("220 ready\r\n"));
    let text = "";
    for await (const chunk of connection.readable.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
        const line = text.slice(0, at).trim();
        text = text.slice(at + 1);
        if (line === "bye") return connection.close();
        if (line !== "quiet") await connection.write(encoder.encode(`${line.toUpperCase()}\r\n`));
      }
    }
  };
  const done = (async () => {
    for await (const connection of listener) serve(connection).catch(() => {});
  })();
  return {
    port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await done;
    },
  };
}

Deno.test("tcp says that a timeout came in the TLS handshake", async () => {
  await using context = actionContext();
  await using server = rawServer((connection) => connection.closed());
  const { port } = server;
  const error = await assertRejects(
    () => runTcp({ host: "127.0.0.1", port, tls: true, timeout: "1s" }, context),
    StepError,
    `timed out after 1s in the TLS handshake while connecting to 127.0.0.1 port ${port}`,
  );
  assertEquals(error.hint, "does it speak TLS there?");
  await assertRejects(
    () => runHttp({ get: `https://127.0.0.1:${port}/`, timeout: "1s" }, context),
    StepError,
    `the request timed out after 1s in the TLS handshake with 127.0.0.1 port ${port}`,
  );
});

Deno.test("tcp checks that a port is open", async () => {
  await using server = lineServer();
  await using context = actionContext();
  const { res, status } = await runTcp({ host: "127.0.0.1", port: server.port }, context);
  assertEquals([status, res.address], [0, "127.0.0.1"]);
});

Deno.test("tcp sends and expects texts in turn", async () => {
  await using server = lineServer();
  await using context = actionContext();
  const { res, status } = await runTcp({
    host: "127.0.0.1",
    port: server.port,
    send: ["", "one\r\n", "two\r\n"],
    expect: ["220 ", "ONE\r\n", "TWO"],
    read_until: "\n",
  }, context);
  assertEquals(status, 0);
  assertEquals(res.replies, ["220 ", "ready\r\nONE\r\n", "TWO", "\r\n"]);
  assertEquals(res.received, "220 ready\r\nONE\r\nTWO\r\n");
});

Deno.test("tcp fails if the server closes before the expected text, and says what came", async () => {
  await using server = lineServer();
  await using context = actionContext();
  const error = await assertRejects(
    () =>
      runTcp(
        { host: "127.0.0.1", port: server.port, send: "bye\r\n", expect: "never" },
        context,
      ),
    StepError,
    `127.0.0.1 port ${server.port} closed the connection before "never" arrived: "220 ready\\r\\n" came`,
  );
  assertEquals(error.details.res?.received, "220 ready\r\n");
});

Deno.test("tcp reads until the server closes the connection", async () => {
  await using server = lineServer();
  await using context = actionContext();
  const { res } = await runTcp(
    { host: "127.0.0.1", port: server.port, send: "bye\r\n", read_until: "never" },
    context,
  );
  assertEquals([res.received, res.closed], ["220 ready\r\n", true]);
});

Deno.test("tcp sends everything before it leaves", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const received = (async () => {
    let size = 0;
    for await (const chunk of (await listener.accept()).readable) size += chunk.length;
    return size;
  })();
  await using context = actionContext();
  await runTcp({ host: "127.0.0.1", port, send: "x".repeat(8_000_000) }, context);
  assertEquals(await received, 8_000_000);
});

Deno.test("tcp says what came before a timeout", async () => {
  await using server = lineServer();
  await using context = actionContext();
  await assertRejects(
    () =>
      runTcp(
        { host: "127.0.0.1", port: server.port, send: "quiet\n", expect: "x", timeout: "1s" },
        context,
      ),
    StepError,
    `timed out after 1s while waiting for "x" from 127.0.0.1 port ${server.port}: "220 ready\\r\\n" came`,
  );
});

Deno.test("tcp names the port that refuses the connection", async () => {
  await using context = actionContext();
  await assertRejects(
    () => runTcp({ host: "127.0.0.1", port: 1 }, context),
    StepError,
    "cannot connect to 127.0.0.1 port 1: 127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
  );
});

Deno.test("tcp refuses a host that is a URL or has a port, before a run and in it", async () => {
  await using context = actionContext();
  for (const host of ["https://h/", "h:443", "[::1]", "a b", ""]) {
    const message = `invalid host "${host}"`;
    await assertRejects(() => runTcp({ host, port: 1 }, context), StepError, message);
    assertEquals(tcp.problems!({ host, port: 1 })[0]?.message, message);
  }
  for (const host of ["shop.example.com", "127.0.0.1", "::1", "{{vars.host}}:1"]) {
    assertEquals(tcp.problems!({ host, port: 1 }), []);
  }
});

Deno.test("tcp takes no bytes that are not text for nothing", async () => {
  await using context = actionContext();
  for (const bytes of [[255, 254, 253], [240, 159, 152], [239, 187, 191]]) {
    await using server = rawServer((connection) => connection.send(new Uint8Array(bytes)));
    const params = { host: "127.0.0.1", port: server.port, read_until: "never" };
    const { res } = await runTcp(params, context);
    assertEquals([res.bytes, res.received === ""], [3, false]);
  }
});
